// The connections to one session in the bridge: plain clients, and the inner hop of a session object.

import type { InnerServer, ProcessFacts, ServerConnection } from "sandbox-stdio/core";

export class Attached {
  readonly #connections = new Set<ServerConnection>();
  #inner: InnerServer | undefined;

  /** The newest inner hop: a session object that comes back replaces its older connection. */
  get inner(): InnerServer | undefined {
    return this.#inner;
  }

  get isAnybody(): boolean {
    return this.#inner !== undefined || this.#connections.size > 0;
  }

  add(connection: ServerConnection): void {
    this.#connections.add(connection);
  }

  remove(connection: ServerConnection): void {
    this.#connections.delete(connection);
  }

  /** @param asked The offset that the session object goes on from. */
  setInner(inner: InnerServer, facts: ProcessFacts, asked: number | undefined): void {
    const old = this.#inner;
    this.#inner = inner;
    // The old one's clients vanish before the new one attaches them again.
    old?.close(4409, "replaced by a newer connection");
    inner.open(facts, asked);
  }

  removeInner(inner: InnerServer): void {
    if (this.#inner === inner) this.#inner = undefined;
  }

  /** Tells everybody that the bridge goes away. */
  shutDown(): void {
    for (const connection of this.#connections) connection.bye(1001, "the bridge is shutting down", "after");
    this.#inner?.close(1001, "the bridge is shutting down");
  }

  /** When the session object has been silent for too long: plain clients say nothing by themselves. */
  get silentAtMs(): number | undefined {
    return this.#inner?.silentAtMs;
  }

  dropSilent(nowMs: number): void {
    if (this.#inner !== undefined && this.#inner.silentAtMs <= nowMs) this.#inner.close(1001, "nothing was heard");
  }
}
