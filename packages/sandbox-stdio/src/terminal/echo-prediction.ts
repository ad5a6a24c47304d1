// Predicts the effect of keys, as mosh does: keys, screens and times in, cells with positions out. A prediction is shown only on a row
// where two echoes have been confirmed, and never while the terminal does not echo.

import { utf8Length } from "../text/utf8-text.ts";
import { effectOf, endOfLine, isEditing, isPlain, keysOf } from "./key-effect.ts";

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
/** How much of the worst round trip is still remembered after the next one, from 0 to 1. */
const FORGOTTEN = 0.8;
/** Time beyond two round trips after which a prediction counts as wrong. */
const LATE_MS = 250;
const MAX_PREDICTIONS = 200;
/** Confirmed echoes on a row before predictions are shown there: full-screen programs echo a key now and then. */
const LEAST_CONFIRMED = 2;
/** Echoes that confirm nothing: a password prompt may print a mask, and a deleted blank looks like one that was never printed. */
const PROVE_NOTHING: readonly string[] = ["*", " "];

/** A key that is not yet acknowledged, and the number of bytes typed up to its end. */
type Key = { readonly text: string; readonly end: number; readonly isKnown: boolean; readonly atMs: number };

/** A key's effect. */
type Pending = {
  readonly key: Key;
  readonly cells: readonly Predicted[];
  readonly cursor: Cursor;
  readonly epoch: number;
  /** Whether it moves text that was not typed here, as an editor does, and a suggestion of a shell does not. */
  readonly isMove: boolean;
};

export class EchoPrediction {
  #pending: readonly Pending[] = [];
  /** In the order in which they were typed; the pending ones are among them. */
  #keys: readonly Key[] = [];
  #typedBytes = 0;
  #ackedBytes = 0;
  /** Counted up when the effect of keys becomes unknown: later predictions wait for a real echo. */
  #epoch = 1;
  #confirmedEpoch = 0;
  /** The row of the last confirmed echoes, and their number. */
  #confirmedRow = -1;
  #confirmedOnRow = 0;
  #isEchoOff = false;
  #isSlow = false;
  #roundTripMs = 0;
  #worstMs = 0;
  /** The real cursor at which the pending predictions begin. */
  #base: Cursor | undefined;
  /** Cursor after the last real echo; other output may have turned echo off. */
  #home: Cursor | undefined;
  /** What was typed on a row: backspace and arrows may not go beyond its start. */
  #line = { row: -1, from: Number.POSITIVE_INFINITY, to: 0 };
  /** Whether the text behind the cursor moved or stayed when a key was typed on this row. */
  #behind: { readonly row: number; readonly moves: boolean } | undefined;

  /** Call with each measured round trip. */
  measured(roundTripMs: number): void {
    // A lost packet makes one round trip long: that is remembered for some.
    this.#worstMs = Math.max(roundTripMs, this.#worstMs * FORGOTTEN);
    this.#roundTripMs = roundTripMs;
    this.#isSlow = this.#worstMs >= (this.#isSlow ? FAST_MS : SLOW_MS);
  }

  /** Bytes of all keys so far: the scale of {@link answered}. */
  get typedBytes(): number {
    return this.#typedBytes;
  }

