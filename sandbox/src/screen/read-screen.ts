// The content of a screen, as text for programs (S1): lines without trailing blanks, the cursor, modes, and runs of style.

import type { Terminal } from "@xterm/headless";
import { attributesOf, currentAttributes } from "./attributes.ts";
import { coreOf, type ScreenBuffer, type ScreenLine } from "./internals.ts";

/** The caller's wish: so many lines above the screen at most, and the parts beside the text. */
export type ScreenWish = {
  readonly scrollback: number;
  readonly runs: boolean;
  readonly ansi: boolean;
  /** How long `ansi` may be. Absent: as long as a snapshot. */
  readonly ansiBytes?: number;
};

/** Colours are `#rrggbb`, or the palette's index. */
export type StyleRun = {
  /** The first column, from 0, and how many there are. */
  readonly x: number;
  readonly cols: number;
  readonly fg?: number | string;
  readonly bg?: number | string;
  readonly bold?: true;
  readonly dim?: true;
  readonly italic?: true;
  readonly underline?: true;
  readonly blink?: true;
  readonly inverse?: true;
  readonly invisible?: true;
  readonly strikethrough?: true;
  readonly overline?: true;
};

export type ScreenState = {
  readonly offset: number;
  readonly cols: number;
  readonly rows: number;
  /** From 0, at the top left. */
  readonly cursor: { readonly x: number; readonly y: number; readonly visible: boolean };
  readonly alternate: boolean;
  readonly title: string;
  readonly modes: {
    readonly bracketedPaste: boolean;
    readonly applicationCursor: boolean;
    readonly applicationKeypad: boolean;
    readonly newLine: boolean;
    readonly mouse: boolean;
  };
  readonly lines: readonly string[];
  readonly scrollback?: readonly string[];
  /** One list for each of `lines`. */
  readonly runs?: readonly (readonly StyleRun[])[];
  readonly ansi?: string;
  readonly approximate?: true;
  readonly truncated?: true;
};

/** A screen that programs are told has at most 1 MiB (S1), as JSON in UTF-8 with room for the fields around it. */
const MAX_STATE_BYTES = 1024 * 1024 - 16 * 1024;

const COLOR_MODE = 0x3000000;
const COLOR_RGB = 0x3000000;
const FG_FLAGS = [
  [0x8000000, "bold"],
  [0x10000000, "underline"],
  [0x20000000, "blink"],
  [0x4000000, "inverse"],
  [0x40000000, "invisible"],
  [0x80000000, "strikethrough"],
] as const;
const BG_FLAGS = [
  [0x8000000, "dim"],
  [0x4000000, "italic"],
  [0x40000000, "overline"],
] as const;

export function readScreen(terminal: Terminal, wish: ScreenWish): Omit<ScreenState, "offset"> {
  const core = coreOf(terminal);
  const { active, normal } = core.buffers;
  const { cols, rows } = terminal;
  const { decPrivateModes: modes, isCursorHidden } = core.coreService;
  const onScreen = Array.from({ length: rows }, (_, row) => active.lines.get(active.ybase + row));
  const above = Math.min(wish.scrollback, active.ybase);
  return {
    cols,
    rows,
    // In the last column a character may wait there for the next line.
    cursor: { x: Math.min(active.x, cols - 1), y: active.y, visible: !isCursorHidden },
    alternate: active !== normal,
    title: core._inputHandler._windowTitle,
    modes: {
      bracketedPaste: modes.bracketedPasteMode,
      applicationCursor: modes.applicationCursorKeys,
      applicationKeypad: modes.applicationKeypad,
      newLine: terminal.options.convertEol === true,
      mouse: core.coreMouseService.activeProtocol !== "NONE",
    },
    lines: onScreen.map((line) => textOf(line, cols)),
    ...(above === 0 ? {} : { scrollback: linesAbove(active, above, cols) }),
    ...(wish.runs ? { runs: onScreen.map((line) => runsOf(line, cols)) } : {}),
  };
}

function linesAbove(buffer: ScreenBuffer, count: number, cols: number): string[] {
  return Array.from({ length: count }, (_, i) => textOf(buffer.lines.get(buffer.ybase - count + i), cols));
}

function textOf(line: ScreenLine | undefined, cols: number): string {
  if (line === undefined) return "";
  let text = "";
  for (let column = 0; column < cols; column += Math.max(1, line.getWidth(column))) {
    text += line.hasContent(column) === 0 ? " " : line.getString(column);
  }
  return text.replace(/ +$/, "");
}

function runsOf(line: ScreenLine | undefined, cols: number): StyleRun[] {
  const runs: StyleRun[] = [];
  if (line === undefined) return runs;
  let last: { key: string; run: StyleRun } | undefined;
  for (let column = 0; column < cols; column += 1) {
    const style = styleOf(line, column);
    const key = JSON.stringify(style);
    if (last !== undefined && last.key === key) {
      last.run = { ...last.run, cols: last.run.cols + 1 };
      continue;
    }
    if (last !== undefined && last.key !== "{}") runs.push(last.run);
    last = { key, run: { x: column, cols: 1, ...style } };
  }
  if (last !== undefined && last.key !== "{}") runs.push(last.run);
  return runs;
}

function styleOf(line: ScreenLine, column: number): Omit<StyleRun, "x" | "cols"> {
  const extended = line._extendedAttrs[column];
  const { fg, bg } = currentAttributes(attributesOf(line.getFg(column), line.getBg(column), extended));
  const style: { -readonly [name in keyof Omit<StyleRun, "x" | "cols">]: StyleRun[name] } = {};
  const [fgColor, bgColor] = [colorOf(fg), colorOf(bg)];
  if (fgColor !== undefined) style.fg = fgColor;
  if (bgColor !== undefined) style.bg = bgColor;
  for (const [bit, name] of FG_FLAGS) if ((fg & bit) !== 0) style[name] = true;
  for (const [bit, name] of BG_FLAGS) if ((bg & bit) !== 0) style[name] = true;
  return style;
}

function colorOf(packed: number): number | string | undefined {
  const mode = packed & COLOR_MODE;
  if (mode === 0) return undefined;
  if (mode !== COLOR_RGB) return packed & 255;
  return `#${(packed & 0xffffff).toString(16).padStart(6, "0")}`;
}

/** Cuts the oldest of the scrollback first, then styles, then rows. */
export function withinLimit(state: ScreenState): ScreenState {
  if (bytesOf(state) <= MAX_STATE_BYTES) return state;
  const { scrollback = [], ...screen } = state;
  let left = MAX_STATE_BYTES - bytesOf(screen);
  const newest: string[] = [];
  for (const line of scrollback.toReversed()) {
    left -= bytesOf(line) + 1;
    if (left < 0) break;
    newest.unshift(line);
  }
  const kept = newest.length === 0 ? undefined : { scrollback: newest };
  const cut: ScreenState = { ...screen, ...kept, truncated: true };
  if (bytesOf(cut) <= MAX_STATE_BYTES) return cut;
  const { runs: _, ...plain } = cut;
  if (bytesOf(plain) <= MAX_STATE_BYTES) return plain;
  // Rows of a thousand columns, each full of combining characters.
  const share = Math.floor(MAX_STATE_BYTES / 2 / state.rows / 6);
  return { ...plain, lines: plain.lines.map((line) => line.slice(0, share)) };
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
