// Finds ZMODEM file transfers (rz, sz) in a terminal's output: which bytes belong to a file. Knows a transfer's start and end,
// not its content. A transfer begins only once the client answers the program.

import { indexOrEnd } from "./plain-scan.ts";

/** Begins a header, escapes a byte, and cancels a transfer. It is also CAN, which aborts a terminal's current sequence. */
const ZDLE = 0x18;
const STAR = 0x2a;
/** A hexadecimal header: two stars, ZDLE, these bytes, and the second digit of its type. */
const HEX_HEADER = [0x42, 0x30] as const;
const ZRQINIT = 0x30;
const ZRINIT = 0x31;
const ZFIN = 0x38;
/** The byte after star and ZDLE in any header of an answer: binary, binary with a longer checksum, hexadecimal. */
const ANSWERS: ReadonlySet<number> = new Set([0x41, 0x43, 0x42]);
/** A program repeats its offer about every ten seconds until it is answered. */
const ANSWER_MS = 15_000;
const CANCELS = 5;
/** Longest block; ZDLE follows it. */
const MAX_BLOCK_BYTES = 8_192;

export type OutputPiece = { readonly bytes: Uint8Array; readonly isTransfer: boolean };

export class FileTransfers {
  #isTransfer = false;
  /** When the program last offered a transfer; undefined if it has not since the last transfer. */
  #offeredAtMs: number | undefined;
  /** Bytes matched of a header's start (star, ZDLE) in the input. */
  #answer = 0;
  /** Bytes read of a header, counted from its ZDLE. */
  #header = 0;
  /** Stars at the end of the bytes read so far, at most two. */
  #stars = 0;
  #cancels = 0;
  /** Bytes since the last ZDLE. */
  #run = 0;

  /** @returns Views of the bytes in order: those of a transfer, and those for the terminal. `bytes` itself if undivided. */
  cut(bytes: Uint8Array, nowMs: number): readonly OutputPiece[] {
    const pieces: OutputPiece[] = [];
    let from = 0;
    for (let i = 0; i < bytes.length; ) {
      const wasTransfer = this.#isTransfer;
      i = this.#header > 0 ? this.#inHeader(bytes, i, nowMs) : this.#toHeader(bytes, i);
      if (this.#isTransfer === wasTransfer) continue;
      if (i > from) pieces.push({ bytes: bytes.subarray(from, i), isTransfer: wasTransfer });
      from = i;
    }
    this.#stars = this.#starsBefore(bytes, bytes.length);
    if (from === 0) return [{ bytes, isTransfer: this.#isTransfer }];
    if (from < bytes.length) pieces.push({ bytes: bytes.subarray(from), isTransfer: this.#isTransfer });
    return pieces;
  }

  /** Follows input of the client that gets these bytes and holds the keyboard: a header in it begins a transfer. */
  typed(bytes: Uint8Array, nowMs: number): void {
    if (this.#offeredAtMs === undefined || this.#isTransfer) return;
    if (nowMs - this.#offeredAtMs > ANSWER_MS) this.#offeredAtMs = undefined;
    else if (this.#hasHeader(bytes)) this.#begin();
  }

  /** Whether the next bytes belong to a file. */
  get isTransfer(): boolean {
    return this.#isTransfer;
  }

  /** Whether no transfer is running or may just be starting. */
  get isAtRest(): boolean {
    return !this.#isTransfer && this.#header === 0 && this.#stars === 0;
  }

  /** Bytes are missing here: the next ones are the terminal's. */
  reset(): void {
    this.#isTransfer = false;
    this.#offeredAtMs = undefined;
    this.#answer = 0;
    this.#header = 0;
    this.#stars = 0;
    this.#cancels = 0;
  }

  #begin(): void {
    this.#isTransfer = true;
    this.#offeredAtMs = undefined;
    this.#answer = 0;
    this.#run = 0;
  }

  #hasHeader(bytes: Uint8Array): boolean {
    for (const byte of bytes) {
      if (byte === STAR) this.#answer = 1;
      else if (byte === ZDLE && this.#answer === 1) this.#answer = 2;
      else if (this.#answer === 2 && ANSWERS.has(byte)) return true;
      else this.#answer = 0;
    }
    return false;
  }

  /** Reads up to the next ZDLE. @returns Where to continue. */
  #toHeader(bytes: Uint8Array, from: number): number {
    const at = indexOrEnd(bytes, ZDLE, from);
    if (this.#isTransfer && this.#run + at - from > MAX_BLOCK_BYTES) {
      this.#isTransfer = false;
      return from + MAX_BLOCK_BYTES - this.#run;
    }
    this.#run += at - from;
    if (at > from) this.#cancels = 0;
    if (at === bytes.length) return at;
    this.#run = 0;
    this.#cancels += 1;
    if (this.#cancels === CANCELS) this.#isTransfer = false;
    if (this.#starsBefore(bytes, at) === 2) this.#header = 1;
    return at + 1;
  }

  #inHeader(bytes: Uint8Array, at: number, nowMs: number): number {
    const byte = bytes[at];
    const wanted = HEX_HEADER[this.#header - 1];
    if (wanted !== undefined && byte !== wanted) {
      this.#header = 0;
      return at;
    }
    this.#header = wanted === undefined ? 0 : this.#header + 1;
    if (wanted === undefined) {
      if (this.#isTransfer) this.#isTransfer = byte !== ZFIN;
      else if (byte === ZRQINIT || byte === ZRINIT) this.#offeredAtMs = nowMs;
    }
    this.#cancels = 0;
    this.#run = 0;
    return at + 1;
  }

  /** @returns At most two. */
  #starsBefore(bytes: Uint8Array, at: number): number {
    let stars = 0;
    while (stars < 2 && bytes[at - 1 - stars] === STAR) stars += 1;
    return stars === at ? Math.min(2, stars + this.#stars) : stars;
  }
}
