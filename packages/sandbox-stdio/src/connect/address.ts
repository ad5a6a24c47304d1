// The addresses that are made of the one that a caller gives, and the subprotocols that carry the secrets. Pure.

import { fromBody } from "../wire/attach-params.ts";
import { attachParams } from "../wire/attach-query.ts";
import { MAX_KEPT_INPUT_BYTES, OUTER_PROTOCOL } from "../wire/constants.ts";
import type { ConnectOptions } from "./connect-options.ts";
import { StdioError } from "./error.ts";

/** The characters of a subprotocol's name (RFC 9110, token). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * `http` and `https` address of the server, without a slash, a query or `/attach` at its end.
 * @throws {StdioError} `bad_address`.
 */
export function baseOf(address: string | URL): string {
  const here = (globalThis as { location?: { href: string } }).location?.href;
  let url: URL;
  try {
    url = new URL(address, here);
  } catch {
    throw new StdioError("bad_address", `Cannot connect to "${address}": it is no URL`);
  }
  const scheme = url.protocol.replace(/^ws/, "http");
  if (scheme !== "http:" && scheme !== "https:") {
    throw new StdioError(
      "bad_address",
      `Cannot connect to "${address}": it must begin with https://, http://, wss:// or ws://`,
    );
  }
  return `${scheme}//${url.host}${url.pathname.replace(/\/+$/, "").replace(/\/attach$/, "")}`;
}

/** The query of an attach, without the parameters that the client adds: session, place, attempt. */
export function attachQueryOf(options: ConnectOptions): [string, string][] {
  const { command, cmd = command === undefined ? undefined : "bash", env = {}, cols, rows } = options;
  const { sandbox, name, role, delivery, ended } = options;
  const args = command === undefined ? options.args : ["-lc", command];
  return attachParams({
    ...{ sandbox, name, role, delivery, ended },
    process: { ...fromBody(options), cmd, args, env: Object.entries(env) },
    size: cols === undefined || rows === undefined ? undefined : { cols, rows },
    keeps: role === "viewer" ? undefined : MAX_KEPT_INPUT_BYTES,
  });
}

/**
 * The subprotocols to offer. Token and ticket ride beside the protocol's name: every runtime can send them so, and addresses are
 * logged.
 * @throws {StdioError} `bad_token`.
 */
export function protocolsOf(token: string | undefined, ticket: string | undefined): string[] {
  const secrets: string[] = [];
  if (token !== undefined) secrets.push(`bearer.${token}`);
  if (ticket !== undefined) secrets.push(`ticket.${ticket}`);
  if (!secrets.every((secret) => TOKEN.test(secret))) {
    throw new StdioError("bad_token", "The token or ticket has characters that it can't have");
  }
  return [OUTER_PROTOCOL, ...secrets];
}

/** A name that no other session has: 50 bits of chance. */
export function freshSessionName(random: () => number): string {
  const digits = () =>
    Math.floor(random() * 32 ** 5)
      .toString(32)
      .padStart(5, "0");
  return `lib-${digits()}${digits()}`;
}
