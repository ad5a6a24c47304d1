// A session's interface for sockets and processes, on both hops. The functions of this folder decide; ProcessSession and
// RelaySession add the parts specific to a hop. A shell with sockets and clocks executes the decisions.

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
  /** The terminal's title (OSC 0 and 2); "" if the program set none. */
  title = "";

  protected constructor(options: SessionOptions) {
    this.state = newState(options, this);
  }

  // ---- What each hop adds --------------------------------------------------------------------------------------

  abstract get holdsForSnapshots(): boolean;
  abstract get repeatsEof(): boolean;
  abstract get knownEnd(): number;
  abstract newInput(): InputQueue;
  abstract resizeWindow(client: ClientRecord, size: TerminalSize): void;
  abstract membersChanged(): void;
  abstract keyboardMoved(): void;
  abstract asked(ask: Ask, event: AskEvent, client: string): void;
  abstract inputSettled(client: ClientRecord): void;
  abstract greetsOnceHeld(client: ClientRecord): boolean;

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

  /** Whether the process has exited or was lost. */
  get hasEnded(): boolean {
    return this.state.ending !== undefined;
  }

  /** The first driver that ever attached; "" if none has. */
  get creator(): string {
    return this.state.creator;
  }

  /** All clients that are present or may return. */
  get clients(): IterableIterator<ClientRecord> {
    return this.state.clients.all;
  }

  client(id: string): ClientRecord | undefined {
    return this.state.clients.get(id);
  }

  /** Ids of clients that can't be resumed. A client in neither set was greeted, then lost before every part knew of it. */
  get gone(): ReadonlySet<string> {
    return this.state.clients.gone;
  }

  /** Whether a client other than a program is present. */
  get isAttended(): boolean {
    return this.state.clients.isAttended;
  }

  /** Number of clients that are attached or within their grace period, including programs. */
  get presentCount(): number {
    return this.state.clients.presentCount;
  }

  get attachedCount(): number {
    return this.state.clients.attachedCount;
  }

  /** Attached clients as others see them, in the order of arrival. */
  get attachedParticipants(): readonly Participant[] {
    return this.state.clients.attachedParticipants;
  }

  get answerer(): Answerer {
    return this.state.answerer.current;
  }

  /** The client whose unacknowledged bytes hold the process. */
  get flowLeader(): ClientRecord | undefined {
    return this.pace.flowLeader;
  }

  /** Whether this client's acknowledgement may release a held process. */
  mayReleaseProcess(client: ClientRecord): boolean {
    return this.pace.pressure !== "none" || client === this.flowLeader;
  }

  // ---- Clients come and go -------------------------------------------------------------------------------------

  /**
   * Attaches a directly connected client and greets it, at once or when its first snapshot arrives. A newer connection of the same
   * client closes the older with 4409. Newer means later, unless `attempt` says otherwise.
   */
  attach(request: AttachRequest, peer: Peer): AttachResult {
    return attach(this.state, request, peer);
  }

  /** The client closed with 1000 and gives up its place. */
  leave(client: ClientRecord): void {
    leave(this.state, client);
  }

  /** The connection ended some other way: see {@link vanish}. */
  vanish(client: ClientRecord, isSure = false): void {
    vanish(this.state, client, isSure);
  }

  /** The connection has ended, but the client's waiting input is still accepted: see {@link disconnect}. */
  disconnect(client: ClientRecord, how: "left" | "vanished" | "put aside"): void {
    disconnect(this.state, client, how);
  }

  // ---- What clients say ----------------------------------------------------------------------------------------

  /** Input of a client. `offset` is its start; absent if the client doesn't number its input. */
  stdin(client: ClientRecord, bytes: Uint8Array, offset = client.input.received): void {
    receiveInput(this.state, client, bytes, offset);
  }

  /** Input of any length from a client that can't be slowed. Otherwise like {@link stdin}. */
  feed(client: ClientRecord, bytes: Uint8Array): void {
    feedInput(this.state, client, bytes);
  }

  /** A client's message, handled in order with its input. */
  feedMessage(client: ClientRecord, message: ClientMessage): void {
    feedMessage(this.state, client, message);
  }

  /** The client has processed output before `offset`. @returns Whether this frees 16 KiB or more, or a snapshot. */
  ack(client: ClientRecord, offset: number): boolean {
    return acknowledge(this.state, client, offset);
  }

  /** Whether this client may control the process other than by input. */
  mayDrive(client: ClientRecord): boolean {
    return this.keyboard.mayDrive(client.id).ok;
  }

  /** Handles every text message except `ping` and `auth`, which concern the connection. */
  command(client: ClientRecord, message: ClientMessage): void {
    followCommand(this.state, client, message);
  }

  // ---- Output and time -----------------------------------------------------------------------------------------

  /** Sends bytes that were committed to the log. */
  appended(): void {
    sendAppended(this.state);
  }

  /** The process writes nothing more but may take input. Reported after the last byte, on each connection (A13b). */
  outputEnded(): void {
    if (this.log.hasOutputEnded) return;
    this.log.markOutputEnd();
    this.appended();
  }

  /** The client's socket is writable again. */
  drained(client: ClientRecord): void {
    resumeOutput(this.state, client);
  }

  /** The program wants attention: sent once to `stdio.v1` clients, never replayed. */
  attention(attention: Attention): void {
    this.#tellAcknowledging({ type: "attention", ...attention });
  }

  /** The session's panes have changed: sent to `stdio.v1` clients now, and to later ones on attach. */
  tellPanes(panes: PanesMessage): void {
    this.state.panes = panes;
    this.#tellAcknowledging(panes);
  }

  /** The last list sent; undefined if the session has no panes. */
  get panes(): PanesMessage | undefined {
    return this.state.panes;
  }

  /** Whether the terminal echoes typed text from `offset` on. */
  echoes(on: boolean, offset: number): void {
    if ((this.state.echo?.on ?? true) === on) return;
    this.state.echo = { on, offset };
    this.#tellAcknowledging({ type: "echo", on, offset });
  }

  /** The process's machine is going away: clients, and later ones on attach, are told how long is left (X8). */
  stopping(seconds: number): void {
    if (this.hasEnded) return;
    this.state.stopsAtMs = this.state.now() + seconds * 1000;
    this.#tellAcknowledging({ type: "stopping", seconds });
  }

  /** Seconds until the process is killed because its machine goes away; undefined if none is planned. */
  get secondsLeft(): number | undefined {
    return secondsLeft(this.state);
  }

  /** The snapshot source's answer; undefined if it can't make one. Unrequested snapshots are accepted too. */
  snapshotReady(snapshot: Snapshot | undefined): void {
    this.state.snapshots.arrived(snapshot);
  }

  #tellAcknowledging(message: ServerMessage): void {
    for (const client of this.state.clients.all) if (client.acknowledges) client.greeted?.peer.send(message);
  }

  /** Records how the process ended. Each client is told after its last byte. @returns Whether this was the first call. */
  protected setEnding(ending: Ending): boolean {
    if (this.hasEnded) return false;
    this.state.ending = ending;
    dropAsks(this.state);
    for (const client of this.state.clients.all) ackInput(this.state, client, true);
    this.appended();
    return true;
  }

  /** When {@link tick} is due; undefined if nothing waits for time to pass. */
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

  /** Performs everything that is due. */
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
    // When a wait ends, tell the hop that holds the process.
    if (flowLeader !== undefined && state.pace.pressure !== pressure) state.upstream.acked(flowLeader);
  }
}

/** The earlier of two times; undefined means never. */
export function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a;
}
