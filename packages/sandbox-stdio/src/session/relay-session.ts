// The session in the Durable Object: feeds the inner hop, follows what the bridge says of the process, and keeps the programs
// that call.

import { InputQueue } from "../input/input-queue.ts";
import type { Snapshot } from "../output/snapshot.ts";
import type { Attention } from "../programs/attention.ts";
import { typedText } from "../programs/typed-text.ts";
import { MAX_WRITERS } from "../programs/writers.ts";
import type { Answerer } from "../terminal/answerer-history.ts";
import { MAX_FRAME_BYTES } from "../wire/constants.ts";
import type { ExitStatus } from "../wire/control.ts";
import type { OutputStream } from "../wire/frames.ts";
import type { KnownClient } from "../wire/inner-messages.ts";
import { isReplayable } from "./attach-rules.ts";
import { ClientRecord, type TerminalSize } from "./client-record.ts";
import { earlier } from "./earlier.ts";
import type { InputRecorder } from "./input-recorder.ts";
import { SessionCore } from "./session-core.ts";
import type { ProgramRequest, SessionOptions } from "./session-types.ts";

/** How long a client waits for the bridge to hold the process for it. */
const HOLD_PATIENCE_MS = 2_000;
/** Ends of commands that are remembered: as many as the bridge lists. */
const MAX_COMMAND_ENDS = 1_000;
/** One a second comes at most: a stream between two calls misses none of them. */
const MAX_ATTENTIONS = 32;
/** What all programs that write by calls have in common. */
const PROGRAM = { role: "driver", kind: "program", delivery: "live", acknowledges: true } as const;

export class RelaySession extends SessionCore {
  readonly #recorder: InputRecorder | undefined;
  /** How much output there has been, as the bridge says: it may not have come here. */
  #toldEnd = 0;
  /** The process has ended and its last screen has not come. */
  #isScreenDue = false;
  readonly #watchers = new Set<() => void>();
  readonly #attentions: Attention[] = [];
  readonly #commandEnds: { readonly to: number; readonly exit?: number }[] = [];
  /** Told when more of a program's input has been taken, or stored. */
  onSettled: (client: ClientRecord) => void = () => undefined;
  /** Told when the program wants attention. */
  onAttention: (attention: Attention) => void = () => undefined;

  constructor(options: SessionOptions) {
    super(options, { holdsProcess: false, repeatsEof: true });
    this.#recorder = options.recorder;
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

  // ---- Programs that call --------------------------------------------------------------------------------------

  /**
   * A program calls: its writer is a client of this session, here until {@link PROGRAM_GRACE_MS} after its last call.
   * @returns undefined where as many have written as may.
   */
  beginCall(request: ProgramRequest): ClientRecord | undefined {
    const old = this.members.get(request.id);
    if (old === undefined && this.members.programCount >= MAX_WRITERS) return undefined;
    const sinceMs = this.now();
    if (old?.presence.phase === "calling" && this.#isCalling(old, request)) {
      old.presence = { ...old.presence, calls: old.presence.calls + 1, sinceMs };
      return old;
    }
    const calls = old?.presence.phase === "calling" ? old.presence.calls : 0;
    const presence = { phase: "calling", calls: calls + 1, sinceMs, acked: this.log.endOffset } as const;
    const client = this.attendance.admit({ ...PROGRAM, ...request }, presence);
    client.isActive = true;
    return client;
  }

  /** Whether it is here as who it was. What another life of this object knew of it is not enough. */
  #isCalling(client: ClientRecord, { isAdmin }: ProgramRequest): boolean {
    const may = this.keyboard.mayDrive(client.id);
    return client.isAdmin === isAdmin && (may.ok || may.fault !== "no_such_client");
  }

  endCall(client: ClientRecord): void {
    const { presence } = client;
    if (presence.phase !== "calling") return;
    client.presence = { ...presence, calls: Math.max(0, presence.calls - 1), sinceMs: this.now() };
  }

  /** How much of this client's input has been received; 0 of one that is not known. */
  receivedOf(clientId: string): number {
    return this.members.get(clientId)?.input.received ?? 0;
  }

  /** How much of a program's input is taken and, where a record is kept, stored. */
  settledOf(client: ClientRecord): number {
    return this.inputReceiver.settled(client);
  }

  /**
   * The bridge has queued these bytes of a program's: they go into the record, and count as received.
   * Nothing keeps `bytes`. @param fate `resent`: it had queued them before this call.
   */
  recordWrite(client: ClientRecord, from: number, bytes: Uint8Array, fate: "typed" | "resent"): void {
    const { received } = client.input;
    if (bytes.length > 0) {
      this.#recorder?.input(client, fate === "typed" ? Math.min(received, from) : received, from, bytes, fate);
    }
    client.input.receiveUpTo(from + bytes.length);
    if (fate === "typed" && bytes.length > 0) this.#showTyped(client, bytes);
    this.inputReceiver.ack(client, true);
  }

