// One Durable Object for each address that clients come from: how many connections it has. A place is given back when its
// connection ends; one whose session's object died with it is found when the places run out, by asking the sessions which of
// their connections are open.

import { DurableObject } from "cloudflare:workers";
import type { SessionsEnv } from "../attach/session-calls.ts";
import { DelayedWrites } from "../base/delayed-writes.ts";
import type { AddressCalls, ConnectionKind, Place } from "../limits/limit-calls.ts";
import { type LimitEnv, readLimits } from "../limits/limits.ts";

type Taken = Omit<Place, "id"> & { readonly sinceMs: number };

/** Connections from one address at most that are still to say whose they are. */
const MAX_UNKNOWN = 10;
/** A connection that was just let in may not have reached its session yet. */
const ARRIVAL_MS = 10_000;
/** The sessions are asked this often at most: being refused must not be a way to keep them busy. */
const LOOK_INTERVAL_MS = 2_000;

type AddressEnv = LimitEnv & SessionsEnv;

export class AddressObject extends DurableObject<AddressEnv> implements AddressCalls {
  readonly #taken = new Map<string, Taken>();
  readonly #writes: DelayedWrites;
  #lookedAtMs = 0;

  constructor(ctx: DurableObjectState, env: AddressEnv) {
    super(ctx, env);
    this.#writes = new DelayedWrites(ctx.storage);
    void ctx.blockConcurrencyWhile(async () => {
      for (const [id, taken] of await ctx.storage.list<Taken>()) this.#taken.set(id, taken);
    });
  }

  /** @returns Whether there was a place. */
  async take({ id, sessionKey, kind }: Place): Promise<boolean> {
    if (this.#isFull(kind)) await this.#forgetEnded(kind);
    if (this.#isFull(kind)) return false;
    const taken = { sessionKey, kind, sinceMs: Date.now() };
    this.#taken.set(id, taken);
    this.#writes.put(id, taken);
    return true;
  }

  giveBack(id: string): void {
    if (this.#taken.delete(id)) this.#writes.delete(id);
  }

  #isFull(kind: ConnectionKind): boolean {
    const limits = readLimits(this.env);
    let count = 0;
    for (const taken of this.#taken.values()) if (taken.kind === kind) count += 1;
    if (kind === "unknown") return count >= Math.min(MAX_UNKNOWN, limits.connectionsPerAddress);
    return count >= (kind === "json" ? limits.jsonConnectionsPerAddress : limits.connectionsPerAddress);
  }

  async #forgetEnded(kind: ConnectionKind): Promise<void> {
    const now = Date.now();
    if (now < this.#lookedAtMs + LOOK_INTERVAL_MS) return;
    this.#lookedAtMs = now;
    const bySession = new Map<string, string[]>();
    for (const [id, taken] of this.#taken) {
      if (taken.kind !== kind || taken.sinceMs + ARRIVAL_MS > now) continue;
      const ids = bySession.get(taken.sessionKey);
      if (ids === undefined) bySession.set(taken.sessionKey, [id]);
      else ids.push(id);
    }
    await Promise.all(
      [...bySession].map(async ([sessionKey, ids]) => {
        const open = new Set(await this.env.SESSION.getByName(sessionKey).openConnections(ids));
        for (const id of ids) if (!open.has(id)) this.giveBack(id);
      }),
    );
  }
}
