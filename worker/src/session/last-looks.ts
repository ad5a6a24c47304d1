// The last screen and commands of a terminal that may be lost with its container at any moment (X7): asked for at intervals while
// there is output, and before the inner hop is released. Keeps the newest answer; knows no sockets.

import type { Question, RelaySession } from "sandbox-stdio/core";
import type { InnerHop } from "../bridge/inner-hop.ts";
import { askProcess } from "../programs/operations/ask-process.ts";
import type { SessionStore } from "../records/session-store.ts";

/** The maximum age of a screen while there is output. */
const INTERVAL_MS = 5_000;
/** Rows above the screen. All of them would cost too much at this interval while a process floods its terminal. */
const SCROLLBACK = 1_000;

const SCREEN: Question = { about: "screen", scrollback: SCROLLBACK, runs: true, ansi: true };
const COMMANDS: Question = { about: "commands" };

export class LastLooks {
  readonly #current: () => RelaySession | undefined;
  readonly #hop: Pick<InnerHop, "isOpen" | "client">;
  readonly #store: Pick<SessionStore, "keep">;
  readonly #looked: () => void;
  /** Answers that are not stored yet. */
  readonly #news = new Map<"screen" | "commands", Uint8Array>();
  #session: RelaySession | undefined;
  /** The end of the log at the last look. */
  #offset = -1;
  #nextMs = Number.NEGATIVE_INFINITY;
  #isLooking = false;

  /** @param current The session, if there is one. @param looked Called when an awaited look is over. */
  constructor(
    current: () => RelaySession | undefined,
    hop: Pick<InnerHop, "isOpen" | "client">,
    store: Pick<SessionStore, "keep">,
    looked: () => void,
  ) {
    this.#current = current;
    this.#hop = hop;
    this.#store = store;
    this.#looked = looked;
  }

  /** When the next look is due; infinity for never. */
  nextTickMs(): number {
    const session = this.#current();
    if (session === undefined || this.#isLooking || !this.#isDue(session)) return Number.POSITIVE_INFINITY;
    const hasFirstOutput = this.#offset <= 0 && session.log.endOffset > 0;
    return session !== this.#session || hasFirstOutput ? Number.NEGATIVE_INFINITY : this.#nextMs;
  }

  tick(nowMs: number): void {
    const session = this.#current();
    if (session === undefined || this.nextTickMs() > nowMs) return;
    if (session !== this.#session) {
      // A look costs the bridge an emulator, so the first waits for output.
      this.#session = session;
      this.#offset = -1;
      this.#nextMs = nowMs + INTERVAL_MS;
    }
    if (this.nextTickMs() <= nowMs) this.#look(session, nowMs);
  }

  /** Whether the session's newest state has been fetched or can't be. Otherwise starts fetching it. */
  isDone(session: RelaySession, nowMs: number): boolean {
    if (this.#isLooking) return false;
    if (!this.#isDue(session)) return true;
    this.#look(session, nowMs);
    return false;
  }

  /** Stores the answers that are not stored yet. */
  store(): void {
    for (const [name, json] of this.#news) this.#store.keep(name, json);
    this.#news.clear();
  }

  /** Another process takes the name. */
  forget(): void {
    this.#news.clear();
    this.#session = undefined;
  }

  #isDue(session: RelaySession | undefined): boolean {
    if (session === undefined || !session.facts.tty || session.hasEnded || !this.#hop.isOpen) return false;
    return session !== this.#session || session.log.endOffset !== this.#offset;
  }

  #look(session: RelaySession, nowMs: number): void {
    this.#session = session;
    this.#offset = session.log.endOffset;
    this.#nextMs = nowMs + INTERVAL_MS;
    this.#isLooking = true;
    const ask = async (name: "screen" | "commands", question: Question) => {
      const json = await askProcess(this.#hop.client, question);
      if (json !== undefined && this.#session === session) this.#news.set(name, json);
    };
    void Promise.all([ask("screen", SCREEN), ask("commands", COMMANDS)]).finally(() => {
      this.#isLooking = false;
      this.#looked();
    });
  }
}
