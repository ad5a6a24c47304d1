// Finds a pattern or a literal within one line of a text, in linear time (T4).

import { Literal, PatternMachine } from "../programs/pattern.ts";
import type { SearchTarget } from "../programs/search.ts";

const NO_THREADS = { pcs: new Int32Array(0), slots: new Float64Array(0) };

export class LineMatcher {
  readonly #literal: Literal | undefined;
  readonly #machine: PatternMachine | undefined;

  constructor(target: SearchTarget) {
    if (target.kind === "text") this.#literal = new Literal(target.text);
    else this.#machine = new PatternMachine(target.program, "find", 0);
  }

  /** The leftmost match from `at` on in the line that stands from `from` to `to`. */
  find(
    text: string,
    from: number,
    to: number,
    at = from,
  ): { readonly start: number; readonly end: number } | undefined {
    const machine = this.#machine;
    if (machine === undefined) {
      const literal = this.#literal;
      const index = literal?.indexIn(text.slice(at, to), 0) ?? -1;
      return index < 0 ? undefined : { start: at + index, end: at + index + (literal?.text.length ?? 0) };
    }
    const previous = at > from ? (text.codePointAt(at - 1) ?? -1) : -1;
    machine.restore({ ...NO_THREADS, previous, at });
    machine.feed(text, at, to, Number.POSITIVE_INFINITY);
    // A match that is decided before the line ends has a character behind it.
    const match = machine.matchHere(machine.at < to ? text.codePointAt(machine.at) : undefined);
    return match && { start: match.slots[0] ?? 0, end: match.end };
  }

  /** All matches in a line, from left to right. */
  findAll(text: string): { readonly start: number; readonly end: number }[] {
    const all = [];
    for (let at = 0; at < text.length; ) {
      const match = this.find(text, 0, text.length, at);
      if (match === undefined) break;
      all.push(match);
      at = Math.max(match.end, match.start + 1);
    }
    return all;
  }

  /** Where a match begins that more text may complete. */
  openAt(text: string): number | undefined {
    const from = this.findAll(text).at(-1)?.end ?? 0;
    return this.find(text, 0, text.length, from) === undefined ? this.#machine?.oldestStart : from;
  }
}
