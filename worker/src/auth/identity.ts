// The person of a verified token, and their rights. Claims in, identity out.
// Knows nothing of how the claims were verified, nor of HTTP.

import { defined, seenName } from "sandbox-stdio/core";
import { AuthFault } from "../refusal/fault.ts";

/** The claim that separates tenants. */
export type TenantClaim = "sub" | "org_id";

export const SANDBOX_SCOPES = ["sandbox:connect", "sandbox:exec", "sandbox:admin"] as const;
/** connect: attach to what exists. exec: also create and drive. admin: also take the keyboard and read audit. */
export type SandboxScope = (typeof SANDBOX_SCOPES)[number];

export interface Identity {
  /** The configured issuer, also where the token came under one of its aliases: one person, one tenant. */
  readonly issuer: string;
  readonly subject: string;
  readonly tenantClaim: TenantClaim;
  /** Never empty. */
  readonly tenantValue: string;
  /** For display only, without invisible characters (L2). The person chooses it; it is not verified. */
  readonly email?: string;
  /** As `email`. */
  readonly name?: string;
  /** As granted or by default; each `sandbox:*` scope brings those it includes. */
  readonly scopes: ReadonlySet<string>;
  /** Seconds since 1970. From then on the identity counts for nothing. The token's end, or MAX_TOKEN_SECONDS after its start. */
  readonly expiresAt: number;
  /** The token's own id, where it has one. */
  readonly tokenId?: string;
  /** When the token was issued, in seconds since 1970, where it says so. */
  readonly issuedAt?: number;
  /** The login whose cookie brought the token: ended by logging out. */
  readonly loginId?: string;
  /** The client the token was issued to, where the token says so. */
  readonly clientId?: string;
  /** A token that only its issuer can judge, and until when its last answer is believed. Only our own objects may see it. */
  readonly opaque?: OpaqueToken;
}

export interface OpaqueToken {
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly believedUntilMs: number;
}

export interface IdentityOptions {
  readonly issuer: string;
  /** Default: `sub`. */
  readonly tenantClaim?: TenantClaim;
  /** The scopes of a token that has no `sandbox:*` scope. Default: none. */
  readonly defaultScopes?: readonly string[];
}

export type Claims = Readonly<Record<string, unknown>>;

/** How long a token counts at most, whatever its claims. With a share ticket made at its end: no longer than REVOCATION_KEEP_MS. */
export const MAX_TOKEN_SECONDS = 60 * 24 * 3600;
/** Clocks of two machines differ. */
const CLOCK_TOLERANCE_SECONDS = 5;
/** Longest e-mail address or name kept, in UTF-16 units. */
const MAX_DISPLAY_LENGTH = 256;
/** OpenID Connect allows no more, and a client's resume proof holds the subject: longer, it could attach and never resume. */
const MAX_SUBJECT_BYTES = 255;

/**
 * Makes an identity of claims that have been verified.
 * @throws {AuthFault} `missing_claim` without a valid `sub` or `exp`, `no_tenant` without the tenant claim.
 */
export function identityFrom(claims: Claims, options: IdentityOptions): Identity {
  const { sub, exp, jti, iat } = claims;
  if (!isNonEmptyText(sub)) throw new AuthFault("missing_claim", "The token has no subject");
  if (!isSubject(sub))
    throw new AuthFault("missing_claim", `The subject must be at most ${MAX_SUBJECT_BYTES} bytes of text`);
  if (typeof exp !== "number" || !Number.isFinite(exp)) throw new AuthFault("missing_claim", "The token has no expiry");
  const tenantClaim = options.tenantClaim ?? "sub";
  const tenantValue = claims[tenantClaim];
  if (!isNonEmptyText(tenantValue)) throw new AuthFault("no_tenant", `The token has no ${tenantClaim}`);
  const email = displayText(claims.email);
  const name = displayText(claims.name);
  const clientId = claims.client_id ?? claims.azp;
  return {
    issuer: options.issuer,
    subject: sub,
    tenantClaim,
    tenantValue,
    scopes: effectiveScopes(claims.scope, options.defaultScopes ?? []),
    expiresAt: exp,
    ...defined({ email, name }),
    ...(isNonEmptyText(jti) && { tokenId: jti }),
    ...(typeof iat === "number" && Number.isFinite(iat) && { issuedAt: iat }),
    ...(isNonEmptyText(clientId) && { clientId }),
  };
}

