// The decisions of a session on both hops: attached clients, the right to type, each client's output and acknowledgements, the
// pacing client, the exit. A shell with sockets and clocks carries it out. Each hop adds its own: ProcessSession, RelaySession.

import type { InputQueue } from "../input/input-queue.ts";
import type { OutputLog } from "../output/output-log.ts";
import type { Ending } from "../output/output-reader.ts";
import type { Snapshot } from "../output/snapshot.ts";
import type { SnapshotRequests } from "../output/snapshot-requests.ts";
import type { Answerer } from "../terminal/answerer-history.ts";
import type { Attention } from "../wire/attention.ts";
import type { ClientMessage, ExitStatus, Participant } from "../wire/control.ts";
import type { PanesMessage } from "../wire/pane-messages.ts";
import type { AnswererChoice } from "./answerer-choice.ts";
import type { AttachContext } from "./attach-rules.ts";
import type { Attendance } from "./attendance.ts";
import type { ClientCommands } from "./client-commands.ts";
import type { ClientRecord, TerminalSize } from "./client-record.ts";
import type { Clients } from "./clients.ts";
import { earlier } from "./earlier.ts";
import type { InputReceiver } from "./input-receiver.ts";
import type { Keyboard } from "./keyboard.ts";
import type { OutputSender } from "./output-sender.ts";
import type { Pace } from "./pace.ts";
import type { Peer } from "./presence.ts";
import { makeParts, type SessionParts } from "./session-parts.ts";
import type { AttachRequest, AttachResult, HopRules, SessionFacts, SessionOptions, Upstream } from "./session-types.ts";

export abstract class SessionCore {
  readonly facts: SessionFacts;
  readonly log: OutputLog;
  readonly keyboard: Keyboard;
  protected readonly upstream: Upstream;
  protected readonly now: () => number;
  protected readonly members: Clients;
  readonly pace: Pace;
  protected readonly snapshots: SnapshotRequests;
  protected readonly outputSender: OutputSender;
  protected readonly inputReceiver: InputReceiver;
  protected readonly answererChoice: AnswererChoice;
  protected readonly attendance: Attendance;
  protected readonly commands: ClientCommands;
  readonly #parts: SessionParts;
  #ending: Ending | undefined;
  #stopsAtMs: number | undefined;
  #panes: PanesMessage | undefined;
  /** The title that the program gave its terminal (OSC 0 and 2); "" if it gave none. */
  title = "";

  protected constructor(options: SessionOptions, rules: HopRules) {
    const { facts, log, upstream, now } = options;
    const parts = makeParts(options, rules, {
      ending: () => this.#ending,
      knownEnd: () => this.knownEnd,
      newInput: () => this.newInput(),
      resizeWindow: (client, size) => this.resizeWindow(client, size),
      membersChanged: () => this.membersChanged(),
      keyboardMoved: () => this.keyboardMoved(),
      inputSettled: (client) => this.inputSettled(client),
      needsHold: (client) => this.needsHold(client),
      secondsLeft: () => this.secondsLeft,
      panes: () => this.#panes,
    });
    this.facts = facts;
    this.log = log;
    this.upstream = upstream;
    this.now = now;
    this.#parts = parts;
    this.keyboard = parts.keyboard;
    this.members = parts.clients;
    this.pace = parts.pace;
    this.snapshots = parts.snapshots;
    this.outputSender = parts.outputSender;
    this.inputReceiver = parts.inputReceiver;
    this.answererChoice = parts.answererChoice;
    this.attendance = parts.attendance;
    this.commands = parts.commands;
  }

  // ---- What each hop adds --------------------------------------------------------------------------------------

  /** The input of a client that is new here. */
  protected abstract newInput(): InputQueue;
  /** A client's window has another size. */
  protected abstract resizeWindow(client: ClientRecord, size: TerminalSize): void;
  /** A client has come or gone. */
  protected abstract membersChanged(): void;
  /** Another client holds the keyboard, or it is free. */
  protected abstract keyboardMoved(): void;
  /** More of a program's input may have been taken, or stored. */
  protected abstract inputSettled(client: ClientRecord): void;
  /** Whether the client's greeting must wait until the process is held for it. */
  protected abstract needsHold(client: ClientRecord): boolean;
  /** As far as there has been output, whether or not it has come here. */
  protected abstract get knownEnd(): number;

