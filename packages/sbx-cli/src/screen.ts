// What of a PTY's output is drawn on the person's terminal. Three reasons to look at it: a query that another client answers,
// or that is replayed, must not make this terminal type an answer into the shell; a line of our own must not fall into the
// middle of a sequence; and what an application left switched on must be switched off when the terminal is given back.

import { TerminalModes } from "./modes.ts";
import { ENQ, ESC, findStringEnd, isQuery, readSequence, type SequenceKind } from "./vt.ts";

/** Bytes of an unfinished sequence that are held back. No query is longer; a picture or a clipboard may be. */
const MAX_HELD_BYTES = 4096;
const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;

export type Drawing = {
  /** What to draw, in order. */
  readonly parts: readonly Uint8Array[];
  /** The output's offset up to which everything is in `parts`, or is not to be drawn. */
  readonly end: number;
};

export class Screen {
  readonly modes = new TerminalModes();
  readonly #mayAnswer: (offset: number) => boolean;
  /** The beginning of a sequence whose end has not come. */
  #held = new Uint8Array(0);
  /** Inside a string that is too long to be held. */
  #string: SequenceKind | undefined;

  /** @param mayAnswer Whether this terminal is the one to answer a query whose last byte stands at this offset. */
  constructor(mayAnswer: (offset: number) => boolean) {
    this.#mayAnswer = mayAnswer;
  }

  /** Whether text of our own may be drawn now without spoiling a sequence. */
  get isBetweenSequences(): boolean {
    return this.#string === undefined;
  }

  /** Output that starts at `offset`. Where nothing has to be left out the parts are views of `bytes`. */
  draw(bytes: Uint8Array, offset: number): Drawing {
    return this.#filter(bytes, offset, this.#mayAnswer);
  }

  /** A picture of the whole screen, which stands for everything before it and asks nothing. */
  redraw(snapshot: Uint8Array, offset: number): Drawing {
    this.#held = new Uint8Array(0);
    const { parts } = this.#filter(snapshot, offset - snapshot.length, () => false);
    const rest = this.#held;
    this.#held = new Uint8Array(0);
    return { parts: [...parts, rest], end: offset };
  }

  /** What is held back, since nothing follows: the output has ended, or is missing from here on. */
  flush(): Uint8Array {
    const held = this.#held;
    this.#held = new Uint8Array(0);
    this.#string = undefined;
    return held;
  }

  #filter(bytes: Uint8Array, offset: number, mayAnswer: (offset: number) => boolean): Drawing {
    const all = this.#held.length === 0 ? bytes : concat(this.#held, bytes);
    const base = offset - this.#held.length;
    this.#held = new Uint8Array(0);
    const parts: Uint8Array[] = [];
    let drawn = 0;
    let i = 0;
    const leaveOut = (from: number, to: number) => {
      if (from > drawn) parts.push(all.subarray(drawn, from));
      drawn = to;
    };
    while (i < all.length) {
      if (this.#string !== undefined) {
        const found = findStringEnd(all, i, this.#string);
        i = found?.end ?? all.length;
        if (found !== undefined) this.#string = undefined;
        // The first half of the terminator, perhaps.
        else if (all[all.length - 1] === ESC) this.#hold(all, all.length - 1, leaveOut);
        continue;
      }
      const byte = all[i];
      if (byte !== ESC) {
        if (byte === ENQ && !mayAnswer(base + i)) leaveOut(i, i + 1);
        else if (byte === SHIFT_OUT || byte === SHIFT_IN) this.modes.shift(byte === SHIFT_OUT);
        i += 1;
        continue;
      }
      const sequence = readSequence(all, i);
      if (sequence === undefined) {
        if (all.length - i <= MAX_HELD_BYTES) {
          this.#hold(all, i, leaveOut);
          break;
        }
        this.#string = kindOfLong(all[i + 1]);
        i += 2;
        continue;
      }
      if (isQuery(sequence) && !mayAnswer(base + sequence.end - 1)) leaveOut(i, sequence.end);
      else this.modes.follow(sequence);
      i = sequence.end;
    }
    if (drawn < all.length) parts.push(all.subarray(drawn));
    return { parts, end: base + all.length - this.#held.length };
  }

  #hold(all: Uint8Array, from: number, leaveOut: (from: number, to: number) => void): void {
    this.#held = new Uint8Array(all.subarray(from));
    leaveOut(from, all.length);
  }
}

/** What goes on without an end: a string, of whatever kind, or garbage that is let through until an ESC. */
function kindOfLong(introducer: number | undefined): SequenceKind {
  return introducer === 0x5d ? "osc" : "dcs";
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}
