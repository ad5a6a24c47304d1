// `logs`: prints what a session has put out, as it is or as lines of JSON with their offsets and times.

import type { ReadAnswer, SandboxSession } from "sandbox-stdio/client";
import type { LogsCommand, Since } from "../args/cli-command.ts";
import type { Outcome } from "../base/outcome.ts";
import { patiently } from "../base/patience.ts";
import { safeJson } from "../base/plain-text.ts";
import { asideToPerson, Printer } from "../base/print.ts";
import { LogLines } from "./log-lines.ts";
import { asking, follow, followedTo, only, sandboxOf } from "./programs.ts";

const READ_BYTES = 1_048_576;
/** Of a line, where the last so many lines are looked for. */
const LINE_BYTES = 200;

/** Prints the log from its beginning, or from where it is asked for, and goes on as it grows. */
export async function runLogs(command: LogsCommand, token: () => Promise<string>): Promise<Outcome> {
  const printer = new Printer();
  const session = sandboxOf(command, token).session(command.session);
  return asking(async () => {
    // One process: another that takes the name meanwhile has offsets of its own.
    let { from, incarnation }: Start = command.since === undefined ? {} : await startOf(session, command.since);
    const last = command.tail === undefined ? undefined : await lastLines(session, command.tail, { from, incarnation });
    if (last !== undefined) ({ incarnation } = last);
    if (command.isJson) {
      if (last !== undefined) from = last.gone > 0 ? undefined : last.next - last.bytes.length;
      return printLines(printer, session, { from, incarnation }, command.follows);
    }
    if (last !== undefined) {
      await printer.print(await wholeLines(printer, last.gone, last.bytes));
      from = last.next;
    }
    for (;;) {
      const answer = await soon(
        session.read({ ...only({ from, incarnation }), maxBytes: READ_BYTES, format: "base64" }),
      );
      const bytes = Buffer.from(answer.output, "base64");
      if (from === undefined) await printer.print(await wholeLines(printer, answer.gap?.to ?? answer.from, bytes));
      else {
        if (answer.gap !== undefined)
          await printer.aside(`${answer.gap.to - answer.gap.from} bytes are no longer held`);
        await printer.print(bytes);
      }
      ({ next: from, incarnation } = answer);
      if (answer.next >= answer.end || printer.isBroken) break;
    }
    return command.follows && !printer.isBroken
      ? follow(printer, session, { from, incarnation }, false)
      : printer.end();
  });
}

const soon = <T>(work: Promise<T>) => patiently("waiting for the server's answer", work, asideToPerson);

/** From the first line that is held whole, where the beginning of the log is gone, which is said. */
async function wholeLines(printer: Printer, start: number, bytes: Buffer): Promise<Buffer> {
  if (start === 0) return bytes;
  await printer.aside(`the first ${start} bytes are no longer held: this begins at the next line`);
  return bytes.subarray(firstWhole(bytes));
}

/** Where the first line begins that is whole. Without an end of a line there is nothing to begin at. */
const firstWhole = (bytes: Buffer) => bytes.indexOf(0x0a) + 1;

/** Where to begin, and of which process. */
type Start = { readonly from?: number | undefined; readonly incarnation?: string | undefined };

async function startOf(session: SandboxSession, since: Since): Promise<Start> {
  if ("offset" in since) return { from: since.offset };
  // The fewest bytes that may be asked for: only where they begin matters.
  const { from, gap, incarnation } = await soon(session.read({ ...since, maxBytes: 16, format: "base64" }));
  return { from: gap?.from ?? from, incarnation };
}

/** `gone`: where what is held begins, if that is not so many lines, and there were more. */
type Last = {
  readonly bytes: Buffer;
  readonly next: number;
  readonly gone: number;
  readonly incarnation: string;
};

