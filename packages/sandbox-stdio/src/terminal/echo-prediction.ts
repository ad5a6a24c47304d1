// Predicts the echo of typed characters, as mosh does: keys, screens and times in, characters with positions out. A prediction is shown
// only on a row where two others have been confirmed, and never while the terminal does not echo.

/** Rows count from the first line ever, so a row number is never reused. */
export type Cursor = { readonly row: number; readonly column: number };

/** The terminal's state now. */
export type EchoScreen = {
  readonly cols: number;
  readonly cursor: Cursor;
  /** The character of a cell; "" or " " if blank. */
  at(row: number, column: number): string;
};

export type Predicted = { readonly row: number; readonly column: number; readonly character: string };

export type PredictionMode = "never" | "auto" | "always";

/** Round trips from which prediction helps. */
const SLOW_MS = 50;
/** Hysteresis: prediction turns off below this. */
const FAST_MS = 35;
/** Time beyond two round trips after which a prediction counts as wrong. */
const LATE_MS = 250;
const MAX_PREDICTIONS = 200;
/** Confirmed echoes on a row before predictions are shown there: full-screen programs echo a key now and then. */
const LEAST_CONFIRMED = 2;
const MASK = "*";

type Pending = Predicted & { readonly epoch: number; readonly typedAtMs: number };

export class EchoPrediction {
  #pending: Pending[] = [];
  /** Counted up at each key with an unknown effect: later predictions wait for a real echo. */
  #epoch = 1;
  #confirmedEpoch = 0;
  /** The row of the last confirmed echoes, and their number. */
  #confirmedRow = -1;
  #confirmedOnRow = 0;
  #isEchoOff = false;
  #isSlow = false;
  #roundTripMs = 0;
  /** Whether the echo of a key may still come. */
  #isAwaited = false;
  /** Whether it may come at an unknown position, and could be taken for a later key's echo. */
  #isBlind = false;
  /** Expected position of the next character; undefined: the cursor. */
  #next: Cursor | undefined;
  /** Cursor after the last real echo; other output may have turned echo off. */
  #home: Cursor | undefined;

  /** Call with each measured round trip. */
  measured(roundTripMs: number): void {
    this.#roundTripMs = roundTripMs;
    this.#isSlow = this.#isSlow ? roundTripMs >= FAST_MS : roundTripMs >= SLOW_MS;
  }

  /** All input was acknowledged, and the output until then is drawn. */
  answered(): void {
    this.#isAwaited = false;
    this.#isBlind = false;
  }

  /** Call with typed text before it is sent. */
  typed(text: string, screen: EchoScreen, nowMs: number): void {
    for (const character of text.startsWith("\x1b") ? [text] : text) this.#key(character, screen, nowMs);
  }

  /** Call after output is drawn, and regularly while predictions are pending. */
  drawn(screen: EchoScreen, nowMs: number): void {
    while (this.#pending[0] !== undefined) {
      const [first] = this.#pending;
      if (!this.#isEchoed(first, screen)) break;
      this.#confirmed(first);
      this.#home = { row: first.row, column: first.column + 1 };
      this.#pending.shift();
    }
    const [first] = this.#pending;
    if (first === undefined) {
      this.#next = undefined;
      return;
    }
    const isLate = nowMs - first.typedAtMs > this.#roundTripMs * 2 + LATE_MS;
    if (isLate || !isSame(first, screen.cursor)) this.#giveUp();
  }

  /** The characters to draw over the screen. */
  shown(mode: PredictionMode): readonly Predicted[] {
    if (this.#isEchoOff || mode === "never" || (mode === "auto" && !this.#isSlow)) return [];
    return this.#pending
      .filter(({ epoch }) => epoch <= this.#confirmedEpoch)
      .map(({ row, column, character }) => ({ row, column, character }));
  }

  get hasPending(): boolean {
    return this.#pending.length > 0;
  }

  /** Whether the round trip is long enough for prediction to help. */
  get isSlow(): boolean {
    return this.#isSlow;
  }

  /** The terminal began or stopped echoing, as a password prompt does. */
  echoes(isOn: boolean): void {
    this.#isEchoOff = !isOn;
    this.#confirmedOnRow = 0;
    this.#giveUp();
  }

  /** The screen was replaced, or the connection broke. */
  reset(): void {
    this.#giveUp();
  }

  #key(key: string, screen: EchoScreen, nowMs: number): void {
    if (this.#pending.length === 0 && !isSame(this.#home, screen.cursor)) this.#newEpoch();
    const position = this.#next ?? screen.cursor;
    const isPlain = /^[\x20-\x7e]$/.test(key);
    const isAtEnd = position.column < screen.cols - 1 && isBlankFrom(screen, position);
    this.#isAwaited = true;
    if (this.#isBlind || !isPlain || !isAtEnd || this.#pending.length >= MAX_PREDICTIONS) {
      this.#giveUp();
      return;
    }
    this.#pending.push({ ...position, character: key, epoch: this.#epoch, typedAtMs: nowMs });
    this.#next = { row: position.row, column: position.column + 1 };
  }

  #confirmed({ row, character, epoch }: Pending): void {
    // A password prompt may print this for every key.
    if (character === MASK) return;
    this.#confirmedOnRow = row === this.#confirmedRow ? this.#confirmedOnRow + 1 : 1;
    this.#confirmedRow = row;
    if (this.#confirmedOnRow >= LEAST_CONFIRMED) this.#confirmedEpoch = Math.max(this.#confirmedEpoch, epoch);
  }

  /** A blank counts as echoed once the cursor has passed it. */
  #isEchoed({ row, column, character }: Pending, screen: EchoScreen): boolean {
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

function isBlankFrom(screen: EchoScreen, { row, column }: Cursor): boolean {
  for (let at = column; at < screen.cols; at += 1) {
    const there = screen.at(row, at);
    if (there !== "" && there !== " ") return false;
  }
  return true;
}
