// The screen of one PTY session: an emulator, in the screens' worker, that is handed the output log's bytes when little happens,
// when it falls behind and when its screen is wanted; what comes too fast for it, it skips.

import type { OutputLog, Snapshot } from "sandbox-stdio/core";
import { log } from "../base/log.ts";
import type { Answer } from "./emulator.ts";
import { entryFrom, type FloodContent, FloodScanner, lastLinesFrom } from "./flood-scanner.ts";
import type { FromWorker } from "./messages.ts";
import type { ScreenState, ScreenWish } from "./read-screen.ts";
import { ScreenWaiters } from "./screen-waiters.ts";
import { SCROLLBACK_LINES } from "./scrollback.ts";
import { type ScreenClient, type ScreenWorkers, screenWorkers } from "./workers.ts";

const KIB = 1024;
/** A complete log of at most this is replayed instead. */
export const REPLAY_BYTES = 64 * KIB;
/** A screen can rest without its emulator if a log of this length is complete: it is parsed again in a moment. */
const REST_BYTES = 8 * KIB;
/** Parsed at once: a few milliseconds, since other sessions wait for it. */
const BATCH_BYTES = 64 * KIB;
/** The emulator may be this far behind before it is handed anything, unless nothing else happens. */
const LAG_BYTES = 256 * KIB;
/** Further behind than this, a snapshot that is asked for skips: it would take too long to catch up. */
const MAX_CATCH_UP_BYTES = 512 * KIB;
/** Further behind than this, the log would soon forget unparsed output: the emulator skips. */
const MAX_LAG_BYTES = 768 * KIB;
/** Searched for modes at once, while it skips; output newer than {@link MAX_CATCH_UP_BYTES} may still be parsed. */
const SCAN_BYTES = 128 * KIB;
/** The output that is parsed after a skip: during the flood, and when it is over. */
const FLOOD_TAIL_BYTES = 192 * KIB;
const CALM_TAIL_BYTES = 512 * KIB;
/** How often it is looked whether a flood is over or nothing happens. */
const TICK_MS = 200;
/** Less than this in one tick is no flood any more. */
const CALM_BYTES = 64 * KIB;
/** So often the worker may die over one screen before that is given up. */
const MAX_LOSSES = 3;

export class SessionScreen implements ScreenClient {
  /** Whether the process is held back: it is not silent of its own accord. */
  isHeld = false;
  /** Told how far the output is parsed, and the terminal's answers to queries on the way: each answer once. */
  onParsed: (answers: readonly Answer[], offset: number) => void = () => undefined;
  readonly #log: OutputLog;
  readonly #workers: ScreenWorkers;
  /** The worker's name for it; undefined: it knows of none. */
  #id: number | undefined;
  #hasEmulator = false;
  /** Handed over up to here. */
  #sent = 0;
  /** The ends of the pieces that were handed over and are not parsed yet. */
  readonly #inFlight: number[] = [];
  /** Parsed up to here, with the answers told. A worker that starts anew begins before it. */
  #parsed = 0;
  /** Output before this is to be parsed at once. */
  #dueTo = 0;
  /** While it skips: looks at the output that is not parsed. */
  #scanner: FloodScanner | undefined;
  /** Before the log ends here there is nothing to do. */
  #nextLook: number;
  #tickTimer: ReturnType<typeof setTimeout> | undefined;
  #pauseTimer: ReturnType<typeof setTimeout> | undefined;
  #endAtTick = 0;
  #isCatchingUp = false;
  /** All of them have asked the worker. */
  readonly #waiters = new ScreenWaiters();
  #losses = 0;
  #isClosed = false;

  constructor(log: OutputLog, workers: ScreenWorkers = screenWorkers) {
    this.#log = log;
    this.#workers = workers;
    this.#sent = log.startOffset;
    this.#nextLook = log.startOffset + this.#usualLagBytes;
  }

