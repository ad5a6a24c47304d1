// The session core, the same on both hops: the log and its readers, the clients and their input, who may type, who sets
// the pace, and the exit. It decides; a shell with sockets and clocks carries out. Beside the process (`process`) it
// feeds the process; in the Durable Object (`relay`) it feeds the inner hop.

import type { Attempt } from "./attach.ts";
import { ClientRecord, type Peer, type Presence, type TerminalSize } from "./client-record.ts";
import {
  ACK_BYTES,
  CLOSE,
  MAX_CLIENTS,
  MAX_FRAME_BYTES,
  MAX_UNACKED_INPUT_BYTES,
  MIB,
  OUTER_PROTOCOL,
  PLAIN_STALL_MS,
  RESUME_GRACE_MS,
  type SignalName,
  STALL_MS,
} from "./constants.ts";
import type { ClientMessage, ExitStatus, Hello, ServerMessage } from "./control.ts";
import { Floor, type FloorResult, type Mode, type Role } from "./floor.ts";
import type { KnownClient } from "./inner.ts";
import { type InputEntry, InputQueue } from "./input.ts";
import type { OutputLog, OutputStream } from "./log.ts";
import { type Delivery, isWindowSpent, pacingClient } from "./pacing.ts";
import { FrameSource, OpenFlow, type OutputPeer, OutputReader, RatedFlow } from "./reader.ts";
import { Window } from "./window.ts";

/** What does not change while a process lives. */
export type SessionFacts = {
  /** Names as the client knows them. */
  readonly sandbox: string;
  readonly session: string;
  readonly incarnation: string;
  readonly tty: boolean;
  readonly mode: Mode;
  /** What happens with nobody attached: `live` runs on, `lossless` is held. */
  readonly delivery: Delivery;
};

export type AttachRequest = {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly isAdmin: boolean;
  /** Absent: live on a PTY, lossless on pipes. A viewer's is always live. */
  readonly delivery?: Delivery | undefined;
  /** Whether it speaks `stdio.v1`: it acknowledges, and its input is numbered. */
  readonly acknowledges: boolean;
  readonly size?: TerminalSize;
  /** The offset it asks for; absent: all that is held. */
  readonly offset?: number;
  /** Where its own input goes on, or `new`: after all that it ever sent. Absent: after what has been taken. */
  readonly stdin?: number | "new";
  /** Of a client that comes back: which of its connections this is, if it says so. */
  readonly attempt?: Attempt;
  /** Whether it has shown that it is the client `id` coming back. */
  readonly isResume: boolean;
  /** Its proof for the next time, to be told in `hello`. */
  readonly resume: string;
};

export type AttachResult =
  | { readonly ok: true; readonly client: ClientRecord }
  | { readonly ok: false; readonly code: number; readonly reason: string; readonly retry: "never" | "after" };

/** Towards the process: the process itself, or the inner hop. */
export interface Upstream {
  /** A client is here, or here again. */
  attached(client: ClientRecord): void;
  /** The client's input queue has a new entry, at its end. */
  input(client: ClientRecord, entry: InputEntry): void;
  signal(client: ClientRecord, signal: SignalName): void;
  /** `process`: the size that the PTY is to have. `relay`: what this client's window is, for the bridge to decide. */
  resize(client: ClientRecord | undefined, size: TerminalSize): void;
  kill(client: ClientRecord): void;
  /** The client has dealt with more output, or its window has changed. */
  acked(client: ClientRecord): void;
  departed(client: ClientRecord, how: "left" | "vanished"): void;
  holder(id: string): void;
}

export type SessionOptions = {
  readonly hop: "process" | "relay";
  readonly facts: SessionFacts;
  readonly log: OutputLog;
  readonly upstream: Upstream;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Whether sending a frame copies it at once, so that its memory may be used again. */
  readonly reuseFrames: boolean;
  readonly holder?: string;
  /** The first driver that ever attached, if one has. */
  readonly creator?: string;
};