  // ---- Who is here ---------------------------------------------------------------------------------------------

  get exit(): ExitStatus | undefined {
    return this.#ending === "lost" ? undefined : this.#ending;
  }

  /** Whether the process is no more: it has exited, or was lost. */
  get hasEnded(): boolean {
    return this.#ending !== undefined;
  }

  /** The first driver that ever attached; "" before that. */
  get creator(): string {
    return this.attendance.creator;
  }

  /** Clients that are here, or may come back. */
  get clients(): IterableIterator<ClientRecord> {
    return this.members.all;
  }

  client(id: string): ClientRecord | undefined {
    return this.members.get(id);
  }

  /** Clients that can't be resumed. One that is neither here nor there was greeted, and then lost before all knew of it. */
  get gone(): ReadonlySet<string> {
    return this.members.gone;
  }

  /** Whether a client is here that is no program. */
  get isAttended(): boolean {
    return this.members.isAttended;
  }

  /** Clients that are attached, or vanished within their grace, programs among them. */
  get presentCount(): number {
    return this.members.presentCount;
  }

  get attachedCount(): number {
    return this.members.attachedCount;
  }

  /** They, as others see them, in the order of arrival. */
  get attachedParticipants(): readonly Participant[] {
    return this.members.attachedParticipants;
  }

  /** The answerer of terminal queries. */
  get answerer(): Answerer {
    return this.answererChoice.current;
  }

  /** The client whose unacknowledged bytes hold the process back. */
  get pacer(): ClientRecord | undefined {
    return this.pace.pacer;
  }

  /** Whether this client's acknowledgement may set a process going that is held. */
  setsGoing(client: ClientRecord): boolean {
    return this.pace.pressure !== "none" || client === this.pacer;
  }

  // ---- Clients come and go -------------------------------------------------------------------------------------

  /**
   * Attaches a client that is sent to directly, and greets it: at once, or when the snapshot is there that it starts with.
   * With the id of a client that is here, the newer connection wins and the older is told 4409. Newer is the one that
   * comes later, unless the client says otherwise.
   */
  attach(request: AttachRequest, peer: Peer): AttachResult {
    return this.#parts.greeter.attach(request, peer);
  }

  /** The client closed with 1000: its place is given up. */
  leave(client: ClientRecord): void {
    this.attendance.leave(client);
  }

  /**
   * The connection ended in any other way: the client keeps its place for the grace. It does if it ever took part or `isSure`
   * that it is still there and only the way to it is broken.
   */
  vanish(client: ClientRecord, isSure = false): void {
    this.attendance.vanish(client, isSure);
  }

  /**
   * The client's connection has ended. Its input that the process has no room for yet is still taken in, unless none of it
   * is for as long as a grace.
   */
  disconnect(client: ClientRecord, how: "left" | "vanished" | "put aside"): void {
    this.attendance.disconnect(client, how);
  }

  // ---- What clients say ----------------------------------------------------------------------------------------

  /**
   * Input of a client. `offset` is where it starts; absent for a client whose input is not numbered. The session keeps a
   * view of `bytes`, and the process's writer gives their memory back.
   */
  stdin(client: ClientRecord, bytes: Uint8Array, offset = client.input.received): void {
    this.inputReceiver.stdin(client, bytes, offset);
  }

  /** Input of a client that can't be told to wait, in a frame of any length. Otherwise as {@link stdin}. */
  feed(client: ClientRecord, bytes: Uint8Array): void {
    this.inputReceiver.feed(client, bytes);
  }

  /** A client's message that counts from its place in the client's input on. */
  feedMessage(client: ClientRecord, message: ClientMessage): void {
    this.inputReceiver.feedMessage(client, message);
  }

