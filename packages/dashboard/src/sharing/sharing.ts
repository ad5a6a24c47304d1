// Share links and attach tickets over HTTP. Never throws.

import { isRecord, type Role } from "sandbox-stdio/core";
import { type Answer, callApi, textOf, unreadable } from "../connection/api.ts";
import { pathOf, type SessionTarget } from "../connection/session-target.ts";

export type ShareRequest = {
  readonly role: Role;
  readonly seconds: number;
  readonly guests: boolean;
  /** The link gives the recording of its process, too. */
  readonly recording?: true;
};

export type Share = { readonly id: string; readonly url: string; readonly expiresAt: string };

/** A valid share link. */
export type TicketEntry = {
  readonly id: string;
  readonly role: string;
  readonly isForGuests: boolean;
  readonly hasRecording: boolean;
  readonly expiresAt: string;
};

export async function share(target: SessionTarget, request: ShareRequest): Promise<Answer<Share>> {
  const answer = await callApi("POST", `${pathOf(target)}/share`, request);
  if (!answer.ok) return answer;
  const [id, url, expiresAt] = ["id", "url", "expiresAt"].map((field) => textOf(answer.value, field));
  if (id === undefined || url === undefined || expiresAt === undefined) return unreadable();
  return { ok: true, value: { id, url, expiresAt } };
}

export async function listTickets(target: SessionTarget): Promise<Answer<readonly TicketEntry[]>> {
  const answer = await callApi("GET", `${pathOf(target)}/tickets`);
  if (!answer.ok) return answer;
  const list = isRecord(answer.value) ? answer.value.tickets : undefined;
  if (!Array.isArray(list)) return unreadable();
  return { ok: true, value: list.map(entryOf).filter((entry) => entry !== undefined) };
}

export async function revokeTicket(target: SessionTarget, id: string): Promise<Answer<undefined>> {
  const answer = await callApi("DELETE", `${pathOf(target)}/tickets/${encodeURIComponent(id)}`);
  return answer.ok ? { ok: true, value: undefined } : answer;
}

/** A ticket for one attach within a minute, for the logged-in person. */
export async function attachTicket({ sandbox, session }: SessionTarget, role: Role): Promise<Answer<string>> {
  const answer = await callApi("POST", "/api/tickets", { sandbox, session, role });
  if (!answer.ok) return answer;
  const ticket = textOf(answer.value, "ticket");
  return ticket === undefined ? unreadable() : { ok: true, value: ticket };
}

function entryOf(value: unknown): TicketEntry | undefined {
  const id = textOf(value, "id");
  if (id === undefined || !isRecord(value) || value.revoked === true) return undefined;
  const [role = "viewer", expiresAt = ""] = [textOf(value, "role"), textOf(value, "expiresAt")];
  return { id, role, isForGuests: value.guests === true, hasRecording: value.recording === true, expiresAt };
}
