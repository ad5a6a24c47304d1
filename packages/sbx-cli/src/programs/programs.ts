// The verbs that work without a connection of their own, over the library that speaks HTTP: read, write, wait, screen,
// commands, signal. `run` is in run-program.ts.

import tty from "node:tty";
import {
  type OutputEvent,
  type Sandbox,
  type SandboxSession,
  type State,
  StdioError,
  sandbox,
  type Until,
  type WaitAnswer,
} from "sandbox-stdio/client";
import type { Place, ProgramCommand } from "../args/cli-command.ts";
import { describeFailure, fetchFailure } from "../base/network-words.ts";
import { CliError, EXIT, type Outcome } from "../base/outcome.ts";
import { patiently } from "../base/patience.ts";
import { safeJson } from "../base/plain-text.ts";
import { asideToPerson, Printer } from "../base/print.ts";
import { isOtherServer, plainReason, startFailureCode } from "../base/server-words.ts";
import { cellText, table } from "../base/table.ts";
import { isInputTyped } from "../base/tty.ts";
import { fetchUnlessSilent } from "../connection/silence.ts";

/** Exit codes of these verbs, beside those that every command has. */
export const VERB_EXIT = { met: 0, timeout: EXIT.timeout, exited: 3, lost: 4 } as const;

/** The server's own, where none is given. */
const USUAL_WAIT_MS = 30_000;
/** Bytes of standard input in one call: the server takes 64 KiB, encoded. */
const WRITE_BYTES = 48 * 1024;
const STDOUT = 1;
const HTTP_BAD_REQUEST = 400;
const HTTP_UNAUTHENTICATED = 401;

/** @param retries How often a call that may be repeated is; absent: as often as usual. */
export function sandboxOf({ endpoint, sandbox: name }: Place, token: () => Promise<string>, retries?: number): Sandbox {
  const more = retries === undefined ? {} : { retries };
  return sandbox(endpoint.httpBase, { sandbox: name, token, fetch: fetchUnlessSilent(), ...more });
}

/** As {@link asking}, where the answer should come at once. */
export function askingSoon<T>(work: () => Promise<T>): Promise<T> {
  return asking(() => patiently("waiting for the server's answer", work(), asideToPerson));
}

/** Does work that asks the server over HTTP. @throws {CliError} With the exit code that a failure has. */
export async function asking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StdioError)) throw error;
    const code = error.status === HTTP_BAD_REQUEST ? EXIT.usage : (startFailureCode(error.code) ?? EXIT.failed);
    const words = unreachableWords(error) ?? plainReason(withCode(error));
    throw new CliError(words, code, { cause: error, code: error.code, check: checkOf(error) });
  }
}

function checkOf(error: StdioError): CliError["check"] {
  if (error.status === HTTP_UNAUTHENTICATED) return "login";
  return isNoServer(error) ? "address" : undefined;
}

/** Whether the answer is of something else than this server's interface. */
export function isNoServer({ status = 0, code, message }: StdioError): boolean {
  return isOtherServer(status, /^http_[234]/.test(code) ? undefined : message);
}

/** As other verbs say it. */
function unreachableWords({ message, cause }: StdioError): string | undefined {
  const failure = fetchFailure(cause);
  const host = /^No answer from (\S+): /.exec(message)?.[1];
  return failure === undefined || host === undefined ? undefined : describeFailure(failure, host);
}

/** Not every answer has the code before its words, which are then put as those with it are. */
function withCode({ code, message }: StdioError): string {
  return startFailureCode(code) === undefined || message.startsWith(code) ? message : `${code}: ${message}`;
}

// ---- The verbs --------------------------------------------------------------------------------------------------

