// Reads the modes for keys and pastes from a terminal's output. For a short and complete log; a longer one has an emulator.

import type { InputModes } from "../wire/write-messages.ts";

/** A terminal's initial modes. */
export const USUAL_MODES: InputModes = {
  applicationCursor: false,
  applicationKeypad: false,
  newLine: false,
  bracketedPaste: false,
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are terminal sequences
const CHANGE = /\x1b(?:(c|=|>|\[!p)|\[(\??)([\d;]{1,64})([hl]))/g;

const PRIVATE: ReadonlyMap<string, keyof InputModes> = new Map([
  ["1", "applicationCursor"],
  ["66", "applicationKeypad"],
  ["2004", "bracketedPaste"],
]);

/** @param output All of a terminal's output in Latin-1. */
export function inputModesOf(output: string): InputModes {
  let modes: { -readonly [name in keyof InputModes]: boolean } = { ...USUAL_MODES };
  for (const [, single, mark, numbers = "", final] of output.matchAll(CHANGE)) {
    if (single === "c") modes = { ...USUAL_MODES };
    else if (single === "=" || single === ">") modes.applicationKeypad = single === "=";
    else if (single !== undefined) modes = { ...modes, applicationCursor: false, applicationKeypad: false };
    else {
      for (const number of numbers.split(";")) {
        const name = mark === "?" ? PRIVATE.get(number) : number === "20" ? "newLine" : undefined;
        if (name !== undefined) modes[name] = final === "h";
      }
    }
  }
  return modes;
}
