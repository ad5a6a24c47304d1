// The session in the Durable Object: feeds the inner hop, and follows the bridge's messages about the process.

import { InputQueue } from "../input/input-queue.ts";
import type { Snapshot } from "../output/snapshot.ts";
import type { Answerer } from "../terminal/answerer-history.ts";
import type { Attention } from "../wire/attention.ts";
import { LOG_BYTES, MAX_FRAME_BYTES } from "../wire/constants.ts";
import type { ExitStatus } from "../wire/control.ts";
import type { OutputStream } from "../wire/frames.ts";
import type { KnownClient } from "../wire/inner-messages.ts";
import { announceAnswerer, bridgeAnswers, confirmAnswerer } from "./answerer.ts";
import { isReplayable } from "./attach.ts";
import { setHolder } from "./attendance.ts";
import { CallingPrograms, type CommandEnded } from "./calling-programs.ts";
import { ackInput } from "./client-input.ts";
import { ClientRecord, type ClientWho, type TerminalSize } from "./client-record.ts";
import { followOutput, readerAt, resumeOutput } from "./output-sender.ts";
import type { Peer } from "./presence.ts";
import { earlier, SessionCore } from "./session-core.ts";
import type { Ask, AskEvent, SessionFacts, SessionOptions } from "./session-types.ts";

/** How long a client waits for the bridge to hold the process for it. */
const HOLD_PATIENCE_MS = 2_000;

/** The size of the session object's copy of the log. */
export function copyBytes({ logBytes = LOG_BYTES }: Pick<SessionFacts, "logBytes">): number {
  return Math.min(logBytes, LOG_BYTES);
}

export class RelaySession extends SessionCore {
  /** The programs that call. */
  readonly programs: CallingPrograms;
  /** How much output there has been, as the bridge says: it may not have come here. */
  #toldEnd = 0;
  /** When its last output came, by this session's clock; undefined before the first, and until the bridge has said so. */
  lastOutputMs: number | undefined;
  /** The process has ended and its last screen has not come. */
  #isScreenDue = false;
  readonly #watchers = new Set<() => void>();
  /** Those that go on from what is kept of them if the session is parked. */
  readonly #keptWatchers = new Set<() => void>();
  /** Told when the program wants attention. */
  onAttention: (attention: Attention) => void = () => undefined;
  /** Told what becomes of a program's ask; all are in `state.asks`. */
  onAsk: (ask: Ask, event: AskEvent, client: string) => void = () => undefined;

  constructor(options: SessionOptions) {
    super(options);
    this.programs = new CallingPrograms(this.state);
  }

  /**
   * Has `changed` called whenever the log has more, the process has ended, or the keyboard has changed hands. A watcher is no
   * client and holds nothing back. @param isKept It keeps no session from being parked. @returns To be called when it watches no more.
   */
  watch(changed: () => void, isKept = false): () => void {
    // Each is an entry of its own, also where the same function watches twice.
    const watcher = () => changed();
    const watchers = isKept ? this.#keptWatchers : this.#watchers;
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }

  #tellWatchers(): void {
    for (const watcher of this.#watchers) watcher();
    for (const watcher of this.#keptWatchers) watcher();
  }

  /** How much of this client's input has been received; 0 of one that is not known. */
  receivedOf(clientId: string): number {
    return this.state.clients.get(clientId)?.input.received ?? 0;
  }

  /** @see SessionCore.attention */
  override attention(attention: Attention): void {
    this.programs.noteAttention(attention);
    super.attention(attention);
    this.onAttention(attention);
    this.#tellWatchers();
  }

  // ---- What the bridge says ------------------------------------------------------------------------------------

  /** The bridge knows this client. Unknown here, it has vanished just now, or long ago. */
  restore(known: KnownClient): void {
    const client = this.state.clients.get(known.id);
    if (client === undefined) {
      this.#addKnown(known);
      return;
    }
    client.input.takeUpTo(known.stdin);
    // No input of a program waits here: the bridge has received all of it.
    if (client.isProgram && known.received !== undefined) client.input.receiveUpTo(known.received);
    if (known.eof !== undefined) client.input.dropEof(known.eof);
    ackInput(this.state, client, true);
  }

  #addKnown(known: KnownClient): void {
    const { acked } = known;
    const sinceMs = this.state.now();
    const usual = { name: "", delivery: "live" as const, acknowledges: true };
    const who = { ...usual, ...known, isAdmin: false, mayUseKept: known.role === "driver" };
    const client = new ClientRecord(known.id, new InputQueue("relay", known.stdin, known.eof, known.received));
    client.attach(who, this.state.clients.nextOrder(), { phase: "absent", acked });
    client.isActive = true;
    if (!known.isAbsent && client.isProgram) client.presence = { phase: "calling", calls: 0, sinceMs, acked };
    else if (!known.isAbsent) {
      client.presence = { phase: "vanished", sinceMs, acked, windowBytes: MAX_FRAME_BYTES, isLeaving: false };
    }
    this.state.clients.add(client);
  }

