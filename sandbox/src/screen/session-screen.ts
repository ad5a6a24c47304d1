// The screen of one PTY session: an emulator in the worker of all screens. It gets the output log's bytes when little happens, when
// it falls behind, and when its screen is wanted. It skips output that comes too fast.

import type { OutputLog, Snapshot } from "sandbox-stdio/core";
import { log } from "../base/log.ts";
import type { Answer } from "./emulator.ts";
import { entryFrom, type FloodContent, FloodScanner, lastLinesFrom } from "./flood-scanner.ts";
import { SCROLLBACK_LINES } from "./lines.ts";
import type { FromWorker } from "./messages.ts";
import type { ScreenRequest, ScreenState } from "./read-screen.ts";
import { type ScreenClient, type ScreenWorkers, screenWorkers } from "./workers.ts";

type Reader = { readonly request: ScreenRequest; readonly resolve: (state?: ScreenState) => void };

/** A screen that is read again within this time is read often. */
const OFTEN_MS = 2_000;

/** The callers that wait for one screen: all snapshots share a drawing, and each reader gets an answer, in order. */
class ScreenWaiters {
  #drawing:
    | { readonly promise: Promise<Snapshot | undefined>; readonly resolve: (snapshot?: Snapshot) => void }
    | undefined;
  #readers: Reader[] = [];
  #readAtMs = Number.NEGATIVE_INFINITY;
  #isReadOften = false;

  get isDrawingWanted(): boolean {
    return this.#drawing !== undefined;
  }

  /** Whether no request waits, and none is likely to come soon. */
  get isQuiet(): boolean {
    return this.#drawing === undefined && this.#readers.length === 0 && !this.#isReadOften;
  }

  /** Unanswered requests, oldest first. */
  get requests(): readonly ScreenRequest[] {
    return this.#readers.map(({ request }) => request);
  }

  /** @param request Called unless another caller waits for the drawing. */
  waitForDrawing(request: () => void): Promise<Snapshot | undefined> {
    if (this.#drawing !== undefined) return this.#drawing.promise;
    const drawing = Promise.withResolvers<Snapshot | undefined>();
    this.#drawing = drawing;
    request();
    return drawing.promise;
  }

  waitForState(request: ScreenRequest): Promise<ScreenState | undefined> {
    const nowMs = performance.now();
    this.#isReadOften = nowMs - this.#readAtMs < OFTEN_MS;
    this.#readAtMs = nowMs;
    return new Promise((resolve) => {
      this.#readers.push({ request, resolve });
    });
  }

  drawn(snapshot: Snapshot | undefined): void {
    const drawing = this.#drawing;
    this.#drawing = undefined;
    drawing?.resolve(snapshot);
  }

  shown(state: ScreenState | undefined): void {
    this.#readers.shift()?.resolve(state);
  }

  /** The screen is given up. */
  giveUp(): void {
    this.drawn(undefined);
    const readers = this.#readers;
    this.#readers = [];
    for (const { resolve } of readers) resolve(undefined);
  }
}

const KIB = 1024;
/** A complete log of at most this length is replayed instead of a snapshot. */
export const REPLAY_BYTES = 64 * KIB;
/** A screen whose complete log has at most this length can go without its emulator: the log is parsed again in a moment. */
const REST_BYTES = 8 * KIB;
/** A batch takes a few milliseconds, as other sessions wait for it. */
const BATCH_BYTES = 64 * KIB;
/** How far behind the emulator may be before it gets output, unless nothing else happens. */
const LAG_BYTES = 256 * KIB;
/** Further behind than this, the emulator skips for a snapshot, as it would take too long to catch up. */
const MAX_CATCH_UP_BYTES = 512 * KIB;
/** Further behind than this, the emulator skips, as the log would soon forget unparsed output. */
const MAX_LAG_BYTES = 768 * KIB;
/** While it skips, output is searched for modes in steps of this length, except the newest {@link MAX_CATCH_UP_BYTES}. */
const SCAN_BYTES = 128 * KIB;
/** How much of the newest output is parsed after a skip: during a flood, and after it. */
const FLOOD_TAIL_BYTES = 192 * KIB;
const CALM_TAIL_BYTES = 512 * KIB;
/** How often to check whether a flood is over or nothing happens. */
const TICK_MS = 200;
/** A flood is over if less than this comes in a tick. */
const CALM_BYTES = 64 * KIB;
/** A screen is given up after the worker has died this many times because of it. */
const MAX_LOSSES = 3;

export class SessionScreen implements ScreenClient {
  /** Whether the process is held back: its silence means nothing then. */
  isHeld = false;
  /** Called with the terminal's answers to queries, each once, and the offset before which output is parsed. */
  onParsed: (answers: readonly Answer[], offset: number) => void = () => undefined;
  readonly #log: OutputLog;
  readonly #workers: ScreenWorkers;
  /** Identifies this screen to the worker. Undefined: the worker does not have it. */
  #id: number | undefined;
  #hasEmulator = false;
  /** Output before this was sent to the worker. */
  #sent = 0;
  /** The ends of batches that were sent and are not parsed yet. */
  readonly #inFlight: number[] = [];
  /** Output before this was parsed, and its answers were reported. A restarted worker begins before it. */
  #parsed = 0;
  /** Output before this has to be parsed at once. */
  #dueTo = 0;
  /** While it skips: searches the output that is not parsed. */
  #scanner: FloodScanner | undefined;
  /** Nothing to do before the log's end reaches this. */
  #nextLook: number;
  #tickTimer: ReturnType<typeof setTimeout> | undefined;
  #pauseTimer: ReturnType<typeof setTimeout> | undefined;
  #endAtTick = 0;
  #isCatchingUp = false;
  /** Each has a request at the worker. */
  readonly #waiters = new ScreenWaiters();
  #losses = 0;
  #isClosed = false;