  /** The client has dealt with output before `offset`. @returns Whether that sets much free: 16 KiB or more, or a snapshot. */
  ack(client: ClientRecord, offset: number): boolean {
    return this.outputSender.ack(client, offset);
  }

  /** Whether this client's requests to the process, beside its input, may have an effect. */
  mayDrive(client: ClientRecord): boolean {
    return this.keyboard.mayDrive(client.id).ok;
  }

  /** Everything a client may say in text, but `ping` and `auth`, which are its connection's business. */
  command(client: ClientRecord, message: ClientMessage): void {
    this.commands.follow(client, message);
  }

  // ---- Output and time -----------------------------------------------------------------------------------------

  /** Bytes were committed to the log: sends them on. */
  appended(): void {
    this.outputSender.appended();
  }

  /** The process puts out nothing more, and may still take input: told behind the last byte, on each connection (A13b). */
  outputEnded(): void {
    if (this.log.hasOutputEnded) return;
    this.log.markOutputEnd();
    this.appended();
  }

  /** The client's socket takes output again. */
  drained(client: ClientRecord): void {
    this.outputSender.resume(client);
  }

  /** The program in the terminal wants attention: told to the clients that can be told, and never again. */
  attention(attention: Attention): void {
    for (const client of this.members.all) {
      if (client.acknowledges) client.greeted?.peer.send({ type: "attention", ...attention });
    }
  }

  /** The session's panes are others than before: told to the clients that can be told, and to those that come from now on. */
  tellPanes(panes: PanesMessage): void {
    this.#panes = panes;
    for (const client of this.members.all) if (client.acknowledges) client.greeted?.peer.send(panes);
  }

  /** As told last; undefined if the session has none. */
  get panes(): PanesMessage | undefined {
    return this.#panes;
  }

  /** The machine of the process goes away: all clients here, and those that come from now on, are told how long there is (X8). */
  stopping(seconds: number): void {
    if (this.hasEnded) return;
    this.#stopsAtMs = this.now() + seconds * 1000;
    for (const client of this.members.all) {
      if (client.acknowledges) client.greeted?.peer.send({ type: "stopping", seconds });
    }
  }

  /** How long there is until the process is ended, where its machine goes away. */
  get secondsLeft(): number | undefined {
    if (this.#stopsAtMs === undefined || this.hasEnded) return undefined;
    return Math.max(0, Math.ceil((this.#stopsAtMs - this.now()) / 1000));
  }

  /** The snapshot source's answer; undefined: no snapshot can be had. The session also takes one without a request. */
  snapshotReady(snapshot: Snapshot | undefined): void {
    this.snapshots.arrived(snapshot);
  }

  /** Notes how the process ended, which all are told after the last byte. @returns Whether that is news. */
  protected tellEnding(ending: Ending): boolean {
    if (this.#ending !== undefined) return false;
    this.#ending = ending;
    for (const client of this.members.all) this.inputReceiver.ack(client, true);
    this.appended();
    return true;
  }

  /** When {@link tick} is to be called next; undefined while nothing waits for time to pass. */
  get nextTickMs(): number | undefined {
    let next = earlier(this.snapshots.nextTickMs, this.outputSender.nextLinkTickMs);
    next = earlier(next, this.pace.nextMs);
    for (const client of this.members.all) {
      next = earlier(next, this.inputReceiver.nextTickMs(client));
      next = earlier(next, this.attendance.nextTickMs(client));
      next = earlier(next, this.outputSender.nextTickMs(client));
    }
    return next;
  }

  /** Does the tasks that have come due. */
  tick(): void {
    const now = this.now();
    this.snapshots.tick(now);
    this.outputSender.tickLinks(now);
    for (const client of [...this.members.all]) {
      this.inputReceiver.tick(client, now);
      this.attendance.tick(client, now);
      this.outputSender.tick(client, now);
    }
    const { pressure } = this.pace;
    const pacer = this.pace.look();
    // A wait is over: the hop that holds the process hears of it.
    if (pacer !== undefined && this.pace.pressure !== pressure) this.upstream.acked(pacer);
  }

  protected get attachContext(): AttachContext {
    return this.#parts.context();
  }
}
