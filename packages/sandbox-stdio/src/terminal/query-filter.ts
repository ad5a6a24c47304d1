// Takes terminal queries out of a stream of output, wherever it is cut, so that a terminal that must not answer sees none.
// Everything else passes byte for byte; bytes without the beginning of a sequence are not even copied.

import { endOfAscii, indexOrEnd, isHarmlessCsi, mayBeControl } from "./plain-scan.ts";
import { withoutQuestions } from "./queries.ts";
import { asidesOf, fromLatin1, latin1, textOf } from "./sequence-text.ts";
import { C1_LEAD, CAN, ENQ, ESC, missingAfter, type SequenceKind, SUB, VtParser } from "./vt-parser.ts";

/** A sequence that passes. `text`: without its introducer and the end of a string; Latin-1, without controls. */
export type Sequence = { readonly kind: SequenceKind; readonly text: string };

/** Bytes of an unfinished sequence that are held back. A longer one passes, and is broken off at its end if it asks. */
const MAX_HELD_BYTES = 4096;
const BREAK_OFF = Uint8Array.of(CAN);
/** Ends a string that an ESC would have ended, and anything else. */
const STRING_END = Uint8Array.of(ESC, 0x5c);
/** Does nothing; separates two parts that must not become one character. */
const NUL = Uint8Array.of(0);
const BACKSLASH = 0x5c;

export class QueryFilter {
  readonly #mayAnswer: (at: number) => boolean;
  readonly #follow: ((sequence: Sequence) => void) | undefined;
  readonly #mend: ((csi: string) => string) | undefined;
  readonly #parser = new VtParser();
  /** Bytes of the current sequence from earlier calls, if they are held back. */
  #held = new Uint8Array(0);
  #heldLength = 0;
  #isHolding = false;
  /** Put out in place of this sequence if it is left out: its beginning ends the character or sequence before it. */
  #substitute: Uint8Array | undefined;
  /** The sequence begins with the ESC that ended a string, and that string was left out. */
  #isEndOfRemoved = false;
  /** In plain text: bytes that the last character is still short of. */
  #missing = 0;
  // Of the current call: the pieces put out, how far they go, and where the sequence begins.
  #parts: Uint8Array[] = [];
  #drawn = 0;
  #start = 0;

  /**
   * @param mayAnswer Whether a query may stay if its last byte stands at this offset (the count of bytes before that byte;
   *   of a string's end ESC \ the first counts). Asked for each in order, when its last byte is there.
   * @param follow Is told each escape sequence and CSI that passes.
   * @param mend Returns the CSI that passes instead of the given one, both as text. One of more than 4096 bytes is broken off.
   */
  constructor(
    mayAnswer: (at: number) => boolean,
    follow?: (sequence: Sequence) => void,
    mend?: (csi: string) => string,
  ) {
    this.#mayAnswer = mayAnswer;
    this.#follow = follow;
    this.#mend = mend;
  }

  /** Bytes that came and may still turn out to be a query. */
  get heldBytes(): number {
    return this.#heldLength;
  }

  /** Whether nothing is held back, and neither a sequence nor a character is begun. */
  get isAtRest(): boolean {
    return this.#parser.isGround && this.#heldLength === 0 && this.#missing === 0;
  }

  /** Whether the bytes that have been put out end between sequences. */
  get isBetweenSequences(): boolean {
    return this.#parser.isGround || this.#isHolding;
  }

