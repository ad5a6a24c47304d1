// Finds lines in output that an emulator need not parse, since they will have scrolled out of its memory before anything else comes.

import { ESC } from "./vt-parser.ts";
import type { XtermBuffer, XtermCore } from "./xterm-screen.ts";

/** SO and SI change the character set, 0xc2 begins the C1 controls in UTF-8: output without these and ESC is only text. */
export const OTHER_CONTROLS = [0x0e, 0x0f, 0xc2];
const ALL_CONTROLS = [ESC, ...OTHER_CONTROLS];
const CR = 0x0d;
const LF = 0x0a;

type ScrollingCore = {
  readonly buffers: Readonly<Record<"normal" | "active", Pick<XtermBuffer, "scrollTop" | "scrollBottom">>>;
  readonly coreService: { readonly decPrivateModes: { readonly origin: boolean } };
  readonly _inputHandler: Pick<XtermCore["_inputHandler"], "_curAttrData" | "_parser">;
};

/** Whether lines scroll off the top of the whole screen. */
export function scrollsWhole({ buffers, coreService }: ScrollingCore, rows: number): boolean {
  const { normal, active } = buffers;
  const isWhole = normal.scrollTop === 0 && normal.scrollBottom === rows - 1;
  return active === normal && isWhole && !coreService.decPrivateModes.origin;
}

/** The length of the lines at the start of the next output that will be forgotten. @param remembered Lines above the screen. */
export function scrolledOff(core: ScrollingCore, rows: number, bytes: Uint8Array, remembered: number): number {
  const ends = remembered + 2 * rows;
  const { _parser, _curAttrData } = core._inputHandler;
  // The start may end a sequence that was too long to wait for. A hyperlink lasts as long as a line with it.
  const isText = _parser.currentState === 0 && _curAttrData.extended.urlId === 0;
  if (bytes.length < 2 * ends || !isText || !scrollsWhole(core, rows)) return 0;
  return lastLineEnds(bytes.subarray(0, lengthWithout(bytes, ALL_CONTROLS)), ends).behind;
}

/** The number of bytes before the first of `controls`. */
export function lengthWithout(bytes: Uint8Array, controls: readonly number[]): number {
  let length = bytes.length;
  for (const control of controls) {
    const at = bytes.indexOf(control);
    if (at >= 0 && at < length) length = at;
  }
  return length;
}

/** Finds the last `count` line ends: the position behind the first of them, and how many are missing. */
export function lastLineEnds(bytes: Uint8Array, count: number): { readonly behind: number; readonly missing: number } {
  let missing = count;
  for (let at = bytes.length - 1; at > 0; at -= 1) {
    if (bytes[at] !== LF || bytes[at - 1] !== CR) continue;
    missing -= 1;
    if (missing === 0) return { behind: at + 1, missing };
  }
  return { behind: 0, missing };
}
