// A server's address as a person types it, and the URLs derived from it. Pure.

import { usage } from "./outcome.ts";

export type Endpoint = {
  /** As typed, for messages. */
  readonly typed: string;
  /** `ws://` or `wss://`, ends with `/attach`, no query. */
  readonly attachUrl: string;
  /** `http://` or `https://` without a trailing slash; `/api/…` is appended. */
  readonly httpBase: string;
  /** Scheme, host and port of {@link httpBase}. */
  readonly origin: string;
  /** Whether nobody can read the traffic: TLS, or this machine. */
  readonly isPrivate: boolean;
  readonly isLoopback: boolean;
  /** Whether it comes from a `.sbx.json`, which anybody may have written: only a token made for it is sent. */
  readonly isFound?: boolean;
  /** The name of that file in messages. */
  readonly foundIn?: string;
};

const SCHEMES: Readonly<Record<string, boolean>> = { "http:": false, "ws:": false, "https:": true, "wss:": true };
/** `localhost:8787`, as curl accepts it. */
const BARE_HOST = /^(?=localhost|.*[.:])([\w.-]+)(?::\d+)?(?:\/\S*)?$/i;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Parses `http`, `https`, `ws` and `wss` URLs, with or without `/attach`. @throws {CliError} */
export function readEndpoint(text: string): Endpoint {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSecure = url === undefined ? undefined : SCHEMES[url.protocol];
  if (url === undefined || isSecure === undefined) {
    const meant = BARE_HOST.exec(text);
    const guess = meant === null ? "" : `, as in ${LOOPBACK.test(meant[1] ?? "") ? "http" : "https"}://${text}`;
    throw usage(`"${text}" is not a valid URL: it must begin with https://, http://, wss:// or ws://${guess}`);
  }
  if (url.search !== "" || url.hash !== "") {
    throw usage("the address must not contain ? or #; use options instead");
  }
  if (url.username !== "" || url.password !== "") {
    throw usage("the address must not contain a user name or password; use --token");
  }
  const path = url.pathname.replace(/\/+$/, "").replace(/\/attach$/, "");
  const origin = `${isSecure ? "https" : "http"}://${url.host}`;
  return {
    typed: text,
    attachUrl: `${isSecure ? "wss" : "ws"}://${url.host}${path}/attach`,
    httpBase: `${origin}${path}`,
    origin,
    isPrivate: isPrivateAddress(url),
    isLoopback: LOOPBACK.test(url.hostname),
  };
}

/** Whether nobody between this program and the server can read the traffic. */
export function isPrivateAddress({ protocol, hostname }: URL): boolean {
  return SCHEMES[protocol] === true || LOOPBACK.test(hostname);
}
