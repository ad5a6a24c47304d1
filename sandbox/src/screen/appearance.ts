// A terminal's colours and name while no client is attached: the page's, with the program's changes. A program that asked for them
// without a client then matches the page. xterm.js without a page keeps none of this.

import type { Terminal } from "@xterm/headless";
import { coreOf } from "./internals.ts";

/** As in `packages/dashboard/src/terminal/theme.ts`; a test compares. */
export const COLOURS = { 10: "#e3e4e9", 11: "#17181c", 12: "#8ab4ff" } as const;
export const PALETTE = [
  ...["#32353e", "#ff7a90", "#7ee2a8", "#f2c46d", "#8ab4ff", "#d6a1ff", "#6fd9e8", "#cfd1d8"],
  ...["#7f8390", "#ff9dae", "#a6f0c6", "#ffdb97", "#b0ccff", "#e6c6ff", "#a2eaf4", "#ffffff"],
] as const;
const NAME_AND_VERSION = "sbx-stdio(1)";

const ESC = "\x1b";
const ST = `${ESC}\\`;
/** Levels of red, green and blue in the cube of 216 colours after the palette's first 16. */
const CUBE = [0, 95, 135, 175, 215, 255] as const;
/** The emulator counts foreground, background and cursor behind the palette; OSC calls them 10, 11 and 12. */
const FIRST_SPECIAL = 256;
const FIRST_SPECIAL_OSC = 10;
/** The emulator's numbers for the kinds of colour request. */
const REPORT = 0;
const SET = 1;
/** Resets the palette, foreground, background and cursor to the terminal's defaults. */
const RESTORE_ALL = [104, 110, 111, 112].map((code) => `${ESC}]${code}${ST}`).join("");

type Rgb = readonly [red: number, green: number, blue: number];

export class Appearance {
  /** The colours that the program has set, by the emulator's index. A reset of the terminal keeps them, as on the page. */
  readonly #changed = new Map<number, Rgb>();
  #hasEverChanged = false;

  /** @param answer Answers a program's query for a colour or the name. */
  constructor(terminal: Terminal, answer: (text: string) => void) {
    coreOf(terminal)._inputHandler.onColor((requests) => {
      for (const { type, index, color } of requests) {
        if (type === REPORT && index !== undefined) answer(colourReport(oscOf(index), this.#colour(index)));
        else if (type === SET && index !== undefined && color !== undefined) this.#changed.set(index, color);
        else if (index === undefined) this.#restorePalette();
        else this.#changed.delete(index);
        if (type === SET) this.#hasEverChanged = true;
      }
    });
    terminal.parser.registerCsiHandler({ prefix: ">", final: "q" }, (params) => {
      if (params[0] === 0) answer(`${ESC}P>|${NAME_AND_VERSION}${ST}`);
      // The emulator has a name of its own.
      return true;
    });
  }

  /** The sequences that set the colours as the program has left them; "" if it never changed any. */
  get text(): string {
    if (!this.#hasEverChanged) return "";
    let text = RESTORE_ALL;
    for (const [index, colour] of this.#changed) text += colourReport(oscOf(index), colour);
    return text;
  }

  #restorePalette(): void {
    for (const index of [...this.#changed.keys()]) if (index < FIRST_SPECIAL) this.#changed.delete(index);
  }

  #colour(index: number): Rgb {
    const special = FIRST_SPECIAL_OSC + index - FIRST_SPECIAL;
    const own = special in COLOURS ? COLOURS[special as keyof typeof COLOURS] : paletteColour(index);
    return this.#changed.get(index) ?? rgbOf(own);
  }
}

/** The number of the OSC for this colour, and its slot. */
function oscOf(index: number): string {
  return index < FIRST_SPECIAL ? `4;${index}` : `${FIRST_SPECIAL_OSC + index - FIRST_SPECIAL}`;
}

/** xterm's 256 colours, the first 16 of them the page's. */
function paletteColour(index: number): string {
  const named = PALETTE[index];
  if (named !== undefined) return named;
  if (index >= 232) return hex(Array(3).fill(8 + (index - 232) * 10));
  const n = index - 16;
  return hex([CUBE[Math.floor(n / 36)] ?? 0, CUBE[Math.floor(n / 6) % 6] ?? 0, CUBE[n % 6] ?? 0]);
}

function hex(levels: readonly number[]): string {
  return `#${levels.map((level) => level.toString(16).padStart(2, "0")).join("")}`;
}

function rgbOf(colour: string): Rgb {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  return [red, green, blue];
}

/** Sixteen bits for each of the three, as X writes them. */
function colourReport(what: string, colour: Rgb): string {
  const [red, green, blue] = colour.map((level) => level.toString(16).padStart(2, "0").repeat(2));
  return `${ESC}]${what};rgb:${red}/${green}/${blue}${ST}`;
}
