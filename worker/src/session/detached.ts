// A detached process, which no client follows: this object fetches its new output, so that the death of its container loses little.
// The bridge wakes the object for that. If the bridge can't, an alarm polls: every 5 s while there is output, then ever less often.
// While an object follows a recorded process without clients, the alarm is set too: nothing else wakes its successor if it dies.

import { parseListings } from "sandbox-stdio/core";
import { log } from "../base/log.ts";
import { askBridge, type BridgeEnv, isAwake } from "../bridge/upstream.ts";
import { NEXT_LOOK, type SessionStore } from "../records/session-store.ts";
import type { SessionLifecycle } from "./lifecycle.ts";
import { FIRST_POLL_MS } from "./process-state.ts";

/** Wakeups closer together than this count as one. */
const LEAST_MS = 1_000;
/** The bridge keeps an ended process for ten minutes: two polls find it. */
const LAST_POLL_MS = 300_000;

type NextPoll = { readonly atMs: number; readonly everyMs: number };

export class DetachedProcess {
  readonly #env: BridgeEnv;
  readonly #store: SessionStore;
  readonly #kv: SyncKvStorage;
  readonly #lifecycle: SessionLifecycle;
  #next: NextPoll | undefined;
  #isPolling = false;
  #polledAtMs = Number.NEGATIVE_INFINITY;

  constructor(env: BridgeEnv, store: SessionStore, kv: SyncKvStorage, lifecycle: SessionLifecycle) {
    this.#env = env;
    this.#store = store;
    this.#kv = kv;
    this.#lifecycle = lifecycle;
    this.#next = kv.get<NextPoll>(NEXT_LOOK);
  }

  /** Whether a poll is under way, which needs the inner hop. */
  get isPolling(): boolean {
    return this.#isPolling;
  }

  /** When to poll next; infinity if there is nothing to poll. */
  get dueMs(): number {
    const { at } = this.#lifecycle.state;
    const isGone = at === "absent" || at === "ended" || at === "lost";
    return isGone ? Number.POSITIVE_INFINITY : (this.#next?.atMs ?? Number.POSITIVE_INFINITY);
  }

  /** Starts following a process that has just been detached. */
  begin(nowMs: number): void {
    this.#pollAgain(nowMs, this.#store.record?.hasBell === true ? LAST_POLL_MS : FIRST_POLL_MS);
  }

  /** The bridge was not told how to wake this object: the process is polled instead. */
  unheard(nowMs: number): void {
    this.#pollAgain(nowMs, FIRST_POLL_MS);
  }

  /** This object follows a process without clients. @returns Whether the alarm must be set. */
  guard(nowMs: number): boolean {
    if (this.#next !== undefined && this.#next.atMs <= nowMs + FIRST_POLL_MS) return false;
    this.#pollAgain(nowMs, FIRST_POLL_MS);
    return true;
  }

  /** The bridge wakes this object because there is new output. A bridge that does so too often is ignored. */
  async wakeup(nowMs: number): Promise<void> {
    if (this.#isPolling || this.dueMs === Number.POSITIVE_INFINITY || nowMs - this.#polledAtMs < LEAST_MS) return;
    await this.#pollNow(nowMs);
  }

  /** Polls if a poll is due. */
  async tick(nowMs: number): Promise<void> {
    if (this.dueMs > nowMs || this.#isPolling) return;
    if (this.#lifecycle.state.at === "running") {
      // What is stored is in the past: a later life polls at once.
      this.#next = undefined;
      return;
    }
    const everyMs = Math.min(LAST_POLL_MS, (this.#next?.everyMs ?? FIRST_POLL_MS) * 2);
    this.#pollAgain(nowMs, everyMs);
    await this.#pollNow(nowMs);
  }

  async #pollNow(nowMs: number): Promise<void> {
    this.#polledAtMs = nowMs;
    this.#isPolling = true;
    try {
      await this.#poll();
    } catch (error) {
      log.warn("a detached process could not be polled:", error);
    } finally {
      this.#isPolling = false;
    }
  }

  #pollAgain(nowMs: number, everyMs: number): void {
    this.#next = { atMs: nowMs + everyMs, everyMs };
    this.#kv.put(NEXT_LOOK, this.#next);
  }

  async #poll(): Promise<void> {
    const { state } = this.#lifecycle;
    // A session in memory receives new output by itself.
    if (state.at !== "detached") return;
    const { record } = state;
    const { incarnation, session } = record.facts;
    const answer = await askBridge(this.#env, record.sandboxKey, { ask: "sessions", session });
    const isSilent = answer?.status !== 200 || answer.text === undefined;
    if (isSilent && (await isAwake(this.#env, record.sandboxKey))) return;
    const found = parseListings(answer?.text ?? "")?.find((one) => one.incarnation === incarnation);
    const isAsBefore = found?.state === "running" && found.offset === record.offset;
    // Fetches new output, the exit, or the loss.
    if (!isAsBefore) await this.#lifecycle.reaching.reach();
  }
}
