// The screen of a lost process (S2a), drawn on from the last that was seen by the output that came behind it. Work is bounded beforehand:
// the clock of a Worker stands still while it runs, and others wait for it.

import { Unicode11Addon } from "@xterm/addon-unicode11/lib/addon-unicode11.mjs";
import type { IBuffer, IBufferCell, IBufferLine } from "@xterm/headless";
import { Terminal } from "@xterm/headless/lib-headless/xterm-headless.mjs";
import {
  limitWork,
  MAX_COLS,
  MAX_ROWS,
  mendEraseToCursor,
  type OutputLog,
  type ScreenSize,
  worstNsPerByte,
} from "sandbox-stdio/core";

/** What parsing may take, by an estimate that is never too low. */
const MOST_NS = 250_000_000;
/** A control sequence may change every cell, whatever its length. */
const SEQUENCE_BYTES = 4;
const MOST_ABOVE = 1_000;
/** Of lines above the screen: 6 MB of memory. */
const MOST_CELLS_ABOVE = 500_000;
const PIECE_BYTES = 16_384;

export type Screen = Readonly<Record<string, unknown>>;

/** @returns The screen at the log's end; undefined where it can't be drawn, or not in time. */
export async function redraw(seen: Screen, log: OutputLog): Promise<Screen | undefined> {
  const { ansi, offset, cols, rows } = seen;
  if (typeof ansi !== "string" || typeof offset !== "number" || !Number.isSafeInteger(offset)) return undefined;
  if (offset < log.startOffset || offset > log.endOffset) return undefined;
  if (!isWithin(cols, MAX_COLS) || !isWithin(rows, MAX_ROWS)) return undefined;
  const output = outputOf(log, offset);
  // Of all the sizes that it had.
  const largest = output.reduce(
    (size, one) => ({ cols: Math.max(size.cols, one.cols), rows: Math.max(size.rows, one.rows) }),
    { cols, rows },
  );
  const drawing = new TextEncoder().encode(ansi);
  const pieces = [drawing, ...output.map(({ bytes }) => bytes)];
  if (pieces.reduce((ns, bytes) => ns + mostNs(bytes, largest), 0) > MOST_NS) return undefined;
  const scrollback = Math.min(MOST_ABOVE, Math.floor(MOST_CELLS_ABOVE / largest.cols));
  const terminal = new Terminal({ cols, rows, scrollback, allowProposedApi: true, logLevel: "off" });
  try {
    terminal.loadAddon(new Unicode11Addon());
    terminal.unicode.activeVersion = "11";
    mendEraseToCursor(terminal);
    limitWork(terminal);
    let title = seen.title;
    await written(terminal, drawing);
    terminal.onTitleChange((told) => {
      title = told;
    });
    // What the drawing has above its screen is in what was seen, too.
    const drawnAbove = terminal.buffer.normal.baseY;
    let isAnew = seen.alternate === true;
    // What was above is cleared.
    terminal.parser.registerCsiHandler({ final: "J" }, ([which]) => {
      isAnew ||= which === 3;
      return false;
    });
    terminal.parser.registerEscHandler({ final: "c" }, () => {
      isAnew = true;
      return false;
    });
    for (const one of output) {
      if (one.cols !== terminal.cols || one.rows !== terminal.rows) {
        terminal.resize(one.cols, one.rows);
        isAnew = true;
      }
      await written(terminal, one.bytes);
    }
    const { baseY } = terminal.buffer.normal;
    isAnew ||= baseY === scrollback;
    const above = isAnew
      ? linesOf(terminal.buffer.normal, 0, baseY)
      : [
          ...(Array.isArray(seen.scrollback) ? seen.scrollback : []),
          ...linesOf(terminal.buffer.normal, drawnAbove, baseY),
        ];
    const { ansi: _, scrollback: __, ...rest } = seen;
    return {
      ...rest,
      ...shown(terminal),
      title,
      scrollback: isAlternate(terminal) ? [] : above,
      offset: log.endOffset,
    };
  } catch {
    return undefined; // The emulator has faults of its own, with sizes that change.
  } finally {
    terminal.dispose();
  }
}

type Output = { readonly bytes: Uint8Array; readonly cols: number; readonly rows: number };

/** In the sizes that the terminal had. */
function outputOf(log: OutputLog, from: number): Output[] {
  const output: Output[] = [];
  for (let at = from; at < log.endOffset; ) {
    const item = log.itemAt(at, PIECE_BYTES);
    if (item.kind !== "bytes") break;
    const bytes = new Uint8Array(item.length);
    log.copy(at, item.length, bytes, 0);
    output.push({ bytes, ...log.sizeAt(at) });
    at += item.length;
  }
  return output;
}

