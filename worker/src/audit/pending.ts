// Events and input that wait to be stored, and their form as records: events as they are, input of one batch as one of them.

import type { InputBatch } from "./input-batch.ts";
import type { Actor, AuditEvent, Place } from "./record.ts";

export type Pending =
  | AuditEvent
  | { readonly time: string; readonly batch: InputBatch; readonly who: Partial<Actor> & Partial<Place> };

/** The events of all that waits, and how far each client's counted input goes in them. Ends their batches. */
export function finished(waiting: readonly Pending[]): { events: AuditEvent[]; inputEnds: Map<string, number> } {
  const events: AuditEvent[] = [];
  const inputEnds = new Map<string, number>();
  for (const pending of waiting) {
    if ("batch" in pending) {
      const { time, batch, who } = pending;
      events.push({ time, ...who, client: batch.client, ...batch.finish() });
      if (batch.pane === undefined) inputEnds.set(batch.client, batch.end);
      continue;
    }
    events.push(pending);
    const { client } = pending;
    if (pending.type !== "input" || !pending.refused || client === undefined || pending.pane !== undefined) continue;
    inputEnds.set(client, Math.max(inputEnds.get(client) ?? 0, pending.offset + pending.length));
  }
  return { events, inputEnds };
}
