// `ls` and `sessions`: list sessions, once or repeatedly.

import tty from "node:tty";
import { defined, isRecord } from "sandbox-stdio/core";
import type { CliCommand } from "../args/cli-command.ts";
import { onEndingSignal } from "../base/ignored-signals.ts";
import { CliError, EXIT, exitWith, type Outcome } from "../base/outcome.ts";
import { safeJson } from "../base/plain-text.ts";
import { Printer } from "../base/print.ts";
import { isTransfer } from "../base/session-names.ts";
import { RawTerminal, type TerminalStreams, terminalStreams } from "../base/tty.ts";
import { sessionTable } from "./session-table.ts";
import { entriesOf, listEverywhere, listSessions, runningOf } from "./sessions.ts";

const STDOUT = 1;
const WATCH_MS = 2_000;
/** Minimum interval per call: listing many sandboxes takes one each, and calls are rate limited. */
const CALL_MS = 250;
/** Width of a terminal that does not know it. */
const DEFAULT_COLUMNS = 80;
/** Cursor home, and erase below. */
const REDRAW = "\x1b[H\x1b[J";

/** Keys that end the watch; raw mode turns off the terminal's own handling. */
const KEYS: Readonly<Record<string, Outcome>> = {
  q: exitWith(EXIT.ok),
  Q: exitWith(EXIT.ok),
  "\x03": { kind: "signal", signal: "SIGINT" },
  "\x1c": { kind: "signal", signal: "SIGQUIT" },
};
const SUSPEND = "\x1a";

type ListCommand = Extract<CliCommand, { kind: "sessions" }>;

/** @throws {CliError} */
export async function list(command: ListCommand, token: () => Promise<string>): Promise<Outcome> {
  const printer = new Printer();
  if (!command.isWatched) {
    const { text, isEmpty, hidden } = await listOnce(command, await token());
    await printer.print(text);
    if (hidden > 0 && tty.isatty(STDOUT))
      await printer.notify(`${hidden} sessions of cp and forward are hidden; show them with --transfers`);
    if (isEmpty && tty.isatty(STDOUT)) await printer.notify("no running sessions; --all includes ended ones");
    return printer.end();
  }
  // Fail at once if the first attempt fails.
  const first = await listOnce(command, await token());
  const streams = terminalStreams();
  const clear = tty.isatty(STDOUT) ? REDRAW : "";
  const draw = (text: string) => printer.print(`${clear}${text}`);
  if (streams === undefined) return watch(command, token, first, draw, printer);
  const drawRaw = (text: string) => draw(text.replaceAll("\n", "\r\n"));
  return untilKey(streams, () => watch(command, token, first, drawRaw, printer));
}

async function watch(
  command: ListCommand,
  token: () => Promise<string>,
  first: Listing,
  draw: (text: string) => Promise<void>,
  printer: Printer,
): Promise<Outcome> {
  let seen: Pick<Listing, "text" | "calls"> = first;
  for (;;) {
    await draw(seen.text);
    if (printer.isBroken) return printer.end();
    const { calls } = seen;
    await new Promise((resolve) => setTimeout(resolve, Math.max(WATCH_MS, calls * CALL_MS)));
    seen = await token()
      .then((fresh) => listOnce(command, fresh))
      .catch((error: unknown) => {
        // Keep watching: the network may come back.
        if (!(error instanceof CliError)) throw error;
        return { text: `${error.message}\n`, calls: 1 };
      });
  }
}

/** Runs the work until it ends, or a key or signal ends it. Raw mode needs CR LF. */
async function untilKey(streams: TerminalStreams, work: () => Promise<Outcome>): Promise<Outcome> {
  const terminal = new RawTerminal(streams, () => "");
  let end: (outcome: Outcome) => void = () => undefined;
  const ended = new Promise<Outcome>((resolve) => {
    end = resolve;
  });
  const onKeys = (bytes: Buffer) => {
    for (const key of bytes.toString("latin1")) {
      const outcome = KEYS[key];
      if (outcome !== undefined) end(outcome);
      else if (key === SUSPEND) terminal.suspend();
    }
  };
  const ignoreSignals = onEndingSignal(process.env, (signal) => end({ kind: "signal", signal }));
  terminal.enter();
  streams.input.on("data", onKeys);
  try {
    return await Promise.race([work(), ended]);
  } finally {
    streams.input.off("data", onKeys).pause();
    terminal.leave();
    ignoreSignals();
  }
}

type Listing = {
  readonly text: string;
  /** HTTP calls that it took. */
  readonly calls: number;
  readonly isEmpty: boolean;
  /** Sessions of cp and forward that are left out. */
  readonly hidden: number;
};

async function listOnce(command: ListCommand, token: string): Promise<Listing> {
  const { endpoint, sandbox, isEverywhere, isJson, hasAll, hasTransfers = false } = command;
  // Without running sessions the server does not name the default sandbox, which may have ended ones.
  const everywhere = isEverywhere ? await listEverywhere(endpoint, token, hasAll ? sandbox : undefined) : undefined;
  const answer =
    everywhere === undefined ? await listSessions(endpoint, sandbox, token) : { sessions: everywhere.sessions };
  const all = hasAll ? entriesOf(answer) : runningOf(answer);
  const sessions = all.filter((entry) => hasTransfers || !isTransfer(entry));
  const shown = isRecord(answer) ? { ...answer, sessions } : answer;
  // Touching process.stdout makes a pipe non-blocking for every process that shares it.
  const columns = tty.isatty(STDOUT) ? process.stdout.columns || DEFAULT_COLUMNS : undefined;
  const options = { hasAll, isEverywhere: everywhere !== undefined, ...defined({ columns }) };
  return {
    text: isJson ? `${safeJson(shown, 2)}\n` : sessionTable(shown, options),
    calls: 1 + (everywhere?.sandboxes ?? 0),
    isEmpty: !isJson && !hasAll && all.length === 0,
    hidden: isJson ? 0 : all.length - sessions.length,
  };
}
