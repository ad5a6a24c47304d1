// `attach` alone: lists the running sessions, and asks which of them is meant. A person is asked; a script is told.

import fs from "node:fs";
import { isRecord } from "sandbox-stdio/core";
import type { AttachWish } from "../args/cli-command.ts";
import { firstLine } from "../args/ticket.ts";
import { CliError, usage } from "../base/outcome.ts";
import { isTransfer } from "../base/own-names.ts";
import { cellText, table } from "../base/table.ts";
import { age } from "./session-table.ts";
import { listSessions, runningOf } from "./sessions.ts";

const STDERR = 2;

/** @returns The wish with the session that was chosen; undefined where none was. @throws {CliError} */
export async function offer(
  wish: AttachWish,
  token: () => Promise<string>,
  isTerminal: boolean,
): Promise<AttachWish | undefined> {
  const listed = await listSessions(wish.endpoint, wish.sandbox, await token());
  const sessions = runningOf(listed).filter((entry) => !isTransfer(entry));
  const names = sessions.map(({ session }) => cellText(session));
  if (!isTerminal) {
    const list = names.length === 0 ? "none runs" : `there are ${names.join(", ")}`;
    throw usage(`attach to which session of ${wish.sandbox}? Name it with --session: ${list}`);
  }
  // A new shell, as without the word `attach`.
  if (names.length === 0) return wish;
  const rows = sessions.map((entry, i) => [
    String(i + 1),
    cellText(entry.session),
    `${cellText(entry.clients)} here`,
    age(cellText(entry.createdAt)),
    isRecord(entry) ? cellText([entry.cmd, entry.args].flat().filter(Boolean).join(" ")) : "",
  ]);
  fs.writeSync(STDERR, `${table(rows)}attach to which? (1 to ${names.length}, n: a new shell, Enter: none) `);
  const answer = (await firstLine()).trim();
  if (answer === "") return undefined;
  if (answer === "n") return wish;
  const chosen = names.includes(answer) ? answer : names[Number(answer) - 1];
  if (chosen === undefined) throw new CliError(`"${answer}" is none of them`);
  // It ran just now: if it ends meanwhile, its log is what is wanted.
  return { ...wish, session: chosen, readsEnded: true };
}
