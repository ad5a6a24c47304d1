// How far behind a connection is: the round-trip time of a key, and the output not drawn yet.

import type { BrowserConnection } from "./browser-connection.ts";

/** Weight of a new measurement in the moving average. */
const NEW_WEIGHT = 0.3;
/** After output within this time before a key, the next output may not be its echo. */
const QUIET_MS = 150;

/** The time from a key to the output that follows it. Pure. Acknowledgements are not timed: they wait for the audit's batches. */
export class RoundTrip {
  #ms: number | undefined;
  #askedAtMs: number | undefined;
  #outputAtMs = Number.NEGATIVE_INFINITY;
  /** Keys sent since all earlier ones were answered. */
  #waiting = 0;

  /** Milliseconds; undefined before the first measurement. */
  get ms(): number | undefined {
    return this.#ms;
  }

  /** A key was sent. It is timed only if it is alone and nothing is being printed. */
  sent(nowMs: number): void {
    this.#waiting += 1;
    const isAlone = this.#waiting === 1 && nowMs - this.#outputAtMs >= QUIET_MS;
    this.#askedAtMs = isAlone ? nowMs : undefined;
  }

  /** Output arrived. @returns Whether there is a new measurement. */
  printed(nowMs: number): boolean {
    this.#outputAtMs = nowMs;
    const askedAtMs = this.#askedAtMs;
    this.#askedAtMs = undefined;
    // With several keys it may be the echo of the first.
    if (this.#waiting === 1) this.#waiting = 0;
    if (askedAtMs === undefined) return false;
    const ms = nowMs - askedAtMs;
    this.#ms = this.#ms === undefined ? ms : this.#ms + (ms - this.#ms) * NEW_WEIGHT;
    return true;
  }

  /** Input was acknowledged. Without output until then there was no echo. */
  taken(unackedBytes: number): void {
    if (unackedBytes > 0) return;
    this.#waiting = 0;
    this.#askedAtMs = undefined;
  }

  /** The connection broke: stops timing. */
  broken(): void {
    this.#waiting = 0;
    this.#askedAtMs = undefined;
  }
}

export class Latency {
  readonly #connection: BrowserConnection;
  readonly #roundTrip = new RoundTrip();
  /** Offset after the newest output. */
  #receivedTo = 0;

  /** @param measured Receives each new round-trip time. */
  constructor(connection: BrowserConnection, now: () => number, measured: (roundTripMs: number) => void) {
    this.#connection = connection;
    connection.subscribe({
      output: (_stream, _bytes, end) => {
        this.#receivedTo = end;
        if (this.#roundTrip.printed(now())) measured(this.#roundTrip.ms ?? 0);
      },
      typed: () => this.#roundTrip.sent(now()),
      inputDrained: () => this.#roundTrip.taken(connection.client?.unackedInput ?? 0),
      state: ({ phase }) => {
        if (phase !== "attached") this.#roundTrip.broken();
      },
    });
  }

  /** undefined before the first measurement. */
  get roundTripMs(): number | undefined {
    return this.#roundTrip.ms;
  }

  get bytesBehind(): number {
    const drawnTo = this.#connection.client?.resumePoint?.offset ?? this.#receivedTo;
    return Math.max(0, this.#receivedTo - drawnTo);
  }
}
