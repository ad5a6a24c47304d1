// A session's face on both hops: what sockets and processes may do to it. The functions of this folder decide; each hop adds its own
// in ProcessSession and RelaySession. A shell with sockets and clocks carries the decisions out.

import type { InputQueue } from "../input/input-queue.ts";
import type { OutputLog } from "../output/output-log.ts";
import type { Ending } from "../output/output-reader.ts";
import type { Snapshot } from "../output/snapshot.ts";
import type { Answerer } from "../terminal/answerer-history.ts";
import type { Attention } from "../wire/attention.ts";
import type { ClientMessage, ExitStatus, Participant, ServerMessage } from "../wire/control.ts";
import type { PanesMessage } from "../wire/pane-messages.ts";
import { dropAsks, nextAskMs, tickAsks } from "./asks.ts";
import { attach } from "./attach.ts";
import { disconnect, graceEndMs, leave, tickGrace, vanish } from "./attendance.ts";
import {
  ackInput,
  feedInput,
  feedMessage,
  followCommand,
  inputTickMs,
  receiveInput,
  tickInput,
} from "./client-input.ts";
import type { ClientRecord, TerminalSize } from "./client-record.ts";
import type { Keyboard } from "./keyboard.ts";
import {
  acknowledge,
  linkTickMs,
  outputTickMs,
  resumeOutput,
  sendAppended,
  tickLinks,
  tickOutput,
} from "./output-sender.ts";
import type { Pace } from "./pace.ts";
import type { Peer } from "./presence.ts";
import { type Hop, newState, type SessionState, secondsLeft } from "./session-state.ts";
import type { Ask, AskEvent, AttachRequest, AttachResult, SessionFacts, SessionOptions } from "./session-types.ts";

export abstract class SessionCore implements Hop {
  readonly state: SessionState;
  /** The title that the program gave its terminal (OSC 0 and 2); "" if it gave none. */
  title = "";

  protected constructor(options: SessionOptions) {
    this.state = newState(options, this);
  }

  // ---- What each hop adds --------------------------------------------------------------------------------------

  abstract get holdsProcess(): boolean;
  abstract get repeatsEof(): boolean;
  abstract get knownEnd(): number;
  abstract newInput(): InputQueue;
  abstract resizeWindow(client: ClientRecord, size: TerminalSize): void;
  abstract membersChanged(): void;
  abstract keyboardMoved(): void;
  abstract asked(ask: Ask, event: AskEvent, client: string): void;
  abstract inputSettled(client: ClientRecord): void;
  abstract needsHold(client: ClientRecord): boolean;

  // ---- Who is here ---------------------------------------------------------------------------------------------

  get facts(): SessionFacts {
    return this.state.facts;
  }

  get log(): OutputLog {
    return this.state.log;
  }

  get keyboard(): Keyboard {
    return this.state.keyboard;
  }

  get pace(): Pace {
    return this.state.pace;
  }

  get exit(): ExitStatus | undefined {
    const { ending } = this.state;
    return ending === "lost" ? undefined : ending;
  }

  /** Whether the process is no more: it has exited, or was lost. */
  get hasEnded(): boolean {
    return this.state.ending !== undefined;
  }

  /** The first driver that ever attached; "" before that. */
  get creator(): string {
    return this.state.creator;
  }

  /** Clients that are here, or may come back. */
  get clients(): IterableIterator<ClientRecord> {
    return this.state.clients.all;
  }

  client(id: string): ClientRecord | undefined {
    return this.state.clients.get(id);
  }

  /** Clients that can't be resumed. One that is neither here nor there was greeted, and then lost before all knew of it. */
  get gone(): ReadonlySet<string> {
    return this.state.clients.gone;
  }

  /** Whether a client is here that is no program. */
  get isAttended(): boolean {
    return this.state.clients.isAttended;
  }

  /** Clients that are attached, or vanished within their grace, programs among them. */
  get presentCount(): number {
    return this.state.clients.presentCount;
  }

  get attachedCount(): number {
    return this.state.clients.attachedCount;
  }

  /** The attached clients as others see them, in the order of arrival. */
  get attachedParticipants(): readonly Participant[] {
    return this.state.clients.attachedParticipants;
  }

  /** The answerer of terminal queries. */
  get answerer(): Answerer {
    return this.state.answerer.current;
  }

  /** The client whose unacknowledged bytes hold the process back. */
  get flowLeader(): ClientRecord | undefined {
    return this.pace.flowLeader;
  }

  /** Whether this client's acknowledgement may release a process that is held. */
  setsGoing(client: ClientRecord): boolean {
    return this.pace.pressure !== "none" || client === this.flowLeader;
  }

  // ---- Clients come and go -------------------------------------------------------------------------------------

  /**
   * Attaches a client that is sent to directly, and greets it: at once, or when the snapshot is there that it starts with.
   * With the id of a client that is here, the newer connection wins and the older is told 4409. Newer is the one that
   * comes later, unless the client says otherwise.
   */
  attach(request: AttachRequest, peer: Peer): AttachResult {
    return attach(this.state, request, peer);
  }

  /** The client closed with 1000: its place is given up. */
  leave(client: ClientRecord): void {
    leave(this.state, client);
  }

  /** The connection ended in any other way: see {@link vanish}. */
  vanish(client: ClientRecord, isSure = false): void {
    vanish(this.state, client, isSure);
  }

