// *exec* (V3): a process on pipes as server-sent events. It is an ordinary session, whose process waits for a caller that reads slowly, and
// is ended where the caller goes away or its time is over.

import { processSchemas } from "@sbx/api";
import { splitUtf8 } from "sandbox-stdio/core";
import { giveBack } from "../attach/entry-limits.ts";
import { base64Of } from "../base/base64url.ts";
import { log } from "../base/log.ts";
import { answerOf } from "../programs/answer-of.ts";
import { askUntilAnswered, type Target } from "../programs/ask.ts";
import { type Authorized, passToStart } from "../programs/authorized.ts";
import { EVENT_HEADERS, QUIET, type Say, sayEvents } from "../programs/events.ts";
import type { ProgramAnswer, ProgramProcess } from "../programs/operations/call.ts";
import type { ChunksBody } from "../programs/operations/chunks.ts";
import type { Reading } from "../programs/output.ts";
import { processOf } from "../programs/parse.ts";
import { QUIET_MS } from "../programs/respond.ts";
import { refuseAs, type SandboxApiEnv } from "./caller.ts";

/** What runs, and for how long. */
export type Execution = {
  readonly argv: readonly string[];
  /** The command that a shell among them runs: a policy on commands is about it too. */
  readonly line?: string | undefined;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs?: number | undefined;
};

/** How long the process lives without the Worker, which comes back within seconds if it lives. */
const KEEP_SECONDS = 60;
const BATCH_BYTES = 256 * 1024;
/** What a timer holds, some 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** The exits of a process that could not be started, as shells have them, by the reason. */
const NOT_STARTED: Readonly<Record<string, number>> = { cmd_not_found: 127, cmd_not_executable: 126, bad_cwd: 126 };
const NO_BYTES = new Uint8Array(0);
/** The number of the stream. */
const STDERR = 2;
/** The exit code of a process that ended without one. */
const UNKNOWN_EXIT = 255;

/** @throws {Refused} */
export async function execute(
  request: Request,
  env: SandboxApiEnv,
  who: Authorized,
  reading: Reading & { readonly target: Target },
  execution: Execution,
): Promise<Response> {
  const { target, callOf, enter, leave, abandon, waitUntil } = reading;
  const process = processFor(execution);
  const pass = await passToStart(request, env, who, target.sessionKey);
  if ("code" in pass) throw refuseAs(answerOf(pass));
  // By its name a process starts once, however often it is asked for: a container may be on its way to sleep.
  const create = { ...callOf({ type: "create", process }), pass, mayStart: true };
  const made = await askUntilAnswered(target, () => create).finally(() => waitUntil(giveBack(env, pass)));
  if (made.status >= 400) return notStarted(made);
  const end = async () => {
    const session = env.SESSION.getByName(target.sessionKey);
    await session.end(who.actor).catch((error: unknown) => log.warn("a process could not be ended:", error));
  };
  const refusal = await enter();
  if (refusal !== undefined) {
    waitUntil(end());
    throw refuseAs(refusal);
  }
  const asked = { type: "chunks", maxBytes: BATCH_BYTES, reader: `${who.who.name} (exec)` } as const;
  const read = (after: number, waitMs: number) =>
    askUntilAnswered(target, () => callOf({ ...asked, after, waitMs }, String(made.body.incarnation)));
  const { timeoutMs = MAX_TIMER_MS } = execution;
  let late: Promise<Ending> | undefined;
  const atTimeout = () => {
    const words = `the process still ran after ${timeoutMs} ms, and was ended`;
    late = end().then(() => ({ isOver: true, event: failed("exec_timeout", words) }));
  };
  const timer = setTimeout(atTimeout, Math.min(timeoutMs, MAX_TIMER_MS));
  let isOver = false;
  const pump = async (say: Say) => {
    const ending = await tell(say, read, () => late);
    isOver = ending.isOver;
    await say(ending.event);
  };
  const ended = () => {
    clearTimeout(timer);
    abandon();
    leave();
    if (!isOver) waitUntil(end());
  };
  return sayEvents(pump, ended, waitUntil);
}

