// Colours and fonts of the terminal.

import type { ITerminalOptions, ITheme } from "@xterm/xterm";
import { XTERM_OPTIONS } from "sandbox-stdio/core";

export type Scheme = "dark" | "light" | "contrast";

/** Whether `system` means the high contrast scheme. That is dark, so where the system forces light colours the light scheme is used. */
export const PREFERS_CONTRAST =
  "(prefers-contrast: more) and (forced-colors: none), (forced-colors: active) and (prefers-color-scheme: dark)";

const DARK: ITheme = {
  background: "#17181c",
  foreground: "#e3e4e9",
  cursor: "#8ab4ff",
  cursorAccent: "#17181c",
  selectionBackground: "#34456f",
  selectionInactiveBackground: "#2c3347",
  black: "#32353e",
  red: "#ff7a90",
  green: "#7ee2a8",
  yellow: "#f2c46d",
  blue: "#8ab4ff",
  magenta: "#d6a1ff",
  cyan: "#6fd9e8",
  white: "#cfd1d8",
  brightBlack: "#7f8390",
  brightRed: "#ff9dae",
  brightGreen: "#a6f0c6",
  brightYellow: "#ffdb97",
  brightBlue: "#b0ccff",
  brightMagenta: "#e6c6ff",
  brightCyan: "#a2eaf4",
  brightWhite: "#ffffff",
};

/** Each colour has a contrast of at least 4.5:1 to the background and, as a background, to black text. */
const LIGHT: ITheme = {
  background: "#ffffff",
  foreground: "#1e2026",
  cursor: "#2456d6",
  cursorAccent: "#ffffff",
  selectionBackground: "#c5d3f7",
  selectionInactiveBackground: "#dcdfee",
  black: "#000000",
  red: "#d93151",
  green: "#148551",
  yellow: "#9c6b00",
  blue: "#3f6edf",
  magenta: "#a44bd1",
  cyan: "#0d8091",
  white: "#747681",
  brightBlack: "#747681",
  brightRed: "#d13c5a",
  brightGreen: "#1c854c",
  brightYellow: "#9c6b00",
  brightBlue: "#416ede",
  brightMagenta: "#a34dce",
  brightCyan: "#16808e",
  brightWhite: "#747681",
};

/** Every colour but black has a contrast of at least 7:1. */
const CONTRAST: ITheme = {
  background: "#000000",
  foreground: "#ffffff",
  cursor: "#ffff00",
  cursorAccent: "#000000",
  selectionBackground: "#0050b3",
  selectionInactiveBackground: "#003a80",
  black: "#000000",
  red: "#ff8f8f",
  green: "#5dff8b",
  yellow: "#ffe14d",
  blue: "#8fbaff",
  magenta: "#ff9dff",
  cyan: "#5cf2ff",
  white: "#e6e6e6",
  brightBlack: "#b3b3b3",
  brightRed: "#ffb3b3",
  brightGreen: "#9dffb8",
  brightYellow: "#fff099",
  brightBlue: "#b8d4ff",
  brightMagenta: "#ffc4ff",
  brightCyan: "#a6f8ff",
  brightWhite: "#ffffff",
};

export const THEMES: Readonly<Record<Scheme, ITheme>> = { dark: DARK, light: LIGHT, contrast: CONTRAST };

/** The cursor if nothing can be typed. */
export const READ_ONLY_CURSORS: Readonly<Record<Scheme, ITheme>> = {
  dark: { cursor: "#565a66", cursorAccent: "#cfd1d8" },
  light: { cursor: "#b3b3c9", cursorAccent: "#1e2026" },
  contrast: { cursor: "#808080", cursorAccent: "#ffffff" },
};

/** Backgrounds of search matches. The current match is selected, which hides its background, so it has a border. */
const DARK_MATCHES = {
  matchBackground: "#4d3d00",
  matchOverviewRuler: "#d6a800",
  activeMatchBackground: "#4d3d00",
  activeMatchBorder: "#ff9a4d",
  activeMatchColorOverviewRuler: "#ff7a1a",
} as const;
const LIGHT_MATCHES = {
  ...DARK_MATCHES,
  matchBackground: "#fff0a8",
  activeMatchBackground: "#fff0a8",
  activeMatchBorder: "#c44d00",
} as const;

/** @param background The terminal's, as #rrggbb; anything else counts as dark. */
export function matchColours(background: string | undefined): typeof DARK_MATCHES | typeof LIGHT_MATCHES {
  return isBright(background) ? LIGHT_MATCHES : DARK_MATCHES;
}

/** undefined: not known, since it is not #rrggbb. */
function isBright(colour: string | undefined): boolean | undefined {
  const [, red, green, blue] = /^#(\w\w)(\w\w)(\w\w)/.exec(colour ?? "") ?? [];
  const [r = 0, g = 0, b = 0] = [red, green, blue].map((part) => Number.parseInt(part ?? "", 16));
  // Perceived brightness.
  return red === undefined ? undefined : 0.3 * r + 0.59 * g + 0.11 * b > 127;
}

/** The scheme that gives a theme the colours it leaves out: the chosen one, unless that is dark and the theme light, or so. */
export function schemeUnder(theme: ITheme | undefined, scheme: Scheme): Scheme {
  const isLight = isBright(theme?.background);
  if (isLight === undefined || isLight === isBright(THEMES[scheme].background)) return scheme;
  return isLight ? "light" : "dark";
}

/** Monospace fonts of common systems, then their emoji fonts. */
export const FONT_FAMILY = [
  '"JetBrains Mono"',
  '"Cascadia Mono"',
  '"SF Mono"',
  "Menlo",
  "Consolas",
  '"DejaVu Sans Mono"',
  '"Liberation Mono"',
  '"Noto Sans Mono"',
  "monospace",
  '"Apple Color Emoji"',
  '"Segoe UI Emoji"',
  '"Noto Color Emoji"',
].join(", ");

/** Minimum contrast by renderer. The DOM renderer of xterm.js 6.1 would turn inverse text grey, so it has none. */
export const MINIMUM_CONTRAST = { webgl: 3, dom: 1 } as const;

export const DEFAULT_SCROLLBACK = 10_000;

export const TERMINAL_OPTIONS: ITerminalOptions = {
  allowProposedApi: true, // The Unicode version is chosen through an interface that xterm.js calls proposed.
  cursorBlink: true,
  drawBoldTextInBrightColors: false,
  logLevel: "off", // Else each byte that means nothing is a line in the console: a binary file costs thousands.
  // As wide as the scroll bar, for marks of matches and failures in it.
  scrollbar: { width: 14 },
  minimumContrastRatio: MINIMUM_CONTRAST.dom,
  rescaleOverlappingGlyphs: true,
  scrollback: DEFAULT_SCROLLBACK,
  ...XTERM_OPTIONS,
};
