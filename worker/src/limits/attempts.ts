// Who has tried how often within the last minute. Exact: each attempt counts for sixty seconds from its own time.

const MINUTE_MS = 60_000;

/** Adds an attempt. @param earlier When the last ones were, oldest first. */
export function countAttempt(
  earlier: readonly number[],
  nowMs: number,
  perMinute: number,
):
  | { readonly ok: true; readonly times: readonly number[] }
  | { readonly ok: false; readonly retryAfterSeconds: number } {
  const times = earlier.filter((time) => time > nowMs - MINUTE_MS);
  const oldest = times[times.length - perMinute];
  // One that was refused does not count: whoever waits as long as told gets in.
  if (oldest !== undefined) return { ok: false, retryAfterSeconds: Math.ceil((oldest + MINUTE_MS - nowMs) / 1000) };
  return { ok: true, times: [...times, nowMs] };
}
