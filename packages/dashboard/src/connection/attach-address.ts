// The address and the subprotocols of one attach, from the caller's options and the client's state. Pure.

import { OUTER_PROTOCOL } from "sandbox-stdio/core";

/** The characters that a subprotocol's name may have (RFC 9110, token). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * @param base Address of `/attach`, http(s) or ws(s), with the process's parameters in its query.
 * @param page The address that a relative `base` is relative to.
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
  // A place in the log belongs to the client that remembers it, never to an address that was copied.
  // A ticket goes beside the protocol's name: see attachProtocols.
  for (const name of ["session", "resume", "offset", "ticket"]) url.searchParams.delete(name);
  for (const [name, value] of resume) url.searchParams.set(name, value);
  if (size !== undefined) {
    url.searchParams.set("cols", String(size.cols));
    url.searchParams.set("rows", String(size.rows));
  }
  return url.href;
}

/** The ticket with which a session was shared, in the query of `base`. */
export function ticketOf(base: string, page: string): string | undefined {
  return new URL(base, page).searchParams.get("ticket") ?? undefined;
}

/**
 * The subprotocols to offer. Token and ticket ride beside the protocol's name, since addresses are logged.
 * @returns undefined where one of them has characters that a subprotocol can't have.
 */
export function attachProtocols(token: string | undefined, ticket: string | undefined): string[] | undefined {
  const secrets = [
    ...(token === undefined ? [] : [`bearer.${token}`]),
    ...(ticket === undefined ? [] : [`ticket.${ticket}`]),
  ];
  return secrets.every((secret) => TOKEN.test(secret)) ? [OUTER_PROTOCOL, ...secrets] : undefined;
}
