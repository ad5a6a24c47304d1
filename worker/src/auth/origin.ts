// The addresses that this server answers under, and the pages that may use a person's cookie here.
// A live shell stands behind these two rules: DNS rebinding breaks on the first, cross-site WebSockets on the second.

import { AuthFault } from "../refusal/fault.ts";
import type { EntrySettings } from "./entry-settings.ts";

/**
 * Refuses a request to a host name that is not on the list. To be called on every request, logged in or not.
 * @throws {AuthFault} `bad_host`.
 */
export function requireAllowedHost(request: Request, { allowedHosts }: Pick<EntrySettings, "allowedHosts">): void {
  const url = new URL(request.url);
  const header = request.headers.get("Host");
  // The URL is made from the header, unless something between did otherwise: then both must be right.
  const named = header === null ? url.host : URL.parse(`${url.protocol}//${header}`)?.host;
  if (named === undefined || !allowedHosts.has(named) || !allowedHosts.has(url.host)) {
    throw new AuthFault("bad_host", "This server does not answer under that host name");
  }
}

/** Whether a request that the cookie authenticates may do more than read: then its page must be ours. */
export function needsOrigin(request: Request): boolean {
  return request.method !== "GET" || request.headers.has("Upgrade");
}

/**
 * Refuses a request that does not come from our own page, or from one of `others`. No Origin is refused too.
 * @throws {AuthFault} `bad_origin`.
 */
export function requirePublicOrigin(
  request: Request,
  { publicOrigin }: Pick<EntrySettings, "publicOrigin">,
  others: ReadonlySet<string> = new Set(),
): void {
  const origin = request.headers.get("Origin") ?? "";
  if (origin === publicOrigin || others.has(origin)) return;
  throw new AuthFault("bad_origin", "With the cookie, only this server's own page may do this");
}

/**
 * If a list of origins is set, refuses an upgrade that comes from none of them. No Origin is refused too.
 * @throws {AuthFault} `bad_origin`.
 */
export function requireListedOrigin(request: Request, { allowedOrigins }: Pick<EntrySettings, "allowedOrigins">): void {
  if (allowedOrigins.size === 0 || allowedOrigins.has(request.headers.get("Origin") ?? "")) return;
  throw new AuthFault("bad_origin", "This page's origin is not on the list of those that may connect");
}
