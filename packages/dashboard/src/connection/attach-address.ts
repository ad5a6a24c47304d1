// The URL and subprotocols of an attach. Pure.

import { OUTER_PROTOCOL } from "sandbox-stdio/core";

/** Characters of a subprotocol (RFC 9110, token). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * @param base Address of `/attach`, http(s) or ws(s), with the process's parameters. @param page The base of a relative `base`.
 * @param resume The client's own parameters: session, resume, offset.
 */
export function attachAddress(
  base: string,
  page: string,
  resume: ReadonlyMap<string, string>,
  size: { readonly cols: number; readonly rows: number } | undefined,
): string {
  const url = new URL(base, page);
  url.protocol = url.protocol.replace(/^http/, "ws");
  url.hash = "";
  // Copied addresses must not carry a position, which belongs to its client. The ticket goes into attachProtocols.
  for (const name of ["session", "resume", "offset", "ticket"]) url.searchParams.delete(name);
  for (const [name, value] of resume) url.searchParams.set(name, value);
  if (size !== undefined) {
    url.searchParams.set("cols", String(size.cols));
    url.searchParams.set("rows", String(size.rows));
  }
  return url.href;
}

/** The share ticket in the query of `base`. */
export function ticketOf(base: string, page: string): string | undefined {
  return new URL(base, page).searchParams.get("ticket") ?? undefined;
}

/** Token and ticket as subprotocols, since URLs are logged. @returns undefined if one has characters that are not allowed. */
export function attachProtocols(token: string | undefined, ticket: string | undefined): string[] | undefined {
  const secrets: string[] = [];
  if (token !== undefined) secrets.push(`bearer.${token}`);
  if (ticket !== undefined) secrets.push(`ticket.${ticket}`);
  return secrets.every((secret) => TOKEN.test(secret)) ? [OUTER_PROTOCOL, ...secrets] : undefined;
}
