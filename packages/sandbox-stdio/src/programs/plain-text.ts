// Converts output to `plain` text (D4, T2): removes escape sequences, turns CR LF into LF, and drops text that a lone CR or a
// backspace overwrote. Streaming: the result does not depend on how the bytes are cut.

import { C1_LEAD, ESC, VtParser } from "../terminal/vt-parser.ts";
import { type PlainRun, PlainRuns } from "./plain-runs.ts";
import { Utf8Reader } from "./utf8-reader.ts";

const LF = 0x0a;
const VT = 0x0b;
const FF = 0x0c;
const CR = 0x0d;
const BACKSPACE = 0x08;
const TAB = 0x09;
const DEL = 0x7f;
const SPACE = 0x20;
/** The byte after ESC. */
const CSI = 0x5b;
/** Characters of a line that can still be overwritten. A longer line continues as if it began anew. */
export const MAX_PLAIN_LINE = 16_384;
const FIRST_CELLS = 128;
/** Parameter bytes of a CSI that are remembered: `2K` and `1G` are the longest that matter. */
const MAX_CSI = 4;

/** The change of the plain text since the last call. */
export type PlainChange = {
  /** Position in UTF-16 units. Everything from here on is replaced by `text`. */
  readonly at: number;
  readonly text: string;
  /** Where the characters of `text` are in the log, in order. */
  readonly runs: readonly PlainRun[];
  /** Text before this position never changes. */
  readonly settled: number;
};

/** One character per cell. Erasing (CSI K) and moving to the first column (CSI G) count as overwriting. */
export class PlainText {
  readonly #parser = new VtParser();
  readonly #utf8 = new Utf8Reader();
  /** The current line: characters, and where each starts in the log and how many bytes it has there. */
  #codes = new Uint32Array(FIRST_CELLS);
  #starts = new Float64Array(FIRST_CELLS);
  #widths = new Uint8Array(FIRST_CELLS);
  #length = 0;
  #cursor = 0;
  #hasAstral = false;
  /** Position of the line's first character in the plain text. */
  #lineAt = 0;
  /** Cells reported by the last {@link drain}, their UTF-16 units, and the first cell changed since. */
  #drained = 0;
  #drainedUnits = 0;
  #dirty = 0;
  /** Finished lines, or their new part, since the last {@link drain}. */
  #ready = "";
  #readyAt = 0;
  #runs = new PlainRuns();
  /** Start of the current sequence, and its parameter bytes if it is a CSI. */
  #sequenceAt = 0;
  #csi = "";

