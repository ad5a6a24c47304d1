// Detects whether the other side is still there: pings, silence, and answers awaited after a message. Told the times of messages
// both ways; holds no connection.

import { PING_INTERVAL_MS, QUIET_MS, SILENCE_MS, UNANSWERED_MS } from "../wire/constants.ts";

/** Shortest time allowed for the answer to a ping. */
const MIN_ANSWER_MS = 1_000;

export type LivenessPorts = {
  setTimer(ms: number, callback: () => void): () => void;
  now(): number;
  ping(): void;
  /** Nothing was heard for `ms`, which is less than {@link SILENCE_MS} while an answer is awaited: the connection is dead. */
  silent(ms: number): void;
  /** True if nothing was heard for {@link QUIET_MS} while an answer is awaited, then false once something is. */
  quiet(isQuiet: boolean): void;
};

export class Liveness {
  readonly #ports: LivenessPorts;
  #heardAtMs = 0;
  #isOpen = false;
  /** Since when an answer is awaited. */
  #awaitedSinceMs: number | undefined;
  /** The latest message after the awaited one; not pinged yet. */
  #lastAskedMs: number | undefined;
  #isQuiet = false;
  /** Connections in a row that were given up for want of an answer. */
  #missed = 0;
  #pings = 0;
  #pongs = 0;
  /** A ping whose answer is timed. Answers come in order. */
  #timed: { readonly ping: number; readonly sentAtMs: number; readonly told: (ms: number) => void } | undefined;
  #cancelPing: () => void = noop;
  #cancelSilence: () => void = noop;
  #cancelQuiet: () => void = noop;
  #cancelUnanswered: () => void = noop;

  constructor(ports: LivenessPorts) {
    this.#ports = ports;
  }

  /** A connection is being made. */
  begin(): void {
    this.stop();
    this.heard();
    this.#watchSilence(SILENCE_MS);
  }

  /** The connection is open: pings at once, since some servers can close only clients heard from, and then at intervals. */
  opened(): void {
    this.#isOpen = true;
    this.heard();
    this.#ping();
  }

  heard(): void {
    this.#heardAtMs = this.#ports.now();
    if (!this.#isQuiet) return;
    this.#isQuiet = false;
    this.#missed = 0;
    this.#cancelUnanswered();
    this.#ports.quiet(false);
  }

  /** A message was sent whose effect is awaited: a live server answers a ping even if the process is busy. */
  asked(): void {
    if (!this.#isOpen) return;
    if (this.#awaitedSinceMs === undefined) this.#await(this.#ports.now(), QUIET_MS);
    else this.#lastAskedMs = this.#ports.now();
  }

  /** Times a ping. Never calls back if the connection ends first. @returns Whether the connection is open. */
  time(told: (ms: number) => void): boolean {
    if (!this.#isOpen) return false;
    this.#sendPing();
    this.#timed = { ping: this.#pings, sentAtMs: this.#ports.now(), told };
    return true;
  }

  /** The oldest unanswered ping was answered. */
  ponged(): void {
    this.#pongs += 1;
    const timed = this.#timed;
    if (timed === undefined || this.#pongs < timed.ping) return;
    this.#timed = undefined;
    timed.told(this.#ports.now() - timed.sentAtMs);
  }

  stop(): void {
    this.#isOpen = false;
    this.#pings = 0;
    this.#pongs = 0;
    this.#timed = undefined;
    this.#isQuiet = false;
    this.#awaitedSinceMs = undefined;
    this.#lastAskedMs = undefined;
    this.#cancelPing();
    this.#cancelSilence();
    this.#cancelQuiet();
    this.#cancelUnanswered();
  }

  #await(askedAtMs: number, ms: number): void {
    this.#awaitedSinceMs = askedAtMs;
    this.#lastAskedMs = undefined;
    this.#sendPing();
    this.#cancelQuiet = this.#ports.setTimer(ms, () => this.#look());
  }

  #look(): void {
    const [askedMs = 0, lastMs = 0] = [this.#awaitedSinceMs, this.#lastAskedMs];
    const isHeard = this.#heardAtMs > askedMs;
    this.#awaitedSinceMs = undefined;
    if (isHeard) this.#missed = 0;
    if (isHeard && this.#heardAtMs < lastMs) {
      this.#await(lastMs, Math.max(MIN_ANSWER_MS, lastMs + QUIET_MS - this.#ports.now()));
      return;
    }
    if (isHeard || this.#isQuiet) return;
    this.#isQuiet = true;
    this.#watchUnanswered();
    this.#ports.quiet(true);
  }

  /** Waits twice as long on each further connection, so that a link that is merely slow carries its input in the end. */
  #watchUnanswered(): void {
    const ms = UNANSWERED_MS * 2 ** this.#missed;
    this.#cancelUnanswered = this.#ports.setTimer(ms - QUIET_MS, () => {
      this.#missed += 1;
      this.#ports.silent(ms);
    });
  }

  #sendPing(): void {
    this.#pings += 1;
    this.#ports.ping();
  }

  #ping(): void {
    this.#sendPing();
    this.#cancelPing();
    this.#cancelPing = this.#ports.setTimer(PING_INTERVAL_MS, () => this.#ping());
  }

  /** One timer for all messages: when it fires, it checks how long ago the last one came. */
  #watchSilence(waitMs: number): void {
    this.#cancelSilence();
    this.#cancelSilence = this.#ports.setTimer(waitMs, () => {
      const left = this.#heardAtMs + SILENCE_MS - this.#ports.now();
      if (left > 0) this.#watchSilence(left);
      else this.#ports.silent(SILENCE_MS);
    });
  }
}

function noop(): void {
  // Nothing to cancel yet.
}
