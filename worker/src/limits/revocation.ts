// What it means that a user or a token was revoked. Pure; who keeps the list is another matter.

export type Revocation = {
  /** `sub`: a user. `jti`: a token, or a ticket, by its id. */
  readonly kind: "sub" | "jti";
  readonly value: string;
  readonly atMs: number;
};

/** What of a grant can be revoked. */
export type RevocableGrant = {
  /** The persons by whose right it is: the bearer, and the maker of the ticket. */
  readonly persons: readonly {
    readonly subject: string;
    /** When the token was issued, in seconds since 1970, where it says so. */
    readonly issuedAt?: number;
  }[];
  /** The ids of the tokens and the ticket that it rests on. */
  readonly tokenIds: readonly string[];
};

/** A revoked user is kept out this long, with fresh tokens too; those from before the revocation never count again. */
export const KEPT_OUT_MS = 24 * 3_600_000;

/** Whether a revocation is about this grant. */
export function concerns(revocation: Revocation, grant: RevocableGrant, nowMs: number): boolean {
  if (revocation.kind === "jti") return grant.tokenIds.includes(revocation.value);
  return grant.persons.some(
    ({ subject, issuedAt }) =>
      subject === revocation.value &&
      (nowMs < revocation.atMs + KEPT_OUT_MS || issuedAt === undefined || issuedAt * 1000 <= revocation.atMs),
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
  ];
  return found.some((revocation) => revocation !== undefined && concerns(revocation, grant, nowMs));
}