const ESC = 0x1b;
/** Begins the controls of C1, which are sequences of one character. */
const C1 = 0xc2;
const PLAIN_NS = 100;
/** A line feed moves lines, and clears one. */
const NS_PER_CELL = 5;

function mostNs(bytes: Uint8Array, { cols, rows }: ScreenSize): number {
  let sequences = 0;
  for (const byte of bytes) if (byte === ESC || byte === C1) sequences += 1;
  const each = SEQUENCE_BYTES * worstNsPerByte({ cols, rows, markers: [] });
  return sequences * each + bytes.length * (PLAIN_NS + NS_PER_CELL * (cols + rows));
}

function isWithin(value: unknown, most: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most;
}

const written = (terminal: Terminal, bytes: Uint8Array) =>
  new Promise<void>((resolve) => terminal.write(bytes, resolve));

const isAlternate = ({ buffer }: Terminal) => buffer.active.type === "alternate";

/** As the bridge tells it, but for what is above. */
function shown(terminal: Terminal): Screen {
  const { cols, rows, modes, buffer } = terminal;
  const { active } = buffer;
  const { baseY, cursorX, cursorY } = active;
  return {
    cols,
    rows,
    cursor: { x: Math.min(cursorX, cols - 1), y: cursorY, visible: !isCursorHidden(terminal) },
    alternate: isAlternate(terminal),
    modes: {
      bracketedPaste: modes.bracketedPasteMode,
      applicationCursor: modes.applicationCursorKeysMode,
      applicationKeypad: modes.applicationKeypadMode,
      newLine: terminal.options.convertEol === true,
      mouse: modes.mouseTrackingMode !== "none",
    },
    lines: linesOf(active, baseY, baseY + rows),
    runs: Array.from({ length: rows }, (_, row) => runsOf(active.getLine(baseY + row), cols)),
  };
}

/** The emulator of this version does not offer it. Another version's cursor is told as visible. */
function isCursorHidden(terminal: Terminal): boolean {
  const { _core } = Object(terminal) as { readonly _core?: { readonly coreService?: { isCursorHidden?: unknown } } };
  return _core?.coreService?.isCursorHidden === true;
}

function linesOf(buffer: IBuffer, from: number, to: number): string[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, at) =>
    (buffer.getLine(from + at)?.translateToString() ?? "").replace(/ +$/, ""),
  );
}

type Style = Readonly<Record<string, number | string | true>>;

/** Cells of one style each; those of none are left out. */
function runsOf(line: IBufferLine | undefined, cols: number): object[] {
  const runs: { x: number; cols: number; style: Style; key: string }[] = [];
  for (let x = 0; x < cols; x += 1) {
    const style = styleOf(line?.getCell(x));
    const key = JSON.stringify(style);
    const last = runs.at(-1);
    if (last?.key === key) last.cols += 1;
    else runs.push({ x, cols: 1, style, key });
  }
  return runs.filter(({ key }) => key !== "{}").map(({ x, cols: length, style }) => ({ x, cols: length, ...style }));
}

function styleOf(cell: IBufferCell | undefined): Style {
  if (cell === undefined) return {};
  const flags = {
    bold: cell.isBold(),
    underline: isUnderlined(cell),
    blink: cell.isBlink(),
    inverse: cell.isInverse(),
    invisible: cell.isInvisible(),
    strikethrough: cell.isStrikethrough(),
    dim: cell.isDim(),
    italic: cell.isItalic(),
    overline: cell.isOverline(),
  };
  return {
    ...(cell.isFgDefault() ? {} : { fg: colourOf(cell.isFgRGB(), cell.getFgColor()) }),
    ...(cell.isBgDefault() ? {} : { bg: colourOf(cell.isBgRGB(), cell.getBgColor()) }),
    ...Object.fromEntries(Object.entries(flags).flatMap(([name, is]) => (is === 0 ? [] : [[name, true as const]]))),
  };
}

const UNDERLINE = 0x1000_0000;

/** By the emulator's own flag: it calls a hyperlink underlined, too. */
function isUnderlined(cell: IBufferCell): number {
  const { fg } = cell as IBufferCell & { readonly fg?: unknown };
  return typeof fg === "number" ? fg & UNDERLINE : cell.isUnderline();
}

const colourOf = (isRgb: boolean, colour: number) => (isRgb ? `#${colour.toString(16).padStart(6, "0")}` : colour);
