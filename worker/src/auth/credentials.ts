// Where a request carries its token. Finds and tells the place; believes nothing.

import { cookieValue } from "./cookie.ts";
import { AuthFault } from "./fault.ts";

/** `cookie` is the only one that a browser adds by itself, on behalf of whatever page asks. */
export type CredentialSource = "authorization" | "subprotocol" | "cookie" | "query";

export interface Credential {
  readonly source: CredentialSource;
  /** The token; with `cookie`, the encrypted session. */
  readonly value: string;
}

const BEARER_PROTOCOL = "bearer.";

/**
 * The request's credential: the header, then the subprotocol, then the cookie, then `?token=`. The first one
 * found counts; that it is refused does not give another one a chance.
 * @param cookieName The session cookie's.
 * @throws {AuthFault} `bad_subprotocol`, `malformed`.
 */
export function findCredential(request: Request, cookieName: string): Credential | undefined {
  const offered = bearerProtocol(request);
  const header = bearerHeader(request);
  if (header !== undefined) return { source: "authorization", value: header };
  if (offered !== undefined) return { source: "subprotocol", value: offered };
  const cookie = cookieValue(request, cookieName);
  if (cookie !== undefined) return { source: "cookie", value: cookie };
  const query = new URL(request.url).searchParams.get("token");
  return query ? { source: "query", value: query } : undefined;
}

/** The subprotocols a client offers that the server may select, in its order; never the one with the token. */
export function offeredProtocols(request: Request): string[] {
  return subprotocols(request).filter((protocol) => !protocol.startsWith(BEARER_PROTOCOL));
}

function subprotocols(request: Request): string[] {
  return (request.headers.get("Sec-WebSocket-Protocol") ?? "")
    .split(",")
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== "");
}

function bearerProtocol(request: Request): string | undefined {
  const [bearer, ...others] = subprotocols(request).filter((protocol) => protocol.startsWith(BEARER_PROTOCOL));
  if (bearer === undefined) return undefined;
  // Alone, it would have to be selected, and so sent back: browsers fail a handshake that selects nothing.
  if (others.length > 0 || offeredProtocols(request).length === 0) {
    throw new AuthFault("bad_subprotocol", "Offer bearer.TOKEN once, beside the subprotocol to be selected");
  }
  return bearer.slice(BEARER_PROTOCOL.length);
}

function bearerHeader(request: Request): string | undefined {
  const header = request.headers.get("Authorization");
  // Another scheme is meant for someone before us, a proxy perhaps.
  if (header === null || !/^bearer\b/i.test(header)) return undefined;
  const token = /^bearer +([\w.~+/-]+=*)$/i.exec(header)?.[1];
  if (token === undefined) throw new AuthFault("malformed", "The Authorization header can't be read");
  return token;
}