/** Acknowledgements of input wait this long for more, so that a keystroke's does not delay its echo. */
const INPUT_ACK_DELAY_MS = 20;
/** Clients that are gone but whose input could still be sent again: the oldest are forgotten beyond this many. */
const MAX_ABSENT = 192;
/** Input of theirs that still waits: beyond this the oldest are forgotten with what they said. */
const MAX_ABSENT_INPUT_BYTES = 4 * MIB;
/** Clients of which only this much is remembered, that they can't be resumed: the newest so many. */
const MAX_GONE = 256;
/** Pieces of one client's input that may wait: small ones are gathered, so that only a fault comes to so many. */
const MAX_UNACKED_INPUT_ENTRIES = 4096;
/** What may still be read of a process between two looks at whether to hold it: two frames of one stream, and what waits of
 * the other. */
const HOLD_MARGIN_BYTES = 4 * MAX_FRAME_BYTES;
/** How often something that waits for a rate, and not for an event, is looked at. */
const RATE_TICK_MS = 10;

export class Session {
  readonly facts: SessionFacts;
  readonly log: OutputLog;
  readonly floor: Floor;
  readonly #hop: "process" | "relay";
  readonly #upstream: Upstream;
  readonly #now: () => number;
  readonly #frames: FrameSource;
  readonly #clients = new Map<string, ClientRecord>();
  /** Ids of clients that have left, or are forgotten: what they say of their input can't be held against anything. */
  readonly #gone = new Set<string>();
  /** Readers that are no clients: inner hops. */
  readonly #links = new Set<OutputReader>();
  #exit: ExitStatus | undefined;
  #isInputClosed = false;
  #creator: string;
  #order = 0;
  #answerer = { id: "", offset: 0 };
  /** A relay knows of bytes that it has not received yet. */
  #knownEnd = 0;
  /** With nobody attached, a lossless session keeps everything from here on. */
  #heldFrom = 0;
  #size: TerminalSize;

  constructor(options: SessionOptions) {
    this.facts = options.facts;
    this.log = options.log;
    // A session that had a first client has had its first holder: a keyboard that is free now waits to be asked for.
    this.floor = new Floor(options.facts.mode, options.holder, (options.creator ?? "") !== "");
    this.#hop = options.hop;
    this.#upstream = options.upstream;
    this.#now = options.now;
    this.#frames = new FrameSource(options.log, options.reuseFrames);
    this.#creator = options.creator ?? "";
    this.#size = this.log.sizeAt(this.log.endOffset);
    this.#heldFrom = this.log.endOffset;
  }

  get exit(): ExitStatus | undefined {
    return this.#exit;
  }

  get creator(): string {
    return this.#creator;
  }

  get clients(): IterableIterator<ClientRecord> {
    return this.#clients.values();
  }

  client(id: string): ClientRecord | undefined {
    return this.#clients.get(id);
  }

  /** Clients that can't be resumed. One that is neither here nor there was greeted, and then lost before all knew of it. */
  get gone(): ReadonlySet<string> {
    return this.#gone;
  }

