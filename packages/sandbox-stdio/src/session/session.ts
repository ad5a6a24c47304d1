// The session core, the same on both hops: the log and its readers, the clients and their input, who may type, who sets
// the pace, and the exit. It decides; a shell with sockets and clocks carries out. Beside the process (`process`) it
// feeds the process; in the Durable Object (`relay`) it feeds the inner hop.

import { InputQueue } from "../input/input-queue.ts";
import type { OutputLog } from "../output/output-log.ts";
import type { OutputPeer, OutputReader } from "../output/output-reader.ts";
import type { Snapshot } from "../output/snapshot.ts";
import { type SnapshotFrame, SnapshotRequests } from "../output/snapshot-requests.ts";
import type { Attention } from "../programs/attention.ts";
import { MAX_WRITERS, type WritePlan, type WriteRequest } from "../programs/writers.ts";
import type { Answerer } from "../terminal/answerer-history.ts";
import { CLOSE, MAX_CLIENTS, MAX_FRAME_BYTES, PROGRAM_GRACE_MS, RESUME_GRACE_MS } from "../wire/constants.ts";
import type { ClientMessage, ExitStatus, ServerMessage } from "../wire/control.ts";
import type { OutputStream } from "../wire/frames.ts";
import type { KnownClient } from "../wire/inner-messages.ts";
import type { Delivery } from "../wire/terms.ts";
import { AnswererChoice } from "./answerer-choice.ts";
import {
  type AttachContext,
  helloOf,
  inputStartOf,
  isReplayable,
  needsScreen,
  refusalOf,
  startOf,
} from "./attach-rules.ts";
import { ClientRecord, type Peer, type Presence, type TerminalSize } from "./client-record.ts";
import { Clients } from "./clients.ts";
import { InputReceiver } from "./input-receiver.ts";
import type { InputRecorder } from "./input-recorder.ts";
import { Keyboard, type KeyboardResult } from "./keyboard.ts";
import { distinctName } from "./names.ts";
import { OutputSender } from "./output-sender.ts";
import { Pace } from "./pace.ts";
import type {
  AttachRequest,
  AttachResult,
  ProgramRequest,
  SessionFacts,
  SessionOptions,
  Upstream,
} from "./session-types.ts";
import { fittedSize } from "./terminal-size.ts";

/** How long a client waits for the bridge to hold the process for it. */
const HOLD_PATIENCE_MS = 2_000;
/** Ends of commands that a relay remembers: as many as the bridge lists. */
const MAX_COMMAND_ENDS = 1_000;
/** What all programs that write by calls have in common. */
const PROGRAM = {
  role: "driver",
  kind: "program",
  delivery: "live",
  acknowledges: true,
  isResume: false,
  resume: "",
} as const;
const NO_INPUT = "a viewer has no input to keep secret";
const NOT_SECRET = "secret input is switched off here: it is recorded like all other";

export class Session {
  readonly facts: SessionFacts;
  readonly log: OutputLog;
  readonly keyboard: Keyboard;
  readonly #hop: "process" | "relay";
  readonly #upstream: Upstream;
  readonly #now: () => number;
  readonly #maxClients: number;
  readonly #keptPlaces: number;
  readonly #recorder: InputRecorder | undefined;
  readonly #clients = new Clients();
  readonly #inputReceiver: InputReceiver;
  readonly #pace: Pace;
  readonly #snapshots: SnapshotRequests;
  readonly #outputSender: OutputSender;
  /** Clients of a relay that the bridge does not hold the process for yet, and how to greet them. */
  readonly #unheld = new Map<ClientRecord, { readonly greet: () => void; readonly sinceMs: number }>();
  #exit: ExitStatus | undefined;
  /** The process has ended and its last screen has not come. */
  #isScreenDue = false;
  #creator: string;
  readonly #answererChoice: AnswererChoice;
  /** A relay knows of bytes that it has not received yet. */
  #knownEnd = 0;
  #size: TerminalSize;
  readonly #watchers = new Set<() => void>();