  /** So much of the input was acknowledged, and the output until then is drawn. */
  answered(ackedBytes: number, screen: EchoScreen): void {
    const wasUnclear = this.#isUnclear;
    this.#ackedBytes = ackedBytes;
    this.#keys = this.#keys.filter(({ end }) => end > this.#ackedBytes);
    if (wasUnclear && !this.#isUnclear) this.#placeAgain(screen);
  }

  /** Call with typed text before it is sent. */
  typed(text: string, screen: EchoScreen, nowMs: number): void {
    for (const key of keysOf(text)) this.#key(key, screen, nowMs);
  }

  /** Call after output is drawn, and regularly while predictions are pending. */
  drawn(screen: EchoScreen, nowMs: number): void {
    const [first] = this.#pending;
    if (first === undefined) return;
    const reached = this.#reached(screen);
    if (reached >= 0) this.#confirmed(reached, screen);
    else if (this.#isLate(first.key, nowMs)) this.#giveUp();
    else if (!isSame(this.#base, screen.cursor)) this.#placeAgain(screen);
  }

  /** The cells to draw over the screen. A blank one hides a character. */
  shown(mode: PredictionMode): readonly Predicted[] {
    return composed(this.#visible(mode));
  }

  /** The predicted cursor; undefined: the real one. */
  cursor(mode: PredictionMode): Cursor | undefined {
    return this.#visible(mode).at(-1)?.cursor;
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

  /** A link that stalls is not late: the key is acknowledged first. */
  #isLate({ end, atMs }: Key, nowMs: number): boolean {
    return end <= this.#ackedBytes && nowMs - atMs > this.#roundTripMs * 2 + LATE_MS;
  }

  #visible(mode: PredictionMode): readonly Pending[] {
    if (this.#isEchoOff || mode === "never" || (mode === "auto" && !this.#isSlow)) return [];
    const isHidden = ({ epoch, isMove, cursor }: Pending) =>
      epoch > this.#confirmedEpoch || (isMove && this.#behind?.row !== cursor.row);
    const hidden = this.#pending.findIndex(isHidden);
    return hidden < 0 ? this.#pending : this.#pending.slice(0, hidden);
  }

  /** Whether a key with an unknown effect has no answer yet: the place of later ones is unknown. */
  get #isUnclear(): boolean {
    return this.#keys.some(({ isKnown }) => !isKnown);
  }

  #key(text: string, screen: EchoScreen, nowMs: number): void {
    if (this.#pending.length === 0 && !isSame(this.#home, screen.cursor)) this.#newEpoch();
    this.#typedBytes += utf8Length(text);
    const isUnclear = this.#isUnclear || this.#keys.length >= MAX_PREDICTIONS;
    const key = { text, end: this.#typedBytes, isKnown: true, atMs: nowMs };
    const isPlaced = !isUnclear && this.#place(key, screen);
    const isLater = isUnclear && isEditing(text) && this.#keys.length < MAX_PREDICTIONS;
    this.#keys = [...this.#keys.slice(-MAX_PREDICTIONS), { ...key, isKnown: isPlaced || isLater }];
  }

  /** @returns Whether the key's effect is known. */
  #place(key: Key, screen: EchoScreen): boolean {
    const last = this.#pending.at(-1);
    const cursor = last?.cursor ?? screen.cursor;
    const { row } = cursor;
    const characters = this.#rowOf(row, screen);
    const from = this.#line.row === row ? this.#line.from : Number.POSITIVE_INFINITY;
    const moves = this.#behind?.row !== row || this.#behind.moves;
    const effect = effectOf(key.text, { characters, cursor: cursor.column, from, moves });
    if (effect === undefined) return false;
    if (last === undefined) this.#base = screen.cursor;
    const isOwn = this.#line.row === row && endOfLine(characters, cursor.column) <= this.#line.to;
    const pending = {
      key,
      cells: effect.characters.map((character, at) => ({ row, column: effect.column + at, character })),
      cursor: { row, column: effect.cursor },
      epoch: this.#epoch,
      isMove: effect.characters.length > 1 && !isOwn,
    };
    this.#pending = [...this.#pending, pending];
    this.#noteTyped(key, cursor, effect.characters.length > 0);
    return true;
  }

  #noteTyped(key: Key, { row, column }: Cursor, isChange: boolean): void {
    const { from, to } = this.#line.row === row ? this.#line : { from: column, to: column };
    if (!isChange) return;
    const length = isPlain(key.text) ? 1 : -1;
    this.#line = { row, from: Math.min(from, column), to: Math.max(to, column) + length };
  }

  /** A row's characters with all predictions. */
  #rowOf(row: number, screen: EchoScreen): string[] {
    const characters = Array.from({ length: screen.cols }, (_, column) => screen.at(row, column) || " ");
    for (const cell of composed(this.#pending)) if (cell.row === row) characters[cell.column] = cell.character;
    return characters;
  }

  /**
   * The screens after several keys may be alike, as those of a letter that is taken back. @returns The last key whose screen this
   * is among those acknowledged, else the first; -1: none.
   */
  #reached(screen: EchoScreen): number {
    const isReached = ({ cursor }: Pending, at: number) =>
      isSame(cursor, screen.cursor) && composed(this.#pending.slice(0, at + 1)).every((cell) => isDrawn(cell, screen));
    const isAcked = ({ key }: Pending) => key.end <= this.#ackedBytes;
    const acked = this.#pending.findLastIndex((pending, at) => isAcked(pending) && isReached(pending, at));
    if (acked >= 0 || isSame(this.#base, screen.cursor)) return acked;
    return this.#pending.findIndex(isReached);
  }

  #confirmed(reached: number, screen: EchoScreen): void {
    for (const { cells, key, epoch, isMove } of this.#pending.slice(0, reached + 1)) {
      const [cell] = cells;
      if (cell === undefined || !isPlain(key.text) || PROVE_NOTHING.includes(key.text)) continue;
      if (!isDrawn(cell, screen)) continue; // It was taken back again.
      this.#confirmedOnRow = cell.row === this.#confirmedRow ? this.#confirmedOnRow + 1 : 1;
      this.#confirmedRow = cell.row;
      if (isMove) this.#behind = { row: cell.row, moves: true };
      if (this.#confirmedOnRow >= LEAST_CONFIRMED) this.#confirmedEpoch = Math.max(this.#confirmedEpoch, epoch);
    }
    this.#pending = this.#pending.slice(reached + 1);
    this.#home = screen.cursor;
    this.#base = screen.cursor;
  }

  /** Predicts the unacknowledged keys again, from the real cursor: the screen differs from the prediction. */
  #placeAgain(screen: EchoScreen): void {
    const keys = this.#keys.filter(({ end }) => end > this.#ackedBytes);
    const [first] = this.#pending;
    // The letter came, and what was behind the cursor has stayed.
    const isOver =
      first?.isMove === true &&
      isSame(first.cursor, screen.cursor) &&
      first.cells.slice(0, 1).every((cell) => isDrawn(cell, screen));
    if (isOver) this.#behind = { row: first.cursor.row, moves: false };
    this.#pending = [];
    this.#newEpoch();
    if (keys.some(({ isKnown }) => !isKnown)) return;
    this.#keys = [];
    for (const key of isOver ? keys.filter(({ end }) => end > first.key.end) : keys) {
      const isPlaced = !this.#isUnclear && this.#place(key, screen);
      this.#keys = [...this.#keys, { ...key, isKnown: isPlaced || this.#isUnclear }];
    }
  }

  /** Nothing is predicted until all that was typed is acknowledged. */
  #giveUp(): void {
    this.#pending = [];
    const last = this.#keys.at(-1);
    this.#keys = last === undefined ? [] : [{ ...last, isKnown: false }];
    this.#newEpoch();
  }

  #newEpoch(): void {
    this.#epoch += 1;
    this.#home = undefined;
  }
}

/** What is drawn in the end. */
function composed(pending: readonly Pending[]): readonly Predicted[] {
  const cells = new Map<string, Predicted>();
  for (const cell of pending.flatMap((one) => one.cells)) cells.set(`${cell.row},${cell.column}`, cell);
  return [...cells.values()];
}

function isDrawn({ row, column, character }: Predicted, screen: EchoScreen): boolean {
  return (screen.at(row, column) || " ") === character;
}

function isSame(one: Cursor | undefined, other: Cursor | undefined): boolean {
  return one !== undefined && one.row === other?.row && one.column === other.column;
}
