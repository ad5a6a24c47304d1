// The lives of sessions and containers, as one line of JSON for each turn, and as a data point where a data set is bound. Ids and
// numbers only: nothing that a person typed or a process wrote.

import { log } from "../base/log.ts";
import { Counts } from "../metrics/counts.ts";
import { type MetricsEnv, report } from "../metrics/report.ts";

export interface LifeEnv extends MetricsEnv {
  /** A Workers Analytics Engine data set. */
  readonly LIVES?: AnalyticsEngineDataset;
}

export type LifeEvent =
  | "session.started"
  | "session.exited"
  | "session.lost"
  | "client.attached"
  | "container.started"
  | "container.failed"
  | "container.slept"
  | "container.hung";

/** The one schema of these lines. Absent: does not apply, or is not known there. */
export interface LifeFacts {
  /** The request that led to it, where one did: the platform's id (`CF-Ray`), or one that was made. */
  readonly request?: string | undefined;
  /** The tenant's key, a digest. */
  readonly tenant?: string | undefined;
  /** The sandbox's key: the name of its object. */
  readonly sandbox: string;
  readonly session?: string;
  readonly incarnation?: string;
  /** Exit code. */
  readonly code?: number;
  /** How long that took, or how long it had lived. */
  readonly ms?: number;
  /** How much it had written. */
  readonly bytes?: number;
}

/** What somebody on duty has to know of is said at the level of warnings, the rest at that of information. */
const GRAVE: readonly LifeEvent[] = ["session.lost", "container.failed", "container.hung"];

export function noteLife(env: LifeEnv, event: LifeEvent, facts: LifeFacts): void {
  const line = JSON.stringify({ event, ...facts });
  if (GRAVE.includes(event)) log.warn(line);
  else log.info(line);
  const { sandbox, session = "", incarnation = "", tenant = "", request = "", code = 0, ms = 0, bytes = 0 } = facts;
  env.LIVES?.writeDataPoint({
    indexes: [sandbox],
    blobs: [event, session, incarnation, tenant, request],
    doubles: [code, ms, bytes],
  });
  if (event === "client.attached") return; // Sessions count these, and tell them together.
  const counts = new Counts();
  counts.add(event);
  if (event === "container.started") counts.observe("cold_start", ms);
  void report(env, { sums: counts.take() });
}
