// Draws rows of a buffer as output that leaves a blank screen with the same cells. Knows nothing of cursors and modes.

import {
  attributesOf,
  backgroundOf,
  isBackgroundPlain,
  PLAIN,
  PROTECTED_END,
  PROTECTED_START,
  sgr,
  showsOnBlank,
} from "./attributes.ts";
import type { Core, Extended, ScreenBuffer, ScreenLine } from "./internals.ts";

/** A longer hyperlink is left out. */
const MAX_URI_LENGTH = 2_048;
const CELL_NUMBERS = 3;
/** Cells of one column with one ASCII character lie between these. */
const FIRST_SIMPLE = 0x400000;
const LAST_SIMPLE = 0x400080;
/** Characters before this are one column wide. */
const FIRST_COMBINING = 0x300;
const PLAIN_SGR = sgr(PLAIN);

export type DrawnRows = {
  readonly text: string;
  readonly bytes: number;
  /** False where rows of the screen itself, not of the scrollback, were left out or drawn without attributes. */
  readonly isComplete: boolean;
};

/** One row: `text` up to its last character, which ends at column `reach`, and then coloured blanks, if there are any. */
type Row = { readonly text: string; readonly reach: number; readonly blanks: string };

const NO_LINE = { isWrapped: false } as const;

type Size = { readonly cols: number; readonly rows: number };

/** OSC 8: what follows leads there; to nowhere without a link. */
export function hyperlink(core: Core, id: number): string {
  const link = id === 0 ? undefined : core._oscLinkService.getLinkData(id);
  if (link === undefined || link.uri.length > MAX_URI_LENGTH) return "\x1b]8;;\x1b\\";
  return `\x1b]8;${link.id === undefined ? "" : `id=${link.id}`};${link.uri}\x1b\\`;
}

/**
 * The screen and, above it, as much of the scrollback as fits into `maxBytes`. To be written at the top left of a blank
 * screen of the same size with nothing set; leaves it with nothing set.
 */
export function drawRows(core: Core, buffer: ScreenBuffer, size: Size, maxBytes: number): DrawnRows {
  const pieces: string[] = [];
  let bytes = 0;
  let isComplete = true;
  let row = lastRow(core, buffer, size);
  /** The row to go back to when it turns out that the start of a wrapped line does not fit. */
  let whole = 0;
  for (; row >= 0; row -= 1) {
    const line = buffer.lines.get(row);
    if (line === undefined) {
      // The emulator's fault, after some changes of size; there is nothing to draw.
      pieces.push(pieces.length > 0 ? "\r\n" : "");
      continue;
    }
    const next = pieces.length === 0 ? undefined : (buffer.lines.get(row + 1) ?? NO_LINE);
    const isOnScreen = row >= buffer.ybase;
    let piece = drawLine(core, line, next, size, true);
    let length = Buffer.byteLength(piece);
    if (bytes + length > maxBytes) {
      if (!isOnScreen) break;
      isComplete = false;
      piece = drawLine(core, line, next, size, false);
      length = Buffer.byteLength(piece);
      if (bytes + length > maxBytes) piece = next === undefined ? "" : "\r\n";
    }
    pieces.push(piece);
    bytes += Buffer.byteLength(piece);
    if (isOnScreen || !line.isWrapped) whole = pieces.length;
  }
  if (row >= 0) pieces.length = whole;
  const text = pieces.reverse().join("");
  return { text, bytes: Buffer.byteLength(text), isComplete };
}

/** The last row that has to be drawn: without scrollback, blank rows at the end are there already. */
function lastRow(core: Core, buffer: ScreenBuffer, { cols, rows }: Size): number {
  let row = buffer.ybase + rows - 1;
  if (buffer.ybase > 0) return row;
  while (row > 0) {
    const line = buffer.lines.get(row);
    if (line !== undefined && (line.isWrapped || drawRow(core, line, cols, true).text !== "")) break;
    if (line !== undefined && drawRow(core, line, cols, true).blanks !== "") break;
    row -= 1;
  }
  return row;
}

/** `line`, and the text that leads from it to the start of `next`. */
function drawLine(
  core: Core,
  line: ScreenLine,
  next: ScreenLine | typeof NO_LINE | undefined,
  { cols, rows }: Size,
  hasAttributes: boolean,
): string {
  const row = drawRow(core, line, cols, hasAttributes);
  if (next === undefined) return row.text + row.blanks;
  if (!next.isWrapped) return `${row.text}${row.blanks}\r\n`;
  // A screen of one row has no way back to the row before.
  if (rows === 1 && row.reach < cols) return `${row.text}${row.blanks}\r\n`;
  // Only a character that finds no room marks the next row as wrapped. It takes no colour along, and is drawn over.
  const wrap = next.hasContent(0) ? " \r" : " \r\x1b[X";
  if (row.reach === cols) return row.text + wrap;
  if (row.reach === cols - 1 && wrapsByItself(line, next, cols)) return row.text;
  const left = cols - row.reach;
  const back = `\x1b[A\x1b[${row.reach + 1}G\x1b[${left}X${row.blanks}\x1b[B\r`;
  return `${row.text}${PLAIN_SGR}${" ".repeat(left)} ${back}${next.hasContent(0) ? "" : "\x1b[X"}`;
}

