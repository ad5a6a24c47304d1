// The session in the Durable Object: feeds the inner hop, and tracks the process by the bridge's messages.

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

/** How long a client's greeting waits for the bridge to hold the process. */
const HOLD_TIMEOUT_MS = 2_000;

/** Size of the session object's copy of the log. */
export function copyBytes({ logBytes = LOG_BYTES }: Pick<SessionFacts, "logBytes">): number {
  return Math.min(logBytes, LOG_BYTES);
}

export class RelaySession extends SessionCore {
  /** Programs that call. */
  readonly programs: CallingPrograms;
  /** End of the output according to the bridge; it may not have arrived here. */
  #announcedEnd = 0;
  /** When the last output arrived, by this session's clock; undefined if there was none, or it is not yet known. */
  lastOutputMs: number | undefined;
  /** The process has ended, but its final screen has not arrived. */
  #isScreenDue = false;
  readonly #watchers = new Set<() => void>();
  /** Watchers that resume from stored state if the session parks. */
  readonly #keptWatchers = new Set<() => void>();
  /** Called when the program wants attention. */
  onAttention: (attention: Attention) => void = () => undefined;
  /** Called when a program's ask changes; all asks are in `state.asks`. */
  onAsk: (ask: Ask, event: AskEvent, client: string) => void = () => undefined;

  constructor(options: SessionOptions) {
    super(options);
    this.programs = new CallingPrograms(this.state);
  }

  /**
   * Calls `changed` when output arrives, the process ends, or the keyboard moves. A watcher is not a client and holds nothing.
   * @param isKept Whether the session may park meanwhile. @returns Call it to stop watching.
   */
  watch(changed: () => void, isKept = false): () => void {
    // Wrap it: the same function may watch twice.
    const watcher = () => changed();
    const watchers = isKept ? this.#keptWatchers : this.#watchers;
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }

