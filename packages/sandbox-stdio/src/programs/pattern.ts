// Matches a regular expression against text that arrives in pieces. All threads of its program visit each character once (Pike),
// so time is linear for any expression. Can stop after a bounded amount of work, and resume.

/** Operations of instructions. Compiled from RE2 syntax elsewhere; this package imports no parser. */
export const OP = {
  fail: 0,
  alt: 1,
  capture: 2,
  empty: 3,
  match: 4,
  nop: 5,
  rune: 6,
  any: 7,
  anyNotNewline: 8,
} as const;

/** Conditions of an `empty` instruction, as bits of its `arg`. */
export const EMPTY = {
  beginLine: 1,
  endLine: 2,
  beginText: 4,
  endText: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
} as const;

export interface PatternProgram {
  readonly ops: Uint8Array;
  /** The next instruction; for `alt`, the preferred one. */
  readonly outs: Int32Array;
  /** For `alt` the other instruction, for `capture` the slot, for `empty` the conditions. */
  readonly args: Int32Array;
  readonly start: number;
  /** Number of captures, not counting the whole match. */
  readonly groups: number;
  /** Whether the `rune` instruction at `pc` accepts a code point. */
  matchesRune(pc: number, rune: number): boolean;
}

/** Slots of a match: group i starts at slot 2i and ends at slot 2i+1; -1 if it took no part. */
export type Slots = readonly number[];

const NO_RUNE = -1;

/** Threads in order of preference, each with an instruction and slots. */
class Threads {
  readonly pcs: Int32Array;
  readonly slots: Float64Array;
  readonly width: number;
  count = 0;

  constructor(capacity: number, width: number) {
    this.width = width;
    this.pcs = new Int32Array(capacity);
    this.slots = new Float64Array(capacity * width);
  }

  add(pc: number, slots: Float64Array): void {
    this.pcs[this.count] = pc;
    const at = this.count * this.width;
    for (let i = 0; i < this.width; i += 1) this.slots[at + i] = slots[i] ?? -1;
    this.count += 1;
  }
}

/** A state made by {@link PatternMachine.save}. */
export interface PatternState {
  readonly pcs: Int32Array;
  readonly slots: Float64Array;
  readonly previous: number;
  readonly at: number;
}

export class PatternMachine {
  readonly #program: PatternProgram;
  readonly #width: number;
  readonly #isAnchored: boolean;
  /** Threads before the next character, whose empty steps are not followed yet. */
  #seeds: Threads;
  /** Threads waiting for the next character. */
  #waiting: Threads;
  readonly #seen: Int32Array;
  #generation = 0;
  readonly #stack: number[] = [];
  readonly #row: Float64Array;
  #previous: number;
  #at: number;
  #match: { readonly slots: number[]; readonly end: number } | undefined;
  /** ASCII characters that a match may begin with; undefined if a match may be empty. */
  readonly #firsts: Uint8Array | undefined;
  /** Instructions visited so far, as the measure of work. */
  work = 0;

