// The counts of one session, and when it reports them: at most every METRICS_SECONDS while something is new, and before its object
// lets go of the process. Nothing is written for an event, and no timer holds an object that has nothing to say.

import { Counts } from "./counts.ts";
import { intervalMs, isCounted, type MetricsEnv, report } from "./report.ts";

export interface SessionMetricsPorts {
  readonly env: MetricsEnv;
  readonly sessionKey: string;
  /** The key of its sandbox; "" while the session has no process. */
  sandboxKey(): string;
  /** How many clients are attached; undefined where no process runs. */
  clients(): number | undefined;
  waitUntil(promise: Promise<unknown>): void;
}

export class SessionMetrics {
  readonly counts = new Counts();
  readonly #ports: SessionMetricsPorts;
  readonly #isOn: boolean;
  readonly #intervalMs: number;
  #reportedAtMs = 0;
  #reportedClients: number | undefined;

  constructor(ports: SessionMetricsPorts) {
    const { env } = ports;
    this.#ports = ports;
    this.#isOn = isCounted(env) || env.METRICS !== undefined;
    this.#intervalMs = intervalMs(env);
  }

  /** As Date.now(); infinity while there is nothing to report. */
  nextTickMs(): number {
    return this.#hasNews ? this.#reportedAtMs + this.#intervalMs : Number.POSITIVE_INFINITY;
  }

  tick(nowMs: number): void {
    if (this.nextTickMs() <= nowMs) this.flush(nowMs);
  }

  /** Reports now what there is: the object may be gone in a moment. */
  flush(nowMs: number): void {
    if (!this.#hasNews) return;
    const { env, sessionKey, sandboxKey, clients, waitUntil } = this.#ports;
    const session = { key: sessionKey, clients: clients() };
    const sums = this.counts.take();
    this.#reportedAtMs = nowMs;
    this.#reportedClients = session.clients;
    waitUntil(report(env, { sums, session }));
    const of = (series: string) => sums[series] ?? 0;
    env.METRICS?.writeDataPoint({
      indexes: [sandboxKey()],
      blobs: [sessionKey],
      doubles: [
        ...[session.clients ?? 0, of("attaches"), of("resumes"), of("received_bytes"), of("sent_bytes")],
        ...[of("gaps"), of("gap_bytes"), of("ack count"), of("ack ms")],
      ],
    });
  }

  get #hasNews(): boolean {
    return this.#isOn && (!this.counts.isEmpty || this.#ports.clients() !== this.#reportedClients);
  }
}
