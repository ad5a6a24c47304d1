// Network errors in words, the same on each runtime. Pure.

import { oneLine } from "./plain-text.ts";

const NO_TLS = "what listens there speaks no TLS: does the address begin with http://?";
const UNKNOWN_CERTIFICATE =
  "its certificate is signed by nobody that is trusted here (NODE_EXTRA_CA_CERTS names a file of certificates to trust besides)";
const PHRASES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "the host's name can't be looked up now",
  ETIMEDOUT: "timed out",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_CERTIFICATE,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_CERTIFICATE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_CERTIFICATE,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_CERTIFICATE,
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet: is this machine's clock right?",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
};

/** What is heard instead of an answer where something else than the server listens. */
const UNLIKE: readonly (readonly [RegExp, string])[] = [
  [/wrong[ _]version[ _]number|^EPROTO: The TLS handshake failed/i, NO_TLS],
  [/^other side closed$|^socket hang up$/, "it closed the connection without an answer"],
  [/^bad port$/, "nothing on the web is served at that port"],
];

/** A network error in words. */
export function describeFailure(error: Error, host: string): string {
  return `cannot connect to ${host}: ${networkPhrase(error)}`;
}

/** What kept a fetch from its answer: the error's cause on Node, the error itself on Bun. undefined: another fault. */
export function fetchFailure(error: unknown): Error | undefined {
  if (!(error instanceof TypeError)) return undefined;
  if (error.cause instanceof Error) return error.cause;
  return "code" in error ? error : undefined;
}

/** The same, without where. */
export function networkPhrase(error: Error): string {
  const unlike = UNLIKE.find(([pattern]) => pattern.test(error.message));
  if (unlike !== undefined) return unlike[1];
  if (error.name === "TimeoutError") return "no answer in time";
  // A host with several addresses gives an AggregateError, which has a code but no message.
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return oneLine(PHRASES[code] ?? (error.message || code || error.name));
}
