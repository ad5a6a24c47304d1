// Draws rows of a buffer as output that gives a blank screen the same cells. Knows nothing of cursors and modes.

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
import type { Attributes, Core, Extended, ScreenBuffer, ScreenLine } from "./internals.ts";

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

/** A row: `text` up to its last character, which ends at column `reach`, and the coloured blanks behind it, if any. */
type Row = { readonly text: string; readonly reach: number; readonly blanks: string };

const NO_LINE = { isWrapped: false } as const;

type Size = { readonly cols: number; readonly rows: number };

/** OSC 8 begins the link, or ends one if there is no link `id`. */
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
      // A fault of the emulator, after some changes of size.
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

/** The last row that has to be drawn: without scrollback, blank rows at the end need no drawing. */
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

/** `line`, and the text that moves from it to the start of `next`. */
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
  const pen = new RowPen(core, hasAttributes);
  const { _data: data } = line;
  let attributes = PLAIN;
  let fg = 0;
  let bg = 0;
  let extended: Extended | undefined;
  const isAlike = (column: number): boolean =>
    data[column * CELL_NUMBERS + 1] === fg && data[column * CELL_NUMBERS + 2] === bg && extended === undefined;
  for (let column = 0; column < cols; ) {
    const cell = data[column * CELL_NUMBERS] ?? 0;
    // Most cells are simple and like the one before them.
    if (cell > FIRST_SIMPLE && cell < LAST_SIMPLE && pen.reach === column && column > 0 && isAlike(column)) {
      pen.text += String.fromCharCode(cell & 0xff);
      column += 1;
      pen.reach = column;
      continue;
    }
    if (line.getFg(column) !== fg || line.getBg(column) !== bg || line._extendedAttrs[column] !== extended) {
      fg = line.getFg(column);
      bg = line.getBg(column);
      extended = line._extendedAttrs[column];
      attributes = attributesOf(fg, bg, extended);
    }
    const width = printedWidth(core, line, column, cols);
    if (width !== undefined || showsOnBlank(attributes)) {
      pen.draw(width === undefined ? " " : line.getString(column), width, attributes);
      column += Math.max(1, width ?? 1);
      pen.reach = column;
      continue;
    }
    const background = hasAttributes ? backgroundOf(bg) : 0;
    const start = column;
    do column += 1;
    while (
      column < cols &&
      ((data[column * CELL_NUMBERS] === cell && isAlike(column)) ||
        isSameBlank(line, column, background, hasAttributes))
    );
    pen.leaveBlank(column - start, background);
  }
  return pen.end();
}

/** Draws a row from left to right. */
class RowPen {
  text = "";
  /** The column behind the last character. */
  reach = 0;
  readonly #core: Core;
  readonly #hasAttributes: boolean;
  #blanks = "";
  /** Columns to go over before the next thing is drawn. */
  #skip = 0;
  #sgr = PLAIN_SGR;
  #link = 0;

  constructor(core: Core, hasAttributes: boolean) {
    this.#core = core;
    this.#hasAttributes = hasAttributes;
  }

  /** @param width 0: a combining character without a base. */
  draw(text: string, width: number | undefined, attributes: Attributes): void {
    this.text += this.#blanks + this.#move() + this.#set(sgr(attributes));
    this.#blanks = "";
    if (this.#hasAttributes && attributes.extended.urlId !== this.#link) {
      this.#link = attributes.extended.urlId;
      this.text += hyperlink(this.#core, this.#link);
    }
    // A sequence before a lone combining character keeps it from joining the cell to its left.
    if (width === 0) this.text += this.#sgr;
    this.text += text;
  }

  leaveBlank(count: number, background: number): void {
    if (background !== 0) {
      // Complete in itself: a wrapped row draws its blanks apart from its text.
      const colored = sgr({ ...PLAIN, bg: background });
      this.#blanks += `${this.#move()}${this.#set(colored) || colored}\x1b[${count}X`;
    }
    this.#skip += count;
  }

  end(): Row {
    if (this.#link !== 0) this.text += hyperlink(this.#core, 0);
    const { text, reach } = this;
    const blanks = this.#blanks;
    if (this.#sgr === PLAIN_SGR) return { text, reach, blanks };
    const end = this.#set(PLAIN_SGR);
    return blanks === "" ? { text: text + end, reach, blanks } : { text, reach, blanks: blanks + end };
  }

  #move(): string {
    const moved = this.#skip === 0 ? "" : this.#skip === 1 ? "\x1b[C" : `\x1b[${this.#skip}C`;
    this.#skip = 0;
    return moved;
  }

  #set(wanted: string): string {
    if (wanted === this.#sgr || !this.#hasAttributes) return "";
    const end = this.#sgr.includes(PROTECTED_START) ? PROTECTED_END : "";
    this.#sgr = wanted;
    return end + wanted;
  }
}

/**
 * How many columns a cell's text takes when it is printed. Undefined: it has no text, or the text takes more columns than the cell, as
 * erasing and inserting may leave halves of wide characters.
 */
export function printedWidth(core: Core, line: ScreenLine, column: number, cols: number): number | undefined {
  if (line.hasContent(column) === 0) return undefined;
  const text = line.getString(column);
  const isSimple = text.length === 1 && text.charCodeAt(0) < FIRST_COMBINING;
  const width = isSimple ? 1 : core.unicodeService.getStringCellWidth(text);
  return width <= line.getWidth(column) && column + line.getWidth(column) <= cols ? width : undefined;
}

function isSameBlank(line: ScreenLine, column: number, background: number, hasAttributes: boolean): boolean {
  if (line.hasContent(column) !== 0) return false;
  const bg = line.getBg(column);
  if (showsOnBlank(attributesOf(line.getFg(column), bg, line._extendedAttrs[column]))) return false;
  return (hasAttributes ? backgroundOf(bg) : 0) === background;
}
