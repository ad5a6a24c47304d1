// Durations as settings give them.

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a text like `90d`, `12h`, `30m` or `60s`, at least one second; undefined for any other. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit ?? ""];
  return count === undefined || unitMs === undefined ? undefined : Number(count) * unitMs;
}
