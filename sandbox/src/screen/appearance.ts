// What a terminal that nobody looks at says of its looks and its name: the page's colours, so that a program that has asked
// with nobody there fits when somebody opens the page. xterm.js without a page answers none of this.

import type { IDisposable, Terminal } from "@xterm/headless";

/** As `packages/dashboard/src/theme.ts` has them; a test compares. */
export const COLOURS = { 10: "#eaeaea", 11: "#1a1a2e", 12: "#8ab4ff" } as const;
export const PALETTE = [
  ...["#2b2b45", "#ff7a90", "#7ee2a8", "#f2c46d", "#8ab4ff", "#d6a1ff", "#6fd9e8", "#d5d5e3"],
  ...["#7b7b9c", "#ff9dae", "#a6f0c6", "#ffdb97", "#b0ccff", "#e6c6ff", "#a2eaf4", "#ffffff"],
] as const;
export const NAME_AND_VERSION = "sbx-stdio(1)";

const ESC = "\x1b";
const ST = `${ESC}\\`;
/** Levels of red, green and blue in the cube of 216 colours after the palette's first 16. */
const CUBE = [0, 95, 135, 175, 215, 255] as const;

/** Answers, in addition to what the emulator answers, through `answer`. */
export function answerForAppearance(terminal: Terminal, answer: (text: string) => void): IDisposable {
  const { parser } = terminal;
  const special = (first: number) => (data: string) => {
    // OSC 10 ; a ; b is OSC 10 ; a and OSC 11 ; b.
    for (const [i, slot] of data.split(";").entries()) {
      const code = first + i;
      if (slot === "?" && code in COLOURS) answer(colourReport(`${code}`, COLOURS[code as keyof typeof COLOURS]));
    }
    return false;
  };
  const handlers = [
    ...[10, 11, 12].map((code) => parser.registerOscHandler(code, special(code))),
    parser.registerOscHandler(4, (data) => {
      const slots = data.split(";");
      for (let i = 0; i + 1 < slots.length; i += 2) {
        const index = Number.parseInt(slots[i] ?? "", 10);
        if (slots[i + 1] === "?" && index >= 0 && index < 256) answer(colourReport(`4;${index}`, paletteColour(index)));
      }
      return false;
    }),
    parser.registerCsiHandler({ prefix: ">", final: "q" }, (params) => {
      if (params[0] === 0) answer(`${ESC}P>|${NAME_AND_VERSION}${ST}`);
      return false;
    }),
  ];
  return {
    dispose: () => {
      for (const handler of handlers) handler.dispose();
    },
  };
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

/** Sixteen bits for each of the three, as X writes them. */
function colourReport(what: string, colour: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => colour.slice(at, at + 2).repeat(2));
  return `${ESC}]${what};rgb:${red}/${green}/${blue}${ST}`;
}
