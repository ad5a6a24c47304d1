// Derives addresses from the caller's, and the subprotocols that carry the secrets. Pure.

import { fromBody } from "../wire/attach-params.ts";
import { attachParams } from "../wire/attach-query.ts";
import { MAX_KEPT_INPUT_BYTES, OUTER_PROTOCOL } from "../wire/constants.ts";
import type { ConnectOptions } from "./connect-options.ts";
import { StdioError } from "./error.ts";

/** A valid subprotocol name (token of RFC 9110). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * The server's `http` or `https` address, without a trailing slash, query or `/attach`.
 * @throws {StdioError} `bad_address`.
 */
export function baseOf(address: string | URL): string {
  const here = (globalThis as { location?: { href: string } }).location?.href;
  let url: URL;
  try {
    url = new URL(address, here);
  } catch {
    throw new StdioError("bad_address", `Cannot connect to "${address}": not a valid URL`);
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

/** The query of an attach, without the client's own parameters (session, position, attempt). */
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
 * The subprotocols to offer. Token and ticket travel here: every runtime can send them this way, while addresses are logged.
 * @throws {StdioError} `bad_token`.
 */
export function protocolsOf(token: string | undefined, ticket: string | undefined): string[] {
  const secrets: string[] = [];
  if (token !== undefined) secrets.push(`bearer.${token}`);
  if (ticket !== undefined) secrets.push(`ticket.${ticket}`);
  if (!secrets.every((secret) => TOKEN.test(secret))) {
    throw new StdioError("bad_token", "The token or ticket contains invalid characters");
  }
  return [OUTER_PROTOCOL, ...secrets];
}

/** A unique session name: 50 random bits. */
export function freshSessionName(random: () => number): string {
  const digits = () =>
    Math.floor(random() * 32 ** 5)
      .toString(32)
      .padStart(5, "0");
  return `lib-${digits()}${digits()}`;
}