  /**
   * @param at Position of the first character; `previous` is the code point before it, -1 at the start of the text.
   * @param mode `find` looks for a match anywhere and records only its position; `capture` for one that starts at `at`.
   */
  constructor(program: PatternProgram, mode: "find" | "capture", at: number, previous = NO_RUNE) {
    const size = program.ops.length;
    this.#program = program;
    this.#isAnchored = mode === "capture";
    this.#width = mode === "capture" ? (program.groups + 1) * 2 : 1;
    this.#seeds = new Threads(size + 1, this.#width);
    this.#waiting = new Threads(size, this.#width);
    this.#seen = new Int32Array(size);
    this.#row = new Float64Array(this.#width);
    this.#previous = previous;
    this.#at = at;
    this.#firsts = this.#isAnchored ? undefined : firstsOf(program);
    if (this.#isAnchored) this.#seedStart();
  }

  /** Position of the next character. */
  get at(): number {
    return this.#at;
  }

  /** Start of the oldest thread; undefined if there is none. */
  get oldestStart(): number | undefined {
    return this.#seeds.count === 0 ? undefined : this.#seeds.slots[0];
  }

  /** Whether a match was found that later characters can't change. */
  get isDecided(): boolean {
    return this.#match !== undefined && this.#seeds.count === 0;
  }

  get hasMatch(): boolean {
    return this.#match !== undefined;
  }

  /** Call only while there is no match. */
  save(): PatternState {
    const { pcs, slots, count } = this.#seeds;
    return {
      pcs: pcs.slice(0, count),
      slots: slots.slice(0, count * this.#width),
      previous: this.#previous,
      at: this.#at,
    };
  }

  restore(state: PatternState): void {
    this.#seeds.pcs.set(state.pcs);
    this.#seeds.slots.set(state.slots);
    this.#seeds.count = state.pcs.length;
    this.#previous = state.previous;
    this.#at = state.at;
    this.#match = undefined;
  }

  /**
   * Runs over `text` from index `from` until its end, a decided match, or about `maxWork` instructions.
   * @returns Index of the first unit not visited.
   */
  feed(text: string, from: number, to: number, maxWork: number): number {
    const limit = this.work + maxWork;
    let i = from;
    while (i < to && this.work < limit && !this.isDecided) {
      if (this.#seeds.count === 0 && this.#firsts !== undefined && this.#match === undefined) {
        const next = this.#skip(text, i, to);
        this.work += (next - i) >> 3;
        this.#at += next - i;
        i = next;
        if (i >= to) break;
      }
      const rune = text.codePointAt(i) ?? 0;
      const units = rune > 0xffff ? 2 : 1;
      this.#step(rune, units);
      i += units;
    }
    return i;
  }

  /**
   * The match if the text ends here or `next` follows: the leftmost, and among those the one that a backtracking engine finds
   * first. The machine can continue afterwards.
   */
  matchHere(next = NO_RUNE): { readonly slots: Slots; readonly end: number } | undefined {
    const found = this.#match;
    this.#follow(next);
    const here = this.#match;
    this.#match = found;
    return here;
  }

  /** Skips characters that no match begins with. */
  #skip(text: string, from: number, to: number): number {
    const firsts = this.#firsts;
    let i = from;
    while (i < to) {
      const unit = text.charCodeAt(i);
      if (unit >= 0x80 || firsts?.[unit] === 1) break;
      i += 1;
    }
    if (i > from) this.#previous = text.charCodeAt(i - 1);
    return i;
  }

  #step(rune: number, units: number): void {
    this.#follow(rune);
    const program = this.#program;
    const { pcs, slots, count } = this.#waiting;
    const seeds = this.#seeds;
    const width = this.#width;
    seeds.count = 0;
    for (let i = 0; i < count; i += 1) {
      const pc = pcs[i] ?? 0;
      const op = program.ops[pc];
      const accepts = op === OP.any || (op === OP.anyNotNewline ? rune !== 0x0a : program.matchesRune(pc, rune));
      if (accepts) seeds.add(program.outs[pc] ?? 0, slots.subarray(i * width, (i + 1) * width));
    }
    this.work += count;
    this.#previous = rune;
    this.#at += units;
  }

