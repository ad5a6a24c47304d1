// Which characters a person sees before the process has echoed them, as mosh predicts them. Pure: keys, screens and times in,
// characters with their places out. Shown is only what a real echo has confirmed since the last key that ends a line. A program that
// turns the echo off in silence can't be seen from here: hence predictions are never on unless a person asks for them.

/** Rows are counted from the first line ever: one that has scrolled away is never counted again. */
export type Cursor = { readonly row: number; readonly column: number };

/** The terminal's state now. */
export type Screen = {
  readonly cols: number;
  readonly cursor: Cursor;
  /** The character of a cell; "" or " " where it is blank. */
  at(row: number, column: number): string;
};

export type Predicted = { readonly row: number; readonly column: number; readonly character: string };

export type PredictionMode = "never" | "auto" | "always";

/** Below, a person sees no difference. */
const SLOW_MS = 50;
/** Once on, it stays until the link is clearly faster. */
const FAST_MS = 35;
/** How long an echo may take beyond the round trip before its prediction counts as wrong. */
const PATIENCE_MS = 250;
const MAX_PREDICTIONS = 200;
const MASK = "*";

type Pending = Predicted & { readonly epoch: number; readonly typedAtMs: number };

export class EchoPrediction {
  #pending: Pending[] = [];
  /** Ends with every key whose effect can't be known: predictions of a later one wait for a real echo. */
  #epoch = 1;
  #confirmedEpoch = 0;
  #isSlow = false;
  #roundTripMs = 0;
  /** Whether the echo of a key may still come. */
  #isAwaited = false;
  /** Whether the echo of a key may still come whose place isn't known: it could be taken for that of a later one. */
  #isBlind = false;
  /** Where the next character is expected; undefined: where the cursor is. */
  #next: Cursor | undefined;
  /** Where the last real echo left the cursor: later output may have turned the echo off. */
  #home: Cursor | undefined;

  /** Told of each measured round trip. */
  measured(roundTripMs: number): void {
    this.#roundTripMs = roundTripMs;
    this.#isSlow = this.#isSlow ? roundTripMs >= FAST_MS : roundTripMs >= SLOW_MS;
  }

  /** All that was typed has been taken, and the output until then is drawn. */
  answered(): void {
    this.#isAwaited = false;
    this.#isBlind = false;
  }

  /** Told of typed text before it is sent. */
  typed(text: string, screen: Screen, nowMs: number): void {
    for (const character of text.startsWith("\x1b") ? [text] : text) this.#key(character, screen, nowMs);
  }

  /** Told after output has been drawn, and from time to time while anything is predicted. */
  drawn(screen: Screen, nowMs: number): void {
    while (this.#pending[0] !== undefined) {
      const [first] = this.#pending;
      if (!this.#isEchoed(first, screen)) break;
      // A prompt that masks typed text prints this for every key.
      if (first.character !== MASK) this.#confirmedEpoch = Math.max(this.#confirmedEpoch, first.epoch);
      this.#home = { row: first.row, column: first.column + 1 };
      this.#pending.shift();
    }
    const [first] = this.#pending;
    if (first === undefined) {
      this.#next = undefined;
      return;
    }
    const isLate = nowMs - first.typedAtMs > this.#roundTripMs * 2 + PATIENCE_MS;
    if (isLate || !isSame(first, screen.cursor)) this.#giveUp();
  }

  /** The characters to draw over the screen. */
  shown(mode: PredictionMode): readonly Predicted[] {
    if (mode === "never" || (mode === "auto" && !this.#isSlow)) return [];
    return this.#pending
      .filter(({ epoch }) => epoch <= this.#confirmedEpoch)
      .map(({ row, column, character }) => ({ row, column, character }));
  }

  get hasPending(): boolean {
    return this.#pending.length > 0;
  }

  /** The screen is another one, or the connection broke. */
  reset(): void {
    this.#giveUp();
  }

  #key(key: string, screen: Screen, nowMs: number): void {
    if (this.#pending.length === 0 && !isSame(this.#home, screen.cursor)) this.#newEpoch();
    const place = this.#next ?? screen.cursor;
    const isPlain = /^[\x20-\x7e]$/.test(key);
    const isAtEnd = place.column < screen.cols - 1 && isBlankFrom(screen, place);
    this.#isAwaited = true;
    if (this.#isBlind || !isPlain || !isAtEnd || this.#pending.length >= MAX_PREDICTIONS) {
      this.#giveUp();
      return;
    }
    this.#pending.push({ ...place, character: key, epoch: this.#epoch, typedAtMs: nowMs });
    this.#next = { row: place.row, column: place.column + 1 };
  }

  /** A blank is echoed if the cursor has passed it. */
  #isEchoed({ row, column, character }: Pending, screen: Screen): boolean {
    const isPassed = screen.cursor.row === row && screen.cursor.column > column;
    const there = screen.at(row, column);
    return isPassed && (there === character || (character === " " && there === ""));
  }

  #giveUp(): void {
    this.#pending = [];
    this.#next = undefined;
    this.#isBlind = this.#isAwaited;
    this.#newEpoch();
  }

  #newEpoch(): void {
    this.#epoch += 1;
    this.#home = undefined;
  }
}

function isSame(one: Cursor | undefined, other: Cursor): boolean {
  return one?.row === other.row && one.column === other.column;
}

function isBlankFrom(screen: Screen, { row, column }: Cursor): boolean {
  for (let at = column; at < screen.cols; at += 1) {
    const there = screen.at(row, at);
    if (there !== "" && there !== " ") return false;
  }
  return true;
}
