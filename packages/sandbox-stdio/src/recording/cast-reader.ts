// asciicast v2 and v3 in, line by line, from anybody: what can't be is refused with the line's number, and nothing is believed
// that would take memory or time without bound. Knows neither where the bytes come from nor who shows them.

import { cloneBytes, decodeUtf8, isLossy, joined } from "../text/utf8-text.ts";
import { KIB, MAX_COLS, MAX_ROWS, MIB } from "../wire/constants.ts";
import { isSize } from "../wire/control.ts";
import { isRecord } from "../wire/schema.ts";

export type CastInfo = {
  readonly version: 2 | 3;
  readonly cols: number;
  readonly rows: number;
  /** When it began, as Date.now() gives it. */
  readonly startMs?: number;
  readonly title?: string;
  /** The longest interval that its maker wants shown. */
  readonly idleLimitMs?: number;
};

export type CastEvent = { readonly afterMs: number } & (
  | { readonly type: "o"; readonly text: string }
  | { readonly type: "r"; readonly cols: number; readonly rows: number }
  | { readonly type: "m"; readonly label: string }
  | { readonly type: "x"; readonly code: number }
);

/** Not a recording, or one with something in it that can't be. The message is for a person. */
export class CastFault extends Error {
  override readonly name = "CastFault";
}

const MAX_HEADER_BYTES = 64 * KIB;
const MAX_LINE_BYTES = 8 * MIB;
const MAX_LABEL = 4_096;
/** The longest interval. */
const MAX_INTERVAL_DAYS = 366;
const DAY_SECONDS = 86_400;

const [LF, GZIP] = [0x0a, 0x1f];

export class CastReader {
  #info: CastInfo | undefined;
  #line = 1;
  /** The pieces of a line whose end has not come yet. */
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  /** The time of the last event, in seconds: version 2 tells times from the start. */
  #atSeconds = 0;

  /** Known once its line is whole. */
  get info(): CastInfo | undefined {
    return this.#info;
  }

  /** @returns The events whose lines are whole now. @throws {CastFault} */
  push(chunk: Uint8Array): CastEvent[] {
    const events: CastEvent[] = [];
    let at = 0;
    for (;;) {
      const feed = chunk.indexOf(LF, at);
      this.#take(chunk.subarray(at, feed < 0 ? chunk.length : feed));
      if (feed < 0) return events;
      at = feed + 1;
      const event = this.#endLine();
      if (event !== undefined) events.push(event);
    }
  }

