// Cookies as this server sets and reads them. Knows nothing of the meaning of their values.

import { AuthFault } from "../refusal/fault.ts";

/** Browsers drop a longer cookie without a word (RFC 6265 §6.1: 4096 bytes for name, value and attributes). */
const MAX_COOKIE_BYTES = 4096;

/**
 * `name`, made this server's own: with https by the prefix that binds a cookie to its host, so that no sibling can
 * plant one; on loopback by the port, which cookies themselves don't tell apart.
 */
export function cookieName(name: string, publicOrigin: string): string {
  const { protocol, port } = new URL(publicOrigin);
  return protocol === "https:" ? `__Host-${name}` : `${name}_${port || 80}`;
}

/** A request's cookie of that name; of several, the first. Not percent-decoded: our values never need it. */
export function cookieValue(request: Request, name: string): string | undefined {
  for (const pair of (request.headers.get("Cookie") ?? "").split(";")) {
    const equals = pair.indexOf("=");
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim() || undefined;
  }
  return undefined;
}

/**
 * A `Set-Cookie` value. `maxAgeSeconds` 0 removes the cookie.
 * @throws {AuthFault} `login_failed` for a cookie that a browser would drop.
 */
export function setCookie(name: string, value: string, maxAgeSeconds: number, publicOrigin: string): string {
  const secure = publicOrigin.startsWith("https:") ? "; Secure" : "";
  const cookie = `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
  if (cookie.length <= MAX_COOKIE_BYTES) return cookie;
  throw new AuthFault("login_failed", "The login is too long for a cookie");
}
