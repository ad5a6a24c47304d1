// Finds a session for a program's call, running or stored. Opens the inner hop as an attach does, and waits until all
// output that the bridge had at that time has arrived.

import type { InnerHello, OutputLog, RelaySession } from "sandbox-stdio/core";
import { refusalOf } from "../bridge/hop-refusal.ts";
import type { InnerHop } from "../bridge/inner-hop.ts";
import { lostReached, type Reached } from "../programs/operations/reached.ts";
import { until } from "../programs/operations/until.ts";
import type { SessionRecord } from "../records/session-store.ts";
import type { Refusal } from "../refusal/refusal.ts";
import type { ProcessState } from "./process-state.ts";

/** How long the missing part of the log may take, which follows the greeting. */
const CATCH_UP_MS = 10_000;
/** How long to wait for a bridge that was reachable before. */
const HOP_PATIENCE_MS = 3_000;

/** The process of a session object, as programs' calls need it. */
export interface ReachableProcess {
  readonly state: ProcessState;
  readonly session: RelaySession | undefined;
  readonly hop: InnerHop;
  keptLog(record: SessionRecord): OutputLog;
  /** Makes the session of a process that has ended. */
  restoreEnded(record: SessionRecord): RelaySession;
  /** The bridge does not know the process: it is lost. */
  lose(): void;
}

export class Reaching {
  readonly #process: ReachableProcess;
  /** Pending calls, told when the session leaves this object. */
  readonly #watchers = new Set<() => void>();
  #expected: { readonly end: number; readonly exit: boolean } = { end: 0, exit: false };

  constructor(process: ReachableProcess) {
    this.#process = process;
  }

  /** @returns undefined if there is no session. */
  async reach(): Promise<Reached | Refusal | undefined> {
    const { state } = this.#process;
    if (state.at === "absent") return undefined;
    if (state.at === "lost") return lostReached(state.record, this.#process.keptLog(state.record));
    if (state.at === "ended" && state.session === undefined) this.#process.restoreEnded(state.record);
    if (state.at === "detached") {
      const outcome = await this.#process.hop.open();
      if (outcome.kind === "refused" && outcome.status === 404) {
        this.#process.lose();
        return this.reach();
      }
      if (outcome.kind !== "open") return refusalOf(outcome);
    }
    const { session } = this.#process;
    if (session === undefined) return this.reach();
    // The inner hop broke while no client was attached, so the process may be gone.
    if (!session.hasEnded && !this.#process.hop.isOpen) await this.#askAgain();
    if (session.hasEnded && session.exit === undefined) return this.reach();
    const reached = this.#reached(session);
    const { end, exit } = this.#expected;
    const isHere = () => session.log.endOffset >= end && (!exit || session.exit !== undefined);
    if (!isHere()) await until(reached, Date.now() + CATCH_UP_MS, new AbortController().signal, isHere);
    return reached;
  }

  /** As {@link reach}, with a short time limit. */
  async reachSoon(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), HOP_PATIENCE_MS);
    });
    await Promise.race([this.reach(), late]);
    if (timer !== undefined) clearTimeout(timer);
  }

  /** Asks for the process of a session in memory, with a short time limit: its received output can be read anyway. */
  async #askAgain(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), HOP_PATIENCE_MS);
    });
    const outcome = await Promise.race([this.#process.hop.open(), late]);
    if (timer !== undefined) clearTimeout(timer);
    if (outcome?.kind === "refused" && outcome.status === 404) this.#process.lose();
  }

  /** The bridge has greeted and told the end of the process's output. */
  greeted({ live, hasExited }: InnerHello): void {
    this.#expected = { end: live, exit: hasExited === true };
  }

  /** The session has left this object. */
  left(): void {
    this.#expected = { end: 0, exit: false };
    for (const changed of [...this.#watchers]) changed();
  }

  #reached(session: RelaySession): Reached {
    const isHere = () => this.#process.session === session || session.hasEnded;
    return {
      incarnation: session.facts.incarnation,
      isTty: session.facts.tty,
      log: session.log,
      session,
      get state() {
        if (session.exit !== undefined) return "exited";
        return session.hasEnded ? "lost" : "running";
      },
      get exit() {
        return session.exit;
      },
      get isStale() {
        return !isHere();
      },
      watch: (changed, isKept) => {
        const unwatch = session.watch(changed, isKept);
        this.#watchers.add(changed);
        return () => {
          unwatch();
          this.#watchers.delete(changed);
        };
      },
    };
  }
}