  /** Tells those who type here too what a program has typed, unless that is secret (K9). */
  #showTyped(program: ClientRecord, bytes: Uint8Array): void {
    if (this.#recorder?.isSecret(program.id) === true) return;
    const text = typedText(bytes);
    for (const client of this.members.all) {
      const mayKnow = client.role === "driver" && client.kind === "person" && client.acknowledges;
      if (mayKnow) client.greeted?.peer.send({ type: "typed", id: program.id, text });
    }
  }

  /** What wanted attention since this life of the object began, newest last, for those who read by calls (D6). */
  get attentions(): readonly Attention[] {
    return this.#attentions;
  }

  /** @see SessionCore.attention */
  override attention(attention: Attention): void {
    this.#attentions.push(attention);
    if (this.#attentions.length > MAX_ATTENTIONS) this.#attentions.shift();
    super.attention(attention);
    this.onAttention(attention);
    this.#tellWatchers();
  }

  /** Ends of a shell's commands that were told since this life of the object began, newest last. */
  get commandEnds(): readonly { readonly to: number; readonly exit?: number }[] {
    return this.#commandEnds;
  }

  // ---- What the bridge says ------------------------------------------------------------------------------------

  /** The bridge knows this client. Unknown here, it has vanished just now, or long ago. */
  restore(known: KnownClient): void {
    const client = this.members.get(known.id);
    if (client === undefined) {
      this.#addKnown(known);
      return;
    }
    client.input.takeUpTo(known.stdin);
    // Nothing of a program's waits here: what the bridge has received is all there is.
    if (client.isProgram && known.received !== undefined) client.input.receiveUpTo(known.received);
    if (known.eof !== undefined) client.input.dropEof(known.eof);
    this.inputReceiver.ack(client, true);
  }

  #addKnown(known: KnownClient): void {
    const { acked } = known;
    const sinceMs = this.now();
    const usual = { name: "", delivery: "live" as const, acknowledges: true };
    const who = { ...usual, ...known, isAdmin: false, mayUseKept: known.role === "driver" };
    const client = new ClientRecord(known.id, new InputQueue("relay", known.stdin, known.eof, known.received));
    client.attach(who, this.members.nextOrder(), { phase: "absent", acked });
    client.isActive = true;
    if (!known.isAbsent && client.isProgram) client.presence = { phase: "calling", calls: 0, sinceMs, acked };
    else if (!known.isAbsent) {
      client.presence = { phase: "vanished", sinceMs, acked, windowBytes: MAX_FRAME_BYTES, isLeaving: false };
    }
    this.members.add(client);
  }

  /** This client can't be resumed. */
  noteGone(id: string): void {
    this.members.noteGone(id);
  }

  /** Output goes on at `offset`, where the PTY has this size: the bytes before it that are not here are gone. */
  continueAt(offset: number, size: TerminalSize): void {
    if (offset > this.log.endOffset) this.skipTo(offset);
    const known = this.log.sizeAt(this.log.endOffset);
    if (known.cols !== size.cols || known.rows !== size.rows) this.setSize(size);
  }

  /** Bytes are gone for good: the log goes on at `offset`. */
  skipTo(offset: number): void {
    this.log.skipTo(offset);
    this.appended();
  }

  /** There has been output up to `offset`. */
  noteEnd(offset: number): void {
    this.#toldEnd = Math.max(this.#toldEnd, offset);
  }

  /** A whole frame has come: it is logged, and passed on as it is where it fits. It must stay as it is from here on. */
  appendFrame(frame: Uint8Array, stream: OutputStream): void {
    const offset = this.log.endOffset;
    this.log.append(frame.subarray(1), stream);
    this.outputSender.keep(offset, frame);
    this.appended();
  }

  override appended(): void {
    super.appended();
    this.#tellWatchers();
  }

  /** The PTY has another size from the end of the log on. */
  setSize(size: TerminalSize): void {
    this.log.markSize(size.cols, size.rows);
    this.appended();
  }

  /** The bridge has taken this client's input before `offset`. */
  confirmInput(client: ClientRecord, offset: number): void {
    client.input.takeUpTo(offset);
    this.inputReceiver.ack(client, true);
  }

  /** The bridge knows that the client is attached: it holds the process for it from now on. */
  attachAnswered({ presence }: ClientRecord): void {
    if (presence.phase === "opening") presence.hold?.greet();
  }

