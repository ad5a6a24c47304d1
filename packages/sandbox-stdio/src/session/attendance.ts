// Clients come, lose their connections, and go. Keeps how each one is here, and tells the others, the keyboard and upstream.

import type { InputQueue } from "../input/input-queue.ts";
import type { Attempt } from "../wire/attempt.ts";
import {
  CLOSE,
  MAX_UNACKED_INPUT_BYTES,
  PROGRAM_GRACE_MS,
  PUT_ASIDE_GRACE_MS,
  RESUME_GRACE_MS,
} from "../wire/constants.ts";
import type { AnswererChoice } from "./answerer-choice.ts";
import { ClientRecord, type ClientWho, type TerminalSize } from "./client-record.ts";
import type { Clients } from "./clients.ts";
import type { Keyboard } from "./keyboard.ts";
import { distinctName } from "./names.ts";
import type { Pace } from "./pace.ts";
import type { Peer, Presence } from "./presence.ts";
import type { Upstream } from "./session-types.ts";

/** The facts that a client brings when it attaches. */
export type Arrival = ClientWho & {
  readonly id: string;
  readonly size?: TerminalSize;
  readonly attempt?: Attempt;
};

export interface AttendancePorts {
  readonly clients: Clients;
  readonly keyboard: Keyboard;
  readonly pace: Pace;
  readonly answererChoice: AnswererChoice;
  readonly upstream: Upstream;
  readonly now: () => number;
  /** The most that a client may have. Absent: what any client has. */
  readonly inputWindow: number | undefined;
  /** @see SessionOptions.creator */
  readonly creator: string;
  hasExited(): boolean;
  /** The input of a client that is new here. */
  newInput(): InputQueue;
  /** The keyboard became free: all are to be told. */
  keyboardFreed(): void;
  /** A client has come or gone. */
  changed(): void;
}

export class Attendance {
  readonly #ports: AttendancePorts;
  #creator: string;

  constructor(ports: AttendancePorts) {
    this.#ports = ports;
    this.#creator = ports.creator;
  }

  /** The first driver that ever attached; "" before that. */
  get creator(): string {
    return this.#creator;
  }

