// Holds bytes that came through a session against f(n): finds missing, repeated and late bytes, and their places.

import { LOCATABLE_BYTES, locate, patternBytes, type StreamKey } from "./pattern.ts";

export type DamageKind =
  /** Never came. */
  | "lost"
  /** Came again. */
  | "doubled"
  /** Came after bytes that stand behind them. */
  | "reordered"
  /** Nothing that was ever sent: changed, or of something else. */
  | "foreign";

/** `bytes` bytes from offset `at` on. Foreign ones have no offset of their own: `at` is where they turned up. */
export type Damage = { readonly kind: DamageKind; readonly at: number; readonly bytes: number };

/** Bytes that fit nowhere are looked at together, up to so many. */
const SEARCHED_BYTES = 64;

type Range = { from: number; to: number };

/**
 * One stream. Where bytes do not follow on, their own positions tell what happened. Right to the byte, but for chance:
 * one byte in 256 fits two places, and damage may then seem to begin a byte later.
 */
export class StreamChecker {
  readonly #key: StreamKey;
  /** Where the next byte should stand. */
  #next: number;
  /** One beyond the furthest byte that has come. */
  #high: number;
  #missing: Range[] = [];
  /** Bytes that did not follow on, and are too few yet to tell where they belong. */
  #unplaced: Uint8Array = new Uint8Array(0);
  #damages: Damage[] = [];
  #received = 0;

  /** @param start The offset of the first byte to come. */
  constructor(key: StreamKey, start = 0) {
    this.#key = key;
    this.#next = start;
    this.#high = start;
  }

  /** Bytes that have come, whatever they were. */
  get received(): number {
    return this.#received;
  }

  /** The damages known by now. Missing bytes may yet come: they are lost once {@link finish} has been called. */
  get damages(): readonly Damage[] {
    return this.#damages;
  }

  push(bytes: Uint8Array): void {
    this.#received += bytes.length;
    if (this.#unplaced.length === 0) {
      this.#follow(bytes);
      return;
    }
    const joined = new Uint8Array(this.#unplaced.length + bytes.length);
    joined.set(this.#unplaced);
    joined.set(bytes, this.#unplaced.length);
    this.#place(joined);
  }

  /** Missing bytes before `position` are not expected any more: that was said. */
  skipTo(position: number): void {
    this.#high = Math.max(this.#high, position);
    this.#next = position;
  }

  /** Nothing more comes; there were `total` bytes to come. @returns All damage, by offset. */
  finish(total: number): readonly Damage[] {
    if (this.#unplaced.length > 0) this.#placeLast(total);
    for (const { from, to } of this.#missing) this.#note("lost", from, to - from);
    this.#missing = [];
    this.#note("lost", this.#high, total - this.#high);
    this.#note("foreign", total, this.#high - total);
    return this.#damages.sort((a, b) => a.at - b.at);
  }

  /** Takes bytes that should follow on. */
  #follow(bytes: Uint8Array): void {
    const expected = patternBytes(this.#next, this.#next + bytes.length, this.#key);
    const same = samePrefix(bytes, expected);
    this.#accept(same);
    if (same < bytes.length) this.#place(bytes.subarray(same));
  }

  /** The next `count` bytes are what stands at {@link #next}. */
  #accept(count: number): void {
    const from = this.#next;
    const to = from + count;
    this.#next = to;
    const old = Math.min(to, this.#high);
    if (from < old) this.#acceptOld(from, old);
    this.#high = Math.max(this.#high, to);
  }

  #acceptOld(from: number, to: number): void {
    let at = from;
    const left: Range[] = [];
    for (const range of this.#missing) {
      const late = { from: Math.max(range.from, at), to: Math.min(range.to, to) };
      if (late.from >= late.to) {
        left.push(range);
        continue;
      }
      this.#note("doubled", at, late.from - at);
      this.#note("reordered", late.from, late.to - late.from);
      at = late.to;
      if (range.from < late.from) left.push({ from: range.from, to: late.from });
      if (late.to < range.to) left.push({ from: late.to, to: range.to });
    }
    this.#note("doubled", at, to - at);
    this.#missing = left;
  }

  /** Finds out where bytes belong that do not follow on, or keeps them until there are enough to tell. */
  #place(bytes: Uint8Array): void {
    this.#unplaced = new Uint8Array(0);
    const found = bytes.length < LOCATABLE_BYTES ? undefined : locate(bytes, this.#key);
    if (found !== undefined) {
      this.#jump(bytes, found.offset, found.wordAt);
      return;
    }
    const kept = bytes.length < SEARCHED_BYTES ? bytes.length : LOCATABLE_BYTES - 1;
    this.#note("foreign", this.#next, bytes.length - kept);
    this.#unplaced = bytes.slice(bytes.length - kept);
  }

  /** `bytes[0]` would stand at `offset`; `bytes[sureAt]` certainly belongs there. */
  #jump(bytes: Uint8Array, offset: number, sureAt: number): void {
    const expected = patternBytes(offset, offset + sureAt, this.#key);
    let start = sureAt;
    while (start > 0 && bytes[start - 1] === expected[start - 1]) start -= 1;
    this.#note("foreign", this.#next, start);
    // Changed in their place, they are not missing too.
    if (offset === this.#next) this.#high = Math.max(this.#high, offset + start);
    this.#goTo(offset + start);
    this.#follow(bytes.subarray(start));
  }

  #goTo(position: number): void {
    if (position > this.#high) {
      this.#missing.push({ from: this.#high, to: position });
      this.#high = position;
    }
    this.#next = position;
  }

  /** The last bytes, too few to tell by themselves: they are the stream's end, or what came last once more. */
  #placeLast(total: number): void {
    const bytes = this.#unplaced;
    this.#unplaced = new Uint8Array(0);
    for (const end of [total, this.#high]) {
      const start = end - bytes.length;
      if (start < 0 || samePrefix(bytes, patternBytes(start, end, this.#key)) < bytes.length) continue;
      this.#goTo(start);
      this.#accept(bytes.length);
      return;
    }
    const found = locate(bytes, this.#key);
    if (found === undefined) this.#note("foreign", this.#next, bytes.length);
    else this.#jump(bytes, found.offset, found.wordAt);
    if (this.#unplaced.length > 0) this.#note("foreign", this.#next, this.#unplaced.length);
  }

  #note(kind: DamageKind, at: number, bytes: number): void {
    if (bytes <= 0) return;
    const last = this.#damages.at(-1);
    const follows = last !== undefined && at === (kind === "foreign" ? last.at : last.at + last.bytes);
    if (last?.kind === kind && follows) {
      this.#damages[this.#damages.length - 1] = { kind, at: last.at, bytes: last.bytes + bytes };
    } else this.#damages.push({ kind, at, bytes });
  }
}

/** Damage in words, for people. */
export function describeDamage({ kind, at, bytes }: Damage): string {
  const words = { lost: "lost", doubled: "came twice", reordered: "came late", foreign: "were never sent" };
  return `${bytes} bytes ${words[kind]} at offset ${at}`;
}

/** How many bytes of each kind. */
export function countDamage(damages: Iterable<Damage>): Record<DamageKind, number> {
  const counts = { lost: 0, doubled: 0, reordered: 0, foreign: 0 };
  for (const { kind, bytes } of damages) counts[kind] += bytes;
  return counts;
}

/** How many bytes `a` begins like `b`. */
function samePrefix(a: Uint8Array, b: Uint8Array): number {
  // Almost always all of it, which the runtime compares much faster than a loop.
  if (Buffer.compare(a, b) === 0) return a.length;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) if (a[i] !== b[i]) return i;
  return length;
}
