// Searches output that is not parsed: for the last state of each private mode, the title, and whether there are sequences at all. A
// few native searches over each stretch: 0.1 ms for a MiB, 0.2 ms if there are sequences.

import { lastLineEnds, lengthWithout, OTHER_CONTROLS, type OutputLog } from "sandbox-stdio/core";

/** Searched at once. Stretches overlap, so that no sequence that is searched for is cut. */
const STRETCH_BYTES = 256 * 1024;
const OVERLAP_BYTES = 256;
/** Mode changes that are read in one stretch: a program that makes more of them repeats them. */
const MAX_MODE_CHANGES = 256;
const MAX_TITLE_BYTES = 200;
/** The range in which a position is searched at which the emulator can begin. */
const LOOK_BYTES = 64 * 1024;

const CRLF = "\r\n";
const ESC = 0x1b;
const BRACKET = 0x5b;
const LETTER_M = 0x6d;
/** Recognizing styled text takes up to 1 ms per MiB. A flood with more of it is treated as ordinary output. */
const MAX_STYLE_BYTES = 16 * 1024 * 1024;
/** A sequence that is incomplete this near to the end of a stretch belongs to the next stretch. */
const MARGIN_BYTES = 64;
/** A style counts as known if it is reset within this range: a few lines. */
const RESET_WITHIN_BYTES = 1_024;
const RESETS = ["\x1b[m", "\x1b[0m"] as const;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are terminal sequences
const MODE_CHANGE = /^\x1b\[\?([\d;]{1,64})([hl])/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are terminal sequences
const TITLE = /^\x1b\][02];[^\x00-\x1f\x7f]*(?:\x07|\x1b\\)/;

/** Only lines, lines with colours, or anything. */
export type FloodContent = "text" | "styled text" | "sequences";

/** Shared by all scanners: used within one call only. */
const scratch = Buffer.alloc(OVERLAP_BYTES + STRETCH_BYTES);

export class FloodScanner {
  readonly #log: OutputLog;
  #offset: number;
  #start: number;
  #content: FloodContent = "text";
  #styleBytesLeft = MAX_STYLE_BYTES;
  #hasReset = false;
  #title = "";
  #keypad = "";
  readonly #modes = new Map<string, "h" | "l">();

  /** @param offset The start of the output that is not parsed. */
  constructor(log: OutputLog, offset: number) {
    this.#log = log;
    this.#offset = offset;
    // The parsed output may have ended within a sequence.
    this.#start = Math.max(log.startOffset, offset - OVERLAP_BYTES);
  }

  /** Output before this was searched. */
  get offset(): number {
    return this.#offset;
  }

  get content(): FloodContent {
    return this.#content;
  }

  /** The sequences that bring a terminal from the state before the flood to the state after it. */
  get state(): string {
    let text = this.#hasReset ? "\x1bc" : "";
    for (const [mode, final] of this.#modes) text += `\x1b[?${mode}${final}`;
    return text + this.#keypad + this.#title;
  }

  scanTo(end: number): void {
    if (this.#offset < this.#log.startOffset) {
      this.#content = "sequences";
      this.#offset = this.#log.startOffset;
      this.#start = this.#offset;
    }
    while (this.#offset < end) {
      const from = Math.max(this.#offset - OVERLAP_BYTES, this.#start, this.#log.startOffset);
      const to = Math.min(end, this.#offset + STRETCH_BYTES);
      this.#log.copy(from, to - from, scratch, 0);
      this.#scan(scratch.subarray(0, to - from));
      this.#offset = to;
    }
  }

  #scan(bytes: Buffer): void {
    if (bytes.indexOf(ESC) < 0) {
      if (lengthWithout(bytes, OTHER_CONTROLS) < bytes.length) this.#content = "sequences";
      return;
    }
    if (this.#content !== "sequences") {
      this.#styleBytesLeft -= bytes.length;
      this.#content = this.#styleBytesLeft >= 0 && isStyled(bytes) ? "styled text" : "sequences";
    }
    const reset = bytes.lastIndexOf("\x1bc", undefined, "latin1");
    if (reset >= 0) {
      this.#hasReset = true;
      this.#title = "";
      this.#keypad = "";
      this.#modes.clear();
    }
    this.#scanModes(bytes, Math.max(0, reset));
    this.#scanTitle(bytes);
    const application = bytes.lastIndexOf("\x1b=", undefined, "latin1");
    const numeric = bytes.lastIndexOf("\x1b>", undefined, "latin1");
    if (Math.max(application, numeric) > reset) this.#keypad = application > numeric ? "\x1b=" : "\x1b>";
  }

  #scanModes(bytes: Buffer, from: number): void {
    let at = bytes.indexOf("\x1b[?", from, "latin1");
    for (let count = 0; at >= 0 && count < MAX_MODE_CHANGES; count += 1) {
      const [, modes, final] = MODE_CHANGE.exec(bytes.toString("latin1", at, at + 72)) ?? [];
      if (modes !== undefined && (final === "h" || final === "l")) {
        for (const mode of modes.split(";")) {
          this.#modes.delete(mode);
          this.#modes.set(mode, final);
        }
      }
      at = bytes.indexOf("\x1b[?", at + 3, "latin1");
    }
  }

  #scanTitle(bytes: Buffer): void {
    const at = Math.max(
      bytes.lastIndexOf("\x1b]0;", undefined, "latin1"),
      bytes.lastIndexOf("\x1b]2;", undefined, "latin1"),
    );
    if (at < 0) return;
    const [title] = TITLE.exec(bytes.toString("utf8", at, at + MAX_TITLE_BYTES)) ?? [];
    if (title !== undefined) this.#title = title;
  }
}

