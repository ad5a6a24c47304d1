// Output that no program writes: sequences of every kind that the emulator knows, in any order. From a seed, so that a
// failing run can be repeated.

import { Random } from "../../../packages/local/src/base/random.ts";

export type Piece = { readonly text: string } | { readonly cols: number; readonly rows: number };

const TEXTS = [
  "a",
  "word ",
  "x".repeat(30),
  "漢字",
  "한국",
  "e\u0301",
  "👩‍👩‍👧",
  "❤️",
  "…",
  "é",
  "q".repeat(100),
  " ",
  "lqk",
];
const CONTROLS = ["\r", "\n", "\r\n", "\r\n", "\b", "\t", "\x0e", "\x0f", "\x07"];
const ESCAPES = ["7", "8", "D", "E", "M", "H", "=", ">", "(0", "(B", ")0", ")B", "(A", "n", "o", "#8"];
const CSI_FINALS = [..."ABCDEFGHIJKLMPSTXZ@`abdefg"];
const PRIVATE_MODES = [
  1, 6, 7, 12, 25, 45, 47, 66, 9, 1000, 1002, 1003, 1004, 1006, 1016, 1047, 1048, 1049, 2004, 2026,
];
const SGR = [0, 1, 2, 3, 4, 5, 7, 8, 9, 21, 22, 23, 24, 25, 27, 28, 29, 30, 37, 39, 41, 46, 49, 53, 55, 93, 104];
const LONG_SGR = ["38;5;200", "48;5;17", "38;2;1;2;3", "48;2;250;128;0", "4:3", "4:0", "58;5;9", "58:2::7:8:9", "59"];

/**
 * What one run has, since the emulator itself is not consistent where they meet: a restored cursor brings half of an
 * underline's style or of a hyperlink along, and is counted from the oldest line there is; the alternate screen keeps what a
 * smaller size has cut off.
 */
type Features = { readonly hasLinks: boolean; readonly hasSizes: boolean };

const SAVED_CURSOR = new Set(["7", "8", "s", "u"]);
const SCREEN_MODES = new Set([47, 1047, 1048, 1049]);

export class Generator {
  readonly #random: Random;
  readonly #features: Features;
  #isAfterText = false;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#features = { hasLinks: this.below(2) === 0, hasSizes: this.below(2) === 0 };
  }

  below(limit: number): number {
    return Math.floor(this.#random.next() * limit);
  }

  pieces(count: number): Piece[] {
    return Array.from({ length: count }, () => this.#piece());
  }

  /** What the pieces have nothing of: colours, every shape of the cursor, and cursors that are saved about to wrap. */
  besides(): Piece {
    const { hasLinks, hasSizes } = this.#features;
    switch (this.below(4)) {
      case 0:
        return { text: `\x1b[${this.below(9)} q` };
      case 1:
        // A cursor about to wrap, behind a character or an erased cell.
        if (hasLinks || hasSizes) return { text: "\x1b[?12h" };
        return {
          text: `\x1b[99G${this.#of(["x", "\x1b[D漢", "\x1b[44mx", "e\u0301"])}\x1b7${this.#of(["", "\r\x1b[K", "\r\x1b[K\x1b[m", "\x1b8!"])}`,
        };
      default:
        return { text: this.#colour() };
    }
  }

  #colour(): string {
    const colour = this.#of(["#123", "#102030", "rgb:1/2/3", "rgb:ffff/8000/0001", "rgb:0a/0b/0c", "no colour", ""]);
    const [index, other] = [this.below(258), this.below(256)];
    const text = this.#of([
      `4;${index};${colour}`,
      `4;${index};${colour};${other};#abcdef`,
      `${10 + this.below(3)};${colour}`,
      `10;#abc;${colour};#def`,
      "104",
      `104;${index};${other}`,
      `${110 + this.below(3)}`,
    ]);
    return `\x1b]${text}${this.#of(["\x07", "\x1b\\"])}`;
  }

  #of<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("Nothing to choose from");
    return item;
  }

  #piece(): Piece {
    const kind = this.below(100);
    const isAfterText = this.#isAfterText;
    this.#isAfterText = kind < 37;
    const { hasLinks, hasSizes } = this.#features;
    if (kind < 37) return { text: this.#of(TEXTS) };
    if (kind < 40) return { text: isAfterText ? "\u0301" : "A" };
    if (kind < 55) return { text: this.#of(CONTROLS) };
    if (kind < 60)
      return { text: `\x1b${this.#of(ESCAPES.filter((name) => !((hasLinks || hasSizes) && SAVED_CURSOR.has(name))))}` };
    if (kind < 75) return { text: `\x1b[${this.#parameters()}${this.#of(CSI_FINALS)}` };
    if (kind < 85) return { text: `\x1b[${hasLinks && this.below(2) === 0 ? this.#of(LONG_SGR) : this.#of(SGR)}m` };
    if (kind < 91) return { text: `\x1b[?${this.#mode()}${this.#of(["h", "l"])}` };
    if (kind < 98) return { text: this.#rare() };
    return hasSizes ? { cols: 2 + this.below(60), rows: 2 + this.below(20) } : { text: "\r\n" };
  }

  #mode(): number {
    const { hasLinks, hasSizes } = this.#features;
    return this.#of(PRIVATE_MODES.filter((mode) => !((hasLinks || hasSizes) && SCREEN_MODES.has(mode))));
  }

  #parameters(): string {
    const first = this.#of(["", "0", "1", "2", "3", String(this.below(50))]);
    return this.below(3) === 0 ? `${first};${this.below(50)}` : first;
  }

  #rare(): string {
    switch (this.below(11)) {
      case 0:
        return `\x1b[${1 + this.below(10)};${5 + this.below(15)}r`;
      case 1:
        return "\x1b[r";
      case 2:
        return this.#of(["\x1b[4h", "\x1b[4l", "\x1b[20h", "\x1b[20l"]);
      case 3:
        return `\x1b]${this.#of(["0", "1", "2"])};title ${this.below(9)}\x07`;
      case 4:
        return this.#features.hasLinks
          ? `\x1b]8;${this.#of(["", "id=a"])};http://localhost/${this.below(3)}\x1b\\`
          : this.#of(this.#features.hasSizes ? ["\x1b[m"] : ["\x1b[s", "\x1b[u"]);
      case 5:
        return "\x1b]8;;\x1b\\";
      case 6:
        return `\x1b[${this.below(7)} q`;
      case 7:
        return `\x1b[${this.below(3)}"q`;
      case 8:
        return this.#of(["\x1b[!p", "\x1b[?J", "\x1b[?2K", "\x1b[2b"]);
      case 9:
        return this.#of(["\x1bc", "\x1b[3J", "\x1b[2J", "\x1b[5b", "\x9b3C", "\x1b[c", "\x1bPq#0\x1b\\"]);
      default:
        return `\x1b[${1 + this.below(20)};${1 + this.below(60)}H`;
    }
  }
}
