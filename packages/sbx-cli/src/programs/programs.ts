// The verbs over HTTP: read, write, wait, ask, screen, commands, signal. `run` is in attach/run-program.ts.

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
  type WriteRequest,
} from "sandbox-stdio/client";
import { defined } from "sandbox-stdio/core";
import type { ProgramCommand, Target } from "../args/cli-command.ts";
import { describeFailure, fetchFailure } from "../base/network-errors.ts";
import { CliError, EXIT, type Outcome } from "../base/outcome.ts";
import { safeJson } from "../base/plain-text.ts";
import { notifyPerson, Printer } from "../base/print.ts";
import { isOtherServer, plainReason, startFailureCode } from "../base/server-errors.ts";
import { withSlowNotice } from "../base/slow-notice.ts";
import { cellText, table } from "../base/table.ts";
import { isInputTyped } from "../base/tty.ts";
import { fetchUnlessSilent } from "../connection/silence.ts";

/** Exit codes of `wait`. */
const VERB_EXIT = { met: 0, timeout: EXIT.timeout, exited: 3, lost: 4 } as const;

/** The server's default. */
const DEFAULT_WAIT_MS = 30_000;
/** Bytes of standard input per call: the server accepts 64 KiB, encoded. */
const WRITE_BYTES = 48 * 1024;
const STDOUT = 1;
const HTTP_BAD_REQUEST = 400;
const HTTP_UNAUTHENTICATED = 401;

/** @param retries Of calls that may be repeated; absent: the library's default. */
export function sandboxOf(
  { endpoint, sandbox: name }: Target,
  token: () => Promise<string>,
  retries?: number,
): Sandbox {
  return sandbox(endpoint.httpBase, { sandbox: name, token, fetch: fetchUnlessSilent(), ...defined({ retries }) });
}

/** {@link apiCall} with a notice if the server is slow. */
export function quickApiCall<T>(work: () => Promise<T>): Promise<T> {
  return apiCall(() => withSlowNotice("waiting for the server", work(), notifyPerson));
}

/** Runs HTTP calls of the library, and maps their errors. @throws {CliError} With the exit code for the failure. */
export async function apiCall<T>(work: () => Promise<T>): Promise<T> {
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

/** Whether the answer is not from this server's API. */
export function isNoServer({ status = 0, code, message }: StdioError): boolean {
  return isOtherServer(status, /^http_[234]/.test(code) ? undefined : message);
}

/** The same message as other verbs. */
function unreachableWords({ message, cause }: StdioError): string | undefined {
  const failure = fetchFailure(cause);
  const host = /^No answer from (\S+): /.exec(message)?.[1];
  return failure === undefined || host === undefined ? undefined : describeFailure(failure, host);
}

/** The message with the code in front, which not every answer has. */
function withCode({ code, message }: StdioError): string {
  return startFailureCode(code) === undefined || message.startsWith(code) ? message : `${code}: ${message}`;
}

// ---- The verbs --------------------------------------------------------------------------------------------------

export async function runVerb(
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
      const answer = await apiCall(() => withSlowNotice("waiting for the condition", work(), notifyPerson));
      await say(answer, () => waitedFor(command.until, answer));
      if (answer.outcome !== "met" && !command.isJson)
        await printer.notify(unmetMessage(answer, command.more.timeoutMs));
      return printer.end(VERB_EXIT[answer.outcome]);
    }
    case "ask": {
      const answer = await quickApiCall(() => session.keyboard({ do: "ask", ...command.request }));
      await say(answer, () => `${answer.ask}\n`);
      break;
    }
    case "screen": {
      const answer = await quickApiCall(() => session.screen(command.query));
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
      const answer = await quickApiCall(() => session.commands(defined({ incarnation: command.incarnation })));
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
      await quickApiCall(() => session.signal({ signal, ...defined({ writer, incarnation }) }));
      if (command.isJson) await printer.print("{}\n");
    }
  }
  return printer.end();
}

const waitingFor = (waitMs = 0) => (waitMs > 0 ? "waiting for output" : "waiting for the server");

/** The match, or the exit code as `docker wait` prints it. */
function waitedFor(until: Until, { match, exit, answer }: WaitAnswer): string {
  if (answer !== undefined) return `${answer}\n`;
  if (match !== undefined) return `${match.text}\n`;
  return "exit" in until && exit !== undefined ? `${exit.code}\n` : "";
}