export async function runProgramVerb(
  command: ProgramCommand,
  token: () => Promise<string>,
  input: AsyncIterable<Buffer>,
): Promise<Outcome> {
  const printer = new Printer();
  const session = sandboxOf(command, token).session(command.session);
  const say = async (answer: unknown, text: () => string | Uint8Array) => {
    await printer.print(command.isJson ? json(answer) : text());
  };
  switch (command.kind) {
    case "read":
      if (command.follows) return follow(printer, session, command.query, command.isJson);
      await readOnce(printer, session, command);
      break;
    case "write":
      await write(printer, session, command, input);
      break;
    case "wait": {
      const work = () => session.wait({ until: command.until, ...command.more });
      const answer = await asking(() => patiently("waiting for it", work(), asideToPerson));
      await say(answer, () => waitedFor(command.until, answer));
      if (answer.outcome !== "met" && !command.isJson) await printer.aside(waitWords(answer, command.more.timeoutMs));
      return printer.end(VERB_EXIT[answer.outcome]);
    }
    case "screen": {
      const answer = await askingSoon(() => session.screen(command.query));
      const ansi = typeof answer.ansi === "string" ? answer.ansi : undefined;
      const isText = command.query.format === undefined || command.query.format === "text";
      const rows = [...(answer.scrollback ?? []), ...(answer.lines ?? [])].map(
        (row) => `${cellText(row) === "" ? "" : printable(row)}\n`,
      );
      if (isText || command.isJson) await say(answer, () => rows.join(""));
      else await printer.print(ansi === undefined ? json(answer) : picture(ansi, answer.rows));
      break;
    }
    case "commands": {
      const answer = await askingSoon(() => session.commands(only({ incarnation: command.incarnation })));
      const list = answer.commands.map((one) => [
        cellText(one.startedAt).replace(/\.\d+Z$/, "Z"),
        one.endedAt === undefined ? "runs" : cellText(one.exit ?? ""),
        `${cellText(one.from)}-${cellText(one.to)}`,
        cellText(one.line),
      ]);
      await say(answer, () => table([["STARTED", "EXIT", "OUTPUT", "COMMAND"], ...list]));
      break;
    }
    case "signal": {
      const { signal, writer, incarnation } = command;
      await askingSoon(() => session.signal({ signal, ...only({ writer, incarnation }) }));
      if (command.isJson) await printer.print("{}\n");
    }
  }
  return printer.end();
}

const waitingFor = (waitMs = 0) => (waitMs > 0 ? "waiting for output" : "waiting for the server's answer");

/** What matched, or for the end the code, as `docker wait` prints it. */
function waitedFor(until: Until, { match, exit }: WaitAnswer): string {
  if (match !== undefined) return `${match.text}\n`;
  return "exit" in until && exit !== undefined ? `${exit.code}\n` : "";
}

function waitWords({ outcome, undecided, searchedTo }: WaitAnswer, timeoutMs = USUAL_WAIT_MS): string {
  if (undecided === true) {
    const next = searchedTo === undefined ? "" : `, with --from ${searchedTo}`;
    return `the output was not searched to its end, and it may be there: wait again${next}`;
  }
  if (outcome === "timeout") return `it did not come within ${timeoutMs / 1_000} s: --timeout says how long`;
  return outcome === "exited" ? "the process ended first" : "the process was lost";
}

async function readOnce(
  printer: Printer,
  session: SandboxSession,
  { query, isJson }: Extract<ProgramCommand, { kind: "read" }>,
): Promise<void> {
  // The bytes as they are, unless something else is asked for.
  const isBytes = !isJson && query.format === undefined;
  const ask = () => session.read(isBytes ? { ...query, format: "base64" } : query);
  const answer = await asking(() => patiently(waitingFor(query.waitMs), ask(), asideToPerson));
  if (isJson) {
    await printer.print(json(answer));
    return;
  }
  await printer.print(isBytes ? Buffer.from(answer.output, "base64") : answer.output);
  const { gap, from, lossy } = answer;
  if (lossy === true) await printer.aside("some bytes are not UTF-8: without --format they come as they are");
  const isFromStart = query.from === undefined && query.tail === undefined;
  if (gap !== undefined) await printer.aside(`${gap.to - gap.from} bytes are no longer held`);
  else if (isFromStart && from > 0) await printer.aside(`the first ${from} bytes are no longer held`);
  if (answer.next < (query.to ?? answer.end)) await printer.aside(`more: --from ${answer.next}`);
}

