// Creates, lists and revokes share links over HTTP.

import { isRecord, quote } from "sandbox-stdio/core";
import type { ShareCommand } from "../args/cli-command.ts";
import { CliError } from "../base/outcome.ts";
import { safeJson } from "../base/plain-text.ts";
import { cellText, table } from "../base/table.ts";
import { fetchJson, fetchText } from "../connection/api-call.ts";

/** Text for standard output, and a notice beside it. */
export type SharingResult = { readonly out: string; readonly notice?: string };

/** @throws {CliError} */
export async function runSharing(command: ShareCommand, token: string): Promise<SharingResult> {
  const { endpoint, sandbox, session } = command;
  const path = `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions/${encodeURIComponent(session)}`;
  switch (command.kind) {
    case "share": {
      const { role, seconds, guests, maxClients, isJson } = command;
      // JSON omits undefined fields, which get the server's defaults.
      const body = { role, guests, seconds, maxClients };
      const answer = await fetchJson(endpoint, `${path}/share`, token, { method: "POST", body });
      return isJson ? { out: json(answer) } : describeShare(answer, command);
    }
    case "tickets": {
      const answer = await fetchJson(endpoint, `${path}/tickets`, token);
      return { out: command.isJson ? json(answer) : ticketTable(answer) };
    }
    case "revoke":
      await fetchText(endpoint, `${path}/tickets/${encodeURIComponent(command.id)}`, token, { method: "DELETE" });
      return { out: "", notice: `link ${command.id} is revoked, and everyone who used it is disconnected` };
  }
}

/** Prints the link alone to standard output, for pipes. */
function describeShare(answer: unknown, command: Extract<ShareCommand, { kind: "share" }>): SharingResult {
  if (!isRecord(answer) || typeof answer.url !== "string") throw new CliError("the server returned no link");
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
  const who = guests ? "anyone with the link" : "anyone with the link and a login";
  const may = role === "driver" ? "type" : "view";
  const notice = `${who} may ${may} until ${cellText(answer.expiresAt)}; revoke the link with: ${revoke.map(quote).join(" ")}`;
  return { out: `${cellText(answer.url)}\n`, notice };
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
  return table([["ID", "ROLE", "GUESTS", "EXPIRES", "CREATED BY"], ...rows]);
}

function json(answer: unknown): string {
  return `${safeJson(answer, 2)}\n`;
}
