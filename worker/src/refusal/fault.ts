// Why a request is refused: one fixed list of reasons, each with the HTTP status the contract gives it.
// Knows nothing of tokens, cookies or routes.

import { log } from "../base/log.ts";
import { countRefusal } from "../metrics/refusal-counts.ts";

/** Every reason, with its HTTP status. 401: authenticate (again). 403: known, not allowed. 429: later. 503: not the client's fault. */
const FAULT_STATUS = {
  /** No credential in any of the four places. */
  no_token: 401,
  /** Neither a JWT nor an opaque token of this issuer. */
  malformed: 401,
  /** Not signed with RS256 by a key the issuer publishes now; also `alg: none` and other algorithms. */
  bad_signature: 401,
  wrong_issuer: 401,
  /** Made for a client that is not on our list, or for no client in particular. */
  wrong_audience: 401,
  expired: 401,
  not_yet_valid: 401,
  /** A claim that must be there is not, or has the wrong type. */
  missing_claim: 401,
  /** The issuer does not know the opaque token any more, or never did. */
  inactive: 401,
  /** The session cookie is not ours, was tampered with, or has run out. */
  bad_session: 401,
  /** Not a ticket of this server, or changed since it was made. */
  bad_ticket: 401,
  ticket_expired: 401,
  /** An attach ticket counts once. */
  ticket_used: 401,
  ticket_revoked: 401,
  /** A good ticket, for another session than was asked for, where the session is part of a client's identity. */
  wrong_session: 401,
  /** An administrator has revoked the token, or its user. */
  revoked: 401,
  /** More calls of one person within a minute than the setting allows. */
  too_many_calls: 429,
  /** The login did not come back to the browser that began it, or came back too late. */
  bad_login: 400,
  /** The issuer refused the login or answered with something that is not one. */
  login_failed: 401,
  /** Subprotocol `bearer.TOKEN` with no other beside it, or twice. */
  bad_subprotocol: 400,
  /** A sandbox or session name outside the rules of names.ts. */
  bad_name: 400,
  /** The body of a request to the API is not what the route takes. */
  bad_request: 400,
  /** A field that the route does not know. The message tells the nearest name. */
  unknown_field: 400,
  /** The body is not UTF-8. */
  bad_encoding: 400,
  /** The Project Service says that the project is another user's. */
  not_owner: 401,
  bad_host: 403,
  bad_origin: 403,
  /** A good ticket, for another sandbox, session or role than was asked for. */
  wrong_ticket: 403,
  /** A valid token without the claim that names the tenant: never put into another tenant. */
  no_tenant: 403,
  insufficient_scope: 403,
  /** The Worker that this stands in knows the user, and does not let them. */
  not_allowed: 403,
  /** The role of a viewer, where a ttyd answers that knows none. */
  no_viewers: 403,
  issuer_unreachable: 503,
  /** The Project Service gives no usable answer. */
  validator_unavailable: 503,
  /** A setting is missing or wrong: everything is refused until it is put right. */
  misconfigured: 503,
} as const;

export type FaultCode = keyof typeof FAULT_STATUS;
export type FaultStatus = (typeof FAULT_STATUS)[FaultCode];

/** A refusal. The message goes to the peer: it never holds a token, a secret or an inner error (that is `cause`). */
export class AuthFault extends Error {
  override readonly name = "AuthFault";
  readonly code: FaultCode;
  readonly status: FaultStatus;
  /** After how long another try makes sense, where that is known. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: FaultCode, message: string, options?: ErrorOptions & { readonly retryAfterSeconds?: number }) {
    super(message, options);
    this.code = code;
    this.status = FAULT_STATUS[code];
    this.retryAfterSeconds = options?.retryAfterSeconds;
  }
}

/** Writes a fault that is not the client's to the log, with the inner error that the client is not told. */
export function logFault(fault: AuthFault): void {
  if (fault.status === 503) log.error(`${fault.code}: ${fault.message}`, fault.cause ?? "");
}

const RETRY_AFTER_SECONDS = 5;

/** The HTTP answer to a fault: one line of JSON, never cached. Logs it by `logFault`. */
export function refusal(fault: AuthFault): Response {
  countRefusal(4000 + fault.status);
  logFault(fault);
  const headers = new Headers({ "Content-Type": "application/json", "Cache-Control": "no-store" });
  // RFC 6750 §3.1: no error code where the request had no credential at all.
  if (fault.status === 401) {
    headers.set("WWW-Authenticate", fault.code === "no_token" ? "Bearer" : 'Bearer error="invalid_token"');
  }
  if (fault.code === "insufficient_scope") headers.set("WWW-Authenticate", 'Bearer error="insufficient_scope"');
  const retryAfterSeconds = fault.retryAfterSeconds ?? (fault.status === 503 ? RETRY_AFTER_SECONDS : undefined);
  if (retryAfterSeconds !== undefined) headers.set("Retry-After", String(retryAfterSeconds));
  const body = `${JSON.stringify({ error: fault.code, message: fault.message })}\n`;
  return new Response(body, { status: fault.status, headers });
}
