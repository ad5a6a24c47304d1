// Removes terminal queries from a stream of output cut anywhere, for a terminal that must not answer. From a replay it also
// removes effects other than drawing: bells, notifications, clipboard. Everything else passes unchanged, text without a copy.

import { fromLatin1, latin1 } from "../text/latin1.ts";
import { endOfAscii, indexOrEnd, isHarmlessCsi, mayBeControl } from "./plain-scan.ts";
import { QUIET, withoutQuestions } from "./queries.ts";
import { asidesOf, textOf } from "./sequence-text.ts";
import { BEL, C1_LEAD, CAN, ENQ, ESC, missingAfter, type SequenceKind, SUB, VtParser } from "./vt-parser.ts";

/** A passing sequence. `text` has no introducer, string terminator or control characters; Latin-1. */
export type Sequence = {
  readonly kind: SequenceKind;
  readonly text: string;
  /** False: only the start of an overlong OSC. */
  readonly isWhole?: boolean;
};

export type QueryFilterOptions = {
  /** Output before this offset is replay, which must not ring, notify or copy. Absent: nothing is replay. */
  readonly replayEnd?: () => number;
  /**
   * Called for each passing escape sequence, CSI and OSC.
   * @returns Bytes to insert after it.
   */
  readonly follow?: (sequence: Sequence) => string | undefined;
  /**
   * Called first for each escape sequence and CSI, with the offset of its last byte.
   * @returns The replacement; undefined to keep it. A CSI of more than 4096 bytes is aborted.
   */
  readonly mend?: (kind: "csi" | "escape", text: string, at: number) => string | undefined;
};

/** Most bytes held of an unfinished sequence. A longer one passes, and is aborted at its end if it is a query. */
const MAX_HELD_BYTES = 4096;
const BREAK_OFF = Uint8Array.of(CAN);
/** Ends a string as an ESC would, and does nothing else. */
const STRING_END = Uint8Array.of(ESC, 0x5c);
/** Does nothing, but keeps two parts from forming one character. */
const NUL = Uint8Array.of(0);
const BACKSLASH = 0x5c;

export class QueryFilter {
  readonly #mayAnswer: (at: number) => boolean;
  readonly #replayEnd: QueryFilterOptions["replayEnd"];
  readonly #follow: QueryFilterOptions["follow"];
  readonly #mend: QueryFilterOptions["mend"];
  readonly #parser = new VtParser();
  /** Held bytes of the current sequence from earlier calls. */
  #held = new Uint8Array(0);
  #heldLength = 0;
  #isHolding = false;
  /** Whether the current sequence is dropped, so that its bytes need not be held. */
  #isDropping = false;
  /** Inserted after the current sequence. */
  #behind = "";
  /** Replaces the current sequence if it is removed, since its start ended the character or sequence before it. */
  #substitute: Uint8Array | undefined;
  /** Whether the sequence begins with the ESC that ended a removed string. */
  #isEndOfRemoved = false;
  /** In plain text: bytes missing from the last character. */
  #missing = 0;
  // State of the current call: the output pieces, how far they go, and the start of the sequence.
  #parts: Uint8Array[] = [];
  #drawn = 0;
  #start = 0;

  /**
   * @param mayAnswer Whether a query may pass whose last byte is at this offset (for the string terminator ESC \, the ESC).
   *   Called for each query in order, when its last byte is read.
   */
  constructor(mayAnswer: (at: number) => boolean, { replayEnd, follow, mend }: QueryFilterOptions = {}) {
    this.#mayAnswer = mayAnswer;
    this.#replayEnd = replayEnd;
    this.#follow = follow;
    this.#mend = mend;
  }

  /** Number of held bytes that may still become a query. */
  get heldBytes(): number {
    return this.#heldLength;
  }

  /** Whether nothing is held, and no sequence or character is unfinished. */
  get isAtRest(): boolean {
    return this.#parser.isGround && this.#heldLength === 0 && this.#missing === 0;
  }

  /** Whether the output so far ends between sequences. */
  get isBetweenSequences(): boolean {
    return this.#parser.isGround || this.#isHolding;
  }

