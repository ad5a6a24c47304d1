// Searches one screen as drawn: first for the match, then for its groups, each within an allowance of work.

import { PatternMachine, type PatternProgram } from "./pattern.ts";

export type ScreenMatch = { readonly text: string; readonly groups: readonly (string | null)[] };

export class ScreenSearch {
  /** Offset of the output that led to this screen. */
  readonly offset: number;
  readonly #program: PatternProgram;
  readonly #text: string;
  readonly #finder: PatternMachine;
  #at = 0;
  #capture: { readonly machine: PatternMachine; readonly start: number; readonly end: number } | undefined;

  constructor(program: PatternProgram, rows: readonly string[], offset: number) {
    this.offset = offset;
    this.#program = program;
    this.#text = rows.join("\n");
    this.#finder = new PatternMachine(program, "find", 0);
  }

  /** Whether a match was found, perhaps without its groups. */
  get isFound(): boolean {
    return this.#capture !== undefined;
  }

  /**
   * @param allowance About how many instructions to run; reduced by those used.
   * @returns `more`: call again; undefined: no match.
   */
  advance(allowance: { left: number }): ScreenMatch | "more" | undefined {
    if (this.#capture === undefined) {
      this.#at = feed(this.#finder, this.#text, this.#at, this.#text.length, allowance);
      if (this.#at < this.#text.length && !this.#finder.isDecided) return "more";
      const found = this.#finder.matchHere(this.#finder.isDecided ? this.#text.codePointAt(this.#at) : undefined);
      if (found === undefined) return undefined;
      const start = found.slots[0] ?? 0;
      if (this.#program.groups === 0) return { text: this.#text.slice(start, found.end), groups: [] };
      const machine = new PatternMachine(this.#program, "capture", start, codePointBefore(this.#text, start));
      this.#capture = { machine, start, end: found.end };
    }
    const { machine, start, end } = this.#capture;
    feed(machine, this.#text, machine.at, end, allowance);
    if (machine.at < end && !machine.isDecided) return "more";
    const slots = machine.matchHere(this.#text.codePointAt(end))?.slots ?? [];
    const groups = Array.from({ length: this.#program.groups }, (_, i) => {
      const from = slots[2 * i + 2] ?? -1;
      const to = slots[2 * i + 3] ?? -1;
      return from < 0 || to < 0 ? null : this.#text.slice(from, to);
    });
    return { text: this.#text.slice(start, end), groups };
  }
}

function feed(machine: PatternMachine, text: string, from: number, to: number, allowance: { left: number }): number {
  const before = machine.work;
  const at = machine.feed(text, from, to, allowance.left);
  allowance.left -= machine.work - before;
  return at;
}

/** -1 at the start of the text. */
function codePointBefore(text: string, at: number): number {
  const isPair = /[\uDC00-\uDFFF]/.test(text.charAt(at - 1));
  return at === 0 ? -1 : (text.codePointAt(isPair ? at - 2 : at - 1) ?? -1);
}