  /** What a relay is told of a client that can't be resumed. */
  noteGone(id: string): void {
    this.#gone.delete(id);
    this.#gone.add(id);
    for (const oldest of this.#gone) {
      if (this.#gone.size <= MAX_GONE) return;
      this.#gone.delete(oldest);
    }
  }

  /** Clients that are attached, or vanished within their grace. */
  get presentCount(): number {
    let count = 0;
    for (const client of this.#clients.values()) if (client.presence.phase !== "absent") count += 1;
    return count;
  }

  get attachedCount(): number {
    let count = 0;
    for (const client of this.#clients.values()) if (client.presence.phase === "attached") count += 1;
    return count;
  }

  // ---- Clients come and go -------------------------------------------------------------------------------------

  /**
   * Attaches a client that is sent to directly, and greets it. With the id of a client that is here, the newer
   * connection wins and the older is told 4409. Newer is the one that comes later, unless the client says otherwise.
   */
  attach(request: AttachRequest, peer: Peer): AttachResult {
    const old = this.#clients.get(request.id);
    const refusal = this.#refusalOf(request, old);
    if (refusal !== undefined) return refusal;
    const now = this.#now();
    // On a PTY whoever names no offset wants the screen; on pipes everything.
    const asked = request.offset ?? (this.facts.tty ? this.log.startOffset : 0);
    const offset = Math.max(asked, this.log.startOffset);
    const usual = this.facts.tty ? "live" : "lossless";
    const delivery = request.role === "viewer" ? "live" : (request.delivery ?? usual);
    if (old?.reach.kind === "direct") old.reach.peer.bye(CLOSE.conflict, "replaced by a newer connection", "never");
    const flow = request.acknowledges ? new Window(offset) : new RatedFlow(offset, now);
    const reader = new OutputReader(this.log, this.#frames, offset, flow, peer);
    const client = this.#admit({ ...request, delivery }, old, { kind: "direct", peer, reader });
    client.inputStart = inputStartOf(request, client);
    const size = this.log.sizeAt(offset);
    peer.send({
      type: "hello",
      protocol: OUTER_PROTOCOL,
      sandbox: this.facts.sandbox,
      session: this.facts.session,
      incarnation: this.facts.incarnation,
      tty: this.facts.tty,
      cols: size.cols,
      rows: size.rows,
      offset,
      live: Math.max(this.log.endOffset, this.#knownEnd),
      stdin: client.inputStart,
      resume: request.resume,
      window: flow instanceof Window ? flow.maxBytes : flow.bytes,
      delivery,
      you: client.participant,
      answerer: this.#answerer,
      holder: this.floor.holder,
      mode: this.facts.mode,
      participants: this.#participants(),
      ...(asked === offset ? {} : { gap: offset - asked }),
    } satisfies Hello);
    client.isGreeted = true;
    client.inputAckSent = client.input.taken;
    this.#pumpReader(client, reader, now);
    return { ok: true, client };
  }

  /** A client that the far end of the inner hop has attached; its output goes through the link, not to it. */
  attachRemote(
    request: AttachRequest & { readonly delivery: Delivery; readonly acked: number; readonly windowBytes: number },
  ): AttachResult {
    const old = this.#clients.get(request.id);
    if (old?.reach.kind === "direct") old.reach.peer.bye(CLOSE.conflict, "replaced by a newer connection", "never");
    // Not the greater of this and what was known: a client that comes back with an empty screen starts over.
    const reach = { kind: "remote" as const, acked: request.acked, windowBytes: request.windowBytes };
    return { ok: true, client: this.#admit(request, old, reach) };
  }

  /** The client closed with 1000: its place is given up. */
  leave(client: ClientRecord): void {
    if (this.#clients.get(client.id) !== client) return;
    this.#noteHeld(client);
    this.#clients.delete(client.id);
    this.noteGone(client.id);
    this.#depart(client, "left");
  }

  /**
   * The connection ended in any other way: the client keeps its place for the grace, if it ever took part or `isSure`
   * that it is still there and only the way to it is broken.
   */
  vanish(client: ClientRecord, isSure = false): void {
    if (client.presence.phase !== "attached" || this.#clients.get(client.id) !== client) return;
    const { acked, windowBytes } = client;
    client.presence = { phase: "vanished", sinceMs: this.#now() };
    client.reach = { kind: "none", acked, windowBytes };
    if (!client.isActive && !isSure) this.expire(client);
  }

  /** What a relay is told of a client that the bridge knows. Unknown here, it has vanished just now, or long ago. */
  restore(known: KnownClient): void {
    const client = this.#clients.get(known.id);
    if (client === undefined) {
      const who = { name: "", delivery: "live" as const, acknowledges: true, ...known, isAdmin: false };
      const input = new InputQueue(this.#hop, known.stdin, known.eof, known.received);
      const reach = { kind: "none" as const, acked: known.acked, windowBytes: MAX_FRAME_BYTES };
      const restored = new ClientRecord(who, this.#order++, input, reach);
      restored.isActive = true;
      restored.presence = known.isAbsent ? { phase: "absent" } : { phase: "vanished", sinceMs: this.#now() };
      this.#clients.set(known.id, restored);
      return;
    }
    client.input.takenUpTo(known.stdin);
    if (known.eof !== undefined) client.input.eofKnownAt(known.eof);
    this.#ackInput(client, true);
  }

  // ---- What clients ask for ------------------------------------------------------------------------------------

  /**
   * Input of a client. `offset` is where it starts; absent for a client whose input is not numbered. The session keeps a
   * view of `bytes`.
   */
  stdin(client: ClientRecord, bytes: Uint8Array, offset = client.input.received): void {
    const end = offset + bytes.length;
    client.isActive = true;
    if (end < client.input.received || (end === client.input.received && bytes.length > 0)) return; // A duplicate.
    const allowed = this.floor.mayDrive(client.id);
    let entry: InputEntry | undefined;
    if (bytes.length === 0 || !allowed.ok || this.#isInputClosed || this.#exit !== undefined) {
      entry = client.input.refuse(end);
      if (bytes.length > 0) this.#tellRefused(client, allowed.ok ? "stdin_closed" : "not_stdin_holder");
    } else {
      entry = client.input.push(offset, bytes);
    }
    if (this.#isTooMuch(client)) return;
    if (entry !== undefined) this.#upstream.input(client, entry);
    this.#ackInput(client, false);
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
        if (this.#mayDrive(client)) this.#upstream.signal(client, message.signal);
        return;
      case "kill":
        if (this.#mayDrive(client)) this.#upstream.kill(client);
        return;
      case "eof":
        this.#eof(client, message.offset ?? client.input.received);
        return;
      case "ack":
        this.#ack(client, message.offset);
        return;
      case "request_stdin": {
        const result = this.floor.request(client.id);
        if (!result.ok) this.#tellFloor(client, result);
        else if (result.isTaken) this.#broadcast({ type: "stdin_request", id: client.id });
        else this.#announceHolder();
        return;
      }
      case "release_stdin":
        this.#afterFloor(client, this.floor.release(client.id));
        return;
      case "grant_stdin":
        this.#afterFloor(client, this.floor.grant(client.id, message.to));
        return;
      case "force_take":
        this.#afterFloor(client, this.floor.forceTake(client.id));
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
    const now = this.#now();
    for (const link of this.#links) link.pump(now, this.#exit);
    for (const client of this.#clients.values()) {
      if (client.reach.kind === "direct" && client.isGreeted) this.#pumpReader(client, client.reach.reader, now);
    }
  }

  /** A whole frame has come over the inner hop: it is logged, and passed on as it is where it fits. */
  frameArrived(frame: Uint8Array, stream: OutputStream): void {
    const offset = this.log.endOffset;
    this.log.append(frame.subarray(1), stream);
    this.#frames.keep(offset, frame);
    this.appended();
  }

  /** The process has ended and its last byte is in the log. */
  exited(status: ExitStatus): void {
    if (this.#exit !== undefined) return;
    this.#exit = status;
    for (const client of this.#clients.values()) this.#ackInput(client, true);
    this.appended();
  }

  /** The first `count` bytes of the client's oldest entry were written to the process. */
  wrote(client: ClientRecord, count: number): void {
    client.input.wrote(count);
    this.#ackInput(this.#newest(client), false);
  }

  appliedEof(client: ClientRecord): void {
    client.input.appliedEof();
    if (!this.facts.tty) this.#isInputClosed = true;
    this.#ackInput(this.#newest(client), true);
  }

  /** The far end of the inner hop has taken this client's input before `offset`. */
  takenUpTo(client: ClientRecord, offset: number): void {
    client.input.takenUpTo(offset);
    this.#ackInput(client, true);
  }

  /** The process takes no more input: it has ended, or closed its end. What waits is refused. */
  inputClosed(): void {
    this.#isInputClosed = true;
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
    if (this.floor.holder === id) return;
    this.floor.setHolder(id);
    this.#announceHolder();
  }

  // ---- The inner hop -------------------------------------------------------------------------------------------

  /** A reader that gets all output from `offset` on, whatever its clients acknowledge. */
  addLink(offset: number, peer: OutputPeer): OutputReader {
    const reader = new OutputReader(this.log, this.#frames, offset, new OpenFlow(offset), peer);
    this.#links.add(reader);
    return reader;
  }

  removeLink(link: OutputReader): void {
    this.#links.delete(link);
  }

  /** The peer of a reader can be written to again. */
  drained(reader: OutputReader): void {
    for (const client of this.#clients.values()) {
      if (client.reach.kind === "direct" && client.reach.reader === reader) {
        this.#pumpReader(client, reader, this.#now());
        return;
      }
    }
    reader.pump(this.#now(), this.#exit);
  }

  // ---- Pace and time -------------------------------------------------------------------------------------------

  /** The client whose unacknowledged bytes hold the process back. */
  get pacer(): ClientRecord | undefined {
    return pacingClient(this.#present(), this.floor.holder);
  }

  /** Whether the process is to be held: asked after output, acknowledgements and whenever somebody comes or goes. */
  get shouldHold(): boolean {
    const pacer = this.pacer;
    if (pacer !== undefined) return isWindowSpent(pacer, this.log.endOffset);
    // A live session runs on with nobody attached, but not before its creator has come: that one is on the way.
    const isAwaited = this.#order === 0;
    if (this.facts.delivery === "live" && !isAwaited) return false;
    return this.log.endOffset - this.#heldFrom >= this.log.capacityBytes - HOLD_MARGIN_BYTES;
  }

  /** When {@link tick} is to be called next; undefined while nothing waits for time to pass. */
  get nextTickMs(): number | undefined {
    let next: number | undefined;
    const wish = (atMs: number) => {
      if (next === undefined || atMs < next) next = atMs;
    };
    for (const client of this.#clients.values()) {
      if (client.inputAckDueMs !== undefined) wish(client.inputAckDueMs);
      if (client.presence.phase === "vanished") wish(client.presence.sinceMs + RESUME_GRACE_MS);
      if (client.reach.kind !== "direct") continue;
      const blockedSince = client.reach.reader.blockedSinceMs;
      if (blockedSince === undefined) continue;
      if (!client.acknowledges) wish(this.#now() + RATE_TICK_MS);
      else if (client.delivery === "lossless") wish(blockedSince + STALL_MS);
    }
    return next;
  }

  /** Does what has come due. */
  tick(): void {
    const now = this.#now();
    for (const client of [...this.#clients.values()]) {
      if (client.inputAckDueMs !== undefined && client.inputAckDueMs <= now) this.#ackInput(client, true);
      if (client.presence.phase === "vanished" && client.presence.sinceMs + RESUME_GRACE_MS <= now) this.expire(client);
      if (client.reach.kind !== "direct") continue;
      const { reader } = client.reach;
      if (reader.blockedSinceMs === undefined) continue;
      if (!client.acknowledges) {
        this.#pumpReader(client, reader, now);
        if (now - (reader.blockedSinceMs ?? now) < PLAIN_STALL_MS) continue;
        client.peer?.bye(CLOSE.internal, "the client can't be written to", "now");
        this.vanish(client);
      } else if (client.delivery === "lossless" && reader.blockedSinceMs + STALL_MS <= now) {
        client.peer?.bye(CLOSE.internal, "output was not acknowledged for too long", "now");
        this.vanish(client);
      }
    }
  }

  // ---- Inside --------------------------------------------------------------------------------------------------

  #refusalOf(request: AttachRequest, old: ClientRecord | undefined): AttachResult | undefined {
    const refuse = (code: number, reason: string, retry: "never" | "after"): AttachResult => ({
      ok: false,
      code,
      reason,
      retry,
    });
    // After the exit nothing can be taken twice.
    if (request.isResume && old === undefined && this.#exit === undefined && this.#gone.has(request.id))
      return refuse(CLOSE.notFound, "this client has left: nothing to resume", "never");
    const [attempt, last] = [request.attempt, old?.attempt];
    if (attempt !== undefined && attempt.life === last?.life && attempt.number < last.number)
      return refuse(CLOSE.conflict, "held up on its way: this client has made a newer connection", "never");
    const end = Math.max(this.log.endOffset, this.#knownEnd);
    if (request.offset !== undefined && request.offset > end) {
      return refuse(CLOSE.badRequest, `offset ${request.offset} is beyond the log, which ends at ${end}`, "never");
    }
    const isNew = old === undefined || old.presence.phase === "absent";
    if (isNew && this.presentCount >= MAX_CLIENTS) return refuse(CLOSE.tryLater, "the session is full", "after");
    return undefined;
  }

  #admit(
    request: AttachRequest & { delivery: Delivery },
    old: ClientRecord | undefined,
    reach: ClientRecord["reach"],
  ): ClientRecord {
    const wasPresent = old !== undefined && old.presence.phase !== "absent";
    const client = new ClientRecord(
      request,
      wasPresent ? old.order : this.#order++,
      old?.input ?? new InputQueue(this.#hop),
      reach,
    );
    const size = request.size ?? old?.size;
    client.size = size;
    client.attempt = request.attempt ?? old?.attempt;
    client.isActive = old?.isActive ?? false;
    if (this.#creator === "" && client.role === "driver") this.#creator = client.id;
    const announce: Presence = { phase: "attached" };
    client.presence = announce;
    // Told before the newcomer is among them: it reads of itself in its own greeting.
    if (!wasPresent) this.#broadcast({ type: "join", participant: client.participant });
    this.#clients.set(client.id, client);
    const holder = this.floor.holder;
    this.floor.join(client);
    this.#chooseAnswerer();
    // In this order: the keyboard is nobody's whom the other side does not know.
    this.#upstream.attached(client);
    if (this.floor.holder !== holder) this.#upstream.holder(this.floor.holder);
    if (this.#hop === "process") this.#fitSize();
    return client;
  }

  #pumpReader(client: ClientRecord, reader: OutputReader, now: number): void {
    const { acked } = reader.flow;
    const hasExited = reader.pump(now, this.#exit);
    // One that can't acknowledge has dealt with what its socket took, and nothing else will say so upstream.
    if (!client.acknowledges && reader.flow.acked !== acked) this.#upstream.acked(client);
    if (!hasExited) return;
    client.peer?.finish();
    // It has all, as far as anybody knows: others may have its place, and it may still come back for what got lost.
    this.vanish(client, true);
  }

  #eof(client: ClientRecord, offset: number): void {
    client.isActive = true;
    const isOnlyDriver = ![...this.#present()].some((c) => c.role === "driver" && c.id !== client.id);
    const may = this.floor.mayDrive(client.id);
    const isAllowed = this.facts.tty
      ? may.ok
      : client.role === "driver" && (client.id === this.#creator || client.id === this.floor.holder || isOnlyDriver);
    if (!isAllowed) {
      this.#tellRefused(client, "not_stdin_holder");
      return;
    }
    if (this.#exit !== undefined) return;
    // A relay passes a repetition on: the bridge may have refused the first.
    const entry = client.input.pushEof(offset) ?? (this.#hop === "relay" ? client.input.waitingEof : undefined);
    if (this.#isTooMuch(client)) return;
    if (entry !== undefined) this.#upstream.input(client, entry);
  }

  /** A client whose input piles up beyond what it may have sent is closed. */
  #isTooMuch(client: ClientRecord): boolean {
    const { queuedBytes, entries } = client.input;
    const isTooMuch =
      queuedBytes > MAX_UNACKED_INPUT_BYTES + MAX_FRAME_BYTES || entries.length > MAX_UNACKED_INPUT_ENTRIES;
    if (isTooMuch) this.#refuseClient(client, CLOSE.policy, `more than ${MAX_UNACKED_INPUT_BYTES} bytes of input wait`);
    return isTooMuch;
  }

  #ack(client: ClientRecord, offset: number): void {
    client.isActive = true;
    if (client.reach.kind !== "direct") return;
    const { reader } = client.reach;
    if (offset > reader.cursor) {
      this.#refuseClient(client, CLOSE.policy, `ack of ${offset} is beyond what was sent, ${reader.cursor}`);
      return;
    }
    const now = this.#now();
    // A window that has shrunk stays full for longer than its client takes to deal with something.
    if (offset > reader.flow.acked && reader.blockedSinceMs !== undefined) reader.blockedSinceMs = now;
    reader.flow.ack(offset, now);
    this.#pumpReader(client, reader, now);
    this.#upstream.acked(client);
  }

  /** Tells the client how much of its input has been taken: at once where much, else gathered for a moment. */
  #ackInput(client: ClientRecord, isDue: boolean): void {
    const waiting = client.input.taken - client.inputAckSent;
    if (waiting <= 0) return;
    const now = this.#now();
    if (!isDue && waiting < ACK_BYTES / 2) {
      client.inputAckDueMs ??= now + INPUT_ACK_DELAY_MS;
      return;
    }
    client.inputAckDueMs = undefined;
    client.inputAckSent = client.input.taken;
    if (client.acknowledges) this.#tell(client, { type: "stdin_ack", offset: client.input.taken });
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
    for (const client of this.#clients.values()) if (client.isGreeted) client.peer?.send(message);
  }

  /** A client that came back meanwhile has a new record, with the same queue: it is the one to be told. */
  #newest(client: ClientRecord): ClientRecord {
    const newest = this.#clients.get(client.id);
    return newest?.input === client.input ? newest : client;
  }

  #mayDrive(client: ClientRecord): boolean {
    const result = this.floor.mayDrive(client.id);
    if (!result.ok) this.#tellRefused(client, "not_stdin_holder");
    return result.ok;
  }

  #tellRefused(client: ClientRecord, code: "not_stdin_holder" | "stdin_closed"): void {
    const message = code === "stdin_closed" ? "the process takes no more input" : "not stdin holder";
    this.#tell(client, { type: "error", code, message });
  }

  #tellFloor(client: ClientRecord, result: FloorResult): void {
    if (result.ok) return;
    const code = result.fault === "viewer" ? "not_allowed" : result.fault;
    this.#tell(client, { type: "error", code, message: code.replaceAll("_", " ") });
  }

  #afterFloor(client: ClientRecord, result: FloorResult): void {
    if (result.ok) this.#announceHolder();
    else this.#tellFloor(client, result);
  }

  #announceHolder(): void {
    this.#broadcast({ type: "stdin_holder", id: this.floor.holder });
    this.#upstream.holder(this.floor.holder);
    this.#chooseAnswerer();
    if (this.#hop === "process") this.#fitSize();
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
    this.#noteHeld(client);
    const { acked, windowBytes } = client;
    client.reach = { kind: "none", acked, windowBytes };
    client.presence = { phase: "absent" };
    this.#depart(client, "vanished");
    this.#forgetAbsent();
  }

  /** Only so many that are gone are remembered, and only so much that they said and that is still waiting. */
  #forgetAbsent(): void {
    const absent = [...this.#clients.values()].filter((client) => client.presence.phase === "absent");
    let bytes = absent.reduce((sum, client) => sum + client.input.queuedBytes, 0);
    let count = absent.length;
    for (const client of absent) {
      if (count <= MAX_ABSENT && bytes <= MAX_ABSENT_INPUT_BYTES) return;
      count -= 1;
      bytes -= client.input.queuedBytes;
      client.input.abandon();
      this.#clients.delete(client.id);
      this.noteGone(client.id);
    }
  }

  #depart(client: ClientRecord, how: "left" | "vanished"): void {
    const wasFreed = this.floor.leave(client.id);
    this.#broadcast({ type: "leave", id: client.id });
    if (wasFreed) this.#announceHolder();
    this.#chooseAnswerer();
    if (this.#hop === "process") this.#fitSize();
    this.#upstream.departed(client, how);
  }

  /** Where the last one goes, what was not dealt with stays to be read, also for those whose grace passed before. */
  #noteHeld(client: ClientRecord): void {
    let from = client.acked;
    for (const other of this.#clients.values()) {
      if (other === client) continue;
      if (other.presence.phase !== "absent") return;
      const wasKept = other.delivery === "lossless" && other.role === "driver";
      if (wasKept && other.acked >= this.log.startOffset) from = Math.min(from, other.acked);
    }
    this.#heldFrom = Math.max(this.log.startOffset, from);
  }

  /** The holder, else the longest attached driver: the one whose emulator answers terminal queries. */
  #chooseAnswerer(): void {
    let chosen: ClientRecord | undefined = this.#clients.get(this.floor.holder);
    if (chosen === undefined || chosen.presence.phase === "absent") {
      chosen = undefined;
      for (const client of this.#present()) {
        if (client.role === "driver" && (chosen === undefined || client.order < chosen.order)) chosen = client;
      }
    }
    const id = chosen?.id ?? "";
    if (id === this.#answerer.id) return;
    this.#answerer = { id, offset: Math.max(this.log.endOffset, this.#knownEnd) };
    this.#broadcast({ type: "answerer", ...this.#answerer });
  }

  /** Exclusive: the holder's size. Collaborative: the smallest among drivers that gave one. Nobody's: unchanged. */
  #fitSize(): void {
    if (!this.facts.tty || this.#exit !== undefined) return;
    const holder = this.#clients.get(this.floor.holder);
    let fitted: TerminalSize | undefined;
    for (const client of this.#present()) {
      if (client.role !== "driver" || client.size === undefined) continue;
      if (this.facts.mode === "exclusive" && client !== holder) continue;
      fitted =
        fitted === undefined
          ? client.size
          : { cols: Math.min(fitted.cols, client.size.cols), rows: Math.min(fitted.rows, client.size.rows) };
    }
    if (fitted === undefined || (fitted.cols === this.#size.cols && fitted.rows === this.#size.rows)) return;
    this.#size = fitted;
    this.#upstream.resize(undefined, fitted);
    this.log.markSize(fitted.cols, fitted.rows);
    this.appended();
  }

  #participants() {
    return [...this.#present()].sort((a, b) => a.order - b.order).map((client) => client.participant);
  }

  *#present(): IterableIterator<ClientRecord> {
    for (const client of this.#clients.values()) if (client.presence.phase !== "absent") yield client;
  }
}

/** Where a connection's input is numbered from: what its client keeps, or what it has not kept, or what has been taken. */
function inputStartOf({ isResume, stdin }: AttachRequest, { input }: ClientRecord): number {
  if (!isResume || stdin === undefined) return input.taken;
  // What waits of an earlier life stays, and must not be taken for what this one says.
  return stdin === "new" ? input.received : Math.max(input.taken, stdin);
}
