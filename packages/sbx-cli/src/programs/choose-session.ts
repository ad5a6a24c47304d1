// `attach` without a session: lists the running sessions and asks a person which is meant. A script gets an error.

import fs from "node:fs";
import { isRecord } from "sandbox-stdio/core";
import type { AttachRequest } from "../args/cli-command.ts";
import { firstLine } from "../args/ticket.ts";
import { CliError, usage } from "../base/outcome.ts";
import { isTransfer } from "../base/session-names.ts";
import { cellText, table } from "../base/table.ts";
import { age } from "./session-table.ts";
import { listSessions, runningOf } from "./sessions.ts";

const STDERR = 2;

/** @returns The request with the chosen session; undefined if none was chosen. @throws {CliError} */
export async function chooseSession(
  request: AttachRequest,
  token: () => Promise<string>,
  isTerminal: boolean,
): Promise<AttachRequest | undefined> {
  const listed = await listSessions(request.endpoint, request.sandbox, await token());
  const sessions = runningOf(listed).filter((entry) => !isTransfer(entry));
  const names = sessions.map(({ session }) => cellText(session));
  if (!isTerminal) {
    const list = names.length === 0 ? "none is running" : `running: ${names.join(", ")}`;
    throw usage(`which session of sandbox ${request.sandbox}? Give --session NAME; ${list}`);
  }
  // Start a shell, as without `attach`.
  if (names.length === 0) return request;
  const rows = sessions.map((entry, i) => [
    String(i + 1),
    cellText(entry.session),
    `${cellText(entry.clients)} clients`,
    age(cellText(entry.createdAt)),
    isRecord(entry) ? cellText([entry.cmd, entry.args].flat().filter(Boolean).join(" ")) : "",
  ]);
  fs.writeSync(STDERR, `${table(rows)}attach to which session? (1 to ${names.length}, n: new shell, Enter: cancel) `);
  const answer = (await firstLine()).trim();
  if (answer === "") return undefined;
  if (answer === "n") return request;
  const chosen = names.includes(answer) ? answer : names[Number(answer) - 1];
  if (chosen === undefined) throw new CliError(`no session "${answer}"`);
  // If it ends meanwhile, read its log instead of replacing it.
  return { ...request, session: chosen, readsEnded: true };
}