/**
 * The same identity, ending no later than MAX_TOKEN_SECONDS after its token was issued: revocations are not remembered for
 * ever, so no token may count for ever.
 * @throws {AuthFault} `expired`; `missing_claim` where a long-lived token does not say since when it is.
 */
export function withEnd(identity: Identity): Identity {
  const { expiresAt, issuedAt } = identity;
  const now = Date.now() / 1000;
  if (issuedAt === undefined || issuedAt > now + CLOCK_TOLERANCE_SECONDS) {
    if (expiresAt <= now + MAX_TOKEN_SECONDS) return identity;
    throw new AuthFault("missing_claim", "The token ends too late for one that does not say when it was issued");
  }
  const end = issuedAt + MAX_TOKEN_SECONDS;
  if (expiresAt <= end) return identity;
  if (end <= now) throw new AuthFault("expired", "The token is older than any is believed");
  return { ...identity, expiresAt: end };
}

export function isSandboxScope(scope: string): scope is SandboxScope {
  return (SANDBOX_SCOPES as readonly string[]).includes(scope);
}

/** The scopes in a `scope` value: space separated text, or an array of texts. Anything else holds none. */
export function parseScopes(value: unknown): string[] {
  const items = typeof value === "string" ? value.split(" ") : Array.isArray(value) ? value : [];
  return items.filter(isNonEmptyText);
}

/** @throws {AuthFault} `insufficient_scope`. */
export function requireScope(identity: Identity, scope: SandboxScope): void {
  if (!identity.scopes.has(scope)) throw new AuthFault("insufficient_scope", `This needs the scope ${scope}`);
}

/** An unknown `sandbox:*` scope also counts as one: its issuer did think about sandboxes. */
export function hasAnySandboxScope(scopes: readonly string[]): boolean {
  return scopes.some((scope) => scope.startsWith("sandbox:"));
}

function effectiveScopes(claim: unknown, defaults: readonly string[]): Set<string> {
  const granted = parseScopes(claim);
  const scopes = new Set(hasAnySandboxScope(granted) ? granted : [...granted, ...defaults]);
  if (scopes.has("sandbox:admin")) scopes.add("sandbox:exec");
  if (scopes.has("sandbox:exec")) scopes.add("sandbox:connect");
  return scopes;
}

function isNonEmptyText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Control characters would also take more room where they are written as JSON. */
function isSubject(text: string): boolean {
  return new TextEncoder().encode(text).length <= MAX_SUBJECT_BYTES && !/\p{Cc}/u.test(text);
}

// Names are shown in other people's terminals: an escape sequence in one would be typed for them.
function displayText(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return seenName(value).slice(0, MAX_DISPLAY_LENGTH) || undefined;
}

/**
 * Refuses a token that says it was issued to a client which is not on the list, whatever its audience:
 * anyone can register a client at the issuer and ask it for a token with our address as `resource` (RFC 8707),
 * which then stands in `aud`. A token for our address alone must therefore name one of our clients.
 * @throws {AuthFault} `wrong_audience`.
 */
export function requireAllowedClient(claims: Claims, allowed: readonly string[]): void {
  for (const client of [claims.client_id, claims.azp]) {
    if (client === undefined) continue;
    if (typeof client !== "string" || !allowed.includes(client)) {
      throw new AuthFault("wrong_audience", "The token was made for another application");
    }
  }
  const names = [claims.client_id, claims.azp, ...(Array.isArray(claims.aud) ? claims.aud : [claims.aud])];
  if (names.some((name) => typeof name === "string" && allowed.includes(name))) return;
  throw new AuthFault("wrong_audience", "The token does not say for which application it was made");
}
