// Tickets: texts that open one session and nothing else, for any bearer. Sealed with authenticated encryption, so that they
// can be neither made nor read anywhere but here. The session knows whether one was used or revoked.

import { AuthFault } from "../refusal/fault.ts";
import type { OpaqueToken } from "./identity.ts";
import type { Tenant } from "./names.ts";
import { openText, sealText } from "./sealed-text.ts";

export type Role = "driver" | "viewer";

export interface TicketTarget {
  readonly tenant: Tenant;
  readonly sandbox: string;
  readonly session: string;
  /** The most that it may be used for. */
  readonly role: Role;
}

interface TicketBase extends TicketTarget {
  readonly id: string;
  /** The person whose token made it. */
  readonly maker: string;
  /** The id of that token, where it has one. */
  readonly makerToken?: string;
  /** When that token was issued, in seconds since 1970, where it says so. */
  readonly makerIssuedAt?: number;
  /** The maker's id in the words of the Project Service, where it was asked before the ticket was made. */
  readonly user?: string;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/** To attach once, from the same origin, as its maker. */
export interface AttachTicket extends TicketBase {
  readonly kind: "attach";
  /** The Origin of the request that made it; "" where it had none. */
  readonly origin: string;
  readonly makerName: string;
  /** The login by cookie that it was made with: it ends with that. */
  readonly login?: string;
  readonly isAdmin: boolean;
  /** When the maker's token runs out, in milliseconds since 1970: so does what the ticket opened. */
  readonly tokenExpiresAtMs: number;
  /** The maker's token, where its issuer has to be asked about it. */
  readonly opaque?: OpaqueToken;
}

/** To share: good for everyone until it expires or is revoked. */
export interface ShareTicket extends TicketBase {
  readonly kind: "share";
  /** Whether a person may come who is not logged in. */
  readonly admitsGuests: boolean;
}

/** For codex (E1): valid for anyone, for everything of one sandbox, at codex' route only. */
export type CodexTicket = Omit<TicketBase, "session" | "role"> & { readonly makerName: string };

export type Ticket = AttachTicket | ShareTicket;

const PREFIX: Readonly<Record<Ticket["kind"], string>> = { attach: "a", share: "s" };
const CODEX_PREFIX = "c";

/** A fresh id: 122 random bits. In hex, as a word of a command line, where one with a hyphen first would be an option. */
export function ticketId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

/** `a.…` or `s.…`, in characters that an address can hold. */
export function sealTicket(ticket: Ticket, secret: string): Promise<string> {
  return sealText(PREFIX[ticket.kind], ticket.kind === "share" ? valuesOf(ticket) : ticket, secret);
}

/** Only append: older links still count. */
const SHARED = [
  ...(["id", "sandbox", "session", "role", "maker", "expiresAtMs", "admitsGuests"] as const),
  ...(["user", "makerToken", "makerIssuedAt"] as const),
] as const satisfies (keyof ShareTicket)[];

/** A link is also drawn as a QR code, which the names of its values would make half as large again. */
function valuesOf({ tenant, ...ticket }: ShareTicket): unknown[] {
  return [tenant.issuer, tenant.tenantClaim, tenant.tenantValue, ...SHARED.map((name) => ticket[name])];
}

/** @param sealed An object in tickets that older versions made. */
function ticketOf(sealed: Ticket | unknown[]): Ticket {
  if (!Array.isArray(sealed)) return sealed;
  const [issuer, tenantClaim, tenantValue, ...values] = sealed;
  const entries = SHARED.map((name, at) => [name, values[at]]).filter(
    ([, value]) => (value ?? undefined) !== undefined,
  );
  // valuesOf made it.
  return { kind: "share", tenant: { issuer, tenantClaim, tenantValue }, ...Object.fromEntries(entries) } as ShareTicket;
}

/**
 * Opens a ticket that was sealed with this secret and has not expired.
 * @throws {AuthFault} `bad_ticket`, `ticket_expired`.
 */
export async function openTicket(text: string, secret: string): Promise<Ticket> {
  const sealed = isTicketShaped(text) ? await openText<Ticket | unknown[]>(text.charAt(0), text, secret) : undefined;
  return unexpired(sealed === undefined ? undefined : ticketOf(sealed));
}

export function sealCodexTicket(ticket: CodexTicket, secret: string): Promise<string> {
  return sealText(CODEX_PREFIX, ticket, secret);
}

/** As {@link openTicket}: neither takes the other's. @throws {AuthFault} `bad_ticket`, `ticket_expired`. */
export async function openCodexTicket(text: string, secret: string): Promise<CodexTicket> {
  return unexpired(await openText<CodexTicket>(CODEX_PREFIX, text, secret));
}

function unexpired<T extends Pick<TicketBase, "expiresAtMs">>(ticket: T | undefined): T {
  if (ticket === undefined) throw new AuthFault("bad_ticket", "The ticket is not one of this server's");
  if (ticket.expiresAtMs <= Date.now())
    throw new AuthFault("ticket_expired", "The ticket has expired: ask for another");
  return ticket;
}

/** Whether a text looks like a ticket, and not like a token. Says nothing of its truth. */
export function isTicketShaped(text: string): boolean {
  return /^[as]\.[\w-]+$/.test(text);
}
