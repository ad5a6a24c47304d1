// A search through a recording (G5): over `plain`, line by line, one hit a line.

import type { TimeMark } from "../output/time-index.ts";
import { PlainMap } from "../programs/plain-runs.ts";
import { PlainText } from "../programs/plain-text.ts";
import type { SearchTarget } from "../programs/search.ts";
import { LineMatcher } from "./line-matcher.ts";
import type { Segment } from "./segment.ts";
import { timeAt } from "./timeline.ts";

const SLICE_BYTES = 65_536;
/** Units of a hit's line that are told: in UTF-8 at most 1 KiB. */
const TOLD_UNITS = 340;
const TOLD_BEFORE = 100;

export type Hit = { readonly offset: number; readonly atMs: number; readonly line: string };

export class LineSearch {
  readonly #matcher: LineMatcher;
  readonly #from: number;
  #plain = new PlainText();
  #map = new PlainMap();
  /** The plain text that is not searched, and the position of its first unit. */
  #text = "";
  #base = 0;
  #times: TimeMark[] = [];
  #at: number | undefined;
  /** Where the line begins that is searched next, with the control sequences before its text. */
  #lineAt = 0;

  /** @param from Hits before it are not told: a line that begins before belongs to an earlier search. */
  constructor(target: SearchTarget, from: number) {
    this.#matcher = new LineMatcher(target);
    this.#from = from;
  }

  /** Where another search begins that misses nothing and tells nothing twice. */
  get searchedTo(): number {
    return this.#at === undefined ? this.#from : Math.max(this.#from, this.#lineAt);
  }

  /** @param segment The next one: a line ends where output is missing. @param limit Of hits. @returns Whether there is room for more. */
  read(segment: Segment, hits: Hit[], limit: number): boolean {
    if (this.#at !== undefined && this.#at !== segment.from && !this.end(hits, limit)) return false;
    const { bytes, from, times } = segment;
    if (this.#at !== from) this.#lineAt = from;
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
      const slice = bytes.subarray(at, at + SLICE_BYTES);
      const until = from + at + slice.length;
      const kept = this.#times.findLastIndex(([offset]) => offset <= this.#lineAt);
      const passed = timeAt(segment, from + at) ?? 0;
      const later = times.filter(([offset]) => offset > from + at && offset < until);
      this.#times = [...this.#times.slice(Math.max(0, kept)), [from + at, passed], ...later];
      this.#plain.push(slice, from + at);
      this.#at = until;
      if (!this.#search(hits, limit)) return false;
    }
    this.#at = segment.to;
    return true;
  }

  /** No more output comes, or what comes does not follow: the line that stands there is one. */
  end(hits: Hit[], limit: number): boolean {
    this.#plain.finish();
    const hasRoom = this.#search(hits, limit, true);
    if (!hasRoom) return false;
    this.#plain = new PlainText();
    this.#map = new PlainMap();
    [this.#text, this.#base] = ["", 0];
    this.#lineAt = this.#at ?? this.#from;
    return true;
  }

  /** Searches the lines that are finished. */
  #search(hits: Hit[], limit: number, isEnd = false): boolean {
    const change = this.#plain.drain();
    this.#text = this.#text.slice(0, change.at - this.#base) + change.text;
    this.#map.replace(change.at, change.runs);
    const end = isEnd ? this.#text.length : change.settled - this.#base;
    let from = 0;
    while (from < end) {
      const feed = this.#text.indexOf("\n", from);
      const to = feed < 0 ? end : Math.min(feed, end);
      if (to > from && !this.#line(from, to, hits, limit)) break;
      // A line that is too long is settled in parts.
      from = to === feed ? to + 1 : to;
      this.#lineAt = this.#map.endOf(this.#base + from);
    }
    from = Math.min(from, this.#text.length);
    this.#text = this.#text.slice(from);
    this.#base += from;
    this.#map.dropBefore(this.#base);
    return from >= end;
  }

  /** @returns false if there is a hit, and no room for it. */
  #line(from: number, to: number, hits: Hit[], limit: number): boolean {
    const match = this.#matcher.find(this.#text, from, to);
    if (match === undefined || this.#lineAt < this.#from) return true;
    if (hits.length >= limit) return false;
    const offset = this.#map.startOf(this.#base + match.start);
    const atMs = timeAt({ times: this.#times }, offset) ?? 0;
    const first = to - from <= TOLD_UNITS ? from : Math.max(from, match.start - TOLD_BEFORE);
    hits.push({ offset, atMs, line: this.#text.slice(first, Math.min(to, first + TOLD_UNITS)) });
    return true;
  }
}