  /**
   * @param offset Where the bytes begin.
   * @returns The bytes to draw now. Views of `bytes`; `bytes` itself if nothing is left out or held back.
   */
  filter(bytes: Uint8Array, offset: number): readonly Uint8Array[] {
    const length = bytes.length;
    this.#parts = [];
    this.#drawn = 0;
    this.#start = 0;
    // Where the three bytes stand next that can matter in plain text.
    let [esc, enq, lead] = [-1, -1, -1];
    for (let i = 0; i < length; ) {
      if (!this.#parser.isGround) {
        i = this.#inSequence(bytes, i, offset);
        continue;
      }
      if (esc < i) esc = indexOrEnd(bytes, ESC, i);
      if (enq < i) enq = indexOrEnd(bytes, ENQ, i);
      if (lead < i) lead = indexOrEnd(bytes, C1_LEAD, i);
      i = Math.min(esc, enq, lead);
      if (i === length) break;
      if (i === enq) this.#asked(bytes, i, offset, this.#missingAt(bytes, i) > 0);
      else if (this.#follow === undefined && this.#mend === undefined && i === esc && isHarmlessCsi(bytes, i)) i += 2;
      else if (i === esc || mayBeControl(bytes[i + 1])) {
        const isTorn = this.#missingAt(bytes, i) > 0;
        this.#begin(i, isTorn ? (i === esc ? STRING_END : BREAK_OFF) : undefined);
        this.#parser.begin(i === esc ? ESC : C1_LEAD);
      }
      i += 1;
    }
    this.#missing = this.#parser.isGround ? this.#missingAt(bytes, length) : 0;
    if (this.#isHolding) this.#stash(bytes, length);
    else if (this.#drawn === 0 && this.#parts.length === 0) return length === 0 ? [] : [bytes];
    else this.#put(bytes, length);
    return this.#parts;
  }

  /** The held bytes, since nothing follows, or nothing that belongs to them. The next bytes are plain text. */
  flush(): Uint8Array {
    const held = this.#held.slice(0, this.#heldLength);
    this.#heldLength = 0;
    this.#isHolding = false;
    this.#missing = 0;
    this.#parser.reset();
    return held;
  }

  /** As {@link flush}, if bytes are missing from here on: the next bytes must not complete the sequence that was begun. */
  breakOff(): Uint8Array {
    const isOpen = !this.#parser.isGround;
    const held = this.flush();
    return isOpen ? Uint8Array.of(...held, CAN) : held;
  }

  // ---- Inside a sequence -----------------------------------------------------------------------------------------

  #begin(at: number, substitute: Uint8Array | undefined): void {
    this.#start = at;
    this.#isHolding = true;
    this.#substitute = substitute;
    this.#isEndOfRemoved = false;
  }

  /** Reads the byte at `i`, or as many as certainly belong to a long string. @returns Where to read on. */
  #inSequence(bytes: Uint8Array, i: number, offset: number): number {
    const byte = bytes[i] ?? 0;
    const parser = this.#parser;
    if (parser.isLongString && !this.#isHolding) {
      const end = endOfAscii(bytes, i);
      if (end > i && !parser.isInCharacter) return end;
    }
    const wasInCharacter = parser.isInCharacter;
    const { kind } = parser;
    switch (parser.push(byte)) {
      case "goes-on": {
        const length = this.#heldLength + i + 1 - this.#start;
        if (this.#isHolding && (length > MAX_HELD_BYTES || !this.#isToBeHeld())) this.#release();
        break;
      }
      case "asks-aside":
        this.#asked(bytes, i, offset, wasInCharacter);
        if (parser.isGround) this.#release();
        break;
      case "ends":
        this.#ended(bytes, i);
        break;
      case "ends-query":
        this.#answered(kind, bytes, i, i + 1, offset);
        break;
      case "restarts":
        if (byte === ESC) this.#tell(kind, bytes, i);
        this.#release();
        this.#begin(i, byte === ESC ? STRING_END : BREAK_OFF);
        break;
      case "restarts-after-query": {
        const isRemoved = !this.#answered(kind, bytes, i, i, offset);
        this.#begin(i, isRemoved ? undefined : STRING_END);
        this.#isEndOfRemoved = isRemoved;
      }
    }
    return i + 1;
  }

  /** With `follow` or `mend` a sequence is held to its end, so that they get all of it. */
  #isToBeHeld(): boolean {
    return this.#parser.canBeQuery || this.#follow !== undefined || this.#mend !== undefined;
  }

  /** An ENQ stands at `at`. */
  #asked(bytes: Uint8Array, at: number, offset: number, isInCharacter: boolean): void {
    if (this.#mayAnswer(offset + at)) return;
    if (this.#isHolding) this.#stash(bytes, at);
    else this.#put(bytes, at);
    if (isInCharacter && this.#isHolding) this.#append(NUL);
    else if (isInCharacter) this.#parts.push(NUL);
    this.#drawn = at + 1;
    this.#start = at + 1;
  }

  /** The sequence ends with the byte at `at` and asks nothing. */
  #ended(bytes: Uint8Array, at: number): void {
    const isSecond = this.#isHolding && this.#heldLength + at - this.#start === 1;
    if (this.#isEndOfRemoved && isSecond && bytes[at] === BACKSLASH) {
      this.#leaveOut(bytes, at + 1);
      return;
    }
    this.#tell(this.#parser.kind, bytes, at + 1);
    if (this.#mend === undefined || this.#parser.kind !== "csi" || !this.#hasMended(this.#mend, bytes, at))
      this.#release();
  }

  /** @returns Whether something else was put out instead of the CSI that ends with the byte at `at`. */
  #hasMended(mend: (csi: string) => string, bytes: Uint8Array, at: number): boolean {
    const last = bytes[at] ?? 0;
    if (last < 0x40 || last >= 0x7f) return false;
    if (!this.#isHolding) {
      // Its beginning is out already.
      this.#put(bytes, at);
      this.#parts.push(BREAK_OFF);
      this.#drawn = at + 1;
      return true;
    }
    const raw = this.#raw(bytes, at + 1);
    const text = textOf("csi", raw);
    const mended = mend(text);
    if (mended === text) return false;
    this.#leaveOut(bytes, at + 1);
    this.#parts.push(fromLatin1(`\x1b[${mended}${asidesOf(raw)}`));
    return true;
  }

  /**
   * The query's last byte stands at `at`; the bytes that belong to it end before `end`.
   * @returns Whether it passes.
   */
  #answered(kind: SequenceKind, bytes: Uint8Array, at: number, end: number, offset: number): boolean {
    if (this.#mayAnswer(offset + at)) {
      this.#tell(kind, bytes, end);
      this.#release();
      return true;
    }
    if (!this.#isHolding) {
      // Its beginning is out already.
      this.#put(bytes, at);
      this.#parts.push(BREAK_OFF);
      this.#drawn = end;
      return false;
    }
    const raw = this.#raw(bytes, end);
    const substitute = this.#substitute;
    this.#leaveOut(bytes, end);
    if (substitute !== undefined) this.#parts.push(substitute);
    this.#putRest(kind, raw);
    return false;
  }

  /** Puts out the effects of a sequence that is left out, without its questions. */
  #putRest(kind: SequenceKind, raw: string): void {
    if (kind === "csi" || kind === "osc") {
      const rest = withoutQuestions(kind, textOf(kind, raw));
      if (rest !== "") this.#parts.push(fromLatin1(rest));
      if (kind === "csi" && rest !== "") this.#follow?.({ kind, text: rest.slice(2) });
    }
    // In the middle of these the terminal carries out control characters.
    if (kind === "csi" || kind === "escape") {
      const controls = asidesOf(raw);
      if (controls !== "") this.#parts.push(fromLatin1(controls));
    }
  }