  /** The client's connection has ended, and its input that waits is still accepted: see {@link disconnect}. */
  disconnect(client: ClientRecord, how: "left" | "vanished" | "put aside"): void {
    disconnect(this.state, client, how);
  }

  // ---- What clients say ----------------------------------------------------------------------------------------

  /** Input of a client. `offset` is where it starts; absent for a client that doesn't number its input. */
  stdin(client: ClientRecord, bytes: Uint8Array, offset = client.input.received): void {
    receiveInput(this.state, client, bytes, offset);
  }

  /** Input of a client that can't be told to wait, in a frame of any length. Otherwise as {@link stdin}. */
  feed(client: ClientRecord, bytes: Uint8Array): void {
    feedInput(this.state, client, bytes);
  }

  /** A client's message that takes effect at its place among the client's input. */
  feedMessage(client: ClientRecord, message: ClientMessage): void {
    feedMessage(this.state, client, message);
  }

  /** The client has processed output before `offset`. @returns Whether that frees much: 16 KiB or more, or a snapshot. */
  ack(client: ClientRecord, offset: number): boolean {
    return acknowledge(this.state, client, offset);
  }

  /** Whether this client's requests to the process, beside its input, may have an effect. */
  mayDrive(client: ClientRecord): boolean {
    return this.keyboard.mayDrive(client.id).ok;
  }

  /** Everything a client may say in text, except `ping` and `auth`, which concern its connection. */
  command(client: ClientRecord, message: ClientMessage): void {
    followCommand(this.state, client, message);
  }

  // ---- Output and time -----------------------------------------------------------------------------------------

  /** Bytes were committed to the log: sends them on. */
  appended(): void {
    sendAppended(this.state);
  }

  /** The process writes nothing more, and may still take input: told behind the last byte, on each connection (A13b). */
  outputEnded(): void {
    if (this.log.hasOutputEnded) return;
    this.log.markOutputEnd();
    this.appended();
  }

  /** The client's socket takes output again. */
  drained(client: ClientRecord): void {
    resumeOutput(this.state, client);
  }

  /** The program in the terminal wants attention: told once to the clients of our protocol, never replayed. */
  attention(attention: Attention): void {
    this.#tellOwn({ type: "attention", ...attention });
  }

  /** The session's panes have changed: told to the clients of our protocol, and to those that attach later. */
  tellPanes(panes: PanesMessage): void {
    this.state.panes = panes;
    this.#tellOwn(panes);
  }

  /** As told last; undefined if the session has none. */
  get panes(): PanesMessage | undefined {
    return this.state.panes;
  }

  /** The terminal shows what is typed from `offset` on, or does not. */
  echoes(on: boolean, offset: number): void {
    if ((this.state.echo?.on ?? true) === on) return;
    this.state.echo = { on, offset };
    this.#tellOwn({ type: "echo", on, offset });
  }

  /** The machine of the process goes away: clients, and those that attach later, are told how long there is (X8). */
  stopping(seconds: number): void {
    if (this.hasEnded) return;
    this.state.stopsAtMs = this.state.now() + seconds * 1000;
    this.#tellOwn({ type: "stopping", seconds });
  }

  /** Seconds until the process is ended because its machine goes away; undefined if it is not. */
  get secondsLeft(): number | undefined {
    return secondsLeft(this.state);
  }

  /** The snapshot source's answer; undefined if it can't make one. The session also accepts a snapshot without a request. */
  snapshotReady(snapshot: Snapshot | undefined): void {
    this.state.snapshots.arrived(snapshot);
  }

  #tellOwn(message: ServerMessage): void {
    for (const client of this.state.clients.all) if (client.acknowledges) client.greeted?.peer.send(message);
  }

  /** Notes how the process ended. Each client is told after the last byte. @returns Whether it had not ended before. */
  protected tellEnding(ending: Ending): boolean {
    if (this.hasEnded) return false;
    this.state.ending = ending;
    dropAsks(this.state);
    for (const client of this.state.clients.all) ackInput(this.state, client, true);
    this.appended();
    return true;
  }

  /** When {@link tick} is due next; undefined while nothing waits for time to pass. */
  get nextTickMs(): number | undefined {
    const { state } = this;
    let next = earlier(state.snapshots.nextTickMs, linkTickMs(state));
    next = earlier(earlier(next, state.pace.nextMs), nextAskMs(state));
    for (const client of state.clients.all) {
      next = earlier(next, inputTickMs(client));
      next = earlier(next, graceEndMs(client));
      next = earlier(next, outputTickMs(state, client));
    }
    return next;
  }

  /** Does what has come due. */
  tick(): void {
    const { state } = this;
    const now = state.now();
    state.snapshots.tick(now);
    tickLinks(state, now);
    tickAsks(state, now);
    for (const client of [...state.clients.all]) {
      tickInput(state, client, now);
      tickGrace(state, client, now);
      tickOutput(state, client, now);
    }
    const { pressure } = state.pace;
    const flowLeader = state.pace.update();
    // A wait is over: the hop that holds the process is told.
    if (flowLeader !== undefined && state.pace.pressure !== pressure) state.upstream.acked(flowLeader);
  }
}

/** The earlier of two times; undefined means never. */
export function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a;
}
