// Searches output as it arrives (T2 to T4): reads the log from an offset on, as plain text, and finds a literal or an expression.
// Each byte is visited once, except in a line that has not ended.

import type { OutputLog } from "../output/output-log.ts";
import type { Gap } from "./output-range.ts";
import { Literal, PatternMachine, type PatternProgram, type PatternState, type Slots } from "./pattern.ts";
import { PlainMap } from "./plain-runs.ts";
import { PlainText } from "./plain-text.ts";

/** Longest match, in UTF-16 units of plain text: text this far back is searched (T2). */
export const SEARCHED_UNITS = 65_536;
/** Bytes of the log read at a time. */
const SLICE_BYTES = 16_384;
/** This many bytes converted to plain text, or units searched for a literal, cost as much as one instruction. */
const BYTES_PER_WORK = 4;

export type SearchTarget =
  | { readonly kind: "pattern"; readonly program: PatternProgram }
  | { readonly kind: "text"; readonly text: string };

/** `from` and `to` are offsets of the log; a group is null if it took no part. */
export type SearchMatch = {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly groups: readonly (string | null)[];
};

export type SearchProgress =
  | { readonly kind: "found"; readonly match: SearchMatch }
  /** Everything in the log has been searched. */
  | { readonly kind: "nothing" }
  /** The allowance is used up: call again. */
  | { readonly kind: "more" };

/** Where a search resumes that has found nothing before offset `seen`. */
export type ResumedAt = { readonly from: number; readonly seen: number; readonly before: number };

/** How much of the log is searched again, if held: more than a match can reach back. */
const SEARCHED_AGAIN_BYTES = 4 * SEARCHED_UNITS;
const LINE_FEED = 0x0a;

/**
 * Where a search from offset `from` resumes that has found nothing before `seen`: at its start, or at the start of a line from
 * which the plain text comes out the same.
 */
export function resumeAt(log: OutputLog, from: number, seen: number): ResumedAt {
  const floor = Math.max(log.startOffset, seen - SEARCHED_AGAIN_BYTES);
  if (from >= floor) return { from, seen, before: -1 };
  const end = Math.min(seen, log.endOffset);
  const bytes = new Uint8Array(Math.max(0, end - floor));
  log.copy(floor, bytes.length, bytes, 0);
  const line = bytes.indexOf(LINE_FEED) + 1;
  if (line > 0) return { from: floor + line, seen, before: LINE_FEED };
  // Within one longer line, whatever precedes is not a line end.
  let at = 0;
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return { from: floor + at, seen, before: 0x20 };
}

export class OutputSearch {
  readonly #target: SearchTarget;
  readonly #literal: Literal | undefined;
  readonly #plain = new PlainText();
  readonly #map = new PlainMap();
  /** The plain text held, and the position of its first unit. */
  #text = "";
  #base = 0;
  #settled = 0;
  /** Offset of the next byte to read. */
  #next: number;
  /** Position up to which the text has been searched. */
  #searched = 0;
  #finder: PatternMachine | undefined;
  #checkpoint: PatternState | undefined;
  #capture: { readonly machine: PatternMachine; readonly start: number; readonly end: number } | undefined;
  /** Range of bytes that were lost before they could be searched. */
  missed: Gap | undefined;
  /** The character before the first one searched; -1 at the start of the text. */
  readonly #before: number;
  /** An earlier life of this search has searched the bytes before this offset, so they can't be missed. */
  readonly #seen: number;

  /** @param from Offset of the first byte to search. @param resumed Set if an earlier life began the search. */
  constructor(target: SearchTarget, from: number, resumed?: ResumedAt) {
    this.#target = target;
    this.#literal = target.kind === "text" ? new Literal(target.text) : undefined;
    this.#next = resumed?.from ?? from;
    this.#before = resumed?.before ?? -1;
    this.#seen = resumed?.seen ?? from;
    if (target.kind === "pattern") {
      this.#finder = new PatternMachine(target.program, "find", 0, this.#before);
      this.#checkpoint = this.#finder.save();
    }
  }

