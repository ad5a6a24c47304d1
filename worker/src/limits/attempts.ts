// The attempts of each user. Exact: each attempt counts for as long as the rate takes to allow a burst again, from its own time.

const MINUTE_MS = 60_000;

export type AttemptLimit = {
  /** In the long run. */
  readonly perMinute: number;
  /** At once, after a rest. */
  readonly burst: number;
};

/** How long an attempt counts. */
export function attemptMs({ perMinute, burst }: AttemptLimit): number {
  return (burst / perMinute) * MINUTE_MS;
}

/** Adds an attempt. @param earlier When the last ones were, oldest first. */
export function countAttempt(
  earlier: readonly number[],
  nowMs: number,
  limit: AttemptLimit,
):
  | { readonly ok: true; readonly times: readonly number[] }
  | { readonly ok: false; readonly retryAfterSeconds: number } {
  const lastsMs = attemptMs(limit);
  const times = earlier.filter((time) => time > nowMs - lastsMs);
  const oldest = times[times.length - limit.burst];
  // A refused attempt does not count: a client that waits as long as told gets in.
  if (oldest !== undefined) return { ok: false, retryAfterSeconds: Math.ceil((oldest + lastsMs - nowMs) / 1000) };
  return { ok: true, times: [...times, nowMs] };
}
