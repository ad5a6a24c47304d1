// The address that a person types, and the addresses that are made of it. Pure.

import { usage } from "./outcome.ts";

export type Endpoint = {
  /** As it was typed: messages to a person repeat it. */
  readonly typed: string;
  /** `ws://` or `wss://`, ends in `/attach`, no query. */
  readonly attachUrl: string;
  /** `http://` or `https://`, no slash at the end: `/api/…` is put behind it. */
  readonly httpBase: string;
  /** Scheme, host and port of {@link httpBase}. */
  readonly origin: string;
  /** Whether bytes sent there can't be read on the way: TLS, or this machine itself. */
  readonly isPrivate: boolean;
  /** Whether it is this machine. */
  readonly isLoopback: boolean;
  /** It stands in a file of the current folder, which another person may have put there: only a token made for it is sent. */
  readonly isFound?: boolean;
  /** That file, for a person. */
  readonly foundIn?: string;
};

const SCHEMES: Readonly<Record<string, boolean>> = { "http:": false, "ws:": false, "https:": true, "wss:": true };
/** `localhost:8787`, as curl takes it. */
const BARE_HOST = /^(?=localhost|.*[.:])([\w.-]+)(?::\d+)?(?:\/\S*)?$/i;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Reads `http`, `https`, `ws` and `wss` addresses, with `/attach` at the end or without. @throws {CliError} */
export function readEndpoint(text: string): Endpoint {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSecure = url === undefined ? undefined : SCHEMES[url.protocol];
  if (url === undefined || isSecure === undefined) {
    const meant = BARE_HOST.exec(text);
    const guess = meant === null ? "" : `, as in ${LOOPBACK.test(meant[1] ?? "") ? "http" : "https"}://${text}`;
    throw usage(`"${text}" is no address: it must begin with https://, http://, wss:// or ws://${guess}`);
  }
  if (url.search !== "" || url.hash !== "") {
    throw usage("the address must have no ? or # in it: say what it says with options");
  }
  if (url.username !== "" || url.password !== "") {
    throw usage("the address must have no name or password in it: use --token");
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

/** Whether nobody between this program and the server sees what is sent there. */
export function isPrivateAddress({ protocol, hostname }: URL): boolean {
  return SCHEMES[protocol] === true || LOOPBACK.test(hostname);
}
