// Adds up what sessions, containers and Workers report, for the whole deployment: one Durable Object. Its sums are in memory, and
// stored some seconds later: a crash loses those, and Prometheus sees a counter that went back.

import { DurableObject } from "cloudflare:workers";
import { DelayedWrites } from "../base/delayed-writes.ts";
import { Counts, type Sums } from "../metrics/counts.ts";
import { renderMetrics } from "../metrics/prometheus.ts";
import type { CounterCalls, Report } from "../metrics/report.ts";

const SUMS = "sums";
const LEVEL = "level:";
const WRITE_DELAY_MS = 10_000;
/** A session that has said nothing for so long is not counted any more. */
const LEVEL_MS = 24 * 60 * 60_000;

type Level = { readonly clients: number; readonly atMs: number };

export class CounterObject extends DurableObject implements CounterCalls {
  readonly #counts = new Counts();
  readonly #levels = new Map<string, Level>();
  readonly #writes: DelayedWrites;

  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env as never);
    this.#writes = new DelayedWrites(ctx.storage, WRITE_DELAY_MS);
    this.#counts.merge(ctx.storage.kv.get<Sums>(SUMS) ?? {});
    for (const [key, level] of ctx.storage.kv.list<Level>({ prefix: LEVEL })) {
      this.#levels.set(key.slice(LEVEL.length), level);
    }
  }

  report({ sums, session }: Report): void {
    this.#counts.merge(sums);
    if (Object.keys(sums).length > 0) this.#writes.put(SUMS, this.#counts.all);
    if (session === undefined) return;
    const { key, clients } = session;
    if (clients === undefined) {
      if (this.#levels.delete(key)) this.#writes.delete(`${LEVEL}${key}`);
      return;
    }
    const level: Level = { clients, atMs: Date.now() };
    const isNew = this.#levels.get(key)?.clients !== clients;
    this.#levels.set(key, level);
    if (isNew) this.#writes.put(`${LEVEL}${key}`, level);
  }

  read(): string {
    const oldestMs = Date.now() - LEVEL_MS;
    let clients = 0;
    for (const [key, level] of this.#levels) {
      if (level.atMs >= oldestMs) clients += level.clients;
      else {
        this.#levels.delete(key);
        this.#writes.delete(`${LEVEL}${key}`);
      }
    }
    return renderMetrics(this.#counts, { sessions: this.#levels.size, clients });
  }
}
