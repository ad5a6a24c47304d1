// Draws an emulator's screen as output that gives a terminal of the same size the same screen: cells, scrollback, both screens,
// cursor, attributes and modes. It begins with a full reset and contains no queries. addon-serialize leaves out the saved cursor, tab
// stops, character sets, hyperlinks, the title and most modes, and its wrapped rows are wrong where cells were erased.

import type { Terminal } from "@xterm/headless";
import { attributesOf, backgroundOf, currentAttributes, PLAIN, sgr, showsOnBlank } from "./attributes.ts";
import { designate, shift } from "./charsets.ts";
import { type Attributes, type Charset, type Core, coreOf, type ScreenBuffer, type ScreenLine } from "./internals.ts";
import { drawRows, hyperlink, printedWidth } from "./rows.ts";

/** The longest snapshot. */
export const MAX_SNAPSHOT_BYTES = 65_536;
/** Reserved for the text behind the drawing that begins a sequence again. */
const SPARE_BYTES = 16;
/** A longer title is left out. */
const MAX_TITLE_BYTES = 2_048;
const TAB_WIDTH = 8;
const PLAIN_SGR = sgr(PLAIN);

const MOUSE_MODES: { readonly [protocol: string]: number } = { X10: 9, VT200: 1000, DRAG: 1002, ANY: 1003 };
const MOUSE_ENCODINGS: { readonly [encoding: string]: number } = { SGR: 1006, SGR_PIXELS: 1016 };
/** DECSCUSR's numbers for a blinking cursor; one more is steady. */
const CURSOR_STYLES = { block: 1, underline: 3, bar: 5 };
/** A number without a style: xterm.js still applies the blinking. */
const NO_CURSOR_STYLE = 7;

export type Drawing = {
  readonly text: string;
  /** False where the screen itself did not fit: some of it is plain text, or missing. */
  readonly isComplete: boolean;
};

/** The sequences that set the modes that the emulator does not keep. */
export type ModesBeside = {
  /** To be written before the cursor's shape is set. */
  readonly beforeShape: string;
  readonly text: string;
  /** The sequences for the screen that is not shown. */
  readonly hiddenKeyboard: string;
};

/** @param colours The sequences that set them. */
export function draw(
  terminal: Terminal,
  remembered: ModesBeside,
  colours: string,
  maxBytes = MAX_SNAPSHOT_BYTES,
): Drawing {
  const core = coreOf(terminal);
  const { normal, alt, active } = core.buffers;
  const isAlternate = active === alt;
  const head = `\x1bc\x1b[20l${colours}${titles(core)}`;
  const middle =
    bufferState(core, normal, terminal) +
    (isAlternate
      ? `${remembered.hiddenKeyboard}${goTo(normal.x, normal.y)}\x1b[?47h\x1b[H`
      : inactiveState(core, alt, terminal, remembered.hiddenKeyboard));
  const tail =
    (isAlternate ? bufferState(core, alt, terminal) : "") + cursorAndModes(core, active, terminal, remembered);
  // The visible screen gets its room first.
  let room = maxBytes - SPARE_BYTES - Buffer.byteLength(head + middle + tail);
  const above = isAlternate ? drawRows(core, alt, terminal, room) : undefined;
  room -= above?.bytes ?? 0;
  const below = drawRows(core, normal, terminal, room);
  return {
    text: head + below.text + middle + (above?.text ?? "") + tail,
    isComplete: below.isComplete && (above?.isComplete ?? true),
  };
}

/** Row and column from 0; the column may be one too many, where a character is about to wrap. */
function goTo(column: number, row: number): string {
  return `\x1b[${row + 1};${column + 1}H`;
}

function titles(core: Core): string {
  const { _windowTitle: title, _iconName: icon } = core._inputHandler;
  if (title === "" && icon === "") return "";
  if (Buffer.byteLength(title) > MAX_TITLE_BYTES || Buffer.byteLength(icon) > MAX_TITLE_BYTES) return "";
  if (title === icon) return `\x1b]0;${title}\x1b\\`;
  return `\x1b]2;${title}\x1b\\${icon === "" ? "" : `\x1b]1;${icon}\x1b\\`}`;
}

/** The state of each screen: tab stops, scroll region, saved cursor. Leaves nothing else set. */
function bufferState(core: Core, buffer: ScreenBuffer, terminal: Terminal): string {
  const { scrollTop, scrollBottom } = buffer;
  const isWhole = scrollTop === 0 && scrollBottom === terminal.rows - 1;
  const region = isWhole ? "" : `\x1b[${scrollTop + 1};${scrollBottom + 1}r`;
  return tabStops(buffer, terminal.cols) + savedCursor(core, buffer, terminal) + region;
}

