// Tickets: texts that open one session and nothing else, for any bearer. Sealed with authenticated encryption, so that they
// can be neither made nor read anywhere but here. The session knows whether one was used or revoked.

import { fromBase64Url, toBase64Url } from "../base64url.ts";
import { AuthFault } from "./fault.ts";
import type { OpaqueToken } from "./identity.ts";
import type { Tenant } from "./names.ts";

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

export type Ticket = AttachTicket | ShareTicket;

const PREFIX: Readonly<Record<Ticket["kind"], string>> = { attach: "a", share: "s" };
const NONCE_BYTES = 12;
/** Longer ones are refused unread. */
const MAX_TICKET_CHARACTERS = 8192;

/** A fresh id: 122 random bits. In hex, as a word of a command line, where one with a hyphen first would be an option. */
export function ticketId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

/** `a.…` or `s.…`, in characters that an address can hold. */
export async function sealTicket(ticket: Ticket, secret: string): Promise<string> {
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const plain = new TextEncoder().encode(JSON.stringify(ticket));
  const sealed = await crypto.subtle.encrypt(cipher(PREFIX[ticket.kind], nonce), await keyOf(secret), plain);
  const bytes = new Uint8Array(NONCE_BYTES + sealed.byteLength);
  bytes.set(nonce);
  bytes.set(new Uint8Array(sealed), NONCE_BYTES);
  return `${PREFIX[ticket.kind]}.${toBase64Url(bytes)}`;
}

/**
 * Opens a ticket that was sealed with this secret and has not expired.
 * @throws {AuthFault} `bad_ticket`, `ticket_expired`.
 */
export async function openTicket(text: string, secret: string): Promise<Ticket> {
  const ticket = await unseal(text, secret);
  if (ticket === undefined) throw new AuthFault("bad_ticket", "The ticket is not one of this server's");
  if (ticket.expiresAtMs <= Date.now())
    throw new AuthFault("ticket_expired", "The ticket has expired: ask for another");
  return ticket;
}

/** Whether a text looks like a ticket, and not like a token. Says nothing of its truth. */
export function isTicketShaped(text: string): boolean {
  return /^[as]\.[\w-]+$/.test(text);
}

async function unseal(text: string, secret: string): Promise<Ticket | undefined> {
  if (text.length > MAX_TICKET_CHARACTERS || !isTicketShaped(text)) return undefined;
  const bytes = fromBase64Url(text.slice(2));
  if (bytes === undefined || bytes.length <= NONCE_BYTES) return undefined;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  try {
    const plain = await crypto.subtle.decrypt(
      cipher(text.charAt(0), nonce),
      await keyOf(secret),
      bytes.subarray(NONCE_BYTES),
    );
    // Only we can have sealed it, so it is what sealTicket was given.
    return JSON.parse(new TextDecoder().decode(plain)) as Ticket;
  } catch (error) {
    if (error instanceof Error && error.name === "OperationError") return undefined; // Not sealed here, or changed.
    throw error;
  }
}

/** The kind is authenticated too: neither can be passed off as the other. */
function cipher(prefix: string, nonce: Uint8Array<ArrayBuffer>) {
  return { name: "AES-GCM", iv: nonce, additionalData: new TextEncoder().encode(`ticket ${prefix}`) };
}

// One key for each secret, which is one for each deployment.
const keys = new Map<string, Promise<CryptoKey>>();

function keyOf(secret: string): Promise<CryptoKey> {
  const known = keys.get(secret);
  if (known !== undefined) return known;
  const key = deriveKey(secret);
  keys.set(secret, key);
  return key;
}

async function deriveKey(secret: string): Promise<CryptoKey> {
  const bytes = new TextEncoder();
  const material = await crypto.subtle.importKey("raw", bytes.encode(secret), "HKDF", false, ["deriveKey"]);
  const parameters = {
    name: "HKDF",
    hash: "SHA-256",
    salt: new Uint8Array(32),
    info: bytes.encode("sbx-stdio ticket"),
  };
  return crypto.subtle.deriveKey(parameters, material, { name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
}
