// Network errors as phrases, the same on each runtime. Pure.

import { codeOf } from "./errors.ts";
import { oneLine } from "./plain-text.ts";

const NO_TLS = "the server does not speak TLS; try http://";
const UNKNOWN_CERTIFICATE =
  "its certificate is not trusted (NODE_EXTRA_CA_CERTS names a file of additional CA certificates)";
const PHRASES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "temporary DNS failure",
  ETIMEDOUT: "timed out",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_CERTIFICATE,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_CERTIFICATE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_CERTIFICATE,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_CERTIFICATE,
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet; check this machine's clock",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host name",
};

/** Messages of runtimes when something other than the server answers. */
const UNLIKE: readonly (readonly [RegExp, string])[] = [
  [/wrong[ _]version[ _]number|^EPROTO: The TLS handshake failed/i, NO_TLS],
  [/^other side closed$|^socket hang up$/, "the server closed the connection without a response"],
  [/^bad port$/, "the port is blocked"],
];

export function describeFailure(error: Error, host: string): string {
  return `cannot connect to ${host}: ${networkReason(error)}`;
}

/** The network error behind a failed fetch: the cause in Node, the error itself in Bun. undefined: another fault. */
export function fetchFailure(error: unknown): Error | undefined {
  if (!(error instanceof TypeError)) return undefined;
  if (error.cause instanceof Error) return error.cause;
  return "code" in error ? error : undefined;
}

/** A network error as a phrase. */
export function networkReason(error: Error): string {
  const unlike = UNLIKE.find(([pattern]) => pattern.test(error.message));
  if (unlike !== undefined) return unlike[1];
  if (error.name === "TimeoutError") return "timed out";
  // A host with several addresses gives an AggregateError, which has a code but no message.
  const code = codeOf(error) ?? "";
  return oneLine(PHRASES[code] ?? (error.message || code || error.name));
}