  constructor(options: SessionOptions) {
    this.facts = options.facts;
    this.log = options.log;
    // A session that had a first client has had its first holder: a keyboard that is free now waits to be asked for.
    this.keyboard = new Keyboard(options.facts.mode, options.holder, (options.creator ?? "") !== "");
    this.#hop = options.hop;
    this.#upstream = options.upstream;
    this.#now = options.now;
    this.#maxClients = options.maxClients ?? MAX_CLIENTS;
    this.#keptPlaces = options.keptPlaces ?? 0;
    this.#recorder = options.recorder;
    this.#creator = options.creator ?? "";
    this.#size = this.log.sizeAt(this.log.endOffset);
    this.#pace = new Pace(options.log, this.keyboard, this.#clients, options.facts.delivery, options.isAwaited);
    this.#snapshots = new SnapshotRequests(
      this.log,
      options.screen,
      options.now,
      options.hop === "process",
      options.lastScreen,
    );
    this.#outputSender = new OutputSender({
      log: options.log,
      roster: this.#clients,
      screens: this.#snapshots,
      upstream: options.upstream,
      now: options.now,
      reuseFrames: options.reuseFrames,
      plainBytesPerSecond: options.plainBytesPerSecond,
      exit: (client) => {
        // Its acknowledgements come before the exit, and those wait for the record (I10).
        const isAwaited = client?.acknowledges === true && this.#recorder?.isBehind(client.id) === true;
        return isAwaited ? undefined : this.#exit;
      },
      isPaced: () => this.#pace.isPaced,
      vanish: (client, isSure) => this.vanish(client, isSure),
      refuse: (client, code, reason) => this.#refuseClient(client, code, reason),
    });
    this.#answererChoice = new AnswererChoice({
      roster: this.#clients,
      floor: this.keyboard,
      now: options.now,
      end: () => this.#end,
      announce: (answerer) => this.#broadcast({ type: "answerer", ...answerer }),
      decided: (answerer) => this.#upstream.answerer(answerer),
    });
    this.#inputReceiver = new InputReceiver({
      hop: options.hop,
      tty: options.facts.tty,
      floor: this.keyboard,
      roster: this.#clients,
      upstream: options.upstream,
      now: options.now,
      recorder: options.recorder,
      hasExited: () => this.#exit !== undefined,
      mayReport: (client, bytes) => this.#answererChoice.mayReport(client, bytes),
      creator: () => this.#creator,
      tell: (client, message) => this.#tell(client, message),
      follow: (client, message) => this.command(client, message),
      settled: (client) => this.onSettled(client),
      fed: (client) => this.#fed(client),
      refuse: (client, code, reason) => this.#refuseClient(client, code, reason),
    });
  }

  get exit(): ExitStatus | undefined {
    return this.#exit;
  }

  get creator(): string {
    return this.#creator;
  }

  get clients(): IterableIterator<ClientRecord> {
    return this.#clients.all;
  }

  client(id: string): ClientRecord | undefined {
    return this.#clients.get(id);
  }

  /** Clients that can't be resumed. One that is neither here nor there was greeted, and then lost before all knew of it. */
  get gone(): ReadonlySet<string> {
    return this.#clients.gone;
  }

  /** What a relay is told of a client that can't be resumed. */
  noteGone(id: string): void {
    this.#clients.noteGone(id);
  }

  /** Whether somebody is here who is no program. */
  get isAttended(): boolean {
    return this.#clients.isAttended;
  }

  /** Clients that are attached, or vanished within their grace, programs among them. */
  get presentCount(): number {
    return this.#clients.presentCount;
  }

  get attachedCount(): number {
    return this.#clients.attachedCount;
  }

  // ---- Clients come and go -------------------------------------------------------------------------------------

  /**
   * Attaches a client that is sent to directly, and greets it: at once, or when the snapshot is there that it starts with.
   * With the id of a client that is here, the newer connection wins and the older is told 4409. Newer is the one that
   * comes later, unless the client says otherwise.
   */
  attach(request: AttachRequest, peer: Peer): AttachResult {
    const old = this.#clients.get(request.id);
    const refusal = refusalOf(request, old, this.#surroundings);
    if (refusal !== undefined) return refusal;
    const usual = this.facts.tty ? "live" : "lossless";
    const delivery = request.role === "viewer" ? "live" : (request.delivery ?? usual);
    // Where it would start if no snapshot came.
    const reader = this.#outputSender.readerAt(startOf(request, undefined, this.log), request, peer);
    const client = this.#admit({ ...request, delivery }, old, { kind: "direct", peer, reader });
    const greet = (screen?: SnapshotFrame) => {
      // It may have left meanwhile, or come back with another connection.
      if (this.#clients.isCurrent(client) && client.peer === peer) this.#greet(client, peer, request, screen);
    };
    if (this.#snapshots.isPossible && needsScreen(request, this.#surroundings)) this.#snapshots.await(greet);
    else if (this.#needsHold(client)) this.#unheld.set(client, { greet, sinceMs: this.#now() });
    else greet();
    if (!client.isGreeted) this.#answererChoice.choose();
    return { ok: true, client };
  }

  /**
   * Whether the bridge must hold the process for this client before it is told where it starts: until it hears of a lossless
   * client it runs on, and a log that is nearly full would lose what the client was promised.
   */
  #needsHold(client: ClientRecord): boolean {
    if (this.#hop === "process" || this.#exit !== undefined) return false;
    const mayPace = client.delivery === "lossless" && client.role === "driver";
    return mayPace && this.log.endOffset - client.acked > this.log.capacityBytes / 2;
  }

  get #surroundings(): AttachContext {
    return {
      facts: this.facts,
      log: this.log,
      roster: this.#clients,
      floor: this.keyboard,
      answerer: this.#answererChoice.current,
      creator: this.#creator,
      hasExited: this.#exit !== undefined,
      knownEnd: this.#end,
      maxClients: this.#maxClients,
      keptPlaces: this.#keptPlaces,
    };
  }

  /** As far as there has been output, whether or not it has come here. */
  get #end(): number {
    return Math.max(this.log.endOffset, this.#knownEnd);
  }

  #greet(client: ClientRecord, peer: Peer, request: AttachRequest, screen: SnapshotFrame | undefined): void {
    const reader = this.#outputSender.readerAt(startOf(request, screen, this.log), client, peer, screen);
    client.reach = { kind: "direct", peer, reader };
    const settled = this.#inputReceiver.settled(client);
    client.inputStart = inputStartOf(request, client, settled);
    client.canAnswer = true;
    this.#answererChoice.choose();
    peer.send(helloOf(client, request, reader, screen, this.#surroundings));
    // Another life of this client may have asked for that.
    if (this.#recorder?.isSecret(client.id) === true) peer.send({ type: "secret", on: true });
    client.isGreeted = true;
    client.inputAckSent = settled;
    this.#outputSender.start(client, reader, screen, this.facts.tty);
  }

  /** A client that the far end of the inner hop has attached; its output goes through the link, not to it. */
  attachRemote(
    request: AttachRequest & { readonly delivery: Delivery; readonly acked: number; readonly windowBytes: number },
  ): AttachResult {
    const old = this.#clients.get(request.id);
    if (request.kind === "program" && old === undefined && this.#clients.programCount >= MAX_WRITERS) {
      return { ok: false, code: CLOSE.tooMany, reason: "too many writers", retry: "never" };
    }
    // Not the greater of this and what was known: a client that comes back with an empty screen starts over.
    const reach = { kind: "remote" as const, acked: request.acked, windowBytes: request.windowBytes };
    const client = this.#admit(request, old, reach);
    this.#answererChoice.choose();
    return { ok: true, client };
  }

  // ---- Programs ------------------------------------------------------------------------------------------------

  /** Told when more of a program's input has been taken, or stored. */
  onSettled: (client: ClientRecord) => void = () => undefined;

  /**
   * A program calls: its writer is a client of a relay's session, here until {@link PROGRAM_GRACE_MS} after its last call.
   * @returns undefined where as many have written as may.
   */
  beginCall(request: ProgramRequest): ClientRecord | undefined {
    const old = this.#clients.get(request.id);
    if (old === undefined && this.#clients.programCount >= MAX_WRITERS) return undefined;
    let client = old;
    if (old === undefined || !this.#isCalling(old, request)) {
      const reach = { kind: "none" as const, acked: this.log.endOffset, windowBytes: MAX_FRAME_BYTES };
      client = this.#admit({ ...PROGRAM, ...request }, old, reach);
      client.callsUnderWay = old?.callsUnderWay ?? 0;
      client.isActive = true;
    }
    if (client === undefined) return undefined;
    client.callsUnderWay += 1;
    client.presence = { phase: "vanished", sinceMs: this.#now() };
    return client;
  }

  /** Whether it is here, and as who it was. What another life of a relay knew of it is not enough. */
  #isCalling(client: ClientRecord, { isAdmin }: ProgramRequest): boolean {
    const may = this.keyboard.mayDrive(client.id);
    return client.isPresent && client.isAdmin === isAdmin && (may.ok || may.fault !== "no_such_client");
  }

  endCall(client: ClientRecord): void {
    const current = this.#clients.newest(client);
    current.callsUnderWay = Math.max(0, current.callsUnderWay - 1);
    if (current.presence.phase === "vanished") current.presence = { phase: "vanished", sinceMs: this.#now() };
  }

  /** How much of a program's input is taken and, where a record is kept, stored. */
  settledOf(client: ClientRecord): number {
    return this.#inputReceiver.settled(client);
  }

  /** What a program's write would do now: asked beside the process, or of one that has ended. */
  planWrite(client: ClientRecord, request: WriteRequest): WritePlan {
    return this.#inputReceiver.planWrite(client, request);
  }

  typePlanned(client: ClientRecord, bytes: Uint8Array, eof: boolean): void {
    this.#inputReceiver.typePlanned(client, bytes, eof);
  }

  /**
   * The bridge has queued these bytes of a program's: they go into the record, and count as received.
   * @param fate `resent`: it had queued them before this call.
   */
  written(client: ClientRecord, from: number, bytes: Uint8Array, fate: "typed" | "resent"): void {
    const { received } = client.input;
    if (bytes.length > 0) {
      this.#recorder?.input(client, fate === "typed" ? Math.min(received, from) : received, from, bytes, fate);
    }
    client.input.receivedUpTo(from + bytes.length);
    this.#inputReceiver.ack(client, true);
  }

  /** Ends of a shell's commands that were told since this life of a relay began, newest last. */
  readonly commandEnds: { readonly to: number; readonly exit?: number }[] = [];

  commandEnded(end: { readonly to: number; readonly exit?: number }): void {
    this.commandEnds.push(end);
    if (this.commandEnds.length > MAX_COMMAND_ENDS) this.commandEnds.shift();
    this.#tellWatchers();
  }

  /** The program in the terminal wants to be looked at: told to who can be told, and never again. */
  attention(attention: Attention): void {
    for (const client of this.#clients.all) {
      if (client.isGreeted && client.acknowledges) client.peer?.send({ type: "attention", ...attention });
    }
  }

  /** The client closed with 1000: its place is given up. */
  leave(client: ClientRecord): void {
    if (!this.#clients.isCurrent(client)) return;
    this.#pace.noteHeld(client);
    this.#clients.delete(client);
    this.noteGone(client.id);
    this.#depart(client, "left");
  }

  /**
   * The connection ended in any other way: the client keeps its place for the grace, if it ever took part or `isSure`
   * that it is still there and only the way to it is broken.
   */
  vanish(client: ClientRecord, isSure = false): void {
    if (client.presence.phase !== "attached" || !this.#clients.isCurrent(client)) return;
    if (!client.canResume) {
      this.leave(client);
      return;
    }
    client.feed.clear();
    const { acked, windowBytes } = client;
    client.presence = { phase: "vanished", sinceMs: this.#now() };
    client.reach = { kind: "none", acked, windowBytes };
    if (!client.isActive && !isSure) this.expire(client);
    else if (this.#exit === undefined) this.#answererChoice.choose();
  }

  /**
   * The client's connection has ended. What it sent and the process has no room for yet is still taken in, unless nothing of
   * it is for as long as a grace.
   */
  closed(client: ClientRecord, how: "left" | "vanished"): void {
    if (client.feed.isEmpty || client.presence.phase !== "attached" || !this.#clients.isCurrent(client)) {
      if (how === "left") this.leave(client);
      else this.vanish(client);
      return;
    }
    client.isLeaving = how === "left" || !client.canResume;
    const { acked, windowBytes } = client;
    client.presence = { phase: "vanished", sinceMs: this.#now() };
    client.reach = { kind: "none", acked, windowBytes };
    this.#answererChoice.choose();
  }

  /** More of what waits has been taken in. */
  #fed(client: ClientRecord): void {
    if (client.presence.phase !== "vanished") return;
    client.presence = { phase: "vanished", sinceMs: this.#now() };
    if (client.isLeaving && client.feed.isEmpty) this.leave(client);
  }

  /** What a relay is told of a client that the bridge knows. Unknown here, it has vanished just now, or long ago. */
  restore(known: KnownClient): void {
    const client = this.#clients.get(known.id);
    if (client === undefined) {
      const usual = { name: "", delivery: "live" as const, acknowledges: true };
      const who = { ...usual, ...known, isAdmin: false, mayUseKept: known.role === "driver" };
      const input = new InputQueue(this.#hop, known.stdin, known.eof, known.received);
      const reach = { kind: "none" as const, acked: known.acked, windowBytes: MAX_FRAME_BYTES };
      const restored = new ClientRecord(who, this.#clients.nextOrder(), input, reach);
      restored.isActive = true;
      restored.presence = known.isAbsent ? { phase: "absent" } : { phase: "vanished", sinceMs: this.#now() };
      this.#clients.set(restored);
      return;
    }
    client.input.takenUpTo(known.stdin);
    // Nothing of a program's waits here: what the bridge has received is all there is.
    if (client.isProgram && known.received !== undefined) client.input.receivedUpTo(known.received);
    if (known.eof !== undefined) client.input.eofKnownAt(known.eof);
    this.#inputReceiver.ack(client, true);
  }

  // ---- What clients ask for ------------------------------------------------------------------------------------

  /**
   * Input of a client. `offset` is where it starts; absent for a client whose input is not numbered. The session keeps a
   * view of `bytes`, and whoever feeds the process gives their memory back.
   */
  stdin(client: ClientRecord, bytes: Uint8Array, offset = client.input.received): void {
    this.#inputReceiver.stdin(client, bytes, offset);
  }

  /** The client has dealt with output before `offset`. @returns Whether that sets much free: 16 KiB or more, or a snapshot. */
  ack(client: ClientRecord, offset: number): boolean {
    return this.#outputSender.ack(client, offset);
  }

  /** Whether what this client asks of the process, beside its input, may have an effect. */
  mayDrive(client: ClientRecord): boolean {
    return this.keyboard.mayDrive(client.id).ok;
  }

  /** Input of a client that can't be told to wait, in a frame of any length. Otherwise as {@link stdin}. */
  feed(client: ClientRecord, bytes: Uint8Array): void {
    this.#inputReceiver.feed(client, bytes);
  }

  /** What a client says that counts from its place among what it types on. */
  feedMessage(client: ClientRecord, message: ClientMessage): void {
    this.#inputReceiver.feedMessage(client, message);
  }

  /** Everything a client may say in text, but `ping` and `auth`, which are its connection's business. */
  command(client: ClientRecord, message: ClientMessage): void {
    switch (message.type) {
      case "resize":
        client.size = { cols: message.cols, rows: message.rows };
        if (this.#hop === "relay") this.#upstream.resize(client, client.size);
        else this.#fitSize();
        return;
      case "signal":
        if (this.#inputReceiver.mayDrive(client)) this.#upstream.signal(client, message.signal);
        return;
      case "kill":
        if (this.#inputReceiver.mayDrive(client)) this.#upstream.kill(client);
        return;
      case "eof":
        this.#inputReceiver.eof(client, message.offset ?? client.input.received);
        return;
      case "ack":
        this.ack(client, message.offset);
        return;
      case "request_stdin": {
        const result = this.keyboard.request(client.id);
        if (!result.ok) this.#tellFloor(client, result);
        else if (result.isTaken) this.#broadcast({ type: "stdin_request", id: client.id });
        else this.#announceHolder();
        return;
      }
      case "release_stdin":
        this.#afterFloor(client, this.keyboard.release(client.id));
        return;
      case "grant_stdin":
        this.#afterFloor(client, this.keyboard.grant(client.id, message.to));
        return;
      case "secret":
        if (client.role === "viewer") this.#tell(client, { type: "error", code: "not_allowed", message: NO_INPUT });
        else if (this.#recorder?.setSecret(client.id, message.on) === false) {
          this.#tell(client, { type: "error", code: "not_allowed", message: NOT_SECRET });
          this.#tell(client, { type: "secret", on: false });
        }
        return;
      case "force_take":
        this.#afterFloor(client, this.keyboard.forceTake(client.id));
        return;
      case "ping":
      case "auth":
        return;
    }
  }

  /** A client at the far end of the inner hop has dealt with output before `offset`, and may have so much in flight. */
  remoteAck(client: ClientRecord, offset: number, windowBytes: number): void {
    client.isActive = true;
    if (client.reach.kind !== "remote") return;
    client.reach.acked = Math.max(client.reach.acked, Math.min(offset, this.log.endOffset));
    client.reach.windowBytes = windowBytes;
  }

  // ---- What the process does -----------------------------------------------------------------------------------

  /** Bytes were committed to the log: sends them on. */
  appended(): void {
    this.#outputSender.appended();
    this.#tellWatchers();
  }

  /**
   * Has `changed` called whenever the log has more, the process has ended, or the keyboard has changed hands. A watcher is no
   * client and holds nothing back. @returns To be called when it watches no more.
   */
  watch(changed: () => void): () => void {
    // Each is an entry of its own, also where the same function watches twice.
    const watcher = () => changed();
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #tellWatchers(): void {
    for (const watcher of this.#watchers) watcher();
  }

  /** A whole frame has come over the inner hop: it is logged, and passed on as it is where it fits. */
  frameArrived(frame: Uint8Array, stream: OutputStream): void {
    const offset = this.log.endOffset;
    this.log.append(frame.subarray(1), stream);
    this.#outputSender.keep(offset, frame);
    this.appended();
  }

  /** The process has ended and its last byte is in the log. */
  exited(status: ExitStatus): void {
    if (this.#exit !== undefined) return;
    this.#exit = status;
    for (const client of this.#clients.all) this.#inputReceiver.ack(client, true);
    this.appended();
    for (const client of [...this.#unheld.keys()]) this.#held(client);
    this.#snapshots.ended();
    // Beside the process it can be asked for as long as the session is kept.
    if (this.#hop === "relay" && this.facts.tty && !isReplayable(this.#surroundings)) {
      this.#isScreenDue = true;
      this.#snapshots.await(() => {
        this.#isScreenDue = false;
        // The inner hop is let go of now.
        this.#snapshots.close();
      });
    }
  }

  /** The first `count` bytes of the client's oldest entry were written to the process. */
  wrote(client: ClientRecord, count: number): void {
    this.#inputReceiver.wrote(client, count);
  }

  appliedEof(client: ClientRecord): void {
    this.#inputReceiver.appliedEof(client);
  }

  /** The far end of the inner hop has taken this client's input before `offset`. */
  takenUpTo(client: ClientRecord, offset: number): void {
    // Also how the bridge answers that a client is attached: it holds the process for it from now on.
    this.#held(client);
    client.input.takenUpTo(offset);
    this.#inputReceiver.ack(client, true);
  }

  #held(client: ClientRecord): void {
    const waiting = this.#unheld.get(client);
    if (waiting === undefined) return;
    this.#unheld.delete(client);
    waiting.greet();
  }

  /** More input of this client is in the record: it may be acknowledged now. */
  recorded(clientId: string): void {
    const client = this.#clients.get(clientId);
    if (client === undefined) return;
    this.#inputReceiver.ack(client, true);
    if (this.#exit !== undefined) this.#outputSender.goOn(client);
  }

  /** The process takes no more input: it has ended, or closed its end. What waits is refused. */
  inputClosed(): void {
    this.#inputReceiver.close();
  }

  /** A relay hears that the PTY has another size from the end of its log on. */
  sizeChanged(size: TerminalSize): void {
    this.#size = size;
    this.log.markSize(size.cols, size.rows);
    this.appended();
  }

  /** A relay hears that bytes are gone for good: its log goes on at `offset`. */
  skipped(offset: number): void {
    this.log.skipTo(offset);
    this.appended();
  }

  /** A relay is greeted: output goes on at `offset`, where the PTY has this size. */
  continueAt(offset: number, size: TerminalSize): void {
    if (offset > this.log.endOffset) this.skipped(offset);
    const known = this.log.sizeAt(this.log.endOffset);
    if (known.cols !== size.cols || known.rows !== size.rows) this.sizeChanged(size);
  }

  /** A relay hears how much output there has been. */
  noteEnd(offset: number): void {
    this.#knownEnd = Math.max(this.#knownEnd, offset);
  }

  /** Takes over who holds the keyboard from the other side of the inner hop. Held by nobody who is known, it is free. */
  holderChanged(told: string): void {
    const id = this.#clients.has(told) ? told : "";
    if (this.keyboard.holder === id) return;
    this.keyboard.setHolder(id);
    this.#announceHolder();
  }

  // ---- Snapshots -----------------------------------------------------------------------------------------------

  /** The answer to a request of the session's source; undefined: none can be had. Also taken when nobody asked. */
  snapshotReady(snapshot: Snapshot | undefined): void {
    // A client that starts ahead of a relay's log may come back there before the log has got so far.
    if (snapshot !== undefined && this.#exit === undefined) this.noteEnd(snapshot.offset);
    this.#snapshots.arrived(snapshot);
  }

  /** Calls back with a snapshot, or with undefined where none can be had in time: for the far end of the inner hop. */
  awaitScreen(ready: (screen: SnapshotFrame | undefined) => void): void {
    this.#snapshots.await(ready);
  }

  /** Whether a snapshot has been asked for and not come: a relay asks again over a new connection. */
  get isScreenAsked(): boolean {
    return this.#snapshots.isAsked;
  }

  /** The process has ended, and its last screen is here, or will not come: there is nothing left to ask upstream. */
  get isSettled(): boolean {
    return this.#exit !== undefined && !this.#isScreenDue;
  }

  /** The screen of a process that has ended, to be kept with its log; undefined where the log alone gives it, or nothing does. */
  get lastScreen(): Snapshot | undefined {
    return this.#snapshots.last;
  }

  // ---- Who answers terminal queries ------------------------------------------------------------------------------

  get answerer(): Answerer {
    return this.#answererChoice.current;
  }

  /** What a relay tells the bridge of it when that has greeted. */
  get answererToTell(): Answerer {
    return this.#answererChoice.toTell;
  }

  /** The bridge is told whom the Durable Object has chosen. */
  answererTold({ id, offset }: Answerer): void {
    this.#answererChoice.tell({ id, offset });
  }

  /** A relay hears, before their last bytes, that the bridge itself answers the queries that end before `offset`. */
  bridgeAnswered(offset: number): void {
    this.#answererChoice.answered(offset);
  }

  // ---- The inner hop -------------------------------------------------------------------------------------------

  /** A reader that gets all output from `offset` on, whatever its clients acknowledge. */
  addLink(offset: number, peer: OutputPeer): OutputReader {
    return this.#outputSender.addLink(offset, peer);
  }

  removeLink(link: OutputReader): void {
    this.#outputSender.removeLink(link);
  }

  /** The peer of a reader can be written to again. */
  drained(reader: OutputReader): void {
    this.#outputSender.drained(reader);
  }

  // ---- Pace and time -------------------------------------------------------------------------------------------

  /** The client whose unacknowledged bytes hold the process back. */
  get pacer(): ClientRecord | undefined {
    return this.#pace.pacer;
  }

  /** Whether the process is to be held: asked after output, acknowledgements and whenever somebody comes or goes. */
  get shouldHold(): boolean {
    // The log must not run away from a snapshot that is being made.
    return this.#pace.shouldHold || this.#snapshots.isAsked;
  }

  /** When {@link tick} is to be called next; undefined while nothing waits for time to pass. */
  get nextTickMs(): number | undefined {
    let next: number | undefined;
    const wish = (atMs: number | undefined) => {
      if (atMs !== undefined && (next === undefined || atMs < next)) next = atMs;
    };
    wish(this.#snapshots.nextTickMs);
    wish(this.#outputSender.nextLinkTickMs);
    for (const { sinceMs } of this.#unheld.values()) wish(sinceMs + HOLD_PATIENCE_MS);
    for (const client of this.#clients.all) {
      wish(client.inputAckDueMs);
      if (client.presence.phase === "vanished") wish(client.presence.sinceMs + graceOf(client));
      wish(this.#outputSender.nextTickMs(client));
    }
    return next;
  }

  /** Does what has come due. */
  tick(): void {
    const now = this.#now();
    this.#snapshots.tick(now);
    this.#outputSender.tickLinks(now);
    for (const [client, { sinceMs }] of [...this.#unheld]) if (sinceMs + HOLD_PATIENCE_MS <= now) this.#held(client);
    for (const client of [...this.#clients.all]) {
      if (client.inputAckDueMs !== undefined && client.inputAckDueMs <= now) this.#inputReceiver.ack(client, true);
      if (client.presence.phase === "vanished" && client.presence.sinceMs + graceOf(client) <= now) {
        if (client.isLeaving) this.leave(client);
        else this.expire(client);
      }
      this.#outputSender.tick(client, now);
    }
  }

  // ---- Inside --------------------------------------------------------------------------------------------------

  #admit(
    request: AttachRequest & { delivery: Delivery },
    old: ClientRecord | undefined,
    reach: ClientRecord["reach"],
  ): ClientRecord {
    const wasPresent = old !== undefined && old.presence.phase !== "absent";
    const client = new ClientRecord(
      { ...request, name: this.#nameOf(request, old) },
      wasPresent ? old.order : this.#clients.nextOrder(),
      old?.input ?? new InputQueue(this.#hop),
      reach,
    );
    const size = request.size ?? old?.size;
    client.size = size;
    client.attempt = request.attempt ?? old?.attempt;
    if (old !== undefined) client.feed = old.feed;
    client.isActive = old?.isActive ?? false;
    client.budget = old?.budget;
    client.lastWrite = old?.lastWrite;
    if (this.#creator === "" && client.role === "driver") this.#creator = client.id;
    const announce: Presence = { phase: "attached" };
    client.presence = announce;
    // Told before the newcomer is among them: it reads of itself in its own greeting.
    if (!wasPresent) this.#broadcast({ type: "join", participant: client.participant });
    this.#clients.set(client);
    if (old !== undefined) replace(old, request);
    const holder = this.keyboard.holder;
    this.keyboard.join(client);
    // In this order: the keyboard is nobody's whom the other side does not know.
    this.#upstream.attached(client);
    if (this.keyboard.holder !== holder) this.#upstream.holder(this.keyboard.holder);
    if (this.#hop === "process") this.#fitSize();
    return client;
  }

  /** The others know it by the name that it had, unless somebody took that while it was away. */
  #nameOf(request: AttachRequest, old: ClientRecord | undefined): string {
    if (old?.isPresent) return old.name;
    const others = [...this.#clients.present()].map(({ name }) => name);
    return distinctName(old?.name || request.name, others);
  }

  /** Where a remote client's messages go: set by the shell that serves the inner hop. */
  tellRemote: (client: ClientRecord, message: ServerMessage) => void = () => {
    throw new Error("Cannot tell a remote client: no inner hop is served");
  };

  #tell(client: ClientRecord, message: ServerMessage): void {
    if (client.reach.kind === "direct") client.reach.peer.send(message);
    else if (client.reach.kind === "remote") this.tellRemote(client, message);
  }

  #broadcast(message: ServerMessage): void {
    for (const client of this.#clients.all) if (client.isGreeted) client.peer?.send(message);
  }

  #tellFloor(client: ClientRecord, result: KeyboardResult): void {
    if (result.ok) return;
    const code = result.fault === "viewer" ? "not_allowed" : result.fault;
    this.#tell(client, { type: "error", code, message: code.replaceAll("_", " ") });
  }

  #afterFloor(client: ClientRecord, result: KeyboardResult): void {
    if (result.ok) this.#announceHolder();
    else this.#tellFloor(client, result);
  }

  #announceHolder(): void {
    this.#broadcast({ type: "stdin_holder", id: this.keyboard.holder });
    this.#upstream.holder(this.keyboard.holder);
    this.#answererChoice.choose();
    if (this.#hop === "process") this.#fitSize();
    this.#tellWatchers();
  }

  #refuseClient(client: ClientRecord, code: number, reason: string): void {
    if (client.reach.kind === "remote") {
      this.#tell(client, { type: "bye", code, reason, retry: "never" });
    }
    client.peer?.bye(code, reason, "never");
    this.leave(client);
  }

  /** The client's grace has passed: the others are told that it left. Its place in the input is remembered. */
  expire(client: ClientRecord): void {
    if (client.presence.phase === "absent") return;
    this.#pace.noteHeld(client);
    const { acked, windowBytes } = client;
    client.reach = { kind: "none", acked, windowBytes };
    client.presence = { phase: "absent" };
    this.#depart(client, "vanished");
    this.#clients.forgetAbsent();
  }

  #depart(client: ClientRecord, how: "left" | "vanished"): void {
    client.feed.clear();
    const wasFreed = this.keyboard.leave(client.id, client.isActive);
    // One that never took part may have gone before it was greeted: whoever comes next is the first, itself perhaps.
    if (!client.isActive && this.#creator === client.id) this.#creator = "";
    if (this.#exit !== undefined) {
      // Everybody is told the exit and goes: that the first has gone is no news to those behind it.
      this.#upstream.departed(client, how);
      return;
    }
    this.#broadcast({ type: "leave", id: client.id });
    if (wasFreed) this.#announceHolder();
    this.#answererChoice.choose();
    if (this.#hop === "process") this.#fitSize();
    this.#upstream.departed(client, how);
  }

  #fitSize(): void {
    if (!this.facts.tty || this.#exit !== undefined) return;
    const fitted = fittedSize(this.#clients, this.keyboard, this.facts.mode);
    if (fitted === undefined || (fitted.cols === this.#size.cols && fitted.rows === this.#size.rows)) return;
    this.#size = fitted;
    this.#upstream.resize(undefined, fitted);
    this.log.markSize(fitted.cols, fitted.rows);
    this.appended();
  }
}

/** How long a client that has vanished is still here. A program is always between two calls, or in one. */
function graceOf(client: ClientRecord): number {
  if (!client.isProgram) return RESUME_GRACE_MS;
  return client.callsUnderWay > 0 ? Number.POSITIVE_INFINITY : PROGRAM_GRACE_MS;
}

/** Tells the connection that a client had before it made the one of `request`. */
function replace(old: ClientRecord, { attempt }: AttachRequest): void {
  if (old.reach.kind !== "direct") return;
  // Only one of them is its client's, and which one can't be seen: if the client is here, it makes another.
  const isCopy = attempt !== undefined && old.attempt?.life === attempt.life && old.attempt.number === attempt.number;
  if (isCopy) old.reach.peer.bye(CLOSE.conflict, "replaced by a copy of its own handshake", "now");
  else old.reach.peer.bye(CLOSE.conflict, "replaced by a newer connection", "never");
}