  #notifyWatchers(): void {
    for (const watcher of this.#watchers) watcher();
    for (const watcher of this.#keptWatchers) watcher();
  }

  /** How much of this client's input has been received; 0 if it is unknown. */
  receivedOf(clientId: string): number {
    return this.state.clients.get(clientId)?.input.received ?? 0;
  }

  /** @see SessionCore.attention */
  override attention(attention: Attention): void {
    this.programs.noteAttention(attention);
    super.attention(attention);
    this.onAttention(attention);
    this.#notifyWatchers();
  }

  // ---- What the bridge says ------------------------------------------------------------------------------------

  /** The bridge knows this client. If it is unknown here, it vanished just now or long ago. */
  restore(known: KnownClient): void {
    const client = this.state.clients.get(known.id);
    if (client === undefined) {
      this.#addKnown(known);
      return;
    }
    client.input.takeUpTo(known.stdin);
    // A program's input never waits here: the bridge has all of it.
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

  /** Marks a client that can't be resumed. */
  noteGone(id: string): void {
    this.state.clients.noteGone(id);
  }

  /** Output continues at `offset` with this size; the bytes before it that are not here are lost. */
  continueAt(offset: number, size: TerminalSize): void {
    if (offset > this.log.endOffset) this.skipTo(offset);
    const known = this.log.sizeAt(this.log.endOffset);
    if (known.cols !== size.cols || known.rows !== size.rows) this.setSize(size);
  }

  /** Bytes are lost: the log continues at `offset`. */
  skipTo(offset: number): void {
    this.log.skipTo(offset);
    this.appended();
  }

  /** Output has reached `offset`. */
  noteEnd(offset: number): void {
    this.#announcedEnd = Math.max(this.#announcedEnd, offset);
  }

  /** Logs a whole frame, and forwards it unchanged if it fits. The caller must not modify it. */
  appendFrame(frame: Uint8Array, stream: OutputStream): void {
    const offset = this.log.endOffset;
    this.log.append(frame.subarray(1), stream);
    this.state.frames.keep(offset, frame);
    // The greeting told when older output arrived.
    if (this.log.endOffset > this.#announcedEnd) this.lastOutputMs = this.state.now();
    this.appended();
  }

  override appended(): void {
    super.appended();
    this.#notifyWatchers();
  }

  /** Sets the PTY's size from the end of the log on. */
  setSize(size: TerminalSize): void {
    this.log.markSize(size.cols, size.rows);
    this.appended();
  }

  /** The bridge has taken this client's input before `offset`. */
  confirmInput(client: ClientRecord, offset: number): void {
    client.input.takeUpTo(offset);
    ackInput(this.state, client, true);
  }

  /** The bridge knows that the client is attached, and holds the process for it. */
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

  /** The bridge has processed the news that it answers, and everything sent before. */
  bridgeHears(): void {
    confirmAnswerer(this.state);
  }

  /** The bridge answers the queries that end before `offset`. Sent before their last bytes. */
  bridgeAnswered(offset: number): void {
    bridgeAnswers(this.state, offset);
  }

  /** A shell's command has ended. */
  commandEnded(end: CommandEnded): void {
    this.programs.noteCommandEnd(end);
    this.#notifyWatchers();
  }

  // ---- Parking: see parking.ts ---------------------------------------------------------------------------------

  /** Whether a program that can't resume from stored state follows the session. */
  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  /** Whether all output known from the bridge has arrived. */
  get isUpToDate(): boolean {
    return this.log.endOffset >= this.#announcedEnd;
  }

  /** The next number in the order of arrival. */
  get nextOrder(): number {
    return this.state.clients.order;
  }

  /** Resumes an earlier life that parked with all output before `end`. */
  resume(end: number, nextOrder: number, absent: readonly KnownClient[], gone: readonly string[]): void {
    this.noteEnd(end);
    for (const known of absent) this.#addKnown(known);
    for (const id of gone) this.state.clients.noteGone(id);
    this.state.clients.continueFrom(nextOrder);
  }

  /** Restores a client whose connection outlived parking. Other clients are not told. */
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
    // A client that starts ahead of the log may reconnect at that offset before the log gets there.
    if (snapshot !== undefined && !this.hasEnded) this.noteEnd(snapshot.offset);
    super.snapshotReady(snapshot);
  }

  /** Whether a snapshot request is pending. It is repeated on a new connection. */
  get isScreenPending(): boolean {
    return this.state.snapshots.isPending;
  }

  /** The process is lost, and the log holds all its output that arrived. Each client is told after its last byte (X7). */
  lost(lastScreen: Snapshot | undefined): void {
    if (this.hasEnded) return;
    this.state.snapshots.ended();
    this.state.snapshots.arrived(lastScreen);
    this.state.snapshots.close();
    this.setEnding("lost");
    for (const client of this.clients) this.attachAnswered(client);
  }

  /** The process has ended and its last byte is in the log. */
  exited(status: ExitStatus): void {
    if (!this.setEnding(status)) return;
    for (const client of this.clients) this.attachAnswered(client);
    this.state.snapshots.ended();
    if (!this.facts.tty || isReplayable(this.state)) return;
    this.#isScreenDue = true;
    this.state.snapshots.await(() => {
      this.#isScreenDue = false;
      // The inner hop closes now.
      this.state.snapshots.close();
    });
  }

  /** Whether the process has ended and its final screen has arrived or never will: nothing is left to ask the bridge. */
  get isSettled(): boolean {
    return this.exit !== undefined && !this.#isScreenDue;
  }

  /** The final screen of an ended process, to store with its log; undefined if the log suffices or there is none. */
  get lastScreen(): Snapshot | undefined {
    return this.state.snapshots.last;
  }

  /** More of this client's input is stored, so it may be acknowledged. */
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

  override get holdsForSnapshots(): boolean {
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
    // The bridge decides the size.
  }

  override keyboardMoved(): void {
    this.#notifyWatchers();
  }

  override asked(ask: Ask, event: AskEvent, client: string): void {
    this.onAsk(ask, event, client);
    this.#notifyWatchers();
  }

  override inputSettled(client: ClientRecord): void {
    this.programs.onSettled(client);
  }

  /** Until the bridge learns of a lossless client the process runs on, and a nearly full log would lose its bytes. */
  override greetsOnceHeld(client: ClientRecord): boolean {
    if (this.hasEnded) return false;
    const mayPace = client.delivery === "lossless" && client.role === "driver";
    return mayPace && this.log.capacityBytes - (this.log.endOffset - client.acked) < LOG_BYTES / 2;
  }

  override get knownEnd(): number {
    return Math.max(this.log.endOffset, this.#announcedEnd);
  }
}

/** When a client that waits for the bridge is greeted anyway. */
function holdEndMs({ presence }: ClientRecord): number | undefined {
  return presence.phase === "opening" && presence.hold !== undefined
    ? presence.hold.sinceMs + HOLD_TIMEOUT_MS
    : undefined;
}
