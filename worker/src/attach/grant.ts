// The rights of a client on one session, and their expiry: made from a token or ticket by the Worker, kept by the session's
// Durable Object for the life of the connection.

import { clipUtf8, defined, MAX_NAME_BYTES, type ParticipantKind, seenName } from "sandbox-stdio/core";
import type { Identity, OpaqueToken } from "../auth/identity.ts";
import type { Tenant } from "../auth/names.ts";
import type { AttachTicket, CodexTicket, ShareTicket } from "../auth/ticket.ts";
import { type RevocableGrant, revocableOf } from "../limits/revocation.ts";
import { AuthFault } from "../refusal/fault.ts";

export type Grant = RevocableGrant & {
  /** A person, or a name for the guests of one ticket. A `resume` is bound to it. */
  readonly subject: string;
  /** Shown to others; "" for a guest, whose name is assigned. */
  readonly name: string;
  readonly isGuest: boolean;
  /** The bearer's tenant; absent for a guest. */
  readonly bearer?: Tenant;
  /** The part that the bearer's tenant may revoke. The session's tenant may revoke all of the grant. */
  readonly own: RevocableGrant;
  readonly mayExec: boolean;
  readonly isAdmin: boolean;
  /** Whether a missing session may be made. A share ticket opens only an existing session. */
  readonly mayCreate: boolean;
  /** When the connection ends, in milliseconds since 1970. */
  readonly expiresAtMs: number;
  /** The Origin of the page that attached, "" without one: a renewal ticket must have the same. */
  readonly origin: string;
  /** The bearer's opaque token, which its issuer has to be asked about again. */
  readonly opaque?: OpaqueToken;
  /** A ticket that can be used once. */
  readonly attachTicket?: { readonly id: string; readonly expiresAtMs: number };
  /** The share ticket that the grant rests on, beside the bearer's token. */
  readonly share?: Pick<ShareTicket, "id" | "role" | "maker" | "makerToken" | "makerIssuedAt" | "expiresAtMs">;
};

export function grantOfToken(identity: Identity, origin: string): Grant {
  return {
    ...bearerPart(identity),
    mayExec: identity.scopes.has("sandbox:exec"),
    isAdmin: identity.scopes.has("sandbox:admin"),
    mayCreate: identity.scopes.has("sandbox:exec"),
    origin,
  };
}

export function grantOfAttachTicket(ticket: AttachTicket, origin: string): Grant {
  const { id, tenant, maker, makerToken, makerIssuedAt, role, opaque, login } = ticket;
  const own = {
    persons: [person(maker, makerIssuedAt)],
    tokenIds: makerToken === undefined ? [id] : [id, makerToken],
    ...defined({ login }),
  };
  return {
    subject: maker,
    name: ticket.makerName,
    isGuest: false,
    bearer: tenant,
    mayExec: role === "driver",
    isAdmin: ticket.isAdmin,
    mayCreate: role === "driver",
    expiresAtMs: ticket.tokenExpiresAtMs,
    ...own,
    own,
    origin,
    ...defined({ opaque }),
    attachTicket: { id, expiresAtMs: ticket.expiresAtMs },
  };
}

/** @param bearer undefined for a guest. */
export function grantOfShareTicket(ticket: ShareTicket, bearer: Identity | undefined, origin: string): Grant {
  const { id, role, maker, makerToken, makerIssuedAt, expiresAtMs } = ticket;
  const share = {
    ...{ id, role, maker, expiresAtMs },
    ...defined({ makerToken, makerIssuedAt }),
  };
  const own = { persons: [], tokenIds: [] };
  const guest = { subject: `guest:${id}`, name: "", isGuest: true, own, ...own, expiresAtMs };
  return withShare(bearer === undefined ? guest : bearerPart(bearer), share, origin);
}

/** The grant of a codex ticket: its maker's rights until it expires. */
export function grantOfCodexTicket(ticket: CodexTicket): Grant {
  const { id, tenant, maker, makerName: name, makerToken, makerIssuedAt, expiresAtMs } = ticket;
  const own = {
    persons: [person(maker, makerIssuedAt)],
    tokenIds: makerToken === undefined ? [id] : [id, makerToken],
  };
  const how = { isGuest: false, mayExec: true, isAdmin: false, mayCreate: true, origin: "" };
  const share = { id, role: "driver", maker, expiresAtMs } as const;
  return { subject: maker, name, bearer: tenant, expiresAtMs, ...own, own, ...how, share };
}

/**
 * The same grant with a fresh token of the same person.
 * @throws {AuthFault} If the token is another person's, or has fewer rights.
 */
export function renewed(grant: Grant, identity: Identity): Grant {
  const { bearer, share, origin } = grant;
  const isSame =
    bearer !== undefined &&
    identity.subject === grant.subject &&
    identity.issuer === bearer.issuer &&
    identity.tenantClaim === bearer.tenantClaim &&
    identity.tenantValue === bearer.tenantValue;
  if (!isSame) throw new AuthFault("wrong_audience", "The fresh token is somebody else's");
  if (share !== undefined) return withShare(bearerPart(identity), share, origin);
  const fresh = grantOfToken(identity, origin);
  const isLess = (grant.mayExec && !fresh.mayExec) || (grant.isAdmin && !fresh.isAdmin);
  if (isLess) throw new AuthFault("insufficient_scope", "The fresh token may do less than the one before it");
  const { mayExec, isAdmin, mayCreate, name } = grant;
  return { ...fresh, mayExec, isAdmin, mayCreate, name };
}

/** The kind of participant that other clients see. */
export function kindOf({ isGuest }: Pick<Grant, "isGuest">): ParticipantKind {
  return isGuest ? "guest" : "person";
}

/** The name of a person who gave none in the query, by the same rule (L2). "" if nothing of it is visible. */
export function displayName(identity: Identity): string {
  return clipUtf8(seenName(identity.name ?? identity.email ?? identity.subject), MAX_NAME_BYTES).trimEnd();
}

type BearerPart = Pick<
  Grant,
  "subject" | "name" | "isGuest" | "bearer" | "own" | "expiresAtMs" | "opaque" | keyof RevocableGrant
>;

function bearerPart(identity: Identity): BearerPart {
  const { issuer, subject, tenantClaim, tenantValue, opaque } = identity;
  const own = revocableOf(identity);
  return {
    subject,
    name: displayName(identity),
    isGuest: false,
    bearer: { issuer, tenantClaim, tenantValue },
    expiresAtMs: identity.expiresAt * 1000,
    ...own,
    own,
    ...defined({ opaque }),
  };
}

function withShare(bearer: BearerPart, share: NonNullable<Grant["share"]>, origin: string): Grant {
  const { id, role, maker, makerToken, makerIssuedAt } = share;
  return {
    ...bearer,
    mayExec: role === "driver",
    isAdmin: false,
    mayCreate: false,
    expiresAtMs: Math.min(bearer.expiresAtMs, share.expiresAtMs),
    persons: [...bearer.persons, person(maker, makerIssuedAt)],
    tokenIds: [...bearer.tokenIds, id, ...(makerToken === undefined ? [] : [makerToken])],
    origin,
    share,
  };
}

function person(subject: string, issuedAt: number | undefined): Grant["persons"][number] {
  return { subject, ...defined({ issuedAt }) };
}

/** The caller whose input by calls is counted. */
export type Asker = { readonly issuer: string; readonly subject: string };

export function askerOf({ bearer, subject }: Pick<Grant, "bearer" | "subject">): Asker {
  return { issuer: bearer?.issuer ?? "", subject };
}
