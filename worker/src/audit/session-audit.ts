// The audit of one session: hears what happens, gathers it for a moment, and has it stored in batches. Input counts as
// stored, and so may be acknowledged, when its batch is; nothing else waits for that.

import {
  type ClientRecord,
  defined,
  type InputFate,
  InputPositions,
  type InputRecorder,
  type ServerConnection,
} from "sandbox-stdio/core";
import type { Refusal } from "../refusal/refusal.ts";
import { finished, GATHER_MS, Gathering, type Pending, Waiting } from "./gathering.ts";
import { InputBatch, type InputKeeping } from "./input-batch.ts";
import { type Actor, type AuditEvent, type Deed, now, type Place } from "./record.ts";
import { isRepeatable, type RefusalEvent, Refusals, RUN_MS } from "./refusals.ts";
import type { AuditSettings } from "./settings.ts";
import type { AuditTrail } from "./trail.ts";
import { logUnrecorded } from "./worker-log.ts";

/**
 * Typed input of a person waits this long for more, if the client keeps it until it is acknowledged: a row for each key would cost
 * several times as much.
 */
const TYPING_GATHER_MS = 400;
/**
 * Input waits until none has come for {@link GATHER_MS}, but no longer than this: nothing else is done while a batch is being
 * stored, so that it is stored between two keys and not while one is echoed.
 */
const MAX_GATHER_MS = 500;

export interface SessionAuditPorts {
  readonly trail: AuditTrail;
  readonly settings: AuditSettings;
  /** Whether the process has a terminal. */
  isTty(): boolean;
  /** A batch is being stored: other writes of this turn are on disk when it is. */
  storing(): void;
  /** More of this client's input is stored. */
  stored(clientId: string): void;
  /** A batch could not be stored: nothing may go on as if it had been. */
  failed(error: unknown): void;
}

export class SessionAudit implements InputRecorder {
  readonly #ports: SessionAuditPorts;
  #positionsRead: InputPositions | undefined;
  readonly #actors = new Map<string, Actor>();
  /** The owner of a connection that was let in; it may end after its client's place was given up. */
  readonly #connections = new WeakMap<ServerConnection, { readonly client: string; readonly who: Actor }>();
  #secretRead: Set<string> | undefined;
  #place: Partial<Place> = {};
  readonly #pending = new Waiting();
  #left: string[] = [];
  readonly #refusals = new Refusals();
  #refusalTimer: ReturnType<typeof setTimeout> | undefined;
  /** How far refused input goes whose record waits in its run: counted as stored without it, since none of it is kept. */
  readonly #refusedEnds = new Map<string, number>();
  #writing: Promise<void> | undefined;
  readonly #gathering = new Gathering(() => this.#write());
  /** @see Gathering.answered */
  readonly answered = (): void => this.#gathering.answered();

  constructor(ports: SessionAuditPorts) {
    this.#ports = ports;
  }

  // ---- What happens --------------------------------------------------------------------------------------------

  /** Sets the place of this session, as soon as it is known. */
  at({ sandbox, session }: Place): void {
    this.#place = { sandbox, session };
  }

