// ALiS v1 out, as asciinema-player 3.18.0 reads it (G7): one binary message for the magic string and for each event. A number is
// an unsigned LEB128. Times are microseconds: of a reset since the session's start, of an event since the one before it.

import { encodeUtf8 } from "../text/utf8-text.ts";

export const ALIS_PROTOCOL = "v1.alis";

/** The first message of a connection. */
export const ALIS_MAGIC = encodeUtf8("ALiS\x01");

/** A line on pipes ends with LF alone. In this mode a terminal begins the next one at its left edge. */
export const NEW_LINE_MODE = encodeUtf8("\x1b[20h");

const RESET = 0x01;
const EOT = 0x04;
const NO_THEME = 0;

/** Where an event stands: `id` is the log's offset behind it. */
export type AlisPlace = { readonly id: number; readonly afterUs: number };

export type AlisReset = {
  /** The log's offset of the screen. */
  readonly lastId: number;
  readonly timeUs: number;
  readonly cols: number;
  readonly rows: number;
  /** Draws the screen. */
  readonly screen: Uint8Array;
};

export function alisReset({ lastId, timeUs, cols, rows, screen }: AlisReset): Uint8Array {
  return message([RESET, ...[lastId, timeUs, cols, rows].flatMap(leb), NO_THEME], screen);
}

/** Output, or the label of a marker. @param text UTF-8 that ends with a whole character: the player reads each event by itself. */
export function alisText(kind: "o" | "m", { id, afterUs }: AlisPlace, text: Uint8Array): Uint8Array {
  return message([code(kind), ...leb(id), ...leb(afterUs)], text);
}

/** A size, or the exit's status. */
export function alisNumbers(kind: "r" | "x", { id, afterUs }: AlisPlace, ...numbers: readonly number[]): Uint8Array {
  return Uint8Array.from([code(kind), ...[id, afterUs, ...numbers].flatMap(leb)]);
}

/** The end of the stream: its client does not come back. */
export function alisEnd(): Uint8Array {
  return Uint8Array.of(EOT, 0);
}

function code(letter: string): number {
  return letter.charCodeAt(0);
}

/** A head, and a text with its length before it. */
function message(head: readonly number[], text: Uint8Array): Uint8Array {
  const start = [...head, ...leb(text.length)];
  const bytes = new Uint8Array(start.length + text.length);
  bytes.set(start);
  bytes.set(text, start.length);
  return bytes;
}

/** Offsets and microseconds outgrow the 32 bits of bitwise operators. */
function leb(value: number): number[] {
  const bytes: number[] = [];
  let rest = Math.max(0, Math.floor(value));
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return bytes;
}