  /** Nothing follows. @throws {CastFault} */
  end(): CastEvent[] {
    const event = this.#bytes > 0 ? this.#endLine(true) : undefined;
    if (this.#info === undefined) throw new CastFault("it is empty: no asciicast");
    return event === undefined ? [] : [event];
  }

  #take(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#bytes += bytes.length;
    const maxBytes = this.#info === undefined ? MAX_HEADER_BYTES : MAX_LINE_BYTES;
    if (this.#info === undefined && this.#pieces.length === 0 && bytes[0] === GZIP)
      throw new CastFault("it is compressed: unpack it first");
    if (this.#bytes > maxBytes) throw this.#fault(`is longer than ${maxBytes} bytes`);
    this.#pieces.push(cloneBytes(bytes));
  }

  #endLine(isLast = false): CastEvent | undefined {
    const line = this.#text();
    try {
      if (this.#info === undefined) this.#info = this.#header(line);
      else if (line.trim() !== "" && !(this.#info.version === 3 && line.startsWith("#")))
        return this.#event(this.#json(line, isLast), this.#info.version);
      return undefined;
    } finally {
      this.#line += 1;
    }
  }

  #text(): string {
    const bytes = joined(this.#pieces);
    this.#pieces = [];
    this.#bytes = 0;
    const text = decodeUtf8(bytes);
    if (isLossy(text, bytes)) throw this.#fault("is not UTF-8");
    return text;
  }

  #json(line: string, isLast: boolean): unknown {
    try {
      return JSON.parse(line);
    } catch {
      throw this.#fault(isLast ? "is cut short: the recording ends within an event" : "is not JSON");
    }
  }

  // ---- The header ----------------------------------------------------------------------------------------------

  #header(line: string): CastInfo {
    const header = this.#json(line, false);
    if (!isRecord(header)) throw this.#fault("is not the header of an asciicast");
    const { version, title, timestamp, idle_time_limit: idle } = header;
    if (version !== 2 && version !== 3) {
      const hint = version === 1 ? ": convert it with `asciinema convert`" : "";
      throw new CastFault(`it is asciicast version ${shown(version)}; 2 and 3 can be read${hint}`);
    }
    const term = isRecord(header.term) ? header.term : {};
    const size = version === 2 ? [header.width, header.height] : [term.cols, term.rows];
    return {
      version,
      ...this.#size(...size),
      ...(isSeconds(timestamp, Number.MAX_SAFE_INTEGER / 1000) && { startMs: timestamp * 1000 }),
      ...(typeof title === "string" && { title: title.slice(0, MAX_LABEL) }),
      ...(isSeconds(idle, MAX_INTERVAL_DAYS * DAY_SECONDS) && idle > 0 && { idleLimitMs: idle * 1000 }),
    };
  }

  // ---- Events --------------------------------------------------------------------------------------------------

  #event(value: unknown, version: 2 | 3): CastEvent | undefined {
    if (!Array.isArray(value) || value.length < 3) throw this.#fault('is not an event: [TIME, "CODE", "DATA"]');
    const [time, code, data] = value as unknown[];
    if (typeof code !== "string" || typeof data !== "string") throw this.#fault("has a code or data that is no text");
    const afterMs = this.#interval(time, version) * 1000;
    switch (code) {
      case "o":
        return { afterMs, type: "o", text: data };
      case "r": {
        const [, cols, rows] = /^(\d{1,5})x(\d{1,5})$/.exec(data) ?? [];
        if (rows === undefined) throw this.#fault(`has a size that can't be: ${shown(data)}`);
        return { afterMs, type: "r", ...this.#size(Number(cols), Number(rows)) };
      }
      case "m":
        return { afterMs, type: "m", label: data.slice(0, MAX_LABEL) };
      case "x":
        if (!/^\d{1,3}$/.test(data)) throw this.#fault(`has an exit status that can't be: ${shown(data)}`);
        return { afterMs, type: "x", code: Number(data) };
      default:
        // Its time still counts: the format has it that unknown events are ignored.
        return afterMs === 0 ? undefined : { afterMs, type: "o", text: "" };
    }
  }

  #interval(time: unknown, version: 2 | 3): number {
    if (typeof time !== "number" || !Number.isFinite(time) || time < 0) {
      throw this.#fault(`has a time that can't be: ${shown(time)}`);
    }
    const interval = version === 3 ? time : time - this.#atSeconds;
    if (interval < 0) throw this.#fault(`goes back in time, from ${this.#atSeconds} s to ${time} s`);
    if (interval > MAX_INTERVAL_DAYS * DAY_SECONDS) throw this.#fault(`waits longer than ${MAX_INTERVAL_DAYS} days`);
    this.#atSeconds = time;
    return interval;
  }

  #size(cols?: unknown, rows?: unknown): { cols: number; rows: number } {
    if (typeof cols === "number" && typeof rows === "number" && isSize(cols, rows)) return { cols, rows };
    const limits = `from 1x1 to ${MAX_COLS}x${MAX_ROWS}`;
    throw this.#fault(`has a size that can't be: ${shown(cols)} by ${shown(rows)}, not ${limits}`);
  }

  #fault(what: string): CastFault {
    return new CastFault(`line ${this.#line} ${what}`);
  }
}

function isSeconds(value: unknown, most: number): value is number {
  return typeof value === "number" && value >= 0 && value <= most;
}

/** A value of somebody else's in a message: short, and on one line. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "none";
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}
