// Decides what happens to typed input around an outage (I4): keys are discarded, by whole lines if possible; a paste that was
// begun continues, others are discarded whole. The caller passes the time; sends nothing.

/** `keep`: write it although disconnected, to be sent later. */
export type TypedFate = "send" | "keep" | "discard";

/** Longer input is never typed by hand: it is pasted, or sent by a program. */
const BULK_BYTES = 256;
/** Input this soon after bulk input belongs to it. */
const BULK_GAP_MS = 100;
/** Input this soon after discarded input continues the same line. */
const LINE_GAP_MS = 500;

const ESC = 0x1b;
/** `ESC [ 200 ~` begins a paste and `ESC [ 201 ~` ends it, if the program has enabled that. */
const PASTE = [ESC, 0x5b, 0x32, 0x30] as const;
const [PASTE_BEGINS, PASTE_ENDS, PASTE_CLOSES] = [0x30, 0x31, 0x7e] as const;

/** Keys after which a line editor's line is empty: Enter, ^J, ^C, ^D, ^U, ^Z, ^\\. */
const LINE_ENDS: ReadonlySet<number> = new Set([0x0d, 0x0a, 0x03, 0x04, 0x15, 0x1a, 0x1c]);
/** Keys among them that clear a partly sent line: they are sent even if input was discarded before. */
const CLEARS: ReadonlySet<number> = new Set([0x03, 0x15, 0x1c]);

export class TypedInput {
  readonly #isFullScreen: () => boolean;
  #isPasting = false;
  /** How much of a paste marker has been seen, across chunks. */
  #matched = 0;
  #marker = 0;
  /** The fate of the last bulk input, and how long further input belongs to it. */
  #bulkFate: TypedFate = "send";
  #bulkUntilMs = Number.NEGATIVE_INFINITY;
  #isLineSent = false;
  #isLineDiscarded = false;
  #discardedAtMs = Number.NEGATIVE_INFINITY;

  /** @param isFullScreen Whether typed text does not form lines, as far as known. */
  constructor(isFullScreen: () => boolean) {
    this.#isFullScreen = isFullScreen;
  }

  /** Whether the program has the start of a line and may never get the rest. */
  get isLineSent(): boolean {
    return this.#isLineSent && !this.#isFullScreen();
  }

  /** Splits input after the end of a discarded line, so that each piece is decided alone. */
  split(bytes: Uint8Array): readonly Uint8Array[] {
    if (!this.#isLineDiscarded || this.#isPasting || bytes.length >= BULK_BYTES) return [bytes];
    const at = bytes.findIndex((byte) => LINE_ENDS.has(byte));
    return at < 0 || at + 1 === bytes.length ? [bytes] : [bytes.subarray(0, at + 1), bytes.subarray(at + 1)];
  }

  /** Decides the fate of `bytes`, the next input. */
  decide(bytes: Uint8Array, isConnected: boolean, nowMs: number): TypedFate {
    const wasPasting = this.#isPasting;
    this.#followAll(bytes);
    const isBulk = wasPasting || this.#isPasting || bytes.length >= BULK_BYTES;
    const goesOn = wasPasting || nowMs < this.#bulkUntilMs;
    const fate = goesOn ? this.#goOn(isConnected) : this.#begin(bytes, isBulk, isConnected, nowMs);
    if (isBulk || goesOn) {
      this.#bulkFate = fate;
      this.#bulkUntilMs = nowMs + BULK_GAP_MS;
    }
    this.#note(bytes, fate, nowMs);
    return fate;
  }

  /** The rest of bulk input shares the fate of its start. */
  #goOn(isConnected: boolean): TypedFate {
    if (this.#bulkFate === "discard") return "discard";
    return isConnected ? "send" : "keep";
  }

  #begin(bytes: Uint8Array, isBulk: boolean, isConnected: boolean, nowMs: number): TypedFate {
    if (!isConnected) return "discard";
    const isSameLine = this.#isLineDiscarded && nowMs < this.#discardedAtMs + LINE_GAP_MS && !this.#isFullScreen();
    const clears = bytes.length === 1 && CLEARS.has(bytes[0] ?? 0);
    return isSameLine && !isBulk && !clears ? "discard" : "send";
  }

  #note(bytes: Uint8Array, fate: TypedFate, nowMs: number): void {
    const last = bytes.at(-1);
    if (last === undefined) return;
    // A sequence, as of an arrow key or the mouse, neither begins nor ends a line.
    if (bytes[0] === ESC && bytes.length < BULK_BYTES) return;
    const isOpen = !LINE_ENDS.has(last);
    if (fate === "discard") {
      this.#isLineDiscarded = isOpen;
      this.#discardedAtMs = nowMs;
    } else {
      this.#isLineSent = isOpen;
      this.#isLineDiscarded = false;
    }
  }

  /** Only an escape begins a marker: skips the bytes in between. */
  #followAll(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += 1) {
      if (this.#matched === 0) {
        at = bytes.indexOf(ESC, at);
        if (at < 0) return;
      }
      this.#follow(bytes[at] ?? 0);
    }
  }

  #follow(byte: number): void {
    if (this.#matched < PASTE.length) {
      if (byte === PASTE[this.#matched]) this.#matched += 1;
      else this.#matched = byte === ESC ? 1 : 0;
    } else if (this.#matched === PASTE.length && (byte === PASTE_BEGINS || byte === PASTE_ENDS)) {
      this.#marker = byte;
      this.#matched += 1;
    } else {
      const isMarker = this.#matched > PASTE.length && byte === PASTE_CLOSES;
      if (isMarker) this.#isPasting = this.#marker === PASTE_BEGINS;
      this.#matched = byte === ESC ? 1 : 0;
    }
  }
}