  /** Something that `client` did, or that happened to it; without `client` the event has none. */
  note(deed: Deed, client?: string, who?: Actor): void {
    const actor = who ?? (client === undefined ? undefined : this.#actors.get(client));
    const { last } = this.#pending;
    if (deed.type === "resize" && isSameResize(last, client)) {
      this.#pending.replaceLast({ ...last, ...deed });
      return;
    }
    const event = { time: now(), ...this.#place, ...actor, ...defined({ client }), ...deed };
    if (isRepeatable(event)) this.#refused(event);
    else if (deed.type === "exit") this.#addNow(event);
    else this.#add(event, GATHER_MS);
  }

  /**
   * A request to attach, or to start the process, was refused. Where there was never a session, that is a line of the
   * Worker's log, since an object that stores anything is kept for good. A refusal of the command policy is on record anywhere.
   */
  refused({ error, message }: Pick<Refusal, "error" | "message">, who: Actor, hasSession: boolean): void {
    const isOnRecord = hasSession || this.#ports.trail.head.seq > 0 || error === "cmd_forbidden";
    if (isOnRecord) this.note({ type: "refused", error, message }, undefined, who);
    else logUnrecorded({ ...this.#place, ...who }, { error, message });
  }

  /** A process begins: no client that typed into an earlier one comes back. */
  began(deed: Deed & { type: "start" }, who: Actor): void {
    this.#positionsRead = new InputPositions();
    this.#secretRead = new Set();
    this.#ports.trail.forgetAllInput();
    this.note(deed, undefined, who);
  }

  /** A client is about to attach by this connection. @returns To be called if it does not: it acts by an older one, or by none. */
  admitted(connection: ServerConnection, client: string, who: Actor): () => void {
    const before = this.#actors.get(client);
    this.#connections.set(connection, { client, who });
    this.#actors.set(client, who);
    return () => {
      if (before === undefined) this.#actors.delete(client);
      else this.#actors.set(client, before);
    };
  }

  /** A program calls as this client. */
  acting(client: string, who: Actor): void {
    this.#actors.set(client, who);
  }

  /** The server tells a connection of an error, or that it closes it. */
  told(
    connection: ServerConnection,
    said: { type: "error" | "bye"; code: string | number; text: string },
    who: Actor,
  ): void {
    const client = this.#connections.get(connection)?.client;
    if (said.type === "error")
      this.note({ type: "refused", error: String(said.code), message: said.text }, client, who);
    else this.note({ type: "closed", code: Number(said.code), reason: said.text }, client, who);
  }

  /** A connection has ended. */
  ended(connection: ServerConnection, code: number): void {
    const whose = this.#connections.get(connection);
    if (whose === undefined) return; // It was never let in: that it was refused has been noted.
    this.#connections.delete(connection);
    this.note({ type: "detach", code }, whose.client, whose.who);
  }

  /** The client's place in the session was given up. */
  departed(client: ClientRecord, how: "left" | "vanished"): void {
    this.#addRefusals({ client: client.id });
    this.note({ type: "leave", how }, client.id);
    if (this.#secret.delete(client.id)) this.#ports.trail.noteSecret(client.id, false);
    if (how === "left") this.#left.push(client.id);
  }

  /** Whether secret input is kept out of the record. */
  get allowsSecret(): boolean {
    return this.#ports.settings.allowsSecret;
  }

  setSecret(client: string, on: boolean): boolean {
    if (!this.#ports.settings.allowsSecret) return !on;
    if (this.#secret.has(client) === on) return true;
    if (on) this.#secret.add(client);
    else this.#secret.delete(client);
    this.#ports.trail.noteSecret(client, on);
    this.note({ type: "secret", on }, client);
    return true;
  }

  isSecret(client: string): boolean {
    return this.#secret.has(client);
  }

  // ---- Input ---------------------------------------------------------------------------------------------------

  input(client: ClientRecord, received: number, offset: number, bytes: Uint8Array, fate: InputFate): void {
    const { id } = client;
    const known = this.#positions.known(id, received, offset, bytes.length);
    if (known === bytes.length) return;
    const fresh = known === 0 ? bytes : bytes.subarray(known);
    const start = offset + known;
    const isSecret = this.#secret.has(id);
    if (fate === "refused") {
      this.#inputRefused(id, start, fresh.length);
      return;
    }
    // In the order of arrival: input that was refused before this is on record before it.
    this.#addRefusals({ client: id, beforeInput: true });
    const isTyping = client.acknowledges && !client.isProgram && !isSecret && this.#ports.isTty();
    this.#gather(client, start, fresh, fate, isTyping ? TYPING_GATHER_MS : GATHER_MS);
    // A program's call is answered when its input is stored.
    if (client.isProgram) this.#gathering.wait(0);
    if (client.isProgram || this.#pending.isEnough) this.#write();
  }

  /** No client keeps it until it is stored: it does not wait for more. */
  paneInput(client: ClientRecord, pane: string, bytes: Uint8Array, fate: "typed" | "refused"): void {
    const { id, input } = client;
    if (fate === "refused") {
      this.#inputRefused(id, input.received, bytes.length, { pane });
      return;
    }
    this.#addRefusals({ client: id, beforeInput: true });
    this.#gather(client, input.received, bytes, fate, GATHER_MS, pane);
    if (this.#pending.isEnough) this.#write();
  }

  #gather(
    client: ClientRecord,
    start: number,
    bytes: Uint8Array,
    fate: InputFate,
    gatherMs: number,
    pane?: string,
  ): void {
    const { id } = client;
    const isSecret = this.#secret.has(id);
    const { last } = this.#pending;
    this.#pending.count(bytes.length, client.inputWindow);
    if (!(last !== undefined && "batch" in last && last.batch.add(id, start, bytes, fate, isSecret, pane))) {
      const batch = new InputBatch(id, start, fate, this.#keeping, isSecret, pane);
      batch.add(id, start, bytes, fate, isSecret, pane);
      const who = { ...this.#place, ...this.#actors.get(id) };
      this.#add({ time: now(), batch, who }, gatherMs, MAX_GATHER_MS);
    }
    this.#gathering.heard();
  }

  #whose(client: string): { time: string; client: string } & Partial<Actor> & Partial<Place> {
    return { time: now(), ...this.#place, ...this.#actors.get(client), client };
  }

  storedUpTo(client: string): number {
    return this.#positions.storedUpTo(client);
  }

  isBehind(client: string): boolean {
    return this.#positions.isBehind(client);
  }

  // ---- Storing -------------------------------------------------------------------------------------------------

  /** Stores all gathered events. */
  async flush(): Promise<void> {
    this.#addRefusals("all");
    while (this.#writing !== undefined || this.#hasMore) {
      this.#write();
      await this.#writing;
    }
  }

  /** Whether everything is stored, and nothing waits for more. */
  get isIdle(): boolean {
    return !this.#hasMore && !this.#gathering.isWaiting && (this.#writing ?? this.#refusalTimer) === undefined;
  }

  get #hasMore(): boolean {
    return !this.#pending.isEmpty || this.#refusedEnds.size > 0;
  }

  #inputRefused(client: string, offset: number, length: number, at: { readonly pane?: string } = {}): void {
    const isNow = this.#refused({ ...this.#whose(client), type: "input", ...at, offset, length, refused: true });
    this.#gathering.heard();
    if (isNow || at.pane !== undefined) return;
    this.#refusedEnds.set(client, offset + length);
    this.#gathering.wait(GATHER_MS, MAX_GATHER_MS);
  }

  /** @returns Whether it goes on record now, and not with others. */
  #refused(event: RefusalEvent): boolean {
    const first = this.#refusals.note(event, Date.now());
    if (first !== undefined) this.#add(first, GATHER_MS);
    else this.#refusalTimer ??= setTimeout(() => this.#runsOver(), RUN_MS);
    return first !== undefined;
  }

  #runsOver(): void {
    this.#refusalTimer = undefined;
    this.#addRefusals("over");
    if (this.#refusals.isWaiting) this.#refusalTimer = setTimeout(() => this.#runsOver(), RUN_MS);
  }

  #addRefusals(of: Parameters<Refusals["take"]>[1]): void {
    for (const event of this.#refusals.take(Date.now(), of)) this.#add(event, GATHER_MS);
  }

  /** @see Gathering.wait */
  #add(pending: Pending, gatherMs: number, withinMs = gatherMs): void {
    this.#pending.push(pending);
    this.#gathering.wait(gatherMs, withinMs);
  }

  /** Clients learn of the end once their input is stored (I10), so stores at once. */
  #addNow(event: AuditEvent): void {
    this.#add(event, 0);
    this.#write();
  }

  /** One batch at a time: events that come meanwhile are the next one. */
  #write(): void {
    if (this.#writing !== undefined || !this.#hasMore) return;
    this.#gathering.clear();
    const { events, inputEnds } = finished(this.#pending.take());
    for (const [id, end] of this.#refusedEnds) inputEnds.set(id, Math.max(inputEnds.get(id) ?? 0, end));
    this.#refusedEnds.clear();
    const left = this.#left;
    this.#left = [];
    let appended: Promise<void>;
    try {
      appended = this.#ports.trail.append(events, inputEnds);
    } catch (error) {
      this.#ports.failed(error);
      return;
    }
    this.#ports.storing();
    this.#writing = appended
      .then(() => {
        this.#writing = undefined;
        for (const [id, end] of inputEnds) this.#positions.noteStored(id, end);
        this.#forget(left);
        for (const id of inputEnds.keys()) this.#ports.stored(id);
        if (this.#pending.isEnough || this.#gathering.isLate) this.#write();
        else if (this.#hasMore) this.#gathering.again();
      })
      .catch((error: unknown) => this.#ports.failed(error));
  }

  #forget(ids: readonly string[]): void {
    const stored = ids.filter((id) => this.#positions.storedUpTo(id) > 0);
    if (stored.length > 0) this.#ports.trail.forgetInput(stored);
    for (const id of ids) {
      this.#positions.forget(id);
      this.#actors.delete(id);
    }
  }

  // Read when input is first spoken of, or not at all where the process begins: a client of a new session does not
  // wait for that.

  get #positions(): InputPositions {
    this.#positionsRead ??= new InputPositions(this.#ports.trail.storedInput());
    return this.#positionsRead;
  }

  get #secret(): Set<string> {
    this.#secretRead ??= new Set(this.#ports.trail.secretClients());
    return this.#secretRead;
  }

  get #keeping(): InputKeeping {
    if (!this.#ports.isTty()) return "hash";
    return this.#ports.settings.mode === "content" ? "content" : "length";
  }
}

/** While a window is dragged, only the last of several sizes is recorded. */
function isSameResize(last: Pending | undefined, client: string | undefined): last is AuditEvent & { type: "resize" } {
  return last !== undefined && !("batch" in last) && last.type === "resize" && last.client === client;
}