async function lastLines(session: SandboxSession, lines: number, start: Start): Promise<Last> {
  const { from: since = 0 } = start;
  let { incarnation } = start;
  for (let tail = Math.max(4_096, lines * LINE_BYTES); ; tail *= 4) {
    const maxBytes = Math.min(READ_BYTES, tail);
    const answer = await soon(session.read({ ...only({ incarnation }), tail: maxBytes, maxBytes, format: "base64" }));
    incarnation = answer.incarnation;
    const all = Buffer.from(answer.output, "base64");
    const held = all.subarray(Math.max(0, since - answer.from));
    const first = startOfLastLines(held, lines);
    if (first > 0 || answer.from <= since)
      return { bytes: held.subarray(first), next: answer.next, gone: 0, incarnation };
    if (maxBytes === READ_BYTES) return lastLinesBefore(session, lines, since, answer, held);
  }
}

/** As {@link lastLines}, where they are more than one answer holds: what is before it, an answer at a time. */
async function lastLinesBefore(
  session: SandboxSession,
  lines: number,
  since: number,
  { incarnation, from: first, next }: ReadAnswer,
  last: Buffer,
): Promise<Last> {
  let bytes = last;
  for (let to = first; ; ) {
    const range = { incarnation, from: Math.max(since, to - READ_BYTES), to };
    const answer = await soon(session.read({ ...range, maxBytes: READ_BYTES, format: "base64" }));
    bytes = Buffer.concat([Buffer.from(answer.output, "base64"), bytes]);
    const start = startOfLastLines(bytes, lines);
    if (start > 0) return { bytes: bytes.subarray(start), next, gone: 0, incarnation };
    // Nothing came where all of it is gone by now.
    if (answer.gap !== undefined) return { bytes, next, gone: Math.min(to, answer.from), incarnation };
    if (answer.from <= since) return { bytes, next, gone: 0, incarnation };
    to = answer.from;
  }
}

/** Where the last so many lines begin; 0 where there are no more than that. */
function startOfLastLines(bytes: Uint8Array, lines: number): number {
  if (lines === 0) return bytes.length;
  // A line that has no end yet is one too.
  let at = bytes.length - (bytes.at(-1) === 0x0a ? 1 : 0);
  for (let left = lines; left > 0; left -= 1) {
    at = bytes.lastIndexOf(0x0a, at - 1);
    if (at < 0) return 0;
    if (at === 0) return left === 1 ? 1 : 0;
  }
  return at + 1;
}

/** Lines of JSON: what is there with the times that the server knows, then what comes with the time at which it is here. */
async function printLines(printer: Printer, session: SandboxSession, start: Start, follows: boolean): Promise<Outcome> {
  const lines = new LogLines();
  const say = async (told: readonly object[]) => {
    if (told.length > 0) await printer.print(told.map((one) => `${safeJson(one)}\n`).join(""));
  };
  let { from, incarnation } = start;
  let code = 0;
  for (;;) {
    const how = { maxBytes: READ_BYTES, format: "base64", times: 1 } as const;
    const answer = await soon(session.read({ ...only({ from, incarnation }), ...how }));
    const { gap, times = [] } = answer;
    if (gap !== undefined && from !== undefined) await say([...lines.rest(), { gap }]);
    let bytes = Buffer.from(answer.output, "base64");
    let at = answer.from;
    if (from === undefined && at > 0) {
      await say([{ gap: { from: 0, to: at } }]);
      const cut = firstWhole(bytes);
      at += cut;
      bytes = bytes.subarray(cut);
    }
    await say(lines.add(bytes, at, times));
    ({ next: from, incarnation } = answer);
    if (answer.next >= answer.end || printer.isBroken) break;
  }
  if (follows && !printer.isBroken) {
    for await (const event of session.follow({ from, incarnation, format: "base64" })) {
      if (event.type === "gap") await say([...lines.rest(), { gap: { from: event.from, to: event.to } }]);
      if (event.type === "output") {
        const times = [{ offset: event.from, at: new Date().toISOString() }];
        await say(lines.add(Buffer.from(event.output, "base64"), event.from, times));
      }
      if (event.type === "exit") code = await followedTo(event.state, printer);
      if (printer.isBroken) break;
    }
  }
  await say(lines.rest());
  return printer.end(code);
}