  /**
   * @param offset Offset of the first byte.
   * @returns The bytes to draw now, as views of `bytes`; `bytes` itself if nothing is removed or held.
   */
  filter(bytes: Uint8Array, offset: number): readonly Uint8Array[] {
    const length = bytes.length;
    this.#parts = [];
    this.#drawn = 0;
    this.#start = 0;
    const replayed = this.#replayedTo(offset, length);
    // Next positions of the bytes that matter in plain text; BEL only in a replay.
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
      if (i === enq || i === bel) this.#queryByte(bytes, i, offset, this.#missingAt(bytes, i) > 0);
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

  /** Returns the held bytes, as nothing follows that belongs to them. The next bytes are plain text. */
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

  /** Like {@link flush} where bytes are missing: the next bytes must not complete the current sequence. */
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

  /** Reads the byte at `i`, or more inside a long string. @returns Where to continue. */
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
          // A terminal may act on these before their end, or a number may still follow that makes them an effect.
          const mayAsk = (kind === "dcs" || kind === "apc") && parser.canBeQuery && !this.#mayAnswer(offset + i);
          if (mayAsk || (isReplay && parser.isEffectOpen)) this.#drop(bytes);
          else this.#releaseTooLong(kind, bytes, i + 1);
        } else if (parser.isBeforePicture && !this.#mayAnswer(offset + i)) this.#suppressAnswer(bytes, i);
        else if (!this.#mustHold(isReplay)) this.#release();
        break;
      }
      case "asks-aside":
        this.#queryByte(bytes, i, offset, wasInCharacter);
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
        if (byte === ESC) this.#report(kind, bytes, i);
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

  /** `follow` and `mend` need whole sequences, so they are held to the end. */
  #mustHold(isReplay: boolean): boolean {
    const isPlain = this.#follow === undefined && this.#mend === undefined;
    return !isPlain || this.#parser.canBeQuery || (isReplay && this.#parser.isEffectOpen);
  }