  /** The bridge says who holds the keyboard. An unknown holder id means free. */
  setHolder(told: string): void {
    this.commands.setHolder(told);
  }

  /** What the bridge is to be told of the answerer when it has greeted. */
  get answererToTell(): Answerer {
    return this.answererChoice.toTell;
  }

  /** The bridge itself answers the queries that end before `offset`. Told before their last bytes. */
  bridgeAnswered(offset: number): void {
    this.answererChoice.answered(offset);
  }

  commandEnded(end: { readonly to: number; readonly exit?: number }): void {
    this.#commandEnds.push(end);
    if (this.#commandEnds.length > MAX_COMMAND_ENDS) this.#commandEnds.shift();
    this.#tellWatchers();
  }

  // ---- Snapshots and the end -----------------------------------------------------------------------------------

  /** @see SessionCore.snapshotReady */
  override snapshotReady(snapshot: Snapshot | undefined): void {
    // A client that starts ahead of the log may come back there before the log has got so far.
    if (snapshot !== undefined && !this.hasEnded) this.noteEnd(snapshot.offset);
    super.snapshotReady(snapshot);
  }

  /** Whether a snapshot has been asked for and not come: it is asked for again over a new connection. */
  get isScreenAsked(): boolean {
    return this.snapshots.isAsked;
  }

  /** The process is lost, and the log holds what was received of it: each client is told after its last byte (X7). */
  lost(lastScreen: Snapshot | undefined): void {
    if (this.hasEnded) return;
    this.snapshots.ended();
    this.snapshots.arrived(lastScreen);
    this.snapshots.close();
    this.tellEnding("lost");
    for (const client of this.clients) this.attachAnswered(client);
  }

  /** The process has ended and its last byte is in the log. */
  exited(status: ExitStatus): void {
    if (!this.tellEnding(status)) return;
    for (const client of this.clients) this.attachAnswered(client);
    this.snapshots.ended();
    if (!this.facts.tty || isReplayable(this.attachContext)) return;
    this.#isScreenDue = true;
    this.snapshots.await(() => {
      this.#isScreenDue = false;
      // The inner hop is let go of now.
      this.snapshots.close();
    });
  }

  /** The process has ended, and its last screen is here, or will not come: there is nothing left to ask the bridge. */
  get isSettled(): boolean {
    return this.exit !== undefined && !this.#isScreenDue;
  }

  /** The screen of a process that has ended, to be kept with its log; undefined where the log alone gives it, or nothing does. */
  get lastScreen(): Snapshot | undefined {
    return this.snapshots.last;
  }

  /** More input of this client is in the record: it may be acknowledged now. */
  recorded(clientId: string): void {
    const client = this.members.get(clientId);
    if (client === undefined) return;
    this.inputReceiver.ack(client, true);
    if (this.hasEnded) this.outputSender.resume(client);
  }

  // ---- Time ----------------------------------------------------------------------------------------------------

  override get nextTickMs(): number | undefined {
    let next = super.nextTickMs;
    for (const client of this.clients) next = earlier(next, holdEndMs(client));
    return next;
  }

  override tick(): void {
    super.tick();
    const now = this.now();
    for (const client of [...this.clients]) {
      if ((holdEndMs(client) ?? Number.POSITIVE_INFINITY) <= now) this.attachAnswered(client);
    }
  }

  // ---- What SessionCore asks -----------------------------------------------------------------------------------

  protected override newInput(): InputQueue {
    return new InputQueue("relay");
  }

  protected override resizeWindow(client: ClientRecord, size: TerminalSize): void {
    this.upstream.resize(client, size);
  }

  protected override membersChanged(): void {
    // The size follows at the bridge.
  }

  protected override keyboardMoved(): void {
    this.#tellWatchers();
  }

  protected override inputSettled(client: ClientRecord): void {
    this.onSettled(client);
  }

  /** Until the bridge hears of a lossless client the process runs on, and a log that is nearly full would lose bytes of it. */
  protected override needsHold(client: ClientRecord): boolean {
    if (this.hasEnded) return false;
    const mayPace = client.delivery === "lossless" && client.role === "driver";
    return mayPace && this.log.endOffset - client.acked > this.log.capacityBytes / 2;
  }

  protected override get knownEnd(): number {
    return Math.max(this.log.endOffset, this.#toldEnd);
  }
}

/** When a client that waits for the bridge is greeted all the same. */
function holdEndMs({ presence }: ClientRecord): number | undefined {
  return presence.phase === "opening" && presence.hold !== undefined
    ? presence.hold.sinceMs + HOLD_PATIENCE_MS
    : undefined;
}
