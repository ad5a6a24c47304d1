// A fresh token in time for the connection that rests on one which is about to run out.

import { CliError } from "../base/outcome.ts";
import type { TokenSource } from "./credentials.ts";

/** A token is renewed this long before its end: oauth.do keeps one that has 30 s left. */
const RENEW_BEFORE_MS = 20_000;

/** @param send Gives it to the session. @param say Tells why there is none. */
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
