// Takes terminal queries out of a stream of output, wherever it is cut, so that a terminal that must not answer sees none. Of a
// replay, it takes out what does more than draw, too: bells, notices, the clipboard. Everything else passes byte for byte; bytes
// without the beginning of a sequence are not even copied.

import { fromLatin1, latin1 } from "../text/latin1.ts";
import { endOfAscii, indexOrEnd, isHarmlessCsi, mayBeControl } from "./plain-scan.ts";
import { QUIET, withoutQuestions } from "./queries.ts";
import { asidesOf, textOf } from "./sequence-text.ts";
import { BEL, C1_LEAD, CAN, ENQ, ESC, missingAfter, type SequenceKind, SUB, VtParser } from "./vt-parser.ts";

/** A sequence that passes. `text`: without its introducer and the end of a string; Latin-1, without controls. */
export type Sequence = {
  readonly kind: SequenceKind;
  readonly text: string;
  /** False: its beginning, of an OSC that is too long. */
  readonly isWhole?: boolean;
};

export type QueryFilterOptions = {
  /** Output before this offset is replay, in which nothing rings, notifies or copies. Absent: none is. */
  readonly replayEnd?: () => number;
  /**
   * Is told each escape sequence, CSI and OSC that passes.
   * @returns What is to be put out behind it.
   */
  readonly follow?: (sequence: Sequence) => string | undefined;
  /**
   * Is asked first, of each escape sequence and CSI that ends at this offset.
   * @returns What passes instead; undefined: it does. A CSI of more than 4096 bytes is broken off.
   */
  readonly mend?: (kind: "csi" | "escape", text: string, at: number) => string | undefined;
};

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
  readonly #replayEnd: QueryFilterOptions["replayEnd"];
  readonly #follow: QueryFilterOptions["follow"];
  readonly #mend: QueryFilterOptions["mend"];
  readonly #parser = new VtParser();
  /** Bytes of the current sequence from earlier calls, if they are held back. */
  #held = new Uint8Array(0);
  #heldLength = 0;
  #isHolding = false;
  /** The current sequence is left out, and its bytes are not even held. */
  #isDropping = false;
  /** To be put out where the current sequence ends. */
  #behind = "";
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
   */
  constructor(mayAnswer: (at: number) => boolean, { replayEnd, follow, mend }: QueryFilterOptions = {}) {
    this.#mayAnswer = mayAnswer;
    this.#replayEnd = replayEnd;
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
    const replayed = this.#replayedTo(offset, length);
    // Where the bytes stand next that can matter in plain text: these four, the last in a replay alone.
    let [esc, enq, lead, bel] = [-1, -1, -1, replayed > 0 ? -1 : length];
    const isPlain = this.#follow === undefined && this.#mend === undefined;
    for (let i = 0; i < length; ) {
      if (!this.#parser.isGround) {
        i = this.#inSequence(bytes, i, offset);
        continue;
      }
      if (esc < i) esc = indexOrEnd(bytes, ESC, i);
      if (enq < i) enq = indexOrEnd(bytes, ENQ, i);
      if (lead < i) lead = indexOrEnd(bytes, C1_LEAD, i);
      if (bel < i) bel = indexOrEnd(bytes, BEL, i);
      i = Math.min(esc, enq, lead, bel);
      if (i === length) break;
      if (i === enq || i === bel) this.#asked(bytes, i, offset, this.#missingAt(bytes, i) > 0);
      else if (isPlain && i >= replayed && i === esc && isHarmlessCsi(bytes, i)) i += 2;
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
    this.#isDropping = false;
    this.#behind = "";
    this.#missing = 0;
    this.#parser.reset();
    return held;
  }

  /** As {@link flush}, if bytes are missing from here on: the next bytes must not complete the sequence that was begun. */
  breakOff(): Uint8Array {
    const isOpen = !this.#parser.isGround && !this.#isDropping;
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
    if (parser.isLongString && (!this.#isHolding || this.#isDropping)) {
      const end = endOfAscii(bytes, i);
      if (end > i && !parser.isInCharacter) return end;
    }
    const wasInCharacter = parser.isInCharacter;
    const { kind } = parser;
    const isReplay = this.#isReplay(offset + i);
    const wasEffect = byte === ESC && isReplay && parser.isEffect;
    switch (parser.push(byte)) {
      case "goes-on": {
        if (!this.#isHolding || this.#isDropping) break;
        if (isReplay && parser.isEffect && !parser.isEffectOpen) this.#drop(bytes);
        else if (this.#heldLength + i + 1 - this.#start > MAX_HELD_BYTES) {
          // A terminal may carry these out before their end, or know them by a number that is still to come.
          const mayAsk = (kind === "dcs" || kind === "apc") && parser.canBeQuery && !this.#mayAnswer(offset + i);
          if (mayAsk || (isReplay && parser.isEffectOpen)) this.#drop(bytes);
          else this.#releaseTooLong(kind, bytes, i + 1);
        } else if (parser.isBeforePicture && !this.#mayAnswer(offset + i)) this.#quieten(bytes, i);
        else if (!this.#isToBeHeld(isReplay)) this.#release();
        break;
      }
      case "asks-aside":
        this.#asked(bytes, i, offset, wasInCharacter);
        if (parser.isGround) this.#release();
        break;
      case "ends":
        this.#ended(bytes, i, offset);
        break;
      case "ends-query":
        if (this.#hasDropped(bytes, i + 1)) break;
        this.#answered(kind, bytes, i, i + 1, offset);
        break;
      case "restarts":
        if (wasEffect && this.#isHolding && !this.#isDropping) this.#drop(bytes);
        if (this.#hasDropped(bytes, i)) {
          this.#begin(i, undefined);
          this.#isEndOfRemoved = byte === ESC;
          break;
        }
        if (byte === ESC) this.#tell(kind, bytes, i);
        this.#release();
        this.#begin(i, byte === ESC ? STRING_END : BREAK_OFF);
        break;
      case "restarts-after-query": {
        const isRemoved = this.#hasDropped(bytes, i) || !this.#answered(kind, bytes, i, i, offset);
        this.#begin(i, isRemoved ? undefined : STRING_END);
        this.#isEndOfRemoved = isRemoved;
      }
    }
    return i + 1;
  }

  /** With `follow` or `mend` a sequence is held to its end, so that they get all of it. */
  #isToBeHeld(isReplay: boolean): boolean {
    const isPlain = this.#follow === undefined && this.#mend === undefined;
    return !isPlain || this.#parser.canBeQuery || (isReplay && this.#parser.isEffectOpen);
  }

  #isReplay(at: number): boolean {
    return this.#replayEnd !== undefined && at < this.#replayEnd();
  }

  /** How many of so many bytes are replay. */
  #replayedTo(offset: number, length: number): number {
    return this.#replayEnd === undefined ? 0 : Math.max(0, Math.min(length, this.#replayEnd() - offset));
  }

  /** The current sequence is not to be put out, however long it is. */
  #drop(bytes: Uint8Array): void {
    this.#put(bytes, this.#start);
    this.#drawn = this.#start;
    this.#heldLength = 0;
    this.#isDropping = true;
    if (this.#substitute !== undefined) this.#parts.push(this.#substitute);
  }

  /** @returns Whether the sequence that ends before `end` was one of those. */
  #hasDropped(bytes: Uint8Array, end: number): boolean {
    if (!this.#isDropping) return false;
    this.#isDropping = false;
    this.#leaveOut(bytes, end);
    return true;
  }

  /** An ENQ or BEL stands at `at`. */
  #asked(bytes: Uint8Array, at: number, offset: number, isInCharacter: boolean): void {
    const mayPass = bytes[at] === BEL ? !this.#isReplay(offset + at) : this.#mayAnswer(offset + at);
    if (mayPass) return;
    if (this.#isHolding) this.#stash(bytes, at);
    else this.#put(bytes, at);
    if (isInCharacter && this.#isHolding) this.#append(NUL);
    else if (isInCharacter) this.#parts.push(NUL);
    this.#drawn = at + 1;
    this.#start = at + 1;
  }

  /** The sequence ends with the byte at `at` and asks nothing. */
  #ended(bytes: Uint8Array, at: number, offset: number): void {
    const isSecond = this.#isHolding && this.#heldLength + at - this.#start === 1;
    if (this.#isEndOfRemoved && isSecond && bytes[at] === BACKSLASH) {
      this.#leaveOut(bytes, at + 1);
      return;
    }
    if (this.#isHolding && !this.#isDropping && this.#isReplay(offset + at) && this.#parser.isEffect) this.#drop(bytes);
    if (this.#hasDropped(bytes, at + 1)) return;
    if (!this.#isHolding && this.#isReplay(offset + at) && this.#parser.isEffect && this.#parser.kind === "csi") {
      // Its beginning is out already.
      this.#put(bytes, at);
      this.#parts.push(BREAK_OFF);
      this.#drawn = at + 1;
      return;
    }
    const isMended = this.#hasMended(bytes, at, offset);
    if (!isMended) {
      this.#tell(this.#parser.kind, bytes, at + 1);
      this.#release();
    }
    if (this.#behind === "") return;
    this.#put(bytes, at + 1);
    this.#parts.push(fromLatin1(this.#behind));
    this.#behind = "";
  }

  /** @returns Whether something else was put out instead of the sequence that ends with the byte at `at`. */
  #hasMended(bytes: Uint8Array, at: number, offset: number): boolean {
    const { kind } = this.#parser;
    const last = bytes[at] ?? 0;
    if (this.#mend === undefined || (kind !== "csi" && kind !== "escape")) return false;
    if (last < 0x30 || last >= 0x7f || (kind === "csi" && last < 0x40)) return false;
    if (!this.#isHolding) {
      // Its beginning is out already.
      this.#put(bytes, at);
      this.#parts.push(BREAK_OFF);
      this.#drawn = at + 1;
      return true;
    }
    const raw = this.#raw(bytes, at + 1);
    const mended = this.#mend(kind, textOf(kind, raw), offset + at);
    if (mended === undefined) return false;
    this.#tell(kind, bytes, at + 1);
    this.#leaveOut(bytes, at + 1);
    this.#parts.push(fromLatin1(mended + asidesOf(raw)));
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
    if (kind === "csi" || kind === "osc" || kind === "apc") {
      const rest = withoutQuestions(kind, textOf(kind, raw));
      if (rest !== "") this.#parts.push(fromLatin1(rest));
      if (kind === "csi" && rest !== "") this.#note({ kind, text: rest.slice(2) });
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
    this.#note({ kind, text: textOf(kind, this.#raw(bytes, end)) });
  }

  #note(sequence: Sequence): void {
    this.#behind += this.#follow?.(sequence) ?? "";
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
    if (!this.#isDropping) this.#append(bytes.subarray(this.#start, to));
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

  /** A picture passes, and is not answered: its keys end before `at`. */
  #quieten(bytes: Uint8Array, at: number): void {
    this.#release();
    this.#put(bytes, at);
    this.#parts.push(fromLatin1(QUIET));
  }

  /** As {@link #release}: it is longer than what is held. */
  #releaseTooLong(kind: SequenceKind, bytes: Uint8Array, end: number): void {
    if (kind === "osc") this.#note({ kind, text: textOf(kind, this.#raw(bytes, end)), isWhole: false });
    this.#release();
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
