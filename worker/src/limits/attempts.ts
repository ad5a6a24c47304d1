// The attempts of each user, as a bucket: full after a rest, and filled again at the rate. All that is kept is when it will be full.

const MINUTE_MS = 60_000;

export type AttemptLimit = {
  /** In the long run. */
  readonly perMinute: number;
  /** At once, after a rest. */
  readonly burst: number;
};

/**
 * Adds an attempt, where there is room for one.
 * @param fullAtMs When the last one would have been made up for; in the past, the bucket is full.
 */
export function countAttempt(
  fullAtMs: number,
  nowMs: number,
  { perMinute, burst }: AttemptLimit,
): { readonly ok: true; readonly fullAtMs: number } | { readonly ok: false; readonly retryAfterSeconds: number } {
  const eachMs = MINUTE_MS / perMinute;
  const nextFullMs = Math.max(fullAtMs, nowMs) + eachMs;
  const waitMs = nextFullMs - burst * eachMs - nowMs;
  // A refused attempt does not count: a client that waits as long as told gets in.
  if (waitMs > 0) return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
  return { ok: true, fullAtMs: nextFullMs };
}
