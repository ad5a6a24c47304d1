// Finds a session for a program's call, running or stored. Opens the inner hop as an attach does, and waits until all
// output that the bridge had at that time has arrived.

import type { InnerHello, OutputLog, RelaySession } from "sandbox-stdio/core";
import { inTime } from "../base/in-time.ts";
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
const NO_ANSWER = { kind: "unreachable", message: "no answer in time", retryAfterSeconds: 1 } as const;

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

  /**
   * @param patienceMs How long to wait for the bridge's greeting; the hop is opened for the next call all the same. Absent: as long as
   *   the hop does. @returns undefined if there is no session.
   */
  async reach(patienceMs?: number): Promise<Reached | Refusal | undefined> {
    const { state } = this.#process;
    if (state.at === "absent") return undefined;
    if (state.at === "lost") return lostReached(state.record, this.#process.keptLog(state.record));
    if (state.at === "ended" && state.session === undefined) this.#process.restoreEnded(state.record);
    if (state.at === "detached") {
      const opening = this.#process.hop.open();
      const outcome = patienceMs === undefined ? await opening : ((await inTime(opening, patienceMs)) ?? NO_ANSWER);
      if (outcome.kind === "refused" && outcome.status === 404) {
        this.#process.lose();
        return this.reach(patienceMs);
      }
      if (outcome.kind !== "open") return refusalOf(outcome);
    }
    const { session } = this.#process;
    if (session === undefined) return this.reach(patienceMs);
    // The inner hop broke while no client was attached, so the process may be gone.
    if (!session.hasEnded && !this.#process.hop.isOpen) await this.#askAgain();
    if (session.hasEnded && session.exit === undefined) return this.reach(patienceMs);
    const reached = this.#reached(session);
    const { end, exit } = this.#expected;
    const isHere = () => session.log.endOffset >= end && (!exit || session.exit !== undefined);
    if (!isHere()) await until(reached, Date.now() + CATCH_UP_MS, new AbortController().signal, isHere);
    return reached;
  }

  /** As {@link reach}, with a short time limit. */
  async reachSoon(): Promise<void> {
    await inTime(this.reach(), HOP_PATIENCE_MS);
  }

  /** Asks for the process of a session in memory, with a short time limit: its received output can be read anyway. */
  async #askAgain(): Promise<void> {
    const outcome = await inTime(this.#process.hop.open(), HOP_PATIENCE_MS);
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
