// A session as a program's call finds it: as it runs here, or as it was kept. Opens the inner hop as an attach does, and waits
// until all that the bridge had then has come.

import type { InnerHello, OutputLog, RelaySession } from "sandbox-stdio/core";
import { refusalOf } from "../bridge/hop-refusal.ts";
import type { InnerHop } from "../bridge/inner-hop.ts";
import { lostReached, type Reached } from "../programs/operations/reached.ts";
import { until } from "../programs/operations/until.ts";
import type { SessionRecord } from "../records/session-store.ts";
import type { Refusal } from "../refusal/refusal.ts";
import type { ProcessState } from "./process-state.ts";

/** The missing part of the log comes right behind a greeting. */
const CATCH_UP_MS = 10_000;
/** A bridge that was there before answers at once, if it does. */
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
  /** Calls that wait: told when the session is here no more. */
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
    // The inner hop broke while no client was attached: whether the process is still there is not known.
    if (!session.hasEnded && !this.#process.hop.isOpen) await this.#askAgain();
    if (session.hasEnded && session.exit === undefined) return this.reach();
    const reached = this.#reached(session);
    const { end, exit } = this.#expected;
    const isHere = () => session.log.endOffset >= end && (!exit || session.exit !== undefined);
    if (!isHere()) await until(reached, Date.now() + CATCH_UP_MS, new AbortController().signal, isHere);
    return reached;
  }

  /** The same, but not for long. */
  async reachSoon(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), HOP_PATIENCE_MS);
    });
    await Promise.race([this.reach(), late]);
    if (timer !== undefined) clearTimeout(timer);
  }

  /** Asks for the process of a session that runs here, but not for long: its received output can be read meanwhile. */
  async #askAgain(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), HOP_PATIENCE_MS);
    });
    const outcome = await Promise.race([this.#process.hop.open(), late]);
    if (timer !== undefined) clearTimeout(timer);
    if (outcome?.kind === "refused" && outcome.status === 404) this.#process.lose();
  }

  /** The bridge has greeted, and says how far the process has come. */
  greeted({ live, hasExited }: InnerHello): void {
    this.#expected = { end: live, exit: hasExited === true };
  }

  /** The session is here no more. */
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
