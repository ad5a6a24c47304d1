// The subject of an operation: the log of a session and the fate of its process, live or from the store.

import { defined, type ExitStatus, type OutputLog, type RelaySession } from "sandbox-stdio/core";
import type { SessionRecord } from "../../records/session-store.ts";

export type ProcessState = "running" | "exited" | "lost";

/** A session's output, to be read. */
export interface Reached {
  readonly incarnation: string;
  readonly isTty: boolean;
  readonly log: OutputLog;
  /** The state of the process now; it also tells whether all output of the process is in the log. */
  readonly state: ProcessState;
  readonly exit: ExitStatus | undefined;
  /** The session that the output comes by; absent of a lost process. */
  readonly session: RelaySession | undefined;
  /** Whether this object holds it no more, and why can't be told: the caller is to ask again. */
  readonly isStale: boolean;
  /**
   * Calls back when something of this may have changed. @param isKept It keeps no session from being parked.
   * @returns To be called at the end.
   */
  watch(changed: () => void, isKept?: boolean): () => void;
}

/** The fields that every answer about a process has (D1, U2). */
export function stateOf({ state, exit }: Reached): { state: ProcessState; exit?: ExitStatus } {
  return { state, ...defined({ exit }) };
}

/** For a process that ended here or was lost before: nothing changes. */
export function lostReached({ facts }: SessionRecord, log: OutputLog): Reached {
  return {
    incarnation: facts.incarnation,
    isTty: facts.tty,
    log,
    state: "lost",
    exit: undefined,
    session: undefined,
    isStale: false,
    watch: () => () => undefined,
  };
}
