// Sits between a session and its shell, and traces each decision. Changes nothing.

import type { InputEntry } from "../input/input-queue.ts";
import type { Answerer } from "../terminal/answerer-history.ts";
import type { SignalName } from "../wire/constants.ts";
import type { PaneOrder } from "../wire/pane-messages.ts";
import { describeMessage, type Trace } from "../wire/trace.ts";
import type { ClientRecord, TerminalSize } from "./client-record.ts";
import type { ProcessSession } from "./process-session.ts";
import type { Upstream } from "./session-types.ts";

class TracedUpstream implements Upstream {
  readonly #upstream: Upstream;
  readonly #trace: Trace;

  constructor(upstream: Upstream, trace: Trace) {
    this.#upstream = upstream;
    this.#trace = trace;
  }

  attached(client: ClientRecord): void {
    const { id, name, role, delivery, acked } = client;
    this.#decided({ type: "attach", client: id, name, role, delivery, acked, received: client.input.received });
    this.#upstream.attached(client);
  }

  input(client: ClientRecord, entry: InputEntry): void {
    const where = entry.kind === "eof" ? { at: entry.end } : { from: entry.start, to: entry.end };
    this.#decided({ type: "take", what: entry.kind, client: client.id, ...where });
    this.#upstream.input(client, entry);
  }

  signal(client: ClientRecord, signal: SignalName): void {
    this.#decided({ type: "signal", client: client.id, signal });
    this.#upstream.signal(client, signal);
  }

  resize(client: ClientRecord | undefined, size: TerminalSize): void {
    this.#decided({ type: "resize", client: client?.id ?? "", ...size });
    this.#upstream.resize(client, size);
  }

  kill(client: ClientRecord): void {
    this.#decided({ type: "kill", client: client.id });
    this.#upstream.kill(client);
  }

  pane(client: ClientRecord, order: PaneOrder): void {
    this.#decided({ type: "pane", client: client.id, what: order.type, pane: order.pane ?? "" });
    this.#upstream.pane(client, order);
  }

  /** Not traced: the acknowledgement itself is, on arrival. */
  acked(client: ClientRecord): void {
    this.#upstream.acked(client);
  }

  departed(client: ClientRecord, how: "left" | "vanished"): void {
    this.#decided({ type: "depart", client: client.id, how });
    this.#upstream.departed(client, how);
  }

  holder(id: string): void {
    this.#decided({ type: "holder", id });
    this.#upstream.holder(id);
  }

  answerer(answerer: Answerer): boolean {
    this.#decided({ type: "answerer", id: answerer.id, offset: answerer.offset });
    return this.#upstream.answerer(answerer);
  }

  #decided(decision: Readonly<Record<string, unknown>>): void {
    this.#trace(`decides ${describeMessage(decision)}`);
  }
}

/** Returns `upstream` itself if nothing is traced. */
export function tracedUpstream(upstream: Upstream, trace: Trace | undefined): Upstream {
  return trace === undefined ? upstream : new TracedUpstream(upstream, trace);
}

const OTHERS = {
  none: "",
  throttled: ", reads less ahead: other clients are behind",
  waiting: ", waits for a client that would be skipped",
} as const;

/** Describes why a process is held or released. */
export function describePace({ flowLeader, log, pace }: ProcessSession): string {
  if (flowLeader === undefined) return `no client paces, the log ends at ${log.endOffset}`;
  return `${flowLeader.id} paces, ${log.endOffset - flowLeader.acked} of ${flowLeader.windowBytes} B not acknowledged${OTHERS[pace.pressure]}`;
}