function processFor({ argv, line, cwd, env }: Execution): ProgramProcess {
  const [cmd = "", ...args] = argv;
  const how = { awaited: true, keepSeconds: KEEP_SECONDS, shellIntegration: false };
  const parsed = processOf(processSchemas.createRequest.parse({ cmd, args, cwd, env, ...how }), "", true);
  if (!parsed.ok) throw refuseAs(parsed.answer);
  return line === undefined ? parsed.value : { ...parsed.value, line };
}

type Told = ChunksBody & { readonly state: "running" | "exited" | "lost" };

/** The last event. `isOver`: nothing of the process is left to be ended. */
type Ending = { readonly event: string; readonly isOver: boolean };

/** Tells all output. @param lateOf What the caller is told of a process whose time is over. */
async function tell(
  say: Say,
  read: (after: number, waitMs: number) => Promise<ProgramAnswer>,
  lateOf: () => Promise<Ending> | undefined,
): Promise<Ending> {
  const output = new Output();
  for (let after = 0; ; ) {
    const answer = await read(after, QUIET_MS);
    const body = answer.status === 200 ? (answer.body as Told) : undefined;
    const said = body === undefined ? "" : output.eventsOf(body, answer.bytes);
    const ending = (await lateOf()) ?? (body === undefined ? refusalOf(answer) : endOf(body));
    after = body?.last ?? after;
    // The process waits for its reader as long as it is asked about.
    const reminder = setInterval(() => void read(after, 0).catch(() => undefined), QUIET_MS);
    await say(ending === undefined ? said || QUIET : said + output.rest()).finally(() => clearInterval(reminder));
    if (ending !== undefined) return ending;
  }
}

/** @returns undefined where it only can't be asked just now. */
function refusalOf({ status, body }: ProgramAnswer): Ending | undefined {
  if (status === 503) return undefined;
  const isGone = status === 404;
  return { isOver: isGone, event: failed(isGone ? "process_lost" : String(body.error), String(body.message)) };
}

function endOf({ state, isEnded, exitCode, failure }: Told): Ending | undefined {
  if (isEnded && state === "lost") {
    return { isOver: true, event: failed("process_lost", failure ?? "the process was lost with its container") };
  }
  if (failure !== null) return { isOver: false, event: failed("output_lost", failure) };
  return isEnded ? { isOver: true, event: exited(exitCode ?? UNKNOWN_EXIT) } : undefined;
}

/** Events of both streams. None ends within a character: callers read the text of each by itself. */
class Output {
  readonly #tails: Record<"stdout" | "stderr", Uint8Array> = { stdout: NO_BYTES, stderr: NO_BYTES };

  eventsOf({ chunks }: ChunksBody, bytes: Uint8Array = NO_BYTES): string {
    let at = 0;
    const events = chunks.map(([, number, length]) => {
      const stream = number === STDERR ? "stderr" : "stdout";
      const { whole, tail } = splitUtf8(this.#tails[stream], bytes.subarray(at, at + length));
      this.#tails[stream] = tail;
      at += length;
      return outputOf(stream, whole);
    });
    return events.join("");
  }

  /** What was held back. */
  rest(): string {
    return outputOf("stdout", this.#tails.stdout) + outputOf("stderr", this.#tails.stderr);
  }
}

function notStarted(made: ProgramAnswer): Response {
  const code = NOT_STARTED[String(made.body.error)];
  if (code === undefined) throw refuseAs(made);
  const reason = outputOf("stderr", new TextEncoder().encode(`${String(made.body.message)}\n`));
  return new Response(reason + exited(code), { headers: EVENT_HEADERS });
}

function outputOf(stream: "stdout" | "stderr", bytes: Uint8Array): string {
  return bytes.length === 0 ? "" : event(stream, base64Of(bytes));
}

function exited(code: number): string {
  return event("exit", JSON.stringify({ exit_code: code }));
}

function failed(code: string, error: string): string {
  return event("error", JSON.stringify({ error, code }));
}

function event(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}