  /** Log offset of an unfinished character or escape sequence; undefined if there is none. */
  get pendingFrom(): number | undefined {
    if (!this.#parser.isGround) return this.#sequenceAt;
    return this.#utf8.isInCharacter ? this.#utf8.startOffset : undefined;
  }

  /** Takes output at `offset` of the log, where the last piece ended. Does not keep `bytes`. */
  push(bytes: Uint8Array, offset: number): void {
    const { length } = bytes;
    for (let i = 0; i < length; i += 1) {
      const byte = bytes[i] ?? 0;
      if (!this.#parser.isGround) {
        if (!this.#parser.isLongString || byte < SPACE || byte >= DEL) this.#sequence(byte, offset + i);
      } else if (byte >= 0x80 || this.#utf8.isInCharacter) this.#decode(byte, offset + i);
      else if (byte >= SPACE && byte !== DEL) i = this.#print(bytes, i, offset);
      else if (byte === ESC && bytes[i + 1] === CSI) i = this.#wholeCsi(bytes, i, offset);
      else this.#control(byte, offset + i);
    }
  }

  /** Adds the printable ASCII from `from` on. @returns The index of its last byte. */
  #print(bytes: Uint8Array, from: number, offset: number): number {
    let i = from;
    for (let byte = bytes[i] ?? 0; byte >= SPACE && byte < DEL; byte = bytes[i] ?? 0) {
      this.#put(byte, offset + i, 1);
      i += 1;
    }
    return i - 1;
  }

  /** Handles a whole CSI of the usual form without the parser. @returns The index of the last byte handled. */
  #wholeCsi(bytes: Uint8Array, from: number, offset: number): number {
    let i = from + 2;
    while (((bytes[i] ?? 0) & 0xf0) === 0x30) i += 1;
    const last = bytes[i] ?? 0;
    if (last < 0x40 || last >= DEL) {
      this.#begin(ESC, offset + from);
      return from;
    }
    if ((last === 0x4b || last === 0x47) && i <= from + 3)
      this.#csiEnd(String.fromCharCode(...bytes.subarray(from + 2, i + 1)));
    return i;
  }

  /** Ends the output: an unfinished character becomes U+FFFD. */
  finish(): void {
    if (this.#utf8.isInCharacter) this.#put(0xfffd, this.#utf8.startOffset, this.#utf8.cut());
  }

  /** The change since the last call. */
  drain(): PlainChange {
    const first = Math.min(this.#dirty, this.#drained);
    const hasReady = this.#ready !== "";
    const at = hasReady ? this.#readyAt : this.#lineAt + this.#unitsBefore(first);
    const begin = hasReady ? 0 : first;
    const lineText = this.#lineText(begin, at + this.#ready.length);
    const text = this.#ready + lineText;
    this.#drainedUnits = (begin === 0 ? 0 : this.#unitsBefore(begin)) + lineText.length;
    this.#drained = this.#length;
    this.#dirty = this.#length;
    this.#ready = "";
    const runs = this.#runs.take();
    return { at, text, runs, settled: this.#lineAt };
  }

  #decode(byte: number, offset: number): void {
    const utf8 = this.#utf8;
    const code = utf8.push(byte, offset);
    if (code === Utf8Reader.CUT) {
      this.#put(0xfffd, utf8.startOffset, utf8.width);
      // The byte that cut the character begins something else.
      if (byte >= 0x80) this.#decode(byte, offset);
      else if (byte === ESC || byte < SPACE || byte === DEL) this.#control(byte, offset);
      else this.#put(byte, offset, 1);
    } else if (code >= 0xa0) this.#put(code, utf8.startOffset, utf8.width);
    else if (code >= 0x80) {
      this.#begin(C1_LEAD, utf8.startOffset);
      this.#sequence(byte, offset);
    }
  }

  #begin(byte: typeof ESC | typeof C1_LEAD, offset: number): void {
    this.#parser.begin(byte);
    this.#sequenceAt = offset;
    this.#csi = "";
  }

  #sequence(byte: number, offset: number): void {
    const parser = this.#parser;
    const wasCsi = parser.kind === "csi";
    const step = parser.push(byte);
    if (step === "restarts" || step === "restarts-after-query") {
      this.#sequenceAt = byte === ESC ? offset : offset - 1;
      this.#csi = "";
    } else if (wasCsi && parser.kind === "csi") {
      if (step === "goes-on" || step === "asks-aside") {
        if (byte < SPACE) this.#control(byte, offset);
        else if (this.#csi.length <= MAX_CSI) this.#csi += String.fromCharCode(byte);
      } else this.#csiEnd(this.#csi + String.fromCharCode(byte));
    } else if (parser.kind === "escape" && !parser.isGround && byte < SPACE) this.#control(byte, offset);
  }

  #csiEnd(csi: string): void {
    switch (csi) {
      case "K":
      case "0K":
        this.#erase(this.#cursor, this.#length);
        return;
      case "1K":
        this.#erase(0, Math.min(this.#cursor + 1, this.#length));
        return;
      case "2K":
        this.#erase(0, this.#length);
        return;
      case "G":
      case "0G":
      case "1G":
        this.#cursor = 0;
    }
  }

  #erase(from: number, to: number): void {
    if (from >= to) return;
    this.#dirty = Math.min(this.#dirty, from);
    if (to === this.#length) this.#length = from;
    else this.#codes.fill(SPACE, from, to);
  }

  #control(byte: number, offset: number): void {
    switch (byte) {
      case ESC:
        this.#begin(ESC, offset);
        return;
      case CR:
        this.#cursor = 0;
        return;
      case BACKSPACE:
        this.#cursor = Math.max(0, this.#cursor - 1);
        return;
      case TAB:
        this.#put(byte, offset, 1);
        return;
      case LF:
      case VT:
      case FF:
        // A line feed ends the line, wherever the cursor is.
        this.#cursor = this.#length;
        this.#append(LF, offset, 1);
        this.#commit();
    }
  }

