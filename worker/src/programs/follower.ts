// A program that reads a process's output by calls, and that the process waits for: a lossless driver without a connection, which
// acknowledges what its calls say that they have. It goes when no call has come for a while.

import type { ClientRecord, Peer, RelaySession, ServerMessage } from "sandbox-stdio/core";

/** How long the process waits for a reader that does not call (E4). */
const PATIENCE_MS = 60_000;

export class Follower implements Peer {
  readonly #session: RelaySession;
  readonly #left: () => void;
  #client: ClientRecord | undefined;
  /** Where the output goes on that it was sent. */
  #sentTo = 0;
  /** The caller has the output before this, which it reads from the log: some of it may not have been sent to this peer yet. */
  #has = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param left Called once it is attached no more. */
  constructor(session: RelaySession, left: () => void) {
    this.#session = session;
    this.#left = left;
  }

  /** @returns Whether it is attached. */
  attach(name: string, offset: number): boolean {
    const how = { role: "driver", isAdmin: false, delivery: "lossless", acknowledges: true, canResume: false } as const;
    const request = { ...how, id: `follower-${crypto.randomUUID()}`, name, offset, answersQueries: false };
    const result = this.#session.attach({ ...request, isResume: false, resume: "" }, this);
    if (result.ok) this.#client = result.client;
    if (this.#client?.isAttached === true) this.called(offset);
    return result.ok;
  }

  isOf(session: RelaySession | undefined): boolean {
    return this.#session === session;
  }

  /** A call has come, whose caller has the output before `offset`, if that is known. */
  called(offset: number | undefined): void {
    const client = this.#client;
    if (client === undefined) return;
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.leave(), PATIENCE_MS);
    this.#has = Math.max(this.#has, offset ?? 0);
    this.#ack();
  }

  #ack(): void {
    const client = this.#client;
    if (client?.isAttached === true) this.#session.ack(client, Math.min(this.#has, this.#sentTo));
  }

  leave(): void {
    const client = this.#client;
    if (client === undefined) return;
    this.#gone();
    this.#session.leave(client);
  }

  // ---- As a peer: the log has what it is sent ----------------------------------------------------------------------

  send(message: ServerMessage): void {
    if (message.type === "hello") this.#sentTo = message.offset;
    if (message.type === "gap") this.#sentTo = message.to;
  }

  sendOutput(frame: Uint8Array): void {
    this.#sentTo += frame.length - 1;
    // What the caller has already: nothing else would acknowledge it before the caller comes again, for whom the process waits.
    if (this.#has >= this.#sentTo) queueMicrotask(() => this.#ack());
  }

  sendSnapshot(): void {
    // The stream begins at an offset.
  }

  isWritable(): boolean {
    return true;
  }

  bye(): void {
    this.#gone();
  }

  finish(): void {
    // Not from within what the session says to it.
    queueMicrotask(() => this.leave());
  }

  #gone(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    if (this.#client === undefined) return;
    this.#client = undefined;
    this.#left();
  }
}
