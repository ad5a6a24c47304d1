// The meaning of a user's or a token's revocation. Pure; another part keeps the list.

import { defined } from "sandbox-stdio/core";
import type { Identity } from "../auth/identity.ts";

export type Revocation = {
  /** `sub`: a user. `jti`: a token, or a ticket, by its id. `login`: a login by cookie, which its person has ended. */
  readonly kind: "sub" | "jti" | "login";
  readonly value: string;
  readonly atMs: number;
  /** A user's revocation: tokens issued after it are accepted at once. */
  readonly mayReturn?: boolean;
  /** Until when it is remembered, in milliseconds since 1970. Absent: for REVOCATION_KEEP_MS. */
  readonly untilMs?: number;
};

/** The parts of a grant that can be revoked. */
export type RevocableGrant = {
  /** The persons by whose right it is: the bearer, and the maker of the ticket. */
  readonly persons: readonly {
    readonly subject: string;
    /** When the token was issued, in seconds since 1970, where it says so. */
    readonly issuedAt?: number;
  }[];
  /** The ids of the tokens and the ticket that it rests on. */
  readonly tokenIds: readonly string[];
  /** The login by cookie that it rests on. */
  readonly login?: string;
};

/** The parts of an identity that can be revoked. */
export function revocableOf({ subject, issuedAt, tokenId, loginId }: Identity): RevocableGrant {
  return {
    persons: [{ subject, ...defined({ issuedAt }) }],
    tokenIds: tokenId === undefined ? [] : [tokenId],
    ...defined({ login: loginId }),
  };
}

/** How long a revocation is remembered: no token, and no ticket that was made with one, is good for longer. */
export const REVOCATION_KEEP_MS = 90 * 24 * 3_600_000;

/** A revoked user is kept out this long, unless they may return; tokens from before the revocation never count again. */
const KEPT_OUT_MS = 24 * 3_600_000;

/** Whether a revocation is about this grant. */
export function concerns(revocation: Revocation, grant: RevocableGrant, nowMs: number): boolean {
  if (revocation.kind === "login") return grant.login === revocation.value;
  if (revocation.kind === "jti") return grant.tokenIds.includes(revocation.value);
  const isOut = revocation.mayReturn !== true && nowMs < revocation.atMs + KEPT_OUT_MS;
  return grant.persons.some(
    ({ subject, issuedAt }) =>
      subject === revocation.value && (isOut || issuedAt === undefined || issuedAt * 1000 <= revocation.atMs),
  );
}

/** @param find Looks in a list of revocations. */
export function isRevoked(
  grant: RevocableGrant,
  find: (kind: Revocation["kind"], value: string) => Revocation | undefined,
  nowMs: number,
): boolean {
  const found = [
    ...grant.persons.map(({ subject }) => find("sub", subject)),
    ...grant.tokenIds.map((id) => find("jti", id)),
    ...(grant.login === undefined ? [] : [find("login", grant.login)]),
  ];
  return found.some((revocation) => revocation !== undefined && concerns(revocation, grant, nowMs));
}