  #tell(kind: SequenceKind, bytes: Uint8Array, end: number): void {
    if (this.#follow === undefined || !this.#isHolding || (kind !== "csi" && kind !== "escape" && kind !== "osc"))
      return;
    const last = bytes[end - 1] ?? 0;
    // Broken off, or a character that was no C1 control: the terminal carries nothing out.
    if (last === CAN || last === SUB || (kind !== "osc" && (last < 0x30 || last >= 0x7f))) return;
    this.#follow({ kind, text: textOf(kind, this.#raw(bytes, end)) });
  }

  // ---- What is put out and what is held --------------------------------------------------------------------------

  /** Puts out all before `to` that has not been. */
  #put(bytes: Uint8Array, to: number): void {
    if (to > this.#drawn) this.#parts.push(bytes.subarray(this.#drawn, to));
    this.#drawn = Math.max(this.#drawn, to);
  }

  /** Keeps the sequence as far as it has come, up to `to`. */
  #stash(bytes: Uint8Array, to: number): void {
    this.#put(bytes, this.#start);
    this.#append(bytes.subarray(this.#start, to));
    this.#drawn = to;
    this.#start = to;
  }

  #append(bytes: Uint8Array): void {
    const length = this.#heldLength + bytes.length;
    if (length > this.#held.length) {
      const held = new Uint8Array(Math.max(64, length * 2));
      held.set(this.#held.subarray(0, this.#heldLength));
      this.#held = held;
    }
    this.#held.set(bytes, this.#heldLength);
    this.#heldLength = length;
  }

  /** The sequence passes: its bytes in this call are put out with those that follow. */
  #release(): void {
    if (this.#heldLength > 0) this.#parts.push(this.#held.slice(0, this.#heldLength));
    this.#heldLength = 0;
    this.#isHolding = false;
  }

  #leaveOut(bytes: Uint8Array, end: number): void {
    this.#put(bytes, this.#start);
    this.#drawn = end;
    this.#heldLength = 0;
    this.#isHolding = false;
  }

  /** The sequence that is held, up to `end`. */
  #raw(bytes: Uint8Array, end: number): string {
    return latin1(this.#held.subarray(0, this.#heldLength)) + latin1(bytes.subarray(this.#start, end));
  }

  /** In plain text: how many bytes the character before `at` is still short of. */
  #missingAt(bytes: Uint8Array, at: number): number {
    for (let back = 1; back <= 3; back += 1) {
      if (back > at) return Math.max(0, this.#missing - back + 1);
      const byte = bytes[at - back] ?? 0;
      if (byte < 0x80 || byte >= 0xc0) return Math.max(0, missingAfter(byte) - back + 1);
    }
    return 0;
  }
}
