// Finds in a terminal's output what a shell marks its commands with and what asks for attention (C1, N1), wherever the output
// is cut. Two native searches over each piece; only OSC are looked at. Knows nothing of what is made of it.

/** Longer texts of an OSC are passed over: a line of a command may be long. */
const MAX_TEXT_BYTES = 16 * 1024;

const ESC = 0x1b;
const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
const BRACKET = 0x5d;
/** Of the numbers 0, 2, 133, 633, 777, 9 and 99. Links, which are many, have another. */
const FIRST_DIGITS = [0x30, 0x32, 0x31, 0x36, 0x37, 0x39];
const NOTHING = Buffer.alloc(0);
const OSC = Buffer.from("\x1b]");
/** DCS, SOS, PM and APC: a BEL in one of these rings nothing. */
const STRINGS = [0x50, 0x58, 0x5e, 0x5f];

export interface MarkEvents {
  /** An OSC of interest: its text, where it begins, and where the output behind it does. */
  osc(text: string, start: number, end: number): void;
  /** A BEL that ends nothing; `end` is behind it. @returns Whether more of them are wanted. */
  bell(end: number): boolean;
}

export class OutputMarks {
  readonly #events: MarkEvents;
  /** The text so far of an OSC that has begun, and where that was; undefined: none has. */
  #open: { readonly start: number; text: Buffer | undefined } | undefined;
  #endsWithEsc = false;
  #isInString = false;

  constructor(events: MarkEvents) {
    this.#events = events;
  }

  /**
   * @param offset The offset of the first byte: behind those of the call before.
   * @param wantsBells Whether a BEL matters: of a thousand a second it does not.
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

  /** Whether the BEL at `bell` stands in a string that is no OSC. */
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
    // Text that goes on in the next piece is copied: this memory is used again.
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