  constructor(log: OutputLog, workers: ScreenWorkers = screenWorkers) {
    this.#log = log;
    this.#workers = workers;
    this.#sent = log.startOffset;
    this.#nextLook = log.startOffset + this.#usualLagBytes;
  }

  /** To be called after each commit to the log, before the log forgets the committed bytes. */
  appended(): void {
    const end = this.#log.endOffset;
    if (end >= this.#nextLook) this.#look(end);
    if (this.#tickTimer === undefined && end > REPLAY_BYTES) this.#armTick();
  }

  /**
   * The screen at the log's end, or at the last position before it outside a sequence. The process should be held meanwhile.
   * Undefined: it was given up, and the log's bytes are to be replayed instead.
   */
  snapshot(): Promise<Snapshot | undefined> {
    if (this.#isClosed || this.#losses >= MAX_LOSSES) return Promise.resolve(undefined);
    return this.#waiters.waitForDrawing(() => this.#ask({ kind: "draw" }));
  }

  /** The screen at the log's end, or at the last position before it outside a sequence. Undefined: it was given up. */
  read(request: ScreenRequest): Promise<ScreenState | undefined> {
    if (this.#isClosed || this.#losses >= MAX_LOSSES) return Promise.resolve(undefined);
    const state = this.#waiters.waitForState(request);
    this.#ask({ kind: "show", request });
    return state;
  }

  /** Has the output before `offset` parsed at once, because it contains a query. */
  parseTo(offset: number): void {
    if (this.#isClosed || this.#losses >= MAX_LOSSES) return;
    this.#dueTo = Math.max(this.#dueTo, offset);
    this.#look(this.#log.endOffset);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#nextLook = Number.POSITIVE_INFINITY;
    this.#forget();
    this.#waiters.giveUp();
  }

  // ---- Messages of the worker ----------------------------------------------------------------------------------

  received(message: FromWorker): void {
    switch (message.kind) {
      case "parsed": {
        const before = this.#parsed;
        this.#parsed = Math.max(before, this.#inFlight.shift() ?? 0);
        this.onParsed(
          message.answers.filter(({ offset }) => offset > before),
          this.#parsed,
        );
        if (this.#inFlight.length === 0) this.#goOn(message.ms);
        return;
      }
      case "drawn":
        this.#losses = 0;
        this.#waiters.drawn(message.snapshot);
        this.#rest();
        return;
      case "shown":
        this.#losses = 0;
        this.#waiters.shown(message.state);
        this.#rest();
        return;
      case "failed":
        log.warn(`a screen is parsed again from its log: ${message.reason}`);
        this.lost(true);
        return;
      case "exceeded":
        this.exceeded();
    }
  }

  lost(isOwnFault: boolean): void {
    if (this.#isClosed || this.#id === undefined || this.#hasLost(isOwnFault)) return;
    this.#sent = this.#log.startOffset;
    // Answers are not repeated.
    if (this.#dueTo <= this.#parsed) this.#dueTo = 0;
    this.#nextLook = 0;
    const { isDrawingWanted, requests } = this.#waiters;
    if (isDrawingWanted) this.#ask({ kind: "draw" });
    for (const request of requests) this.#ask({ kind: "show", request });
    if (!isDrawingWanted && requests.length === 0) this.#look(this.#log.endOffset);
  }

  /** The output so far is not parsed again: waiting callers get the log's tail, and later callers an approximate screen. */
  exceeded(): void {
    if (this.#isClosed || this.#id === undefined) return;
    log.warn("a screen skips output that took too long to parse");
    if (this.#hasLost(true)) return;
    this.#sent = this.#log.startOffset;
    this.#resume(new FloodScanner(this.#log, this.#sent), this.#log.endOffset);
    this.#parsed = Math.max(this.#parsed, this.#sent);
    this.#dueTo = 0;
    this.onParsed([], this.#parsed);
    this.#waiters.giveUp();
  }

  /** @returns Whether the screen is given up. */
  #hasLost(isOwnFault: boolean): boolean {
    if (isOwnFault) this.#losses += 1;
    this.#forget();
    if (this.#losses < MAX_LOSSES) return false;
    this.#nextLook = Number.POSITIVE_INFINITY;
    this.#waiters.giveUp();
    return true;
  }

  // ---- How far to parse ----------------------------------------------------------------------------------------

  /** Whether the log is complete and has at most this many bytes. */
  #isShort(bytes: number): boolean {
    return this.#log.startOffset === 0 && this.#log.endOffset <= bytes;
  }

  #look(end: number): void {
    if (this.#scanner !== undefined) {
      this.#scanner.scanTo(end - MAX_CATCH_UP_BYTES);
      this.#nextLook = end + SCAN_BYTES;
      return;
    }
    const lag = end - this.#sent;
    if (lag > MAX_LAG_BYTES) {
      this.#startSkipping(end);
      return;
    }
    if (this.#sent < this.#dueTo || lag >= this.#usualLagBytes) this.#isCatchingUp = true;
    if (this.#isCatchingUp && this.#inFlight.length === 0 && this.#pauseTimer === undefined) this.#write(end);
    this.#schedule();
  }

  #schedule(): void {
    this.#nextLook = this.#sent + (this.#isCatchingUp ? MAX_LAG_BYTES : this.#usualLagBytes);
  }

  /** Without an emulator there is time until a snapshot needs one. */
  get #usualLagBytes(): number {
    return this.#hasEmulator ? LAG_BYTES : MAX_CATCH_UP_BYTES;
  }

  /** Except for snapshots, parsing takes at most half of a processor: the process and the bridge need the rest. */
  #goOn(busyMs: number): void {
    if (!this.#isCatchingUp || this.#scanner !== undefined) return;
    const end = this.#log.endOffset;
    if (this.#sent >= end) {
      this.#isCatchingUp = false;
      this.#schedule();
      return;
    }
    if (this.#pauseTimer !== undefined) return;
    const ms = end - this.#sent < BATCH_BYTES ? 0 : busyMs;
    this.#pauseTimer = setTimeout(() => {
      this.#pauseTimer = undefined;
      this.#look(this.#log.endOffset);
    }, ms);
  }

  #armTick(): void {
    if (this.#isClosed || this.#losses >= MAX_LOSSES) return;
    this.#endAtTick = this.#log.endOffset;
    this.#tickTimer = setTimeout(() => this.#tick(), TICK_MS);
    this.#tickTimer.unref();
  }

  #tick(): void {
    this.#tickTimer = undefined;
    // A stalled reader must not cost memory: the worker with its first emulator takes 20 MB. The emulator can wait for more output.
    if (this.isHeld && !this.#hasEmulator) return;
    const end = this.#log.endOffset;
    const grown = end - this.#endAtTick;
    if (this.#scanner !== undefined) {
      if (grown < CALM_BYTES) this.#resume(this.#scanner, end - CALM_TAIL_BYTES);
      else this.#armTick();
    } else if (grown > 0) {
      this.#armTick();
      return;
    }
    if (this.#scanner !== undefined || this.#sent >= end) return;
    this.#isCatchingUp = true;
    this.#look(end);
  }

  // ---- Skipping ------------------------------------------------------------------------------------------------

  #startSkipping(end: number): void {
    this.#scanner = new FloodScanner(this.#log, this.#sent);
    this.#isCatchingUp = false;
    this.#look(end);
    if (this.#tickTimer === undefined) this.#armTick();
  }

  /** Continues at about `wanted`, or later if all lines that the emulator remembers still follow. */
  #resume(scanner: FloodScanner, wanted: number): void {
    const earliest = Math.max(wanted, this.#sent, this.#log.startOffset);
    const from = lastLinesFrom(this.#log, earliest, SCROLLBACK_LINES);
    scanner.scanTo(from);
    const { offset, isLineStart } = entryFrom(this.#log, from, scanner.content !== "sequences");
    scanner.scanTo(offset);
    const mark = this.#log.markFrom(this.#sent + 1);
    const isOneSize = mark === undefined || mark.offset > offset;
    const content: FloodContent = isLineStart && isOneSize ? scanner.content : "sequences";
    const skip = { ...this.#log.sizeAt(offset), offset, state: scanner.state, content };
    if (!this.#hasEmulator) this.#open();
    if (this.#id !== undefined) this.#workers.send({ kind: "skip", id: this.#id, skip });
    this.#sent = offset;
    this.#scanner = undefined;
    this.#isCatchingUp = false;
    this.#schedule();
  }

  // ---- Sending output ------------------------------------------------------------------------------------------

  #open(): void {
    const id = this.#id ?? this.#workers.attach(this);
    this.#id = id;
    this.#hasEmulator = true;
    const offset = this.#sent;
    const isExact = offset === 0 && this.#log.startOffset === 0;
    this.#workers.send({ kind: "open", id, size: this.#log.sizeAt(offset), offset, isExact });
  }

  /** Sends the next batch before `end`: of one size of the terminal. */
  #write(end: number): void {
    if (!this.#hasEmulator) this.#open();
    if (this.#id === undefined) return;
    const from = this.#sent;
    const mark = this.#log.markFrom(from + 1);
    const to = Math.min(end, from + BATCH_BYTES, mark?.offset ?? end);
    const bytes = new Uint8Array(to - from);
    this.#log.copy(from, bytes.length, bytes, 0);
    this.#sent = to;
    this.#inFlight.push(to);
    this.#workers.send({ kind: "write", id: this.#id, size: this.#log.sizeAt(from), bytes }, [bytes.buffer]);
  }

  #ask(question: { readonly kind: "draw" } | { readonly kind: "show"; readonly request: ScreenRequest }): void {
    this.#handOverAll();
    if (this.#id !== undefined) this.#workers.send({ ...question, id: this.#id });
    this.#schedule();
  }

  #handOverAll(): void {
    const end = this.#log.endOffset;
    if (this.#scanner !== undefined || end - this.#sent > MAX_CATCH_UP_BYTES || this.#sent < this.#log.startOffset) {
      this.#resume(this.#scanner ?? new FloodScanner(this.#log, this.#sent), end - FLOOD_TAIL_BYTES);
    }
    while (this.#sent < end) this.#write(end);
    // For the size at the end itself, even if no output came since it changed.
    this.#write(end);
  }

  /** Releases an emulator that was made to read the screen: idle, it takes 150 KB, a hundred times as much as its log. */
  #rest(): void {
    const isBusy = this.#isCatchingUp || this.#inFlight.length > 0 || this.#dueTo > this.#parsed;
    if (this.#id === undefined || isBusy || !this.#waiters.isQuiet || !this.#isShort(REST_BYTES)) return;
    this.#workers.send({ kind: "rest", id: this.#id });
    this.#hasEmulator = false;
    this.#sent = 0;
    this.#dueTo = 0;
    this.#schedule();
  }

  #forget(): void {
    if (this.#id !== undefined) this.#workers.detach(this.#id);
    this.#id = undefined;
    this.#hasEmulator = false;
    this.#inFlight.length = 0;
    this.#scanner = undefined;
    this.#isCatchingUp = false;
    clearTimeout(this.#tickTimer);
    clearTimeout(this.#pauseTimer);
    this.#tickTimer = undefined;
    this.#pauseTimer = undefined;
  }
}