/** A wide character that found one column left, and nothing has changed there since. */
function wrapsByItself(line: ScreenLine, next: ScreenLine, cols: number): boolean {
  const last = cols - 1;
  return (
    next.getWidth(0) === 2 &&
    isBackgroundPlain(next.getBg(0)) &&
    line.getFg(last) === next.getFg(0) &&
    line.getBg(last) === next.getBg(0)
  );
}

function drawRow(core: Core, line: ScreenLine, cols: number, hasAttributes: boolean): Row {
  let text = "";
  let blanks = "";
  let reach = 0;
  /** Columns to go over before the next thing is drawn. */
  let skip = 0;
  let current = PLAIN_SGR;
  let attributes = PLAIN;
  let fg = 0;
  let bg = 0;
  let extended: Extended | undefined;
  let link = 0;
  const move = (): string => {
    const moved = skip === 0 ? "" : skip === 1 ? "\x1b[C" : `\x1b[${skip}C`;
    skip = 0;
    return moved;
  };
  const set = (wanted: string): string => {
    if (wanted === current || !hasAttributes) return "";
    const end = current.includes(PROTECTED_START) ? PROTECTED_END : "";
    current = wanted;
    return end + wanted;
  };
  const { _data: data } = line;
  const isAlike = (column: number): boolean =>
    data[column * CELL_NUMBERS + 1] === fg && data[column * CELL_NUMBERS + 2] === bg && extended === undefined;
  for (let column = 0; column < cols; ) {
    const cell = data[column * CELL_NUMBERS] ?? 0;
    // Most cells are simple and like the one before them.
    if (cell > FIRST_SIMPLE && cell < LAST_SIMPLE && reach === column && column > 0 && isAlike(column)) {
      text += String.fromCharCode(cell & 0xff);
      column += 1;
      reach = column;
      continue;
    }
    if (line.getFg(column) !== fg || line.getBg(column) !== bg || line._extendedAttrs[column] !== extended) {
      fg = line.getFg(column);
      bg = line.getBg(column);
      extended = line._extendedAttrs[column];
      attributes = attributesOf(fg, bg, extended);
    }
    const width = printedWidth(core, line, column, cols);
    if (width === undefined && !showsOnBlank(attributes)) {
      const ground = hasAttributes ? backgroundOf(bg) : 0;
      const start = column;
      do column += 1;
      while (
        column < cols &&
        ((data[column * CELL_NUMBERS] === cell && isAlike(column)) || isSameBlank(line, column, ground, hasAttributes))
      );
      const count = column - start;
      if (ground !== 0) {
        // Complete in itself: a wrapped row draws its blanks apart from its text.
        const colored = sgr({ ...PLAIN, bg: ground });
        blanks += `${move()}${set(colored) || colored}\x1b[${count}X`;
      }
      skip += count;
      continue;
    }
    text += blanks + move() + set(sgr(attributes));
    blanks = "";
    if (hasAttributes && attributes.extended.urlId !== link) {
      link = attributes.extended.urlId;
      text += hyperlink(core, link);
    }
    // A combining character that stands alone: a sequence before it keeps it from joining the cell to its left.
    if (width === 0) text += current;
    text += width === undefined ? " " : line.getString(column);
    column += Math.max(1, width ?? 1);
    reach = column;
  }
  if (link !== 0) text += hyperlink(core, 0);
  if (current === PLAIN_SGR) return { text, reach, blanks };
  const end = set(PLAIN_SGR);
  return blanks === "" ? { text: text + end, reach, blanks } : { text, reach, blanks: blanks + end };
}

/**
 * How many columns a cell's text takes when it is printed; undefined: there is none, or more than the cell has, as erasing
 * and inserting may leave halves of wide characters behind.
 */
export function printedWidth(core: Core, line: ScreenLine, column: number, cols: number): number | undefined {
  if (line.hasContent(column) === 0) return undefined;
  const text = line.getString(column);
  const isSimple = text.length === 1 && text.charCodeAt(0) < FIRST_COMBINING;
  const width = isSimple ? 1 : core.unicodeService.getStringCellWidth(text);
  return width <= line.getWidth(column) && column + line.getWidth(column) <= cols ? width : undefined;
}

function isSameBlank(line: ScreenLine, column: number, ground: number, hasAttributes: boolean): boolean {
  if (line.hasContent(column) !== 0) return false;
  const bg = line.getBg(column);
  if (showsOnBlank(attributesOf(line.getFg(column), bg, line._extendedAttrs[column]))) return false;
  return (hasAttributes ? backgroundOf(bg) : 0) === ground;
}