  /** To be called after each commit to the log: it must be before the log has forgotten the committed bytes. */
  appended(): void {
    const end = this.#log.endOffset;
    if (end >= this.#nextLook) this.#look(end);
    if (this.#tickTimer === undefined && end > REPLAY_BYTES) this.#armTick();
  }

  /**
   * The screen at the last place before the log's end that is not within a sequence. The log should not run away
   * meanwhile. Undefined: there is none, the log's bytes are all there is to show.
   */
  snapshot(): Promise<Snapshot | undefined> {
    if (this.#isClosed || this.#losses >= MAX_LOSSES || this.#isShort(REPLAY_BYTES)) return Promise.resolve(undefined);
    return this.#waiters.waitForDrawing(() => this.#ask({ kind: "draw" }));
  }

  /** The screen at the log's end now, or the last place before it outside a sequence. Undefined: it is given up. */
  read(wish: ScreenWish): Promise<ScreenState | undefined> {
    if (this.#isClosed || this.#losses >= MAX_LOSSES) return Promise.resolve(undefined);
    const state = this.#waiters.waitForState(wish);
    this.#ask({ kind: "show", wish });
    return state;
  }

  /** Has the output before `offset` parsed at once, because something is asked there. */
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

  // ---- What the worker says ------------------------------------------------------------------------------------

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
        return;
      case "shown":
        this.#losses = 0;
        this.#waiters.shown(message.state);
        this.#rest();
        return;
      case "failed":
        log.warn(`A screen is drawn anew: ${message.reason}`);
        this.lost(true);
        return;
      case "exceeded":
        this.exceeded();
    }
  }

  lost(isOwnFault: boolean): void {
    if (this.#isClosed || this.#id === undefined || this.#hasLost(isOwnFault)) return;
    this.#sent = this.#log.startOffset;
    // An answer that was given stays given.
    if (this.#dueTo <= this.#parsed) this.#dueTo = 0;
    this.#nextLook = 0;
    const { isDrawingWanted, wishes } = this.#waiters;
    if (isDrawingWanted) this.#ask({ kind: "draw" });
    for (const wish of wishes) this.#ask({ kind: "show", wish });
    if (!isDrawingWanted && wishes.length === 0) this.#look(this.#log.endOffset);
  }

  /** The output so far is not parsed again: a waiting caller gets the log's tail, and a later caller a guess. */
  exceeded(): void {
    if (this.#isClosed || this.#id === undefined) return;
    log.warn("A screen goes on behind output that took too long to parse");
    if (this.#hasLost(true)) return;
    this.#sent = this.#log.startOffset;
    this.#resume(new FloodScanner(this.#log, this.#sent), this.#log.endOffset);
    this.#parsed = Math.max(this.#parsed, this.#sent);
    this.#dueTo = 0;
    this.onParsed([], this.#parsed);
    this.#waiters.giveUp();
  }

  /** @returns Whether the screen is given up for it. */
  #hasLost(isOwnFault: boolean): boolean {
    if (isOwnFault) this.#losses += 1;
    this.#forget();
    if (this.#losses < MAX_LOSSES) return false;
    this.#nextLook = Number.POSITIVE_INFINITY;
    this.#waiters.giveUp();
    return true;
  }

  // ---- How far to parse ----------------------------------------------------------------------------------------

  /** Whether the log is complete, and no longer than this. */
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

  /** A snapshot can have the emulator made as well. */
  get #usualLagBytes(): number {
    return this.#hasEmulator ? LAG_BYTES : MAX_CATCH_UP_BYTES;
  }

  /** Parsing takes half of a processor at most, but for snapshots: the process and its bridge need it. */
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
    // A reader that stalls is to cost no memory: the worker with a first emulator takes 20 MB. It can wait for more output.
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

  /** Goes on at about `wanted`, or as late as all lines that are remembered come after it. */
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

  // ---- Handing over --------------------------------------------------------------------------------------------

  #open(): void {
    const id = this.#id ?? this.#workers.attach(this);
    this.#id = id;
    this.#hasEmulator = true;
    const offset = this.#sent;
    const isExact = offset === 0 && this.#log.startOffset === 0;
    this.#workers.send({ kind: "open", id, size: this.#log.sizeAt(offset), offset, isExact });
  }

  /** Hands over the next bytes before `end`: one batch, of one size. */
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

  #ask(question: { readonly kind: "draw" } | { readonly kind: "show"; readonly wish: ScreenWish }): void {
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
    // The size at the end itself, even if nothing came since it changed.
    this.#write(end);
  }

  /** Gives up an emulator that a look has cost: idle, it takes 150 KB, a hundred times as much as its log. */
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
