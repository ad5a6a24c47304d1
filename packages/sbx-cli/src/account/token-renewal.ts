// Renews an access token in time for the connection that depends on it.

import { CliError } from "../base/outcome.ts";
import type { TokenSource } from "./credentials.ts";

/** Lead time of a renewal: oauth.do keeps a token that is valid for 30 s more. */
const RENEW_BEFORE_MS = 20_000;

/** @param send Sends the new token to the session. @param say Reports why there is none. */
export function renewInTime(
  source: TokenSource,
  seconds: number,
  send: (token: string) => void,
  say: (why: string) => void,
): void {
  const renew = () =>
    source.token().then(send, (error: unknown) => {
      if (!(error instanceof CliError)) throw error;
      say(error.message);
    });
  setTimeout(() => void renew(), Math.max(0, seconds * 1000 - RENEW_BEFORE_MS)).unref();
}