  /** A client is here in this way. If it had a connection, that one ends. */
  admit(arrival: Arrival, presence: Presence): ClientRecord {
    const { clients, keyboard, upstream } = this.#ports;
    const old = clients.get(arrival.id);
    const { peer: replaced, attempt: lastAttempt } = old ?? {};
    const wasPresent = old?.isPresent === true;
    const who = { ...arrival, name: this.#nameOf(arrival, old) };
    const order = wasPresent ? old.order : clients.nextOrder();
    const client = old ?? new ClientRecord(arrival.id, this.#ports.newInput());
    client.attach(who, order, presence);
    client.size = arrival.size ?? client.size;
    client.attempt = arrival.attempt ?? lastAttempt;
    if (this.#creator === "" && client.role === "driver") this.#creator = client.id;
    client.inputWindow = this.#inputWindowOf(client, arrival.keeps);
    // It reads of itself in its own greeting.
    if (!wasPresent) clients.tellAll({ type: "join", participant: client.participant });
    clients.add(client);
    if (replaced !== undefined) dismissReplaced(replaced, lastAttempt, arrival.attempt);
    const { holder } = keyboard;
    keyboard.join(client);
    // In this order: the bridge rejects an unknown holder.
    upstream.attached(client);
    if (keyboard.holder !== holder) upstream.holder(keyboard.holder);
    this.#ports.changed();
    return client;
  }

  /** One client of a session has more: what may wait of all of them together stays small. */
  #inputWindowOf({ id, role, acknowledges }: ClientRecord, keeps = 0): number {
    const { inputWindow: most = MAX_UNACKED_INPUT_BYTES } = this.#ports;
    const mayHaveMore = id === this.#creator && role === "driver" && acknowledges;
    return mayHaveMore ? Math.max(MAX_UNACKED_INPUT_BYTES, Math.min(keeps, most)) : MAX_UNACKED_INPUT_BYTES;
  }

  /** The other clients know it by its old name, unless another client took that while it was away. */
  #nameOf({ name }: ClientWho, old: ClientRecord | undefined): string {
    if (old?.isPresent) return old.name;
    const others = [...this.#ports.clients.present()].map((client) => client.name);
    return distinctName(old?.name || name, others);
  }

  /** @see SessionCore.leave */
  leave(client: ClientRecord): void {
    if (client.presence.phase === "gone") return;
    this.#ports.pace.noteHeld(client);
    this.#ports.clients.remove(client);
    this.#depart(client, "left");
  }

  /** @see SessionCore.vanish */
  vanish(client: ClientRecord, isSure: boolean): void {
    if (!client.isAttached) return;
    if (!client.canResume) {
      this.leave(client);
      return;
    }
    client.feed.clear();
    this.#loseConnection(client, false);
    if (!client.isActive && !isSure) this.expire(client);
    else if (!this.#ports.hasExited()) this.#ports.answererChoice.choose();
  }

  /** @see SessionCore.disconnect */
  disconnect(client: ClientRecord, how: "left" | "vanished" | "put aside"): void {
    this.#part(client, how === "left");
    if (how === "put aside" && client.presence.phase === "vanished") {
      client.presence = { ...client.presence, graceMs: PUT_ASIDE_GRACE_MS };
    }
  }

  #part(client: ClientRecord, isLeft: boolean): void {
    if (client.feed.isEmpty || !client.isAttached) {
      if (isLeft) this.leave(client);
      else this.vanish(client, false);
      return;
    }
    this.#loseConnection(client, isLeft || !client.canResume);
    this.#ports.answererChoice.choose();
  }

  /** @see ProcessSession.park */
  park(client: ClientRecord, graceMs: number): void {
    this.#loseConnection(client, false);
    if (client.presence.phase === "vanished") client.presence = { ...client.presence, graceMs };
  }

  #loseConnection(client: ClientRecord, isLeaving: boolean): void {
    const { acked, windowBytes } = client;
    client.presence = { phase: "vanished", sinceMs: this.#ports.now(), acked, windowBytes, isLeaving };
  }

  /** More of the client's waiting input has been taken in. */
  fed(client: ClientRecord): void {
    const { presence } = client;
    if (presence.phase !== "vanished") return;
    client.presence = { ...presence, sinceMs: this.#ports.now() };
    if (presence.isLeaving && client.feed.isEmpty) this.leave(client);
  }

  /** The client's grace has passed: the others are told that it left. Its place in the input is remembered. */
  expire(client: ClientRecord): void {
    if (!client.isPresent) return;
    this.#ports.pace.noteHeld(client);
    client.presence = { phase: "absent", acked: client.acked };
    this.#depart(client, "vanished");
    this.#ports.clients.forgetAbsent();
  }

  #depart(client: ClientRecord, how: "left" | "vanished"): void {
    const { clients, keyboard, answererChoice, upstream } = this.#ports;
    client.feed.clear();
    const wasFreed = keyboard.leave(client.id, client.isActive);
    // A client that never took part may have gone before its greeting. Then the next client counts as the first.
    if (!client.isActive && this.#creator === client.id) this.#creator = "";
    // After the exit all clients are told that and go: that the first has gone is no news to those behind it.
    if (!this.#ports.hasExited()) {
      clients.tellAll({ type: "leave", id: client.id });
      if (wasFreed) this.#ports.keyboardFreed();
      answererChoice.choose();
      this.#ports.changed();
    }
    upstream.departed(client, how);
  }

  /** Closes a client that breaks a rule. */
  refuse(client: ClientRecord, code: number, reason: string): void {
    if (client.peer === undefined) client.tell({ type: "bye", code, reason, retry: "never" });
    else client.peer.bye(code, reason, "never");
    this.leave(client);
  }

  /** When {@link tick} is to be called for this client; undefined: its place waits for no time. */
  nextTickMs({ presence, isProgram }: ClientRecord): number | undefined {
    if (presence.phase === "vanished") {
      return presence.sinceMs + (presence.graceMs ?? (isProgram ? PROGRAM_GRACE_MS : RESUME_GRACE_MS));
    }
    return presence.phase === "calling" && presence.calls === 0 ? presence.sinceMs + PROGRAM_GRACE_MS : undefined;
  }

  tick(client: ClientRecord, now: number): void {
    if ((this.nextTickMs(client) ?? Number.POSITIVE_INFINITY) > now) return;
    if (client.presence.phase === "vanished" && client.presence.isLeaving) this.leave(client);
    else this.expire(client);
  }
}

/** Tells the connection that a client had before it made a newer one. */
function dismissReplaced(peer: Peer, last: Attempt | undefined, attempt: Attempt | undefined): void {
  // Only one of them is its client's, and which one can't be seen: if the client is here, it makes another.
  const isCopy = attempt !== undefined && last?.life === attempt.life && last.number === attempt.number;
  if (isCopy) peer.bye(CLOSE.conflict, "replaced by a copy of its own handshake", "now");
  else peer.bye(CLOSE.conflict, "replaced by a newer connection", "never");
}
