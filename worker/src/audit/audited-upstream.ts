// Stands between a session and its way to the process, and notes the traffic there: clients that come and go, the holder of the
// keyboard, signals, kills, ends of input, sizes. Changes nothing.

import type {
  Answerer,
  ClientRecord,
  InputEntry,
  PaneOrder,
  SignalName,
  TerminalSize,
  Upstream,
} from "sandbox-stdio/core";
import type { SessionAudit } from "./session-audit.ts";

export class AuditedUpstream implements Upstream {
  readonly #upstream: Upstream;
  readonly #audit: SessionAudit;
  #holder: string;

  constructor(upstream: Upstream, audit: SessionAudit, holder: string) {
    this.#upstream = upstream;
    this.#audit = audit;
    this.#holder = holder;
  }

  attached(client: ClientRecord): void {
    const { name, role, kind } = client;
    this.#audit.note({ type: "attach", name, role, kind }, client.id);
    this.#upstream.attached(client);
  }

  input(client: ClientRecord, entry: InputEntry): void {
    if (entry.kind === "eof") this.#audit.note({ type: "eof", offset: entry.end }, client.id);
    this.#upstream.input(client, entry);
  }

  signal(client: ClientRecord, signal: SignalName): void {
    this.#audit.note({ type: "signal", signal }, client.id);
    this.#upstream.signal(client, signal);
  }

  resize(client: ClientRecord | undefined, size: TerminalSize): void {
    if (client?.role === "driver") this.#audit.note({ type: "resize", ...size }, client.id);
    this.#upstream.resize(client, size);
  }

  kill(client: ClientRecord): void {
    this.#audit.note({ type: "kill" }, client.id);
    this.#upstream.kill(client);
  }

  /** Input that is typed into a pane is noted as input. */
  pane(client: ClientRecord, order: PaneOrder): void {
    if (order.type !== "stdin") {
      const action = order.type === "pane" ? order.action : order.type;
      this.#audit.note({ type: "pane", action, pane: order.pane ?? "" }, client.id);
    }
    this.#upstream.pane(client, order);
  }

  acked(client: ClientRecord): void {
    this.#upstream.acked(client);
  }

  departed(client: ClientRecord, how: "left" | "vanished"): void {
    this.#audit.departed(client, how);
    this.#upstream.departed(client, how);
  }

  holder(id: string): void {
    const from = this.#holder;
    this.#holder = id;
    if (from !== id) this.#audit.note({ type: "holder", from, to: id }, id || from);
    this.#upstream.holder(id);
  }

  /** Follows from the clients that are here and from the holder of the keyboard: not noted. */
  answerer(answerer: Answerer): boolean {
    return this.#upstream.answerer(answerer);
  }
}
