// The way of counts from where they were counted to the one object that adds them up, and to a data set of Analytics Engine.

import { log } from "../base/log.ts";
import type { Sums } from "./counts.ts";
import { refusals } from "./refusal-counts.ts";

export interface MetricsEnv {
  /** One object of it adds everything up. Absent: nothing is reported. */
  readonly COUNTERS?: DurableObjectNamespace<CounterCalls>;
  /** Secret, 16 characters or more, that reads `/metrics`. Default: nothing is counted. */
  readonly METRICS_TOKEN?: string;
  /** Shortest interval between reports of a session. Default: 60. */
  readonly METRICS_SECONDS?: string;
  /** A Workers Analytics Engine data set. */
  readonly METRICS?: AnalyticsEngineDataset;
}

export type Report = {
  readonly sums: Sums;
  /** A session's key and number of attached clients; undefined once its process has ended. */
  readonly session?: { readonly key: string; readonly clients: number | undefined };
};

export interface CounterCalls extends Rpc.DurableObjectBranded {
  report(report: Report): void;
  /** The text of `/metrics`. */
  read(): string;
}

/** The name of the object. */
export const COUNTER = "counts";
const DEFAULT_SECONDS = 60;
/** The same as of other secrets. */
const MIN_TOKEN_CHARACTERS = 16;

/** Whether the deployment has a reader for the reports. */
export function isCounted({ COUNTERS, METRICS_TOKEN = "" }: MetricsEnv): boolean {
  return COUNTERS !== undefined && METRICS_TOKEN.length >= MIN_TOKEN_CHARACTERS;
}

export function intervalMs({ METRICS_SECONDS = "" }: MetricsEnv): number {
  const seconds = Number(METRICS_SECONDS);
  return 1000 * (seconds > 0 ? seconds : DEFAULT_SECONDS);
}

/** Never fails: counts that don't arrive are missing, and the log says so. */
export async function report(env: MetricsEnv, told: Report): Promise<void> {
  if (!isCounted(env)) return;
  try {
    await env.COUNTERS?.getByName(COUNTER).report(told);
  } catch (error) {
    log.warn("counts could not be reported:", error);
  }
}

let reportedAtMs = 0;

/**
 * Reports refusals if due. They wait in the isolate's memory for a later request: an attack must not cost a call to the object for
 * each. An isolate that ends loses its last ones. @param waitUntil Of the current request.
 */
export function reportRefusals(env: MetricsEnv, nowMs: number, waitUntil: (promise: Promise<void>) => void): void {
  if (refusals.isEmpty || !isCounted(env) || nowMs < reportedAtMs + intervalMs(env)) return;
  reportedAtMs = nowMs;
  waitUntil(report(env, { sums: refusals.take() }));
}
