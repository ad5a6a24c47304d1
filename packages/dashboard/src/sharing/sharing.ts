// The server's routes for tickets: a link that shares a session, the list of links, taking one back; and one for this person
// alone, to attach with. Never throws.

import { isRecord, type Role } from "sandbox-stdio/core";
import { type Answer, ask, textOf, unreadable } from "../connection/answers.ts";
import { type Place, pathOf } from "../connection/place.ts";

export type ShareWish = { readonly role: Role; readonly seconds: number; readonly guests: boolean };

export type Share = { readonly id: string; readonly url: string; readonly expiresAt: string };

/** A ticket that was made and is good still. */
export type TicketEntry = {
  readonly id: string;
  readonly role: string;
  readonly isForGuests: boolean;
  readonly expiresAt: string;
};

export async function share(place: Place, wish: ShareWish): Promise<Answer<Share>> {
  const answer = await ask("POST", `${pathOf(place)}/share`, wish);
  if (!answer.ok) return answer;
  const [id, url, expiresAt] = ["id", "url", "expiresAt"].map((field) => textOf(answer.value, field));
  if (id === undefined || url === undefined || expiresAt === undefined) return unreadable();
  return { ok: true, value: { id, url, expiresAt } };
}

export async function listTickets(place: Place): Promise<Answer<readonly TicketEntry[]>> {
  const answer = await ask("GET", `${pathOf(place)}/tickets`);
  if (!answer.ok) return answer;
  const list = isRecord(answer.value) ? answer.value.tickets : undefined;
  if (!Array.isArray(list)) return unreadable();
  return { ok: true, value: list.map(entryOf).filter((entry) => entry !== undefined) };
}

export async function revokeTicket(place: Place, id: string): Promise<Answer<undefined>> {
  const answer = await ask("DELETE", `${pathOf(place)}/tickets/${encodeURIComponent(id)}`);
  return answer.ok ? { ok: true, value: undefined } : answer;
}

/** A ticket that counts once, for a minute, for the person who is logged in here. */
export async function attachTicket({ sandbox, session }: Place, role: Role): Promise<Answer<string>> {
  const answer = await ask("POST", "/api/tickets", { sandbox, session, role });
  if (!answer.ok) return answer;
  const ticket = textOf(answer.value, "ticket");
  return ticket === undefined ? unreadable() : { ok: true, value: ticket };
}

function entryOf(value: unknown): TicketEntry | undefined {
  const id = textOf(value, "id");
  if (id === undefined || !isRecord(value) || value.revoked === true) return undefined;
  const [role = "viewer", expiresAt = ""] = [textOf(value, "role"), textOf(value, "expiresAt")];
  return { id, role, isForGuests: value.guests === true, expiresAt };
}
