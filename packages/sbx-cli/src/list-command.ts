// `ls` and `sessions`: list sessions, once or over and over.

import tty from "node:tty";
import { isRecord } from "sandbox-stdio/core";
import type { CliCommand } from "./cli-command.ts";
import { CliError, type Outcome } from "./outcome.ts";
import { safeJson } from "./plain-text.ts";
import { Printer } from "./print.ts";
import { sessionTable } from "./session-table.ts";
import { entriesOf, listEverywhere, listSessions, runningOf } from "./sessions.ts";

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
    const { text, isEmpty } = await look(command, await token());
    await printer.print(text);
    if (isEmpty && tty.isatty(STDOUT)) await printer.aside("nothing runs: --all shows what has ended");
    return printer.end();
  }
  const clear = tty.isatty(STDOUT) ? REDRAW : "";
  let hasSeen = false;
  while (!printer.isBroken) {
    const { text, calls } = await look(command, await token()).catch((error: unknown) => {
      // A network that is away comes back; what never worked is told at once.
      if (!hasSeen || !(error instanceof CliError)) throw error;
      return { text: `${error.message}\n`, calls: 1 };
    });
    hasSeen = true;
    await printer.print(`${clear}${text}`);
    await new Promise((resolve) => setTimeout(resolve, Math.max(WATCH_MS, calls * CALL_MS)));
  }
  return printer.end();
}

type Look = { readonly text: string; readonly calls: number; readonly isEmpty: boolean };

async function look({ endpoint, sandbox, isEverywhere, isJson, hasAll }: ListCommand, token: string): Promise<Look> {
  // Ended sessions of the usual sandbox are shown even if nothing runs there.
  const everywhere = isEverywhere ? await listEverywhere(endpoint, token, hasAll ? sandbox : undefined) : undefined;
  const answer =
    everywhere === undefined ? await listSessions(endpoint, sandbox, token) : { sessions: everywhere.sessions };
  const shown = hasAll || !isRecord(answer) ? answer : { ...answer, sessions: runningOf(answer) };
  // To look at process.stdout makes a pipe non-blocking, for the others that have it, too.
  const width = tty.isatty(STDOUT) ? { columns: process.stdout.columns || USUAL_COLUMNS } : {};
  const options = { hasAll, isEverywhere: everywhere !== undefined, ...width };
  return {
    text: isJson ? `${safeJson(shown, 2)}\n` : sessionTable(answer, options),
    calls: 1 + (everywhere?.sandboxes ?? 0),
    isEmpty: !isJson && !hasAll && entriesOf(answer).every(({ state }) => state !== "running"),
  };
}
