// The clients of a session: present, absent (may still return), and gone. Knows their order, not the messages to them.

import { MIB } from "../wire/constants.ts";
import type { Participant, ServerMessage } from "../wire/control.ts";
import type { ClientRecord } from "./client-record.ts";

/** Most absent clients that could still send input; the oldest are forgotten first. */
const MAX_ABSENT = 192;
/** Most waiting input of absent clients; beyond it the oldest are forgotten with their input. */
const MAX_ABSENT_INPUT_BYTES = 4 * MIB;
/** Most ids remembered of clients that can't be resumed; the oldest are forgotten first. */
const MAX_GONE = 256;

export class Clients {
  readonly #clients = new Map<string, ClientRecord>();
  /** Ids of clients that left or were forgotten: their claims about their input can't be checked. */
  readonly #gone = new Set<string>();
  #order = 0;

  /** Whether no client has ever attached. */
  get isUnused(): boolean {
    return this.#order === 0;
  }

  /** All clients that are present or may return. */
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

  /** Takes the next number in the order of arrival. */
  nextOrder(): number {
    return this.#order++;
  }

  get order(): number {
    return this.#order;
  }

  /** Continues the numbering of an earlier life. */
  continueFrom(order: number): void {
    this.#order = order;
  }

  add(client: ClientRecord): void {
    this.#clients.set(client.id, client);
  }

  /** Makes the client unresumable: only its id is kept. */
  remove(client: ClientRecord): void {
    client.presence = { phase: "gone" };
    this.#clients.delete(client.id);
    this.noteGone(client.id);
  }

  noteGone(id: string): void {
    this.#gone.delete(id);
    this.#gone.add(id);
    for (const oldest of this.#gone) {
      if (this.#gone.size <= MAX_GONE) return;
      this.#gone.delete(oldest);
    }
  }

  /** Clients that are attached, or within their grace period. */
  *present(): IterableIterator<ClientRecord> {
    for (const client of this.#clients.values()) if (client.isPresent) yield client;
  }

  /** Includes programs that call. */
  get presentCount(): number {
    let count = 0;
    for (const client of this.#clients.values()) if (client.isPresent) count += 1;
    return count;
  }

  /** Clients with a connection, here or at the far end of the inner hop. Programs don't count. */
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

  /** Whether a client other than a program is present: calls take no places and delay nothing. */
  get isAttended(): boolean {
    for (const client of this.#clients.values()) if (client.isPresent && !client.isProgram) return true;
    return false;
  }

  /** Count of programs that ever wrote; they are never forgotten. */
  get programCount(): number {
    let count = 0;
    for (const client of this.#clients.values()) if (client.isProgram) count += 1;
    return count;
  }

  get participants(): Participant[] {
    return [...this.present()].sort((a, b) => a.order - b.order).map((client) => client.participant);
  }

  /** Sends to all clients greeted by this end. */
  tellAll(message: ServerMessage): void {
    for (const client of this.#clients.values()) client.greeted?.peer.send(message);
  }

  /** Forgets the oldest absent clients beyond the limits of count and waiting input. */
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