export async function follow(
  printer: Printer,
  session: SandboxSession,
  query: Extract<ProgramCommand, { kind: "read" }>["query"],
  isJson: boolean,
): Promise<Outcome> {
  const isBytes = !isJson && query.format === undefined;
  const { to: _, maxBytes: __, waitMs: ___, ...asked } = query;
  let code: number = EXIT.ok;
  return asking(async () => {
    for await (const event of session.follow(isBytes ? { ...asked, format: "base64" } : asked)) {
      if (isJson) await printer.print(`${safeJson(event)}\n`);
      else await printEvent(printer, event, isBytes);
      if (event.type === "exit") code = await followedTo(event.state, printer);
      if (printer.isBroken) break;
    }
    return printer.end(code);
  });
}

/** What following ends with: a process that was lost may have had more to say. */
export async function followedTo(state: State, printer: Printer): Promise<number> {
  if (state !== "lost") return EXIT.ok;
  await printer.aside("the process was lost");
  return EXIT.failed;
}

async function printEvent(printer: Printer, event: OutputEvent, isBytes: boolean): Promise<void> {
  if (event.type === "output") await printer.print(isBytes ? Buffer.from(event.output, "base64") : event.output);
  else if (event.type === "gap") await printer.aside(`${event.to - event.from} bytes of output were lost`);
}

async function write(
  printer: Printer,
  session: SandboxSession,
  { request, isJson }: Extract<ProgramCommand, { kind: "write" }>,
  input: AsyncIterable<Buffer>,
): Promise<void> {
  const { text, keys, paste, base64, enter, eof, ...rest } = request;
  const isGiven = [text, keys, paste, base64].some((one) => one !== undefined);
  const answers: unknown[] = [];
  const send = async (wish: typeof request) => {
    const words = "waiting for the process to read what was typed, and the server's answer";
    const answer = await asking(() => patiently(words, session.write(wish), asideToPerson));
    answers.push(answer);
    return answer;
  };
  if (isGiven || ((enter === true || eof === true) && isInputTyped())) await send(request);
  else {
    const ending = only({ enter, eof });
    let { at } = rest;
    let last: Buffer | undefined;
    // One piece behind: the last piece takes the ending along.
    for await (const piece of pieces(input)) {
      if (last !== undefined) at = moved(at, await send({ ...rest, ...only({ at }), base64: last.toString("base64") }));
      last = piece;
    }
    if (last !== undefined || Object.keys(ending).length > 0) {
      const end = last === undefined ? {} : { base64: last.toString("base64") };
      await send({ ...rest, ...only({ at }), ...end, ...ending });
    }
  }
  if (isJson) for (const answer of answers) await printer.print(json(answer));
}

/** Where the next piece begins, where that is told at all. */
const moved = (at: number | undefined, { to }: { to: number }) => (at === undefined ? undefined : to);

async function* pieces(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of input) {
    for (let at = 0; at < chunk.length; at += WRITE_BYTES) yield chunk.subarray(at, at + WRITE_BYTES);
  }
}

// ---- What they share ---------------------------------------------------------------------------------------------

export function json(value: unknown): string {
  return `${safeJson(value)}\n`;
}

/** Lines of a screen have no control characters; a server that says otherwise is not believed. */
function printable(row: string): string {
  return row.replace(/[\p{Cc}\u2028\u2029]/gu, " ");
}

/** On a terminal a screen of a program's own stays after the command: it is drawn on the person's, with the prompt below. */
function picture(ansi: string, rows: number): string {
  return tty.isatty(STDOUT) ? `${ansi.replace("\x1b[?47h", "\x1b[H\x1b[2J")}\x1b[?6l\x1b[${rows}H\r\n` : ansi;
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without undefined fields. */
export function only<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;
}