  #isReplay(at: number): boolean {
    return this.#replayEnd !== undefined && at < this.#replayEnd();
  }

  /** How many of the next `length` bytes are replay. */
  #replayedTo(offset: number, length: number): number {
    return this.#replayEnd === undefined ? 0 : Math.max(0, Math.min(length, this.#replayEnd() - offset));
  }

  /** Drops the current sequence, however long it is. */
  #drop(bytes: Uint8Array): void {
    this.#put(bytes, this.#start);
    this.#drawn = this.#start;
    this.#heldLength = 0;
    this.#isDropping = true;
    if (this.#substitute !== undefined) this.#parts.push(this.#substitute);
  }

  /** @returns Whether the sequence that ends before `end` was dropped. */
  #hasDropped(bytes: Uint8Array, end: number): boolean {
    if (!this.#isDropping) return false;
    this.#isDropping = false;
    this.#leaveOut(bytes, end);
    return true;
  }

  /** Handles an ENQ or BEL at `at`. */
  #queryByte(bytes: Uint8Array, at: number, offset: number, isInCharacter: boolean): void {
    const mayPass = bytes[at] === BEL ? !this.#isReplay(offset + at) : this.#mayAnswer(offset + at);
    if (mayPass) return;
    if (this.#isHolding) this.#stash(bytes, at);
    else this.#put(bytes, at);
    if (isInCharacter && this.#isHolding) this.#append(NUL);
    else if (isInCharacter) this.#parts.push(NUL);
    this.#drawn = at + 1;
    this.#start = at + 1;
  }

  /** The sequence ends with the byte at `at` and is not a query. */
  #ended(bytes: Uint8Array, at: number, offset: number): void {
    const isSecond = this.#isHolding && this.#heldLength + at - this.#start === 1;
    if (this.#isEndOfRemoved && isSecond && bytes[at] === BACKSLASH) {
      this.#leaveOut(bytes, at + 1);
      return;
    }
    if (this.#isHolding && !this.#isDropping && this.#isReplay(offset + at) && this.#parser.isEffect) this.#drop(bytes);
    if (this.#hasDropped(bytes, at + 1)) return;
    if (!this.#isHolding && this.#isReplay(offset + at) && this.#parser.isEffect && this.#parser.kind === "csi") {
      // The start has already been output.
      this.#put(bytes, at);
      this.#parts.push(BREAK_OFF);
      this.#drawn = at + 1;
      return;
    }
    const isMended = this.#hasMended(bytes, at, offset);
    if (!isMended) {
      this.#report(this.#parser.kind, bytes, at + 1);
      this.#release();
    }
    if (this.#behind === "") return;
    this.#put(bytes, at + 1);
    this.#parts.push(fromLatin1(this.#behind));
    this.#behind = "";
  }

  /** @returns Whether the sequence that ends with the byte at `at` was replaced. */
  #hasMended(bytes: Uint8Array, at: number, offset: number): boolean {
    const { kind } = this.#parser;
    const last = bytes[at] ?? 0;
    if (this.#mend === undefined || (kind !== "csi" && kind !== "escape")) return false;
    if (last < 0x30 || last >= 0x7f || (kind === "csi" && last < 0x40)) return false;
    if (!this.#isHolding) {
      // The start has already been output.
      this.#put(bytes, at);
      this.#parts.push(BREAK_OFF);
      this.#drawn = at + 1;
      return true;
    }
    const raw = this.#raw(bytes, at + 1);
    const mended = this.#mend(kind, textOf(kind, raw), offset + at);
    if (mended === undefined) return false;
    this.#report(kind, bytes, at + 1);
    this.#leaveOut(bytes, at + 1);
    this.#parts.push(fromLatin1(mended + asidesOf(raw)));
    return true;
  }

  /**
   * Handles a query whose last byte is at `at` and which ends before `end`.
   * @returns Whether it passes.
   */
  #answered(kind: SequenceKind, bytes: Uint8Array, at: number, end: number, offset: number): boolean {
    if (this.#mayAnswer(offset + at)) {
      this.#report(kind, bytes, end);
      this.#release();
      return true;
    }
    if (!this.#isHolding) {
      // The start has already been output.
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

  /** Outputs the other effects of a removed sequence. */
  #putRest(kind: SequenceKind, raw: string): void {
    if (kind === "csi" || kind === "osc" || kind === "apc") {
      const rest = withoutQuestions(kind, textOf(kind, raw));
      if (rest !== "") this.#parts.push(fromLatin1(rest));
      if (kind === "csi" && rest !== "") this.#note({ kind, text: rest.slice(2) });
    }
    // Terminals execute control characters in the middle of these.
    if (kind === "csi" || kind === "escape") {
      const controls = asidesOf(raw);
      if (controls !== "") this.#parts.push(fromLatin1(controls));
    }
  }

  #report(kind: SequenceKind, bytes: Uint8Array, end: number): void {
    if (this.#follow === undefined || !this.#isHolding || (kind !== "csi" && kind !== "escape" && kind !== "osc"))
      return;
    const last = bytes[end - 1] ?? 0;
    // The sequence was aborted, or is a character that is not a C1 control: the terminal does nothing.
    if (last === CAN || last === SUB || (kind !== "osc" && (last < 0x30 || last >= 0x7f))) return;
    this.#note({ kind, text: textOf(kind, this.#raw(bytes, end)) });
  }

  #note(sequence: Sequence): void {
    this.#behind += this.#follow?.(sequence) ?? "";
  }

  // ---- Output and held bytes -------------------------------------------------------------------------------------

  /** Outputs everything before `to`. */
  #put(bytes: Uint8Array, to: number): void {
    if (to > this.#drawn) this.#parts.push(bytes.subarray(this.#drawn, to));
    this.#drawn = Math.max(this.#drawn, to);
  }

  /** Holds the sequence so far, up to `to`. */
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

  /** Lets the sequence pass: its bytes in this call are output with those that follow. */
  #release(): void {
    if (this.#heldLength > 0) this.#parts.push(this.#held.slice(0, this.#heldLength));
    this.#heldLength = 0;
    this.#isHolding = false;
  }

  /** Lets a picture pass without an answer; its keys end before `at`. */
  #suppressAnswer(bytes: Uint8Array, at: number): void {
    this.#release();
    this.#put(bytes, at);
    this.#parts.push(fromLatin1(QUIET));
  }

  /** Like {@link #release}, for a sequence too long to hold. */
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

  /** The held sequence up to `end`. */
  #raw(bytes: Uint8Array, end: number): string {
    return latin1(this.#held.subarray(0, this.#heldLength)) + latin1(bytes.subarray(this.#start, end));
  }

  /** In plain text: how many bytes are missing from the character before `at`. */
  #missingAt(bytes: Uint8Array, at: number): number {
    for (let back = 1; back <= 3; back += 1) {
      if (back > at) return Math.max(0, this.#missing - back + 1);
      const byte = bytes[at - back] ?? 0;
      if (byte < 0x80 || byte >= 0xc0) return Math.max(0, missingAfter(byte) - back + 1);
    }
    return 0;
  }
}
