// The attempts of each user, as a bucket: full after a rest, and filled again at the rate. All that is kept is when it will be full.

const MINUTE_MS = 60_000;
/** Tolerance for rounding: sums of fractions at today's times are off by less than 0.001 ms. */
const ROUNDING_MS = 0.01;

export type AttemptLimit = {
  /** In the long run. */
  readonly perMinute: number;
  /** At once, after a rest. */
  readonly burst: number;
};

/** `fullAtMs` goes in at the next attempt, also after a refusal. */
export type CountedAttempt =
  | { readonly ok: true; readonly fullAtMs: number }
  | { readonly ok: false; readonly fullAtMs: number; readonly retryAfterSeconds: number };

/**
 * Adds an attempt, where there is room for one.
 * @param fullAtMs When the last one would have been made up for; in the past, the bucket is full. It can't be later than an empty
 *   bucket would be full, unless the clock was set back or the limit lowered: then the bucket counts as empty now, and fills again.
 */
export function countAttempt(fullAtMs: number, nowMs: number, { perMinute, burst }: AttemptLimit): CountedAttempt {
  const eachMs = MINUTE_MS / perMinute;
  const emptyFullMs = nowMs + burst * eachMs;
  const lastFullMs = fullAtMs > emptyFullMs + 1 ? emptyFullMs : fullAtMs; // Fractions are rounded.
  const nextFullMs = Math.max(lastFullMs, nowMs) + eachMs;
  const waitMs = nextFullMs - burst * eachMs - nowMs;
  // A refused attempt does not count: a client that waits as long as told gets in.
  if (waitMs > ROUNDING_MS)
    return { ok: false, fullAtMs: lastFullMs, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
  return { ok: true, fullAtMs: nextFullMs };
}
