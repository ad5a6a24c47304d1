// The commands that share a session, over HTTP: a link, the list of links, taking one back.

import { isRecord, quote } from "sandbox-stdio/core";
import type { ShareCommand } from "../args/cli-command.ts";
import { CliError } from "../base/outcome.ts";
import { safeJson } from "../base/plain-text.ts";
import { cellText, table } from "../base/table.ts";
import { ask, askJson } from "../connection/api-call.ts";

/** The text for standard output, and a line for a person beside it. */
export type Said = { readonly out: string; readonly aside?: string };

/** @throws {CliError} */
export async function runSharing(command: ShareCommand, token: string): Promise<Said> {
  const { endpoint, sandbox, session } = command;
  const path = `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions/${encodeURIComponent(session)}`;
  switch (command.kind) {
    case "share": {
      const { role, seconds, guests, maxClients, isJson } = command;
      // JSON leaves undefined fields out: the server has its own defaults.
      const wish = { role, guests, seconds, maxClients };
      const answer = await askJson(endpoint, `${path}/share`, token, { method: "POST", body: wish });
      return isJson ? { out: json(answer) } : describeShare(answer, command);
    }
    case "tickets": {
      const answer = await askJson(endpoint, `${path}/tickets`, token);
      return { out: command.isJson ? json(answer) : ticketTable(answer) };
    }
    case "revoke":
      await ask(endpoint, `${path}/tickets/${encodeURIComponent(command.id)}`, token, { method: "DELETE" });
      return { out: "", aside: `link ${command.id} is taken back: whoever came by it is out` };
  }
}

/** The link alone on standard output: for a pipe to take. */
function describeShare(answer: unknown, command: Extract<ShareCommand, { kind: "share" }>): Said {
  if (!isRecord(answer) || typeof answer.url !== "string") throw new CliError("the server gave no link");
  const { endpoint, sandbox, session, role, guests } = command;
  const revoke = [
    "sbx-stdio",
    "revoke",
    endpoint.typed,
    cellText(answer.id),
    "--sandbox",
    sandbox,
    "--session",
    session,
  ];
  const who = guests ? "whoever has it" : "whoever has it and logs in";
  const may = role === "driver" ? "type" : "look on";
  const aside = `until ${cellText(answer.expiresAt)} ${who} may ${may}; to take it back: ${revoke.map(quote).join(" ")}`;
  return { out: `${cellText(answer.url)}\n`, aside };
}

function ticketTable(answer: unknown): string {
  const tickets = isRecord(answer) && Array.isArray(answer.tickets) ? answer.tickets.filter(isRecord) : [];
  const rows = tickets.map(({ id, role, guests, expiresAt, maker }) => [
    cellText(id),
    cellText(role),
    guests === true ? "yes" : "no",
    cellText(expiresAt).replace(/\.\d+Z$/, "Z"),
    cellText(maker),
  ]);
  return table([["ID", "ROLE", "GUESTS", "GOOD UNTIL", "MADE BY"], ...rows]);
}

function json(answer: unknown): string {
  return `${safeJson(answer, 2)}\n`;
}
