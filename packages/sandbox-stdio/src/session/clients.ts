// The clients of a session: those that are here, those that are gone but may come back, and those that can't. Knows their
// order, not the messages to them.

import { MIB } from "../wire/constants.ts";
import type { Participant, ServerMessage } from "../wire/control.ts";
import type { ClientRecord } from "./client-record.ts";

/** Clients that are gone but could still send input again: the oldest are forgotten beyond this many. */
const MAX_ABSENT = 192;
/** Input of theirs that still waits: beyond this the oldest are forgotten with their input. */
const MAX_ABSENT_INPUT_BYTES = 4 * MIB;
/** Clients of which only this much is remembered, that they can't be resumed: the newest so many. */
const MAX_GONE = 256;

export class Clients {
  readonly #clients = new Map<string, ClientRecord>();
  /** Ids of clients that have left, or are forgotten: their claims about their input can't be checked. */
  readonly #gone = new Set<string>();
  #order = 0;

  /** Whether no client has ever attached. */
  get isUnused(): boolean {
    return this.#order === 0;
  }

  /** All clients that are here, or may come back. */
  get all(): IterableIterator<ClientRecord> {
    return this.#clients.values();
  }

  get gone(): ReadonlySet<string> {
    return this.#gone;
  }

  get(id: string): ClientRecord | undefined {
    return this.#clients.get(id);
  }

  has(id: string): boolean {
    return this.#clients.has(id);
  }

  /** The place of the next client in the order of arrival. */
  nextOrder(): number {
    return this.#order++;
  }

  get order(): number {
    return this.#order;
  }

  /** So many have come in an earlier life. */
  goOnFrom(order: number): void {
    this.#order = order;
  }

  add(client: ClientRecord): void {
    this.#clients.set(client.id, client);
  }

  /** It can't be resumed: only its id is still known. */
  remove(client: ClientRecord): void {
    client.presence = { phase: "gone" };
    this.#clients.delete(client.id);
    this.noteGone(client.id);
  }

  /** This client can't be resumed. */
  noteGone(id: string): void {
    this.#gone.delete(id);
    this.#gone.add(id);
    for (const oldest of this.#gone) {
      if (this.#gone.size <= MAX_GONE) return;
      this.#gone.delete(oldest);
    }
  }

  /** Clients that are attached, or vanished within their grace. */
  *present(): IterableIterator<ClientRecord> {
    for (const client of this.#clients.values()) if (client.isPresent) yield client;
  }

  get presentCount(): number {
    let count = 0;
    for (const client of this.#clients.values()) if (client.isPresent) count += 1;
    return count;
  }

  get attachedCount(): number {
    let count = 0;
    for (const client of this.#clients.values()) {
      if (client.isAttached && !client.isProgram) count += 1;
    }
    return count;
  }

  get attachedParticipants(): Participant[] {
    const attached = [...this.#clients.values()].filter((client) => client.isAttached && !client.isProgram);
    return attached.sort((a, b) => a.order - b.order).map((client) => client.participant);
  }

  /** Whether a client is here that is no program: calls take no places and hold nothing up. */
  get isAttended(): boolean {
    for (const client of this.#clients.values()) if (client.isPresent && !client.isProgram) return true;
    return false;
  }

  /** Programs that ever wrote: they are never forgotten. */
  get programCount(): number {
    let count = 0;
    for (const client of this.#clients.values()) if (client.isProgram) count += 1;
    return count;
  }

  get participants(): Participant[] {
    return [...this.present()].sort((a, b) => a.order - b.order).map((client) => client.participant);
  }

  /** Tells all clients that were greeted by this end. */
  tellAll(message: ServerMessage): void {
    for (const client of this.#clients.values()) client.greeted?.peer.send(message);
  }

  /** Only so many clients that are gone are remembered, and only so much of their input that still waits. */
  forgetAbsent(): void {
    const absent = [...this.#clients.values()].filter(
      (client) => client.presence.phase === "absent" && !client.isProgram,
    );
    let bytes = absent.reduce((sum, client) => sum + client.input.queuedBytes, 0);
    let count = absent.length;
    for (const client of absent) {
      if (count <= MAX_ABSENT && bytes <= MAX_ABSENT_INPUT_BYTES) return;
      count -= 1;
      bytes -= client.input.queuedBytes;
      client.input.abandon();
      this.remove(client);
    }
  }
}
