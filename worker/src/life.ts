// The lives of sessions and containers, as one line of JSON for each turn, and as a data point where a data set is bound. Ids and
// numbers only: nothing that a person typed or a process wrote.

import { log } from "./log.ts";

export interface LifeEnv {
  /** A Workers Analytics Engine data set. */
  readonly LIVES?: AnalyticsEngineDataset;
}

export type LifeEvent =
  | "session.started"
  | "session.exited"
  | "session.lost"
  | "container.started"
  | "container.failed"
  | "container.slept"
  | "container.hung";

export interface LifeFacts {
  /** The sandbox's key: the name of its object. */
  readonly sandbox: string;
  readonly session?: string;
  readonly incarnation?: string;
  /** Of an exit. */
  readonly code?: number;
  /** How long that took, or how long it had lived. */
  readonly ms?: number;
  /** How much it had written. */
  readonly bytes?: number;
}

/** What somebody on duty has to know of is said at the level of warnings, the rest at that of information. */
const GRAVE: readonly LifeEvent[] = ["session.lost", "container.failed", "container.hung"];

export function noteLife({ LIVES }: LifeEnv, event: LifeEvent, facts: LifeFacts): void {
  const line = JSON.stringify({ event, ...facts });
  if (GRAVE.includes(event)) log.warn(line);
  else log.info(line);
  const { sandbox, session = "", incarnation = "", code = 0, ms = 0, bytes = 0 } = facts;
  LIVES?.writeDataPoint({ indexes: [sandbox], blobs: [event, session, incarnation], doubles: [code, ms, bytes] });
}
