// How far behind a connection is: the round-trip time of a key, and the output not drawn yet.

import type { BrowserConnection } from "./browser-connection.ts";
import { RoundTrip } from "./round-trip.ts";

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
