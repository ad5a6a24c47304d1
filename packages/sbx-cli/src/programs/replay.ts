// `replay`: plays a recording in this terminal, in its own time or faster. What it prints is filtered like any replay: it can't make
// the terminal type, ring or copy.

import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import tty from "node:tty";
import { type CastEvent, CastFault, type CastInfo, CastReader } from "sandbox-stdio/recording";
import { tokenSource } from "../account/credentials.ts";
import type { ReplayCommand } from "../args/cli-command.ts";
import type { Environment } from "../base/environment.ts";
import { CliError, type Outcome } from "../base/outcome.ts";
import { Printer } from "../base/print.ts";
import { sizeOf } from "../base/tty.ts";
import { storedRecording } from "./stored-recording.ts";

const STDOUT = 1;
/** The longest time that a timer of Node's takes. */
const MAX_TIMER_MS = 2_147_483_647;
/** More text than this is not gathered before it is printed. */
const GATHERED = 65_536;
const RESET = "\x1bc";

export async function replay(command: ReplayCommand, env: Environment): Promise<Outcome> {
  const isFile = "file" in command;
  const source = isFile ? readFile(command.file) : stored(command, env);
  const name = isFile ? command.file : `the recording of ${command.session}`;
  const printer = new Printer();
  try {
    await play(source, command, printer);
  } catch (error) {
    if (!(error instanceof CastFault)) throw error;
    await printer.end();
    throw new CliError(`cannot play ${name}: ${error.message}`);
  }
  return printer.end();
}

function stored(command: Exclude<ReplayCommand, { file: string }>, env: Environment): AsyncGenerator<Uint8Array> {
  return storedRecording(command, tokenSource(command, env, command.ticket !== undefined), command.query);
}

async function play(
  source: AsyncIterable<Uint8Array>,
  { speed, idleLimitSeconds }: ReplayCommand,
  printer: Printer,
): Promise<void> {
  const reader = new CastReader();
  const idleMs = idleLimitSeconds === undefined ? undefined : idleLimitSeconds * 1000;
  // When the next event is due, by one clock: late timers don't add up.
  let dueMs: number | undefined;
  let gathered = "";
  const flush = async () => {
    if (gathered !== "") await printer.print(gathered);
    gathered = "";
  };
  const show = async (events: readonly CastEvent[]) => {
    for (const event of events) {
      const limitMs = idleMs ?? reader.info?.idleLimitMs ?? Number.POSITIVE_INFINITY;
      dueMs = (dueMs ?? performance.now()) + Math.min(event.afterMs, limitMs) / speed;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0 || gathered.length > GATHERED) await flush();
      if (printer.isBroken) return;
      await pause(waitMs);
      if (event.type === "o") gathered += event.text;
    }
    // The next chunk may be long in coming.
    await flush();
  };
  let isBegun = false;
  for await (const chunk of source) {
    const events = reader.push(chunk);
    if (!isBegun && reader.info !== undefined) {
      isBegun = true;
      await begin(reader.info, printer);
    }
    await show(events);
    if (printer.isBroken) return;
  }
  await show(reader.end());
}

/** A terminal begins with an empty screen; the one before it is scrolled away. */
async function begin({ cols, rows }: CastInfo, printer: Printer): Promise<void> {
  if (!tty.isatty(STDOUT)) return;
  const size = sizeOf(process.stdout);
  if (size !== undefined && (size.cols < cols || size.rows < rows)) {
    await printer.notify(`recorded at ${cols}x${rows}; this window has ${size.cols}x${size.rows}`);
    await sleep(1_000);
  }
  await printer.print(RESET);
}

async function pause(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= MAX_TIMER_MS) await sleep(Math.min(left, MAX_TIMER_MS));
}

async function* readFile(path: string): AsyncGenerator<Uint8Array> {
  const stream = path === "-" ? process.stdin : fs.createReadStream(path);
  try {
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    throw new CliError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
