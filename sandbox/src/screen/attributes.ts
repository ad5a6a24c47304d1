// Text attributes as the emulator packs them, and as the escape sequences that set them.

import type { Attributes, Extended } from "./internals.ts";

const COLOR_MODE = 0x3000000;
const COLOR_16 = 0x1000000;
const COLOR_256 = 0x2000000;
const RGB_BITS = 0xffffff;
const UNDERLINE = 0x10000000;
/** In `bg`: underline style, underline colour or hyperlink are stored beside the cell. */
const HAS_EXTENDED = 0x10000000;
const PROTECTED = 0x20000000;
/** In `_ext`, beside the underline's colour. */
const UNDERLINE_STYLE = 0x1c000000;
const UNDERLINE_STYLE_SHIFT = 26;
const UNDERLINE_SINGLE = 1;

/** [bit, SGR parameter] */
const FG_FLAGS: readonly (readonly [number, string])[] = [
  [0x8000000, "1"],
  [0x20000000, "5"],
  [0x4000000, "7"],
  [0x40000000, "8"],
  [0x80000000, "9"],
];
const BG_FLAGS: readonly (readonly [number, string])[] = [
  [0x8000000, "2"],
  [0x4000000, "3"],
  [0x40000000, "53"],
];
/** Protection is not part of SGR, and other terminals don't end it by SGR. */
export const PROTECTED_START = '\x1b[1"q';
export const PROTECTED_END = '\x1b[0"q';
const NOTHING: Extended = { _ext: 0, urlId: 0 };
export const PLAIN: Attributes = { fg: 0, bg: 0, extended: NOTHING };

/** Attributes without the emulator's bookkeeping: two of them look alike exactly if their keys are equal. */
export function attributesOf(fg: number, bg: number, extended: Extended | undefined): Attributes {
  return { fg, bg: bg & ~HAS_EXTENDED, extended: (bg & HAS_EXTENDED) !== 0 ? (extended ?? NOTHING) : NOTHING };
}

/** The attributes in force: a colour waits for its underline; a style or link without the flag is a leftover without effect. */
export function currentAttributes({ fg, bg, extended }: Attributes): Attributes {
  if ((bg & HAS_EXTENDED) !== 0) return { fg, bg, extended };
  return { fg, bg, extended: { _ext: extended._ext & ~UNDERLINE_STYLE, urlId: 0 } };
}

export function isBackgroundPlain(bg: number): boolean {
  return (bg & (COLOR_MODE | RGB_BITS)) === 0;
}

/** The background colour alone, as erasing leaves it. */
export function backgroundOf(bg: number): number {
  return bg & (COLOR_MODE | RGB_BITS);
}

/** Whether attributes are visible without a character. Erasing leaves none of these; a wide character that did not fit may. */
export function showsOnBlank({ fg, bg, extended }: Attributes): boolean {
  return ((fg & 0x94000000) | (bg & 0x40000000)) !== 0 || (extended._ext & UNDERLINE_STYLE) !== 0;
}

/** The sequence that sets these attributes in place of any others. Hyperlinks are set by OSC 8. */
export function sgr({ fg, bg, extended }: Attributes): string {
  let parameters = "";
  for (const [bit, parameter] of FG_FLAGS) if ((fg & bit) !== 0) parameters += `;${parameter}`;
  for (const [bit, parameter] of BG_FLAGS) if ((bg & bit) !== 0) parameters += `;${parameter}`;
  const style = (extended._ext & UNDERLINE_STYLE) >> UNDERLINE_STYLE_SHIFT;
  if (style > UNDERLINE_SINGLE) parameters += `;4:${style}`;
  else if ((fg & UNDERLINE) !== 0) parameters += ";4";
  parameters += color(fg, 30, 90, "38") + color(bg, 40, 100, "48") + underlineColor(extended._ext);
  const protection = (bg & PROTECTED) !== 0 ? PROTECTED_START : "";
  return `\x1b[${parameters === "" ? "" : `0${parameters}`}m${protection}`;
}

function color(packed: number, dark: number, bright: number, extended: string): string {
  const value = packed & 255;
  switch (packed & COLOR_MODE) {
    case 0:
      return "";
    case COLOR_16:
      return `;${value < 8 ? dark + value : bright + value - 8}`;
    case COLOR_256:
      return `;${extended};5;${value}`;
    default:
      return `;${extended};2;${(packed >> 16) & 255};${(packed >> 8) & 255};${packed & 255}`;
  }
}

function underlineColor(packed: number): string {
  switch (packed & COLOR_MODE) {
    case 0:
      return "";
    case COLOR_MODE:
      return `;58:2::${(packed >> 16) & 255}:${(packed >> 8) & 255}:${packed & 255}`;
    default:
      return `;58:5:${packed & 255}`;
  }
}