  #seedStart(): void {
    this.#row.fill(-1);
    this.#row[0] = this.#at;
    this.#seeds.add(this.#program.start, this.#row);
  }

  /** Follows all seeds to instructions that wait for a character, or to a match, which discards later threads. */
  #follow(next: number): void {
    const conditions = conditionsBetween(this.#previous, next);
    const seeds = this.#seeds;
    const { count } = seeds;
    this.#generation += 1;
    this.#waiting.count = 0;
    for (let i = 0; i < count; i += 1) {
      const at = i * this.#width;
      for (let slot = 0; slot < this.#width; slot += 1) this.#row[slot] = seeds.slots[at + slot] ?? -1;
      if (this.#followOne(seeds.pcs[i] ?? 0, conditions)) return;
    }
    if (this.#isAnchored || this.#match !== undefined) return;
    this.#row[0] = this.#at;
    this.#followOne(this.#program.start, conditions);
  }

  /** @returns Whether it reached a match. */
  #followOne(from: number, conditions: number): boolean {
    const { ops, outs, args } = this.#program;
    const stack = this.#stack;
    stack.length = 0;
    stack.push(from);
    for (let pc = stack.pop(); pc !== undefined; pc = stack.pop()) {
      if (pc < 0) {
        // Restore a slot: the other branch has not passed that capture.
        this.#row[-pc - 1] = stack.pop() ?? -1;
        continue;
      }
      if (this.#seen[pc] === this.#generation) continue;
      this.#seen[pc] = this.#generation;
      this.work += 1;
      const out = outs[pc] ?? 0;
      const arg = args[pc] ?? 0;
      switch (ops[pc]) {
        case OP.alt:
          stack.push(arg, out);
          break;
        case OP.capture:
          if (this.#isAnchored && arg > 1 && arg < this.#width) {
            stack.push(this.#row[arg] ?? -1, -arg - 1);
            this.#row[arg] = this.#at;
          }
          stack.push(out);
          break;
        case OP.empty:
          if ((arg & ~conditions) === 0) stack.push(out);
          break;
        case OP.nop:
          stack.push(out);
          break;
        case OP.match:
          this.#match = { slots: [...this.#row], end: this.#at };
          return true;
        case OP.fail:
          break;
        default:
          this.#waiting.add(pc, this.#row);
      }
    }
    return false;
  }
}

function conditionsBetween(previous: number, next: number): number {
  let conditions = isWord(previous) === isWord(next) ? EMPTY.noWordBoundary : EMPTY.wordBoundary;
  if (previous === NO_RUNE) conditions |= EMPTY.beginText | EMPTY.beginLine;
  else if (previous === 0x0a) conditions |= EMPTY.beginLine;
  if (next === NO_RUNE) conditions |= EMPTY.endText | EMPTY.endLine;
  else if (next === 0x0a) conditions |= EMPTY.endLine;
  return conditions;
}

function isWord(rune: number): boolean {
  return (
    (rune >= 0x30 && rune <= 0x39) || (rune >= 0x41 && rune <= 0x5a) || rune === 0x5f || (rune >= 0x61 && rune <= 0x7a)
  );
}

function firstsOf(program: PatternProgram): Uint8Array | undefined {
  const firsts = new Uint8Array(0x80);
  const seen = new Set<number>();
  const stack = [program.start];
  for (let pc = stack.pop(); pc !== undefined; pc = stack.pop()) {
    if (seen.has(pc)) continue;
    seen.add(pc);
    const op = program.ops[pc];
    if (op === OP.match) return undefined;
    if (op === OP.alt) stack.push(program.args[pc] ?? 0);
    if (op === OP.alt || op === OP.capture || op === OP.empty || op === OP.nop) stack.push(program.outs[pc] ?? 0);
    else if (op !== OP.fail) {
      for (let rune = 0; rune < 0x80; rune += 1) {
        if (op === OP.any || (op === OP.anyNotNewline ? rune !== 0x0a : program.matchesRune(pc, rune)))
          firsts[rune] = 1;
      }
    }
  }
  return firsts;
}

/**
 * Finds a literal in linear time for any input. `indexOf` may take time proportional to the product of both lengths if large
 * parts of the literal occur everywhere.
 */
export class Literal {
  readonly text: string;
  /** For each prefix of the literal, the length of its longest proper border. */
  readonly #borders: Uint16Array;

  /** @param text Not empty, and shorter than 65,536 units. */
  constructor(text: string) {
    this.text = text;
    this.#borders = new Uint16Array(text.length);
    let length = 0;
    for (let i = 1; i < text.length; i += 1) {
      length = this.#longer(length, text.charCodeAt(i));
      this.#borders[i] = length;
    }
  }

  /** Like `String.indexOf`. */
  indexIn(text: string, from: number): number {
    const wanted = this.text.length;
    let length = 0;
    for (let i = from; i < text.length; i += 1) {
      length = this.#longer(length, text.charCodeAt(i));
      if (length === wanted) return i + 1 - wanted;
    }
    return -1;
  }

  /** How much of the literal the text ends with after one more unit. */
  #longer(matched: number, unit: number): number {
    let length = matched;
    while (length > 0 && this.text.charCodeAt(length) !== unit) length = this.#borders[length - 1] ?? 0;
    return this.text.charCodeAt(length) === unit ? length + 1 : length;
  }
}