  /** Offset up to which output has been read. */
  get offset(): number {
    return this.#next;
  }

  /** Offset from which another search would miss nothing that this one has not decided. */
  get undecidedOffset(): number {
    // A literal may begin before the end of the searched text.
    const begun = Math.max(this.#base, this.#searched + 1 - (this.#literal?.text.length ?? 1));
    const position = this.#finder?.oldestStart ?? begun;
    return position >= this.#base + this.#text.length ? this.#next : this.#map.startOf(position);
  }

  /**
   * Searches the log's new output. Finds the leftmost match in the output so far, like a backtracking engine: `$` also matches at
   * its end, and a match there may be shorter than with later output.
   * @param allowance About how many instructions to run, or as much other work; reduced by the work done.
   */
  advance(log: OutputLog, allowance = { left: Number.MAX_SAFE_INTEGER }): SearchProgress {
    if (this.#capture !== undefined) return this.#captureGroups(allowance);
    for (;;) {
      if (!this.#searchText(allowance)) return { kind: "more" };
      const isLast = this.#next >= log.endOffset;
      const found = this.#found(isLast, allowance);
      if (found !== undefined) return this.#report(found, allowance);
      if (isLast) return { kind: "nothing" };
      if (allowance.left <= 0) return { kind: "more" };
      this.#trim();
      this.#takeIn(log, allowance);
    }
  }

  #takeIn(log: OutputLog, allowance: { left: number }): void {
    if (this.#next < log.startOffset) {
      const from = Math.max(this.#next, this.#seen);
      if (from < log.startOffset) this.missed = { from: this.missed?.from ?? from, to: log.startOffset };
      this.#next = log.startOffset;
    }
    const length = Math.min(
      Math.max(1, Math.floor(allowance.left * BYTES_PER_WORK)),
      SLICE_BYTES,
      log.endOffset - this.#next,
    );
    const bytes = new Uint8Array(length);
    log.copy(this.#next, length, bytes, 0);
    this.#plain.push(bytes, this.#next);
    this.#next += length;
    const change = this.#plain.drain();
    this.#text = this.#text.slice(0, change.at - this.#base) + change.text;
    this.#map.replace(change.at, change.runs);
    this.#settled = change.settled;
    // An overwritten long line is reported as a whole.
    allowance.left -= (length + change.text.length) / BYTES_PER_WORK;
    if (change.at < this.#searched) {
      // A line was overwritten: search it again from its beginning.
      if (this.#checkpoint !== undefined) this.#finder?.restore(this.#checkpoint);
      this.#searched = this.#checkpoint?.at ?? change.at;
    }
  }

  /** @returns Whether all text has been searched. */
  #searchText(allowance: { left: number }): boolean {
    const finder = this.#finder;
    const end = this.#base + this.#text.length;
    if (finder === undefined) return true;
    if (this.#searched < this.#settled && !finder.hasMatch) {
      if (!this.#feed(finder, this.#settled, allowance)) return false;
      if (!finder.hasMatch) this.#checkpoint = finder.save();
    }
    return this.#feed(finder, end, allowance);
  }

  #feed(finder: PatternMachine, to: number, allowance: { left: number }): boolean {
    const before = finder.work;
    const index = finder.feed(this.#text, this.#searched - this.#base, to - this.#base, allowance.left);
    this.#searched = this.#base + index;
    allowance.left -= finder.work - before;
    return this.#searched >= to || finder.isDecided;
  }

  #found(isLast: boolean, allowance: { left: number }): { start: number; end: number } | undefined {
    if (this.#literal !== undefined) {
      const { text } = this.#literal;
      const end = this.#base + this.#text.length;
      if (this.#searched >= end) return undefined;
      const from = Math.max(this.#base, this.#searched - text.length + 1);
      allowance.left -= (end - from) / BYTES_PER_WORK;
      const index = this.#literal.indexIn(this.#text, from - this.#base);
      this.#searched = end;
      return index < 0 ? undefined : { start: this.#base + index, end: this.#base + index + text.length };
    }
    const finder = this.#finder;
    if (finder === undefined || !(isLast || finder.isDecided || this.#isTooLong(finder))) return undefined;
    const match = finder.matchHere(isLast ? undefined : this.#runeAt(finder.at));
    return match === undefined ? undefined : { start: match.slots[0] ?? 0, end: match.end };
  }

  /** Ends a match that could go on forever. */
  #isTooLong(finder: PatternMachine): boolean {
    return finder.hasMatch && finder.at - (finder.oldestStart ?? finder.at) > SEARCHED_UNITS;
  }

  #runeAt(position: number): number | undefined {
    return this.#text.codePointAt(position - this.#base);
  }

  #runeBefore(position: number): number {
    const index = position - this.#base;
    if (index <= 0) return this.#before;
    const unit = this.#text.charCodeAt(index - 1);
    return unit >= 0xdc00 && unit <= 0xdfff ? (this.#text.codePointAt(index - 2) ?? unit) : unit;
  }

  #report(found: { start: number; end: number }, allowance: { left: number }): SearchProgress {
    const { start, end } = found;
    const target = this.#target;
    if (target.kind === "text" || target.program.groups === 0)
      return { kind: "found", match: this.#matchAt(start, end, []) };
    const machine = new PatternMachine(target.program, "capture", start, this.#runeBefore(start));
    this.#capture = { machine, start, end };
    return this.#captureGroups(allowance);
  }

  /** Finds the groups of a known match in a second pass over it. */
  #captureGroups(allowance: { left: number }): SearchProgress {
    if (this.#capture === undefined) return { kind: "nothing" };
    const { machine, start, end } = this.#capture;
    const before = machine.work;
    machine.feed(this.#text, machine.at - this.#base, end - this.#base, allowance.left);
    allowance.left -= machine.work - before;
    if (machine.at < end) return { kind: "more" };
    const slots = machine.matchHere(this.#runeAt(end))?.slots ?? [];
    return { kind: "found", match: this.#matchAt(start, end, slots) };
  }

  #matchAt(start: number, end: number, slots: Slots): SearchMatch {
    const text = (from: number, to: number) => this.#text.slice(from - this.#base, to - this.#base);
    const groups: (string | null)[] = [];
    for (let slot = 2; slot + 1 < slots.length; slot += 2) {
      const from = slots[slot] ?? -1;
      const to = slots[slot + 1] ?? -1;
      groups.push(from < 0 || to < 0 ? null : text(from, to));
    }
    const isEmpty = start === end;
    const from = isEmpty && start === this.#base + this.#text.length ? this.#next : this.#map.startOf(start);
    return { from, to: isEmpty ? from : this.#map.endOf(end), text: text(start, end), groups };
  }

  /** Drops text that is too old for a match to begin in it. */
  #trim(): void {
    const end = this.#base + this.#text.length;
    const finder = this.#finder;
    const oldest = finder?.oldestStart ?? end;
    if (end - oldest > 2 * SEARCHED_UNITS && finder !== undefined && this.#settled >= this.#searched)
      this.#startAnew(end);
    // Keep the character before the window, for `\b` and `^`.
    const kept =
      Math.min(end - SEARCHED_UNITS, this.#settled, this.#finder?.oldestStart ?? end, this.#checkpoint?.at ?? end) - 2;
    if (kept - this.#base < SEARCHED_UNITS) return;
    this.#text = this.#text.slice(kept - this.#base);
    this.#base = kept;
    this.#map.dropBefore(kept);
  }

  /** A thread that began too long ago may hide a later start: searches the last {@link SEARCHED_UNITS} again, once. */
  #startAnew(end: number): void {
    const target = this.#target;
    if (target.kind !== "pattern") return;
    let from = end - SEARCHED_UNITS;
    const unit = this.#text.charCodeAt(from - this.#base);
    if (unit >= 0xdc00 && unit <= 0xdfff) from += 1;
    this.#finder = new PatternMachine(target.program, "find", from, this.#runeBefore(from));
    this.#checkpoint = this.#finder.save();
    this.#searched = from;
  }
}
