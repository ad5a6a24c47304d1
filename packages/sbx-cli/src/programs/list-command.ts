// `ls` and `sessions`: list sessions, once or over and over.

import tty from "node:tty";
import { isRecord } from "sandbox-stdio/core";
import type { CliCommand } from "../args/cli-command.ts";
import { CliError, type Outcome } from "../base/outcome.ts";
import { isTransfer } from "../base/own-names.ts";
import { safeJson } from "../base/plain-text.ts";
import { Printer } from "../base/print.ts";
import { terminalStreams } from "../base/tty.ts";
import { sessionTable } from "./session-table.ts";
import { entriesOf, listEverywhere, listSessions, runningOf } from "./sessions.ts";
import { untilKey } from "./watch-keys.ts";

const STDOUT = 1;
const WATCH_MS = 2_000;
/** A look at many sandboxes costs a call for each, and calls are limited. */
const CALL_MS = 250;
/** Of a terminal that does not know its width. */
const USUAL_COLUMNS = 80;
/** Home, and clear to the end. */
const REDRAW = "\x1b[H\x1b[J";

type ListCommand = Extract<CliCommand, { kind: "sessions" }>;

/** @throws {CliError} */
export async function list(command: ListCommand, token: () => Promise<string>): Promise<Outcome> {
  const printer = new Printer();
  if (!command.isWatched) {
    const { text, isEmpty, left } = await look(command, await token());
    await printer.print(text);
    if (left > 0 && tty.isatty(STDOUT))
      await printer.aside(`${left} that only carry files or connections are left out: --transfers shows them`);
    if (isEmpty && tty.isatty(STDOUT)) await printer.aside("nothing runs: --all shows what has ended");
    return printer.end();
  }
  // What never worked is told at once.
  const first = await look(command, await token());
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
  first: Look,
  draw: (text: string) => Promise<void>,
  printer: Printer,
): Promise<Outcome> {
  let seen: Pick<Look, "text" | "calls"> = first;
  for (;;) {
    await draw(seen.text);
    if (printer.isBroken) return printer.end();
    const { calls } = seen;
    await new Promise((resolve) => setTimeout(resolve, Math.max(WATCH_MS, calls * CALL_MS)));
    seen = await token()
      .then((fresh) => look(command, fresh))
      .catch((error: unknown) => {
        // A network that is away comes back.
        if (!(error instanceof CliError)) throw error;
        return { text: `${error.message}\n`, calls: 1 };
      });
  }
}

type Look = { readonly text: string; readonly calls: number; readonly isEmpty: boolean; readonly left: number };

async function look(command: ListCommand, token: string): Promise<Look> {
  const { endpoint, sandbox, isEverywhere, isJson, hasAll, hasTransfers = false } = command;
  // Ended sessions of the usual sandbox are shown even if nothing runs there.
  const everywhere = isEverywhere ? await listEverywhere(endpoint, token, hasAll ? sandbox : undefined) : undefined;
  const answer =
    everywhere === undefined ? await listSessions(endpoint, sandbox, token) : { sessions: everywhere.sessions };
  const all = hasAll ? entriesOf(answer) : runningOf(answer);
  const sessions = all.filter((entry) => hasTransfers || !isTransfer(entry));
  const shown = isRecord(answer) ? { ...answer, sessions } : answer;
  // To look at process.stdout makes a pipe non-blocking, for the others that have it, too.
  const width = tty.isatty(STDOUT) ? { columns: process.stdout.columns || USUAL_COLUMNS } : {};
  const options = { hasAll, isEverywhere: everywhere !== undefined, ...width };
  return {
    text: isJson ? `${safeJson(shown, 2)}\n` : sessionTable(shown, options),
    calls: 1 + (everywhere?.sandboxes ?? 0),
    isEmpty: !isJson && !hasAll && all.length === 0,
    left: isJson ? 0 : all.length - sessions.length,
  };
}
