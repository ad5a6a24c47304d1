// Finds the OSC of shell marks, titles and calls for attention, and BEL, in a terminal's output (C1, N1), wherever the output is cut:
// two native searches over each piece.

/** A longer OSC is ignored. The line of a command may be long. */
const MAX_TEXT_BYTES = 16 * 1024;

const ESC = 0x1b;
const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
const BRACKET = 0x5d;
/** The first digits of the numbers 0, 2, 133, 633, 777, 9 and 99. Links, which are frequent, have another. */
const FIRST_DIGITS = [0x30, 0x32, 0x31, 0x36, 0x37, 0x39];
const NOTHING = Buffer.alloc(0);
const OSC = Buffer.from("\x1b]");
/** Behind ESC, these begin DCS, SOS, PM and APC: a BEL in one of them does not ring. */
const STRINGS = [0x50, 0x58, 0x5e, 0x5f];

export interface MarkEvents {
  /** @param start Where the OSC begins. @param end Where the output behind it begins. */
  osc(text: string, start: number, end: number): void;
  /** A BEL outside sequences. @param end Where the output behind it begins. @returns Whether more of them are wanted. */
  bell(end: number): boolean;
}

export class OutputMarks {
  readonly #events: MarkEvents;
  /** The open OSC: where it begins, and its text so far, undefined if that does not matter. */
  #open: { readonly start: number; text: Buffer | undefined } | undefined;
  #endsWithEsc = false;
  #isInString = false;

  constructor(events: MarkEvents) {
    this.#events = events;
  }

  /**
   * @param offset The offset of the first byte, which follows the last of the call before.
   * @param wantsBells Whether a BEL matters: most of a thousand a second don't.
   */
  scan(bytes: Uint8Array, offset: number, wantsBells: boolean): void {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = 0;
    if (this.#open !== undefined) at = this.#goOn(piece, 0, offset);
    else if (this.#endsWithEsc && piece[0] === BRACKET) at = this.#begin(piece, 1, offset, offset - 1);
    else if (this.#endsWithEsc) this.#isInString = STRINGS.includes(piece[0] ?? 0);
    let isListening = wantsBells;
    let bell = isListening ? piece.indexOf(BEL, at) : -1;
    let osc = piece.indexOf(OSC, at);
    while (at < piece.length && (bell >= 0 || osc >= 0)) {
      if (bell >= 0 && (osc < 0 || bell < osc)) {
        if (!this.#isString(piece, bell)) isListening = this.#events.bell(offset + bell + 1);
        at = bell + 1;
      } else at = this.#begin(piece, osc + OSC.length, offset, offset + osc);
      if (!isListening) bell = -1;
      else if (bell < at) bell = piece.indexOf(BEL, at);
      if (osc < at) osc = piece.indexOf(OSC, at);
    }
    this.#endsWithEsc = piece.at(-1) === ESC;
    const last = piece.lastIndexOf(ESC);
    if (last >= 0) this.#isInString = STRINGS.includes(piece[last + 1] ?? 0);
  }

  /** Whether the BEL at `bell` is within a string other than an OSC. */
  #isString(piece: Buffer, bell: number): boolean {
    const last = piece.subarray(0, bell).lastIndexOf(ESC);
    if (last < 0) return this.#isInString;
    return STRINGS.includes(piece[last + 1] ?? 0);
  }

  #begin(piece: Buffer, at: number, offset: number, start: number): number {
    const first = piece[at];
    const mayMatter = first === undefined || FIRST_DIGITS.includes(first);
    this.#open = { start, text: mayMatter ? NOTHING : undefined };
    return this.#goOn(piece, at, offset);
  }

  /** Reads the open OSC from `from` on. @returns The index where the scan goes on. */
  #goOn(piece: Buffer, from: number, offset: number): number {
    const open = this.#open;
    if (open === undefined) return from;
    let at = from;
    while (at < piece.length && !isEnd(piece[at] ?? 0)) at += 1;
    const length = (open.text?.length ?? 0) + at - from;
    const isWhole = at < piece.length;
    if (length > MAX_TEXT_BYTES) open.text = undefined;
    else if (open.text === NOTHING && isWhole) open.text = piece.subarray(from, at);
    // Text that continues in the next piece is copied, as this memory is reused.
    else if (open.text !== undefined) open.text = Buffer.concat([open.text, piece.subarray(from, at)]);
    if (!isWhole) return at;
    this.#open = undefined;
    const ending = piece[at];
    if (ending === CAN || ending === SUB) return at + 1;
    // ESC \ ends it with two bytes; any other ESC begins what comes next.
    const isBell = ending === BEL;
    const end = isBell ? at + 1 : at + 2;
    if (open.text !== undefined) this.#events.osc(open.text.toString("utf8"), open.start, offset + end);
    return isBell ? at + 1 : at;
  }
}

function isEnd(byte: number): boolean {
  return byte === BEL || byte === ESC || byte === CAN || byte === SUB;
}
