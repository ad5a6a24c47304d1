// A process without clients: this object fetches its new output, so that the death of its container loses little.
// Its bridge calls it for that. One that can't is looked at by alarm: every 5 s while output comes, else less and less often.

import { parseListings } from "sandbox-stdio/core";
import { log } from "../base/log.ts";
import { askBridge, type BridgeEnv, isAwake } from "../bridge/upstream.ts";
import { NEXT_LOOK, type SessionRecord, type SessionStore } from "../records/session-store.ts";
import { FIRST_LOOK_MS } from "./running-process.ts";
import type { SessionKeeper } from "./session-keeper.ts";

/** Two calls in less than this are one. */
const LEAST_MS = 1_000;
/** The bridge keeps an ended process for ten minutes: two looks find it. */
const LAST_LOOK_MS = 300_000;

type NextLook = { readonly atMs: number; readonly everyMs: number };

export interface UnwatchedPorts {
  readonly env: BridgeEnv;
  readonly store: SessionStore;
  readonly kv: SyncKvStorage;
  readonly keeper: () => SessionKeeper;
}

export class Unwatched {
  readonly #at: UnwatchedPorts;
  #next: NextLook | undefined;
  #isLooking = false;
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(ports: UnwatchedPorts) {
    this.#at = ports;
    this.#next = ports.kv.get<NextLook>(NEXT_LOOK);
  }

  /** Whether a look is under way: the inner hop is kept for it. */
  get isLooking(): boolean {
    return this.#isLooking;
  }

  /** When to look next; infinity where nothing is to be seen. */
  get dueMs(): number {
    const { record } = this.#at.store;
    return record === undefined || isOver(record)
      ? Number.POSITIVE_INFINITY
      : (this.#next?.atMs ?? Number.POSITIVE_INFINITY);
  }

  /** No client watches from now on, or output has come. */
  begin(nowMs: number): void {
    this.#lookAgain(nowMs, this.#at.store.record?.hasBell === true ? LAST_LOOK_MS : FIRST_LOOK_MS);
  }

  /** The bridge says that there is news. Nothing is done for one that says so all the time. */
  async called(nowMs: number): Promise<void> {
    if (this.#isLooking || this.dueMs === Number.POSITIVE_INFINITY || nowMs - this.#lookedAtMs < LEAST_MS) return;
    await this.#lookNow(nowMs);
  }

  /** Looks if that is due. */
  async tick(nowMs: number): Promise<void> {
    if (this.dueMs > nowMs || this.#isLooking) return;
    const everyMs = Math.min(LAST_LOOK_MS, (this.#next?.everyMs ?? FIRST_LOOK_MS) * 2);
    this.#lookAgain(nowMs, everyMs);
    await this.#lookNow(nowMs);
  }

  async #lookNow(nowMs: number): Promise<void> {
    this.#lookedAtMs = nowMs;
    this.#isLooking = true;
    try {
      await this.#look();
    } catch (error) {
      log.warn("a process that nobody watches could not be looked at:", error);
    } finally {
      this.#isLooking = false;
    }
  }

  #lookAgain(nowMs: number, everyMs: number): void {
    this.#next = { atMs: nowMs + everyMs, everyMs };
    this.#at.kv.put(NEXT_LOOK, this.#next);
  }

  async #look(): Promise<void> {
    const { env, store, keeper } = this.#at;
    const { record } = store;
    // A session is here: its news comes by itself.
    if (record === undefined || keeper().session !== undefined) return;
    const { incarnation, session } = record.facts;
    const answer = await askBridge(env, record.sandboxKey, { ask: "sessions", session });
    const isSilent = answer?.status !== 200 || answer.text === undefined;
    if (isSilent && (await isAwake(env, record.sandboxKey))) return;
    const found = parseListings(answer?.text ?? "")?.find((one) => one.incarnation === incarnation);
    const isAsBefore = found?.state === "running" && found.offset === record.offset;
    // Fetches new output, the exit, or the loss.
    if (!isAsBefore) await keeper().reaching.reach();
  }
}

function isOver({ exit, lostAtMs }: SessionRecord): boolean {
  return exit !== undefined || lostAtMs !== undefined;
}
