// asciicast v3 out (G3): one line of JSON for the header and for each event. Knows neither where the events come from nor who
// reads them; all times are the caller's.

import { decodeUtf8, isLossy, splitUtf8 } from "../text/utf8-text.ts";
import type { RecordedEvent } from "./event-reader.ts";

export const CAST_TYPE = "application/x-asciicast";

/** The line that keeps a quiet stream alive: players skip comments. */
export const CAST_COMMENT = "#\n";

export type CastHeader = {
  readonly cols: number;
  readonly rows: number;
  /** The time of the first event, as Date.now() gives it: the first interval counts from here. */
  readonly startMs: number;
  readonly title?: string;
  readonly command?: string;
  /** Further fields of the header that are ours, such as `lossy` and `redacted`. Players ignore them. */
  readonly more?: Readonly<Record<string, unknown>>;
};

export type CastWriterOptions = {
  /** No interval is longer. Absent: intervals are as they were. */
  readonly idleLimitMs?: number;
};

const NO_BYTES = new Uint8Array(0);

export class CastWriter {
  readonly #idleLimitMs: number;
  /** When the last event was. */
  #lastMs = 0;
  /** The start of a character whose rest has not come yet. */
  #tail: Uint8Array = NO_BYTES;
  #isLossy = false;

  constructor({ idleLimitMs = Number.POSITIVE_INFINITY }: CastWriterOptions = {}) {
    this.#idleLimitMs = idleLimitMs;
  }

  /** Whether a byte so far was not UTF-8, and is U+FFFD in the text. */
  get isLossy(): boolean {
    return this.#isLossy;
  }

  /** Begins, and forgets what came before. */
  header({ cols, rows, startMs, title, command, more }: CastHeader): string {
    this.#lastMs = startMs;
    this.#tail = NO_BYTES;
    const timestamp = Math.floor(startMs / 1000);
    return line({ version: 3, term: { cols, rows, type: "xterm-256color" }, timestamp, command, title, ...more });
  }

  /** @returns "" if output only begins a character: it goes out whole, at the time of its last byte. */
  event(event: RecordedEvent): string {
    const { atMs } = event;
    switch (event.kind) {
      case "output": {
        const { whole, tail } = splitUtf8(this.#tail, event.bytes);
        this.#tail = tail;
        return whole.length === 0 ? "" : this.#text(whole, atMs);
      }
      case "size":
        return this.#event("r", `${event.cols}x${event.rows}`, atMs);
      case "command":
        return this.#event("m", event.line, atMs);
      case "gap":
        // What comes next does not finish a character that was begun before.
        return this.end(atMs) + this.#event("m", `gap ${event.from}-${event.to}`, atMs);
      case "exit":
        return this.end(atMs) + this.#event("x", String(event.code), atMs);
    }
  }

  /** The recording ends here: the bytes that wait for the rest of their character, if there are any. */
  end(atMs: number): string {
    const tail = this.#tail;
    this.#tail = NO_BYTES;
    return tail.length === 0 ? "" : this.#text(tail, atMs);
  }

  #text(bytes: Uint8Array, atMs: number): string {
    const text = decodeUtf8(bytes);
    this.#isLossy ||= isLossy(text, bytes);
    return this.#event("o", text, atMs);
  }

  /** A clock that is set back makes no negative interval. */
  #event(code: string, data: string, atMs: number): string {
    const ms = Math.round(Math.min(Math.max(atMs - this.#lastMs, 0), this.#idleLimitMs));
    this.#lastMs = Math.max(atMs, this.#lastMs);
    return line([ms / 1000, code, data]);
  }
}

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
