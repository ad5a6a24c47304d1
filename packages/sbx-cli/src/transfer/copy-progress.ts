// Progress of a copy on one line, on terminals only.

import fs from "node:fs";
import tty from "node:tty";

const STDERR = 2;
const INTERVAL_MS = 200;
/** Width of a terminal that does not know it. */
const DEFAULT_COLUMNS = 80;
const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

export class CopyProgress {
  readonly #total: number | undefined;
  readonly #isShown = tty.isatty(STDERR);
  readonly #sinceMs = performance.now();
  #bytes = 0;
  #drawnMs = Number.NEGATIVE_INFINITY;

  /** @param total Bytes of all files; undefined if unknown. */
  constructor(total?: number) {
    this.#total = total;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    const nowMs = performance.now();
    if (!this.#isShown || nowMs - this.#drawnMs < INTERVAL_MS) return;
    this.#drawnMs = nowMs;
    this.#draw();
  }

  /** Leaves the last line. */
  end(): void {
    if (!this.#isShown || this.#drawnMs < 0) return;
    this.#draw();
    fs.writeSync(STDERR, "\n");
  }

  #draw(): void {
    const text = progressText(this.#bytes, this.#total, performance.now() - this.#sinceMs);
    // A wrapped line could not be overwritten.
    const shown = text.slice(0, Math.max(1, (process.stderr.columns || DEFAULT_COLUMNS) - 1));
    // The cursor returns to the left, so that a notice overwrites this line.
    fs.writeSync(STDERR, `\r${shown}\x1b[K\r`);
  }
}

/** The share is bounded, since the bytes include tar's headers. */
export function progressText(bytes: number, total: number | undefined, ms: number): string {
  const rate = `${size((bytes * 1_000) / Math.max(1, ms))}/s`;
  if (total === undefined || total === 0) return `${size(bytes)}  ${rate}`;
  const share = Math.min(100, Math.floor((100 * bytes) / total));
  return `${size(Math.min(bytes, total))} of ${size(total)}  ${share}%  ${rate}`;
}

function size(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1_000 && unit < UNITS.length - 1; unit += 1) value /= 1_000;
  return `${unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}
