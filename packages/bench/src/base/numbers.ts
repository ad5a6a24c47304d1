// Percentiles, and numbers as the table shows them.

/** `share` from 0 to 1; the nearest rank. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}

/** Two or three significant digits: more would be noise. */
export function show(value: number): string {
  if (!Number.isFinite(value)) return value === Number.POSITIVE_INFINITY ? "never" : "-";
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** So many of `full`, and never fewer than `least`. */
export function scaled(full: number, share: number, least: number): number {
  return Math.max(least, Math.round(full * share));
}
