// Cuts output for a terminal into pieces that each parse in a few milliseconds, whatever they contain, so that other tasks run in
// between.

import { unfinishedBytes } from "../text/utf8-text.ts";
import { inputHandlerOf, type XtermTerminal } from "./xterm-fault.ts";

/** Target time per piece. */
const PIECE_MS = 8;
/** Longest time of a piece that consists of the costliest sequences. */
const WORST_PIECE_NS = 250_000_000;
const MIN_WORST_BYTES = 64;
/** Smaller pieces cost too much overhead; a machine busy elsewhere makes all pieces slow. */
const MIN_BYTES = 4_096;
const MAX_BYTES = 65_536;
const FIRST_BYTES = 16_384;
/** Largest growth from one piece to the next, which may have other content. */
const MAX_GROWTH = 4;

export class Slices {
  #bytes = FIRST_BYTES;

  /**
   * @param worstNs Most time that a byte can cost this terminal: {@link worstNsPerByte}.
   * @returns The end of the piece that begins at `from`: not inside a character if that can be known.
   */
  endOf(bytes: Uint8Array, from: number, worstNs: number): number {
    const most = Math.max(MIN_WORST_BYTES, Math.floor(WORST_PIECE_NS / worstNs));
    const end = from + Math.min(this.#bytes, most);
    if (end >= bytes.length) return bytes.length;
    return end - unfinishedBytes(bytes.subarray(from, end));
  }

  /** A piece of this length took `ms`. */
  took(length: number, ms: number): void {
    const wanted = ms <= 0 ? MAX_BYTES : (length * PIECE_MS) / ms;
    const most = Math.min(MAX_BYTES, Math.max(length, this.#bytes) * MAX_GROWTH);
    // A short piece says little about a long one, unless it was slow.
    if (length < this.#bytes / 2 && ms < PIECE_MS) return;
    this.#bytes = Math.round(Math.max(MIN_BYTES, Math.min(wanted, most)));
  }
}

/**
 * Most nanoseconds that a byte can cost xterm.js 6.1 with {@link limitWork}. Four bytes erase or scroll the whole screen, and
 * each scrolled line visits every marker.
 */
export function worstNsPerByte({ cols, rows, markers }: Pick<XtermTerminal, "cols" | "rows" | "markers">): number {
  return 3 * rows * cols + 4 * rows * markers.length;
}

/** xterm.js itself yields after this time, but only between writes. */
const TURN_MS = 12;

/**
 * Makes a terminal parse each write in pieces, so that the page can do other work in between: one write of 64 KiB may take
 * minutes. A write's callback is still called once all of it is parsed.
 * @param now Monotonic clock, in milliseconds.
 * @throws {Error} If the terminal is not the version that this was written for.
 */
export function parseInSlices(terminal: XtermTerminal, now: () => number): void {
  const input = inputHandlerOf(terminal);
  const parse = input.parse.bind(input);
  const slices = new Slices();
  /** A partly parsed write, which xterm.js passes again, and how far it is. `held`: the piece in which a handler waits. */
  let begun: { readonly data: Uint8Array; readonly at: number; readonly held?: Uint8Array } | undefined;
  input.parse = (data, promiseResult) => {
    if (typeof data === "string") return parse(data, promiseResult);
    let { at, held } = begun?.data === data ? begun : { at: 0, held: undefined };
    begun = undefined;
    const startMs = now();
    for (let lastMs = startMs; at < data.length; ) {
      const end = held === undefined ? slices.endOf(data, at, worstNsPerByte(terminal)) : at + held.length;
      const piece = held ?? data.subarray(at, end);
      const result = held === undefined ? parse(piece) : parse(piece, promiseResult);
      if (result !== undefined) {
        begun = { data, at, held: piece };
        return result;
      }
      held = undefined;
      const nowMs = now();
      slices.took(end - at, nowMs - lastMs);
      lastMs = nowMs;
      at = end;
      if (at < data.length && nowMs - startMs >= TURN_MS) {
        begun = { data, at };
        return Promise.resolve(true);
      }
    }
    return undefined;
  };
}