/** Whether there is only text and SGR, of which the last may be cut off. */
function isStyled(bytes: Uint8Array): boolean {
  const length = styledLength(bytes);
  return length === bytes.length || isCut(bytes, length);
}

/** Whether an SGR that continues in the next stretch may begin at `at`. */
function isCut(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === ESC && at > bytes.length - MARGIN_BYTES && endOfParameters(bytes, at) === bytes.length;
}

/** The length of the text and SGR at the start. A loop, as a search for each ESC takes longer if there are many. */
function styledLength(bytes: Uint8Array): number {
  const length = lengthWithout(bytes, OTHER_CONTROLS);
  for (let at = 0; at < length; at += 1) {
    if (bytes[at] !== ESC) continue;
    const start = at;
    at = endOfParameters(bytes, start);
    if (bytes[at] !== LETTER_M || bytes[start + 1] !== BRACKET) return start;
  }
  return length;
}

/** @param at The position of an ESC. */
function endOfParameters(bytes: Uint8Array, at: number): number {
  let end = at + 1;
  if (bytes[end] === BRACKET) end += 1;
  // Digits, semicolons and colons.
  while (end < bytes.length && (bytes[end] ?? 0) >= 0x30 && (bytes[end] ?? 0) <= 0x3b) end += 1;
  return end;
}

/**
 * The first position from `wanted` on at which the emulator can begin: behind a line's end, or before a sequence.
 * @param isText Whether a line's end counts even if a sequence precedes it.
 */
export function entryFrom(log: OutputLog, wanted: number, isText: boolean): { offset: number; isLineStart: boolean } {
  const length = Math.min(LOOK_BYTES, log.endOffset - wanted);
  const bytes = Buffer.allocUnsafe(length);
  log.copy(wanted, length, bytes, 0);
  const line = bytes.indexOf(CRLF);
  const sequence = bytes.indexOf(ESC);
  if (line >= 0 && (isText || sequence < 0 || line < sequence))
    return { offset: wanted + line + CRLF.length, isLineStart: true };
  return { offset: wanted + Math.max(0, sequence), isLineStart: false };
}

/**
 * The last position from `wanted` on at which an emulator can begin and still remember as much as if it began at `wanted`: `lines`
 * lines and two screens come between it and the first sequence that does more than set the style. `wanted` itself if there are fewer
 * lines, if the size changes after it, or if the style at that position is unknown.
 */
export function lastLinesFrom(log: OutputLog, wanted: number, lines: number): number {
  if (log.markFrom(wanted + 1) !== undefined) return wanted;
  const { endOffset } = log;
  let to = wanted;
  while (to < endOffset) {
    const bytes = scratch.subarray(0, Math.min(STRETCH_BYTES, endOffset - to));
    log.copy(to, bytes.length, scratch, 0);
    const length = styledLength(bytes);
    to += length;
    if (length === 0 || (length < bytes.length && !isCut(bytes, length))) break;
  }
  let left = lines + 2 * log.sizeAt(wanted).rows + 1;
  for (let end = to; end > wanted; ) {
    const start = Math.max(wanted, end - LOOK_BYTES);
    const bytes = scratch.subarray(0, end - start);
    log.copy(start, bytes.length, scratch, 0);
    const { behind, missing } = lastLineEnds(bytes, left);
    if (missing === 0) return isStyleKnown(log, wanted, start + behind) ? start + behind : wanted;
    left = missing;
    end = start;
  }
  return wanted;
}

/** Whether the style is the same at both places, or is reset soon after the second one. */
function isStyleKnown(log: OutputLog, first: number, second: number): boolean {
  const soon = scratch.subarray(0, Math.min(RESET_WITHIN_BYTES, log.endOffset - second));
  log.copy(second, soon.length, scratch, 0);
  if (RESETS.some((reset) => soon.indexOf(reset, undefined, "latin1") >= 0)) return true;
  for (let at = first; at < second; at += STRETCH_BYTES) {
    const bytes = scratch.subarray(0, Math.min(STRETCH_BYTES, second - at));
    log.copy(at, bytes.length, scratch, 0);
    if (bytes.indexOf(ESC) >= 0) return false;
  }
  return true;
}
