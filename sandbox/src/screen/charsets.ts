// The letters that designate the emulator's character sets: the emulator keeps the tables, but not the letters.

import { Terminal } from "@xterm/headless";
import { type Charset, coreOf } from "./internals.ts";

const LETTERS = ["0", "A", "4", "C", "R", "Q", "K", "Y", "E", "Z", "H", "="];
const INTERMEDIATES = ["(", ")", "*", "+"];
/** SI, SO, LS2, LS3. */
const SHIFTS = ["\x0f", "\x0e", "\x1bn", "\x1bo"];

let letters: Map<Charset, string> | undefined;

/** Designates `charset` as G0 to G3. */
export function designate(level: number, charset: Charset): string {
  letters ??= learnLetters();
  return `\x1b${INTERMEDIATES[level] ?? "("}${charset === undefined ? "B" : (letters.get(charset) ?? "B")}`;
}

/** Selects G0 to G3. */
export function shift(level: number): string {
  return SHIFTS[level] ?? "\x0f";
}

function learnLetters(): Map<Charset, string> {
  const terminal = new Terminal({ cols: 2, rows: 1, allowProposedApi: true, logLevel: "off" });
  const core = coreOf(terminal);
  const encoder = new TextEncoder();
  const found = new Map<Charset, string>();
  for (const letter of LETTERS) {
    core._inputHandler.parse(encoder.encode(`\x1b(${letter}`));
    found.set(core._charsetService._charsets[0], letter);
  }
  terminal.dispose();
  return found;
}