  /** This client can't be resumed. */
  noteGone(id: string): void {
    this.state.clients.noteGone(id);
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
    this.state.frames.keep(offset, frame);
    // Output from before the greeting came at the time that the bridge said.
    if (this.log.endOffset > this.#toldEnd) this.lastOutputMs = this.state.now();
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
    ackInput(this.state, client, true);
  }

  /** The bridge knows that the client is attached: it holds the process for it from now on. */
  attachAnswered({ presence }: ClientRecord): void {
    if (presence.phase === "opening") presence.hold?.greet();
  }

  /** The clients are known again: if the holder is not among them, the keyboard is free. */
  checkHolder(): void {
    setHolder(this.state, this.keyboard.holder, this.keyboard.isLent);
  }

  /** @see announceAnswerer */
  announceAnswerer(send: (answerer: Answerer) => boolean, hasClients: boolean): void {
    announceAnswerer(this.state, send, hasClients);
  }

  /** The bridge has heard that it answers, and all that it is told before that. */
  bridgeHears(): void {
    confirmAnswerer(this.state);
  }

  /** The bridge itself answers the queries that end before `offset`. Told before their last bytes. */
  bridgeAnswered(offset: number): void {
    bridgeAnswers(this.state, offset);
  }

  /** A shell's command has ended. */
  commandEnded(end: CommandEnded): void {
    this.programs.noteCommandEnd(end);
    this.#tellWatchers();
  }

  // ---- Parking: see parking.ts ---------------------------------------------------------------------------------

  /** Whether a program follows the session that can't go on from its kept state. */
  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  /** Whether all output that there is, as the bridge has said, has come here. */
  get isUpToDate(): boolean {
    return this.log.endOffset >= this.#toldEnd;
  }

  /** The place of the next client in the order of arrival. */
  get nextOrder(): number {
    return this.state.clients.order;
  }

  /** It goes on where an earlier life of it was parked, which had all output before `end`. */
  goOn(end: number, nextOrder: number, absent: readonly KnownClient[], gone: readonly string[]): void {
    this.noteEnd(end);
    for (const known of absent) this.#addKnown(known);
    for (const id of gone) this.state.clients.noteGone(id);
    this.state.clients.goOnFrom(nextOrder);
  }

  /** A client that was here all the time, by this connection: the other clients are not told. */
  rejoin(
    client: ClientRecord,
    at: { who: ClientWho; order: number; offset: number; toldSize: TerminalSize; inputStart: number },
    peer: Peer,
  ): void {
    const { who, order, offset, toldSize, inputStart } = at;
    const reader = readerAt(this.state, { start: offset, inFlight: 0 }, who, peer, toldSize);
    const inputAcks = { sent: client.input.received, dueMs: undefined };
    client.attach(who, order, { phase: "greeted", peer, reader, inputStart, inputAcks });
    this.state.clients.add(client);
    this.keyboard.rejoin(client);
    followOutput(this.state, client, reader);
  }

  // ---- Snapshots and the end -----------------------------------------------------------------------------------

  /** @see SessionCore.snapshotReady */
  override snapshotReady(snapshot: Snapshot | undefined): void {
    // A client that starts ahead of the log may come back there before the log has got so far.
    if (snapshot !== undefined && !this.hasEnded) this.noteEnd(snapshot.offset);
    super.snapshotReady(snapshot);
  }

  /** Whether a snapshot has been asked for and not come: it is asked for again over a new connection. */
  get isScreenPending(): boolean {
    return this.state.snapshots.isAsked;
  }

  /** The process is lost, and the log holds the output that was received of it: each client is told after its last byte (X7). */
  lost(lastScreen: Snapshot | undefined): void {
    if (this.hasEnded) return;
    this.state.snapshots.ended();
    this.state.snapshots.arrived(lastScreen);
    this.state.snapshots.close();
    this.tellEnding("lost");
    for (const client of this.clients) this.attachAnswered(client);
  }

  /** The process has ended and its last byte is in the log. */
  exited(status: ExitStatus): void {
    if (!this.tellEnding(status)) return;
    for (const client of this.clients) this.attachAnswered(client);
    this.state.snapshots.ended();
    if (!this.facts.tty || isReplayable(this.state)) return;
    this.#isScreenDue = true;
    this.state.snapshots.await(() => {
      this.#isScreenDue = false;
      // The inner hop is let go of now.
      this.state.snapshots.close();
    });
  }

  /** The process has ended, and its last screen is here, or will not come: there is nothing left to ask the bridge. */
  get isSettled(): boolean {
    return this.exit !== undefined && !this.#isScreenDue;
  }

  /** The screen of a process that has ended, to be kept with its log; undefined where the log alone gives it, or nothing does. */
  get lastScreen(): Snapshot | undefined {
    return this.state.snapshots.last;
  }

  /** More input of this client is in the record: it may be acknowledged now. */
  recorded(clientId: string): void {
    const client = this.state.clients.get(clientId);
    if (client === undefined) return;
    ackInput(this.state, client, true);
    if (this.hasEnded) resumeOutput(this.state, client);
  }

  // ---- Time ----------------------------------------------------------------------------------------------------

  override get nextTickMs(): number | undefined {
    let next = super.nextTickMs;
    for (const client of this.clients) next = earlier(next, holdEndMs(client));
    return next;
  }

  override tick(): void {
    super.tick();
    const now = this.state.now();
    for (const client of [...this.clients]) {
      if ((holdEndMs(client) ?? Number.POSITIVE_INFINITY) <= now) this.attachAnswered(client);
    }
  }

  // ---- Hop: see session-state.ts --------------------------------------------------------------------------------

  override get holdsProcess(): boolean {
    return false;
  }

  override get repeatsEof(): boolean {
    return true;
  }

  override newInput(): InputQueue {
    return new InputQueue("relay");
  }

  override resizeWindow(client: ClientRecord, size: TerminalSize): void {
    client.size = size;
    this.state.upstream.resize(client, size);
  }

  override membersChanged(): void {
    // The size follows at the bridge.
  }

  override keyboardMoved(): void {
    this.#tellWatchers();
  }

  override asked(ask: Ask, event: AskEvent, client: string): void {
    this.onAsk(ask, event, client);
    this.#tellWatchers();
  }

  override inputSettled(client: ClientRecord): void {
    this.programs.onSettled(client);
  }

  /** Until the bridge hears of a lossless client the process runs on, and a log that is nearly full would lose bytes of it. */
  override needsHold(client: ClientRecord): boolean {
    if (this.hasEnded) return false;
    const mayPace = client.delivery === "lossless" && client.role === "driver";
    return mayPace && this.log.capacityBytes - (this.log.endOffset - client.acked) < LOG_BYTES / 2;
  }

  override get knownEnd(): number {
    return Math.max(this.log.endOffset, this.#toldEnd);
  }
}

/** When a client that waits for the bridge is greeted all the same. */
function holdEndMs({ presence }: ClientRecord): number | undefined {
  return presence.phase === "opening" && presence.hold !== undefined
    ? presence.hold.sinceMs + HOLD_PATIENCE_MS
    : undefined;
}
