// Limits audit events that a client can repeat without end: refusals, reconnects, a switch flipped back and forth. The first of a
// kind are recorded at once; later ones are combined into one record. The caller passes the time; stores nothing.

import type { AuditEvent } from "./record.ts";

const REPEATABLE = [
  "refused",
  "input",
  "attach",
  "detach",
  "closed",
  "secret",
  "holder",
  "signal",
  "resize",
  "pane",
] as const;

export type RefusalEvent = AuditEvent & { readonly type: (typeof REPEATABLE)[number] };

/** Whether a client may cause it without end. Input that was typed is on record piece by piece. */
export function isRepeatable(event: AuditEvent): event is RefusalEvent {
  if (event.type === "input") return event.refused === true;
  return (REPEATABLE as readonly string[]).includes(event.type);
}

/** Events that say how the input after them is meant: on record before that input. */
const BEFORE_INPUT: ReadonlySet<RefusalEvent["type"]> = new Set(["input", "secret", "holder"]);

/** Repeats of an event within this time are one record. */
export const RUN_MS = 10_000;
/** How many events of a run get a separate record. Refusals get one. */
const OWN_RECORDS = 10;
/** From this many runs on, finished ones are searched for. */
const MANY_RUNS = 256;

type Run = { sinceMs: number; ownLeft: number; waiting: RefusalEvent | undefined };

export class Refusals {
  readonly #runs = new Map<string, Run>();
  #waitingRuns = 0;

  /** @returns The event to put on record now; undefined if it waits in its run. */
  note(event: RefusalEvent, nowMs: number): RefusalEvent | undefined {
    if (this.#runs.size >= MANY_RUNS) this.#forgetIdle(nowMs);
    const key = keyOf(event);
    const run = this.#runs.get(key);
    if (run === undefined || (run.waiting === undefined && !isWithin(run, nowMs))) {
      const isRefusal = event.type === "refused" || event.type === "input";
      this.#runs.set(key, { sinceMs: nowMs, ownLeft: isRefusal ? 0 : OWN_RECORDS - 1, waiting: undefined });
      return event;
    }
    if (run.ownLeft > 0) {
      run.ownLeft -= 1;
      return event;
    }
    if (run.waiting === undefined) this.#waitingRuns += 1;
    run.waiting = run.waiting === undefined ? event : merged(run.waiting, event);
    return undefined;
  }

  /** Whether anything waits for {@link take}. */
  get isWaiting(): boolean {
    return this.#waitingRuns > 0;
  }

  /** Removes waiting events: all, those of finished runs, those of one client, or those that belong before its input. */
  take(nowMs: number, of: "all" | "over" | { readonly client: string; readonly beforeInput?: true }): RefusalEvent[] {
    const taken: RefusalEvent[] = [];
    if (!this.isWaiting) return taken;
    for (const run of this.#runs.values()) {
      const { waiting } = run;
      if (waiting === undefined) continue;
      if (of === "over" && isWithin(run, nowMs)) continue;
      if (typeof of === "object" && waiting.client !== of.client) continue;
      if (typeof of === "object" && of.beforeInput && !BEFORE_INPUT.has(waiting.type)) continue;
      taken.push(waiting);
      this.#waitingRuns -= 1;
      run.sinceMs = nowMs;
      run.ownLeft = 0;
      run.waiting = undefined;
    }
    return taken;
  }

  #forgetIdle(nowMs: number): void {
    for (const [key, run] of this.#runs) {
      if (run.waiting === undefined && !isWithin(run, nowMs)) this.#runs.delete(key);
    }
  }
}

/** A clock that was set back ends a run, too. */
function isWithin({ sinceMs }: Run, nowMs: number): boolean {
  return nowMs >= sinceMs && nowMs < sinceMs + RUN_MS;
}

/** The owner and the reason of the event, not its words: a client may choose those. */
function keyOf(event: RefusalEvent): string {
  const whose = event.client ?? `${event.tenant} ${event.user} ${event.address}`;
  return JSON.stringify([
    whose,
    event.client === undefined,
    event.type === "input" ? inputKindOf(event) : kindOf(event),
  ]);
}

/** A client chooses what it calls a pane: refused input of all panes is one run. */
function inputKindOf({ pane }: RefusalEvent & { readonly type: "input" }): string {
  return pane === undefined ? "" : "pane";
}

/** A client chooses the code that it closes with. */
function kindOf(event: Exclude<RefusalEvent, { readonly type: "input" }>): string {
  if (event.type === "refused") return `refused ${event.error}`;
  if (event.type === "pane") return `pane ${event.action}`;
  if (event.type === "signal") return `signal ${event.signal}`;
  return event.type === "closed" ? `closed ${event.code}` : event.type;
}

function merged(run: RefusalEvent, event: RefusalEvent): RefusalEvent {
  const times = (run.times ?? 1) + 1;
  const until = event.time;
  if (run.type === "input" && event.type === "input")
    return { ...run, length: run.length + event.length, times, until };
  // How it stands after all of them.
  if (run.type === "secret" && event.type === "secret") return { ...run, on: event.on, times, until };
  if (run.type === "holder" && event.type === "holder") return { ...run, to: event.to, times, until };
  if (run.type === "resize" && event.type === "resize")
    return { ...run, cols: event.cols, rows: event.rows, times, until };
  return { ...run, times, until };
}
