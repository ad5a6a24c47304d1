// When output arrived: a sparse index of offsets and times, bounded for any lifetime of a process. The caller passes the time.

/** The output from `offset` to the next mark arrived within {@link TimeIndex.stepMs} after `atMs`. */
export type TimeMark = readonly [offset: number, atMs: number];

/** Most marks; beyond it the step doubles, which halves them. */
export const MAX_TIME_MARKS = 1_024;
const FIRST_STEP_MS = 1_000;

export class TimeIndex {
  #marks: TimeMark[] = [];
  #stepMs = FIRST_STEP_MS;
  #lastMs: number | undefined;

  /** When the last output arrived; undefined before the first. */
  get lastMs(): number | undefined {
    return this.#lastMs;
  }

  get stepMs(): number {
    return this.#stepMs;
  }

  get marks(): readonly TimeMark[] {
    return this.#marks;
  }

  /** Notes output that starts at `offset`. If the clock was set back, nothing is marked until it catches up. */
  note(offset: number, nowMs: number): void {
    this.#lastMs = nowMs;
    const last = this.#marks.at(-1);
    if (last !== undefined && nowMs < last[1] + this.#stepMs) return;
    this.#marks.push([offset, nowMs]);
    if (this.#marks.length > MAX_TIME_MARKS) this.#thin();
  }

  #thin(): void {
    this.#stepMs *= 2;
    const kept: TimeMark[] = [];
    for (const mark of this.#marks) {
      const last = kept.at(-1);
      if (last === undefined || mark[1] >= last[1] + this.#stepMs) kept.push(mark);
    }
    this.#marks = kept;
  }
}

/**
 * Start of the output since `sinceMs`: never after its first byte, and at most one step before.
 * @param end End of the output.
 */
export function offsetSince(
  { marks, stepMs }: Pick<TimeIndex, "marks" | "stepMs">,
  sinceMs: number,
  end: number,
): number {
  const later = marks.findIndex(([, atMs]) => atMs > sinceMs);
  const index = (later < 0 ? marks.length : later) - 1;
  const next = marks[index + 1]?.[0] ?? end;
  const mark = marks[index];
  if (mark === undefined) return marks[0]?.[0] ?? 0;
  return sinceMs < mark[1] + stepMs ? mark[0] : next;
}

/** The marks of this range of output. The one that applies to the first byte is moved to `from`. */
export function marksWithin(marks: readonly TimeMark[], from: number, next: number): TimeMark[] {
  if (next <= from) return [];
  const first = marks.findLast(([offset]) => offset <= from) ?? marks[0];
  const later = marks.filter(([offset]) => offset > from && offset < next);
  return first === undefined ? later : [[from, first[1]], ...later];
}

/** Validates an index, since the bridge is not trusted. @returns undefined if malformed. */
export function readTimeIndex(value: unknown): Pick<TimeIndex, "marks" | "stepMs"> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { marks, stepMs } = value as { marks?: unknown; stepMs?: unknown };
  if (!Array.isArray(marks) || marks.length > MAX_TIME_MARKS || typeof stepMs !== "number") return undefined;
  const isMark = (mark: unknown): mark is TimeMark =>
    Array.isArray(mark) && mark.length === 2 && mark.every((part) => Number.isSafeInteger(part) && part >= 0);
  return marks.every(isMark) ? { marks, stepMs } : undefined;
}