  #put(code: number, offset: number, width: number): void {
    if (this.#cursor < this.#length) {
      this.#dirty = Math.min(this.#dirty, this.#cursor);
      this.#set(this.#cursor, code, offset, width);
      this.#cursor += 1;
      return;
    }
    if (this.#cursor >= MAX_PLAIN_LINE) {
      this.#commit();
      this.#cursor = 0;
    }
    // The cursor is beyond the text if text before it was erased.
    while (this.#length < this.#cursor) this.#append(SPACE, offset, 0);
    this.#append(code, offset, width);
    this.#cursor = this.#length;
  }

  #append(code: number, offset: number, width: number): void {
    if (this.#length === this.#codes.length) this.#grow();
    this.#set(this.#length, code, offset, width);
    this.#length += 1;
  }

  #set(cell: number, code: number, offset: number, width: number): void {
    this.#codes[cell] = code;
    this.#starts[cell] = offset;
    this.#widths[cell] = width;
    if (code > 0xffff) this.#hasAstral = true;
  }

  #grow(): void {
    const cells = this.#codes.length * 2;
    const codes = new Uint32Array(cells);
    const starts = new Float64Array(cells);
    const widths = new Uint8Array(cells);
    codes.set(this.#codes);
    starts.set(this.#starts);
    widths.set(this.#widths);
    this.#codes = codes;
    this.#starts = starts;
    this.#widths = widths;
  }

  /** Finishes the line, which can't be overwritten any more. */
  #commit(): void {
    const first = Math.min(this.#dirty, this.#drained);
    const units = this.#unitsBefore(first);
    if (this.#ready === "") this.#readyAt = this.#lineAt + units;
    const text = this.#lineText(first, this.#lineAt + units);
    this.#ready += text;
    this.#lineAt += units + text.length;
    this.#length = 0;
    this.#cursor = 0;
    this.#drained = 0;
    this.#drainedUnits = 0;
    this.#dirty = 0;
    this.#hasAstral = false;
  }

  #unitsBefore(cell: number): number {
    if (!this.#hasAstral) return cell;
    if (cell === this.#drained && this.#dirty >= cell) return this.#drainedUnits;
    let units = cell;
    for (let i = 0; i < cell; i += 1) if ((this.#codes[i] ?? 0) > 0xffff) units += 1;
    return units;
  }

  /** The line's text from a cell on, at `at` of the plain text; records where it is in the log. */
  #lineText(first: number, at: number): string {
    let position = at;
    for (let cell = first; cell < this.#length; cell += 1) {
      const units = (this.#codes[cell] ?? 0) > 0xffff ? 2 : 1;
      this.#runs.add(position, units, this.#starts[cell] ?? 0, this.#widths[cell] ?? 0);
      position += units;
    }
    let text = "";
    const characters = this.#hasAstral ? String.fromCodePoint : String.fromCharCode;
    for (let cell = first; cell < this.#length; cell += 4096) {
      text += characters.apply(null, this.#codes.subarray(cell, Math.min(this.#length, cell + 4096)) as never);
    }
    return text;
  }
}

/** `bytes` at `offset` of the log as plain text. An unfinished character at the end becomes U+FFFD. */
export function plainTextOf(bytes: Uint8Array, offset = 0): string {
  const plain = new PlainText();
  plain.push(bytes, offset);
  plain.finish();
  return plain.drain().text;
}