/** While the alternate screen is hidden it is blank, but keeps its saved cursor and its keyboard's flags. */
function inactiveState(core: Core, alt: ScreenBuffer, terminal: Terminal, keyboard: string): string {
  const saved = savedCursor(core, alt, terminal) + keyboard;
  return saved === "" ? "" : `\x1b[?47h${saved}\x1b[?47l`;
}

function tabStops(buffer: ScreenBuffer, cols: number): string {
  const stops: number[] = [];
  let isUsual = true;
  for (let column = 0; column < cols; column += 1) {
    const isStop = buffer.tabs[column] === true;
    if (isStop) stops.push(column);
    if (isStop !== (column % TAB_WIDTH === 0)) isUsual = false;
  }
  if (isUsual) return "";
  return `\x1b[3g${stops.map((column) => `\x1b[${column + 1}G\x1bH`).join("")}`;
}

function savedCursor(core: Core, buffer: ScreenBuffer, terminal: Terminal): string {
  const row = Math.min(terminal.rows - 1, Math.max(0, buffer.savedY - buffer.ybase));
  const column = Math.min(buffer.savedX, terminal.cols - 1);
  const { fg, bg } = buffer.savedCurAttrData;
  const attributes = sgr({ fg, bg, extended: PLAIN.extended });
  const { savedCharsets: sets, savedGlevel, savedOriginMode, savedWraparoundMode } = buffer;
  const [modes, undone] = [
    (savedOriginMode ? "\x1b[?6h" : "") + (savedWraparoundMode ? "" : "\x1b[?7l"),
    (savedOriginMode ? "\x1b[?6l" : "") + (savedWraparoundMode ? "" : "\x1b[?7h"),
  ];
  const isUsual = sets.length === 0 && savedGlevel === 0 && modes === "";
  if (row === 0 && column === 0 && attributes === PLAIN_SGR && isUsual) return "";
  const designated = Array.from(sets, (set, level) => designate(level, set)).join("");
  const before = designated + (savedGlevel === 0 ? "" : shift(savedGlevel));
  const after =
    Array.from(sets, (_, level) => designate(level, undefined)).join("") + (savedGlevel === 0 ? "" : shift(0));
  // A cursor about to wrap is behind the last column, and only a character gets it there: then that cell is drawn again.
  const isWrapping = buffer.savedX === terminal.cols;
  const [blank, redrawn] = isWrapping ? [" ", lastCell(core, buffer, row, terminal.cols)] : ["", ""];
  return `${modes}${goTo(column, row)}${attributes}${blank}${before}\x1b7${after}${undone}${PLAIN_SGR}${redrawn}`;
}

/** Draws the last cell of a row. Leaves nothing set. */
function lastCell(core: Core, { lines, ybase }: ScreenBuffer, row: number, cols: number): string {
  const line = lines.get(ybase + row);
  const last = lastCharacter(core, { lines, ybase, x: cols, y: row }, cols);
  if (line === undefined || last === undefined) return "";
  const attributes = attributesOf(line.getFg(cols - 1), line.getBg(cols - 1), line._extendedAttrs[cols - 1]);
  const isBlank = last.column === cols - 1 && last.key === "" && !showsOnBlank(attributes);
  const drawn = isBlank ? `${sgr({ ...PLAIN, bg: backgroundOf(attributes.bg) })}\x1b[X` : last.drawn;
  return goTo(last.column, row) + drawn + PLAIN_SGR;
}

function cursorAndModes(core: Core, buffer: ScreenBuffer, terminal: Terminal, remembered: ModesBeside): string {
  const { x, y } = buffer;
  const { _curAttrData, _parser: parser } = core._inputHandler;
  const current = currentAttributes(_curAttrData);
  const { origin } = core.coreService.decPrivateModes;
  const originText = origin ? "\x1b[?6h" : "";
  const top = origin ? buffer.scrollTop : 0;
  const modes = modeText(core, terminal, remembered.beforeShape) + remembered.text;
  const charsets = charsetText(core);
  const attributes = sgr(current) + (current.extended.urlId === 0 ? "" : hyperlink(core, current.extended.urlId));
  const last = lastCharacter(core, buffer, terminal.cols);
  const isJoinable =
    parser.precedingJoinState !== 0 &&
    last !== undefined &&
    last.key === keyOf(attributesOf(current.fg, current.bg, current.extended));
  if (isJoinable) {
    // Prints the last character again: the next output may combine with it, or repeat it.
    const { insertMode } = core.coreService.modes;
    const room = insertMode ? `\x1b[${last.width}P` : "";
    return originText + modes + charsets + goTo(last.column, y - top) + attributes + room + last.text;
  }
  const wrapping =
    x === terminal.cols && last !== undefined
      ? (aboutToWrapOnBlank(buffer, y - top, terminal.cols) ?? goTo(last.column, y - top) + last.drawn)
      : goTo(Math.min(x, terminal.cols - 1), y - top);
  // A character set would change the character that is drawn again.
  return originText + wrapping + charsets + modes + attributes;
}

type LastCharacter = {
  readonly column: number;
  readonly width: number;
  readonly text: string;
  /** With its attributes. */
  readonly drawn: string;
  readonly key: string;
};

type Position = Pick<ScreenBuffer, "lines" | "ybase" | "x" | "y">;

/**
 * Only a character in the last column leaves the cursor behind it. On a row that is erased all along, erasing up to the cursor
 * takes that character away again. Undefined on any other row, where a blank last cell comes back as a space.
 */
function aboutToWrapOnBlank({ lines, ybase, y }: ScreenBuffer, row: number, cols: number): string | undefined {
  const line = lines.get(ybase + y);
  if (line === undefined) return undefined;
  const bg = line.getBg(cols - 1);
  for (let column = 0; column < cols; column += 1) {
    const attributes = attributesOf(line.getFg(column), line.getBg(column), line._extendedAttrs[column]);
    if (line.hasContent(column) !== 0 || line.getBg(column) !== bg || showsOnBlank(attributes)) return undefined;
  }
  return `${goTo(cols - 1, row)}${sgr({ ...PLAIN, bg: backgroundOf(bg) })} \x1b[1K`;
}

/** The cell before the cursor. */
function lastCharacter(core: Core, { lines, ybase, x, y }: Position, cols: number): LastCharacter | undefined {
  const line: ScreenLine | undefined = lines.get(ybase + y);
  if (line === undefined || x === 0) return undefined;
  const isTail = x > 1 && line.getWidth(x - 1) === 0 && line.hasContent(x - 1) === 0 && line.getWidth(x - 2) === 2;
  const column = isTail ? x - 2 : x - 1;
  const printed = printedWidth(core, line, column, cols);
  const width = Math.max(1, printed ?? 1);
  const text = printed === undefined ? " " : line.getString(column);
  const attributes = attributesOf(line.getFg(column), line.getBg(column), line._extendedAttrs[column]);
  const { urlId } = attributes.extended;
  const drawn = urlId === 0 ? text : `${hyperlink(core, urlId)}${text}${hyperlink(core, 0)}`;
  const isBefore = printed !== undefined && column + width === x;
  return { column, width, text, drawn: sgr(attributes) + drawn, key: isBefore ? keyOf(attributes) : "" };
}

function keyOf(attributes: Attributes): string {
  return `${sgr(attributes)}${attributes.extended.urlId}`;
}

function modeText(core: Core, terminal: Terminal, beforeShape: string): string {
  const { coreService, mouseStateService } = core;
  const modes = coreService.decPrivateModes;
  let text = "";
  if (modes.applicationCursorKeys) text += "\x1b[?1h";
  if (modes.applicationKeypad) text += "\x1b=";
  if (!modes.wraparound) text += "\x1b[?7l";
  if (modes.reverseWraparound) text += "\x1b[?45h";
  if (coreService.modes.insertMode) text += "\x1b[4h";
  if (terminal.options.convertEol === true) text += "\x1b[20h";
  const mouse = MOUSE_MODES[mouseStateService.activeProtocol];
  if (mouse !== undefined) text += `\x1b[?${mouse}h`;
  const encoding = MOUSE_ENCODINGS[mouseStateService.activeEncoding];
  if (encoding !== undefined) text += `\x1b[?${encoding}h`;
  if (modes.sendFocus) text += "\x1b[?1004h";
  if (modes.bracketedPasteMode) text += "\x1b[?2004h";
  text += beforeShape;
  const style = modes.cursorStyle === undefined ? NO_CURSOR_STYLE : CURSOR_STYLES[modes.cursorStyle];
  if (modes.cursorBlink !== undefined) text += `\x1b[${style + (modes.cursorBlink ? 0 : 1)} q`;
  if (coreService.isCursorHidden) text += "\x1b[?25l";
  if (modes.synchronizedOutput) text += "\x1b[?2026h";
  return text;
}

function charsetText(core: Core): string {
  const { glevel, _charsets: sets } = core._charsetService;
  let text = "";
  for (let level = 0; level < 4; level += 1) {
    const set: Charset = sets[level];
    if (set !== undefined) text += designate(level, set);
  }
  return glevel === 0 ? text : text + shift(glevel);
}
