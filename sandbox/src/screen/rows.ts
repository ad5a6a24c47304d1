// Draws rows of a buffer as output that leaves a blank screen with the same cells. Knows nothing of cursors and modes.

import {
  attributesOf,
  backgroundOf,
  isBackgroundPlain,
  PLAIN,
  PROTECTED_END,
  PROTECTED_START,
  sgr,
} from "./attributes.ts";
import type { Attributes, Core, Extended, ScreenBuffer, ScreenLine } from "./internals.ts";

/** A longer hyperlink is left out. */
const MAX_URI_LENGTH = 2_048;
const PLAIN_SGR = sgr(PLAIN);

export type DrawnRows = {
  readonly text: string;
  readonly bytes: number;
  /** False where rows of the screen itself, not of the scrollback, were left out or drawn without attributes. */
  readonly isComplete: boolean;
};

/** One row: `text` up to its last character, which ends at column `reach`, and then coloured blanks, if there are any. */
type Row = { readonly text: string; readonly reach: number; readonly blanks: string };

type Size = { readonly cols: number; readonly rows: number };

/** OSC 8: what follows leads there; to nowhere without a link. */
export function hyperlink(core: Core | undefined, id: number): string {
  const link = id === 0 ? undefined : core?._oscLinkService.getLinkData(id);
  if (link === undefined || link.uri.length > MAX_URI_LENGTH) return "\x1b]8;;\x1b\\";
  return `\x1b]8;${link.id === undefined ? "" : `id=${link.id}`};${link.uri}\x1b\\`;
}

/**
 * The screen and, above it, as much of the scrollback as fits into `maxBytes`. To be written at the top left of a blank
 * screen of the same size with nothing set; leaves it with nothing set.
 */
export function drawRows(core: Core, buffer: ScreenBuffer, { cols, rows }: Size, maxBytes: number): DrawnRows {
  const pieces: string[] = [];
  let bytes = 0;
  let isComplete = true;
  let row = lastRow(buffer, cols, rows);
  /** Where to go back to when it turns out that the start of a wrapped line does not fit. */
  let whole = 0;
  for (; row >= 0; row -= 1) {
    const line = buffer.lines.get(row);
    if (line === undefined) break;
    const next = pieces.length === 0 ? undefined : buffer.lines.get(row + 1);
    const isOnScreen = row >= buffer.ybase;
    let piece = drawLine(core, line, next, cols, true);
    let size = Buffer.byteLength(piece);
    if (bytes + size > maxBytes) {
      if (!isOnScreen) break;
      isComplete = false;
      piece = drawLine(core, line, next, cols, false);
      size = Buffer.byteLength(piece);
      if (bytes + size > maxBytes) piece = next === undefined ? "" : "\r\n";
    }
    pieces.push(piece);
    bytes += Buffer.byteLength(piece);
    if (isOnScreen || !line.isWrapped) whole = pieces.length;
  }
  pieces.length = whole;
  const text = pieces.reverse().join("");
  return { text, bytes: Buffer.byteLength(text), isComplete };
}

/** The last row that has to be drawn: without scrollback, blank rows at the end are there already. */
function lastRow(buffer: ScreenBuffer, cols: number, rows: number): number {
  let row = buffer.ybase + rows - 1;
  if (buffer.ybase > 0) return row;
  while (row > 0) {
    const line = buffer.lines.get(row);
    if (line !== undefined && (line.isWrapped || drawRow(undefined, line, cols, true).text !== "")) break;
    if (line !== undefined && drawRow(undefined, line, cols, true).blanks !== "") break;
    row -= 1;
  }
  return row;
}

/** `line`, and what leads from it to the start of `next`. */
function drawLine(
  core: Core,
  line: ScreenLine,
  next: ScreenLine | undefined,
  cols: number,
  hasAttributes: boolean,
): string {
  const row = drawRow(core, line, cols, hasAttributes);
  if (next === undefined) return row.text + row.blanks;
  if (!next.isWrapped) return `${row.text}${row.blanks}\r\n`;
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

function drawRow(core: Core | undefined, line: ScreenLine, cols: number, hasAttributes: boolean): Row {
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
  for (let column = 0; column < cols; ) {
    if (line.getFg(column) !== fg || line.getBg(column) !== bg || line._extendedAttrs[column] !== extended) {
      fg = line.getFg(column);
      bg = line.getBg(column);
      extended = line._extendedAttrs[column];
      attributes = attributesOf(fg, bg, extended);
    }
    const hasContent = line.hasContent(column) !== 0;
    if (!hasContent && !showsOnBlank(attributes)) {
      const ground = hasAttributes ? backgroundOf(bg) : 0;
      const start = column;
      do column += 1;
      while (column < cols && isSameBlank(line, column, ground, hasAttributes));
      const count = column - start;
      if (ground !== 0) {
        // Complete in itself: a wrapped row draws its blanks apart from its text.
        const colored = sgr({ ...PLAIN, bg: ground });
        blanks += `${move()}${set(colored) || colored}\x1b[${count}X`;
      }
      skip += count;
      continue;
    }
    const width = line.getWidth(column);
    text += blanks + move() + set(sgr(attributes));
    blanks = "";
    if (hasAttributes && core !== undefined && attributes.extended.urlId !== link) {
      link = attributes.extended.urlId;
      text += hyperlink(core, link);
    }
    // A combining character that stands alone: a sequence before it keeps it from joining what is to its left.
    if (width === 0) text += current;
    text += hasContent ? line.getString(column) : " ";
    column += Math.max(1, width);
    reach = Math.min(cols, column);
  }
  if (link !== 0) text += hyperlink(core, 0);
  if (current === PLAIN_SGR) return { text, reach, blanks };
  const end = set(PLAIN_SGR);
  return blanks === "" ? { text: text + end, reach, blanks } : { text, reach, blanks: blanks + end };
}

/** Attributes that are seen without a character. Erasing leaves none; a wide character that did not fit may. */
function showsOnBlank({ fg, bg, extended }: Attributes): boolean {
  return ((fg & 0x94000000) | (bg & 0x40000000)) !== 0 || extended._ext !== 0;
}

function isSameBlank(line: ScreenLine, column: number, ground: number, hasAttributes: boolean): boolean {
  if (line.hasContent(column)) return false;
  const bg = line.getBg(column);
  if (showsOnBlank(attributesOf(line.getFg(column), bg, line._extendedAttrs[column]))) return false;
  return (hasAttributes ? backgroundOf(bg) : 0) === ground;
}
