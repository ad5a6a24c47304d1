// Reports refusals. Most come before any object is reached, and an attack must not cost an object's call each: counts
// wait in the isolate's memory for a request that comes later. An isolate that ends takes its last ones along.

import { refusals } from "./refusal-counts.ts";
import { intervalMs, isCounted, type MetricsEnv, report } from "./report.ts";

let reportedAtMs = 0;

/** Reports them, where that is due. @param waitUntil Of the request at hand. */
export function reportRefusals(env: MetricsEnv, nowMs: number, waitUntil: (promise: Promise<void>) => void): void {
  if (refusals.isEmpty || !isCounted(env) || nowMs < reportedAtMs + intervalMs(env)) return;
  reportedAtMs = nowMs;
  waitUntil(report(env, { sums: refusals.take() }));
}
