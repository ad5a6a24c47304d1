// What opens a preview: a ticket in an address, once and soon, and then a pass in the cookie of the preview's own origin. Both are
// sealed, and name one port of one sandbox.

import { hash } from "node:crypto";
import { defined } from "sandbox-stdio/core";
import { cookieName, setCookie } from "../auth/cookie.ts";
import type { EntrySettings } from "../auth/entry-settings.ts";
import type { Identity, OpaqueToken } from "../auth/identity.ts";
import type { Tenant } from "../auth/names.ts";
import { openText, sealText } from "../auth/sealed-text.ts";
import { ticketId } from "../auth/ticket.ts";
import { type RevocableGrant, revocableOf } from "../limits/revocation.ts";
import { AuthFault } from "../refusal/fault.ts";

export type PreviewPlace = { readonly tenant: Tenant; readonly sandbox: string; readonly port: number };

/** The right to look at one port of one sandbox. */
export type PreviewPass = PreviewPlace & {
  readonly id: string;
  readonly subject: string;
  readonly isAdmin: boolean;
  /** What it rests on: ended with any part of that. */
  readonly grant: RevocableGrant;
  /** The person's id in the words of the Project Service, where it was asked. */
  readonly user?: string;
  /** The person's token, where its issuer has to be asked about it. */
  readonly opaque?: OpaqueToken;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
};

export type PreviewTicket = {
  readonly pass: PreviewPass;
  /** Where it leads: begins with a slash. */
  readonly path: string;
  readonly expiresAtMs: number;
};

type Secrets = Pick<EntrySettings, "publicOrigin" | "sessionSecret">;

const [TICKET, PASS] = ["p", "v"];
const TICKET_MS = 60_000;
/** Afterwards a page that is loaded gets another, from who is still logged in. */
const PASS_MS = 3_600_000;
/** An ended pass opens nothing, and says where to get another. */
const COOKIE_SECONDS = 7 * 24 * 3600;
const LABEL_CHARACTERS = 40;

/** A preview's name in its host: another one for each port, sandbox and tenant. */
export function labelOf({ tenant, sandbox, port }: PreviewPlace): string {
  const { issuer, tenantClaim, tenantValue } = tenant;
  // JSON quotes every part: no choice of values moves a boundary between two of them.
  const parts = JSON.stringify(["preview", issuer, tenantClaim, tenantValue, sandbox, port]);
  return hash("sha256", parts).slice(0, LABEL_CHARACTERS);
}

/** @param user As the Project Service says it, if it was asked. */
export function passOf(identity: Identity, sandbox: string, port: number, user: string | undefined): PreviewPass {
  const { issuer, tenantClaim, tenantValue, subject, scopes, opaque, expiresAt } = identity;
  return {
    ...{ tenant: { issuer, tenantClaim, tenantValue }, sandbox, port, id: ticketId(), subject },
    isAdmin: scopes.has("sandbox:admin"),
    grant: revocableOf(identity),
    ...defined({ user, opaque }),
    expiresAtMs: Math.min(expiresAt * 1000, Date.now() + PASS_MS),
  };
}

export function sealPreviewTicket(pass: PreviewPass, path: string, { sessionSecret }: Secrets): Promise<string> {
  const ticket: PreviewTicket = { pass, path, expiresAtMs: Date.now() + TICKET_MS };
  return sealText(TICKET, ticket, sessionSecret);
}

/** @throws {AuthFault} `bad_ticket`, `ticket_expired`. */
export async function openPreviewTicket(
  text: string,
  label: string,
  { sessionSecret }: Secrets,
): Promise<PreviewTicket> {
  const ticket = await openText<PreviewTicket>(TICKET, text, sessionSecret);
  if (ticket === undefined) throw new AuthFault("bad_ticket", "The ticket is not one of this server's");
  if (labelOf(ticket.pass) !== label) throw new AuthFault("wrong_ticket", "The ticket is for another preview");
  if (ticket.expiresAtMs <= Date.now()) throw new AuthFault("ticket_expired", "The ticket has expired");
  return ticket;
}

export function passCookieName({ publicOrigin }: Pick<Secrets, "publicOrigin">): string {
  return cookieName("sbx_preview", publicOrigin);
}

/** The `Set-Cookie` value that lets a browser in. */
export async function passCookie(pass: PreviewPass, settings: Secrets): Promise<string> {
  const value = await sealText(PASS, pass, settings.sessionSecret);
  return setCookie(passCookieName(settings), value, COOKIE_SECONDS, settings.publicOrigin);
}

/** @returns The pass of a cookie, also one that has ended; undefined for none, or one of another preview. */
export async function openPass(
  value: string | undefined,
  label: string,
  { sessionSecret }: Secrets,
): Promise<PreviewPass | undefined> {
  const pass = value === undefined ? undefined : await openText<PreviewPass>(PASS, value, sessionSecret);
  return pass !== undefined && labelOf(pass) === label ? pass : undefined;
}