function unmetMessage({ outcome, undecided, searchedTo }: WaitAnswer, timeoutMs = DEFAULT_WAIT_MS): string {
  if (undecided === true) {
    const next = searchedTo === undefined ? "" : `, with --from ${searchedTo}`;
    return `the output was not searched completely; wait again${next}`;
  }
  if (outcome === "timeout") return `timed out after ${timeoutMs / 1_000} s; change it with --timeout`;
  return outcome === "exited" ? "the process ended first" : "the process was lost";
}

async function readOnce(
  printer: Printer,
  session: SandboxSession,
  { query, isJson }: Extract<ProgramCommand, { kind: "read" }>,
): Promise<void> {
  // Raw bytes by default.
  const isBytes = !isJson && query.format === undefined;
  const ask = () => session.read(isBytes ? { ...query, format: "base64" } : query);
  const answer = await apiCall(() => withSlowNotice(waitingFor(query.waitMs), ask(), notifyPerson));
  if (isJson) {
    await printer.print(json(answer));
    return;
  }
  await printer.print(isBytes ? Buffer.from(answer.output, "base64") : answer.output);
  const { gap, from, lossy } = answer;
  if (lossy === true) await printer.notify("some bytes are not UTF-8; omit --format for the raw bytes");
  const isFromStart = query.from === undefined && query.tail === undefined;
  if (gap !== undefined) await printer.notify(`${gap.to - gap.from} bytes are no longer available`);
  else if (isFromStart && from > 0) await printer.notify(`the first ${from} bytes are no longer available`);
  if (answer.next < (query.to ?? answer.end)) await printer.notify(`more output follows: use --from ${answer.next}`);
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
  return apiCall(async () => {
    for await (const event of session.follow(isBytes ? { ...asked, format: "base64" } : asked)) {
      if (isJson) await printer.print(`${safeJson(event)}\n`);
      else await printEvent(printer, event, isBytes);
      if (event.type === "exit") code = await followedTo(event.state, printer);
      if (printer.isBroken) break;
    }
    return printer.end(code);
  });
}

/** The exit code after following the output. If the process was lost, output may be missing. */
export async function followedTo(state: State, printer: Printer): Promise<number> {
  if (state !== "lost") return EXIT.ok;
  await printer.notify("the process was lost");
  return EXIT.failed;
}

async function printEvent(printer: Printer, event: OutputEvent, isBytes: boolean): Promise<void> {
  if (event.type === "output") await printer.print(isBytes ? Buffer.from(event.output, "base64") : event.output);
  else if (event.type === "gap") await printer.notify(`${event.to - event.from} bytes of output were lost`);
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
  const send = async (body: WriteRequest) => {
    const words = "waiting for the process to read the input";
    const answer = await apiCall(() => withSlowNotice(words, session.write(body), notifyPerson));
    answers.push(answer);
    return answer;
  };
  if (isGiven || ((enter === true || eof === true) && isInputTyped())) await send(request);
  else {
    const ending = defined({ enter, eof });
    let { at } = rest;
    let last: Buffer | undefined;
    // Each piece is sent after the next one is read, so that the last one can carry enter and eof.
    for await (const piece of pieces(input)) {
      if (last !== undefined)
        at = moved(at, await send({ ...rest, ...defined({ at }), base64: last.toString("base64") }));
      last = piece;
    }
    if (last !== undefined || Object.keys(ending).length > 0) {
      await send({ ...rest, ...defined({ at, base64: last?.toString("base64") }), ...ending });
    }
  }
  if (isJson) for (const answer of answers) await printer.print(json(answer));
}

/** The offset of the next piece, if offsets are used. */
const moved = (at: number | undefined, { to }: { to: number }) => (at === undefined ? undefined : to);

async function* pieces(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of input) {
    for (let at = 0; at < chunk.length; at += WRITE_BYTES) yield chunk.subarray(at, at + WRITE_BYTES);
  }
}

// ---- Shared ------------------------------------------------------------------------------------------------------

export function json(value: unknown): string {
  return `${safeJson(value)}\n`;
}

/** A server's screen rows should have no control characters; make sure. */
function printable(row: string): string {
  return row.replace(/[\p{Cc}\u2028\u2029]/gu, " ");
}

/** On a terminal the alternate screen would vanish after the command: draw it on the main screen, above the prompt. */
function picture(ansi: string, rows: number): string {
  return tty.isatty(STDOUT) ? `${ansi.replace("\x1b[?47h", "\x1b[H\x1b[2J")}\x1b[?6l\x1b[${rows}H\r\n` : ansi;
}
