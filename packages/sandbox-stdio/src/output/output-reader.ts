// One consumer of the log: an offset, a flow that limits the bytes in flight, and a peer. Nothing is queued for a reader;
// the log is the queue. Serves each directly connected client, and the inner hop as a whole.

import { MAX_FRAME_BYTES, MIN_WINDOW_BYTES } from "../wire/constants.ts";
import type { ExitStatus, ServerMessage } from "../wire/control.ts";
import type { OutputStream } from "../wire/frames.ts";
import type { Flow } from "./flow.ts";
import type { OutputLog, SizeMark } from "./output-log.ts";
import type { SnapshotFrame } from "./snapshot-requests.ts";

/** What a reader tells beside output. */
export type ReaderMessage = Extract<ServerMessage, { type: "gap" | "resize" | "output_end" | "exit" }>;

/** Where a reader's output goes. */
export interface OutputPeer {
  send(message: ReaderMessage): void;
  /**
   * Takes a whole frame with its type byte. The peer must not change it, and must copy it to keep it after returning,
   * unless the session has `reuseFrames: false`.
   */
  sendOutput(frame: Uint8Array, nowMs: number): void;
  /** Takes a whole frame with its type byte that redraws the screen. The memory is shared and immutable. */
  sendSnapshot(frame: Uint8Array): void;
  /** Whether output may be sent now. If not, `SessionCore.drained` or `ProcessSession.linkDrained` is called later. */
  isWritable(): boolean;
}

/** Makes frames of the log's bytes, each once: readers at the same offset share it. */
export class FrameSource {
  /** One buffer for all sources that reuse frames, so that idle sessions need none; and the source whose frame it holds. */
  static readonly #shared = new Uint8Array(1 + MAX_FRAME_BYTES);
  static #owner: FrameSource | undefined;
  readonly #log: OutputLog;
  readonly #isReused: boolean;
  #offset = -1;
  #frame = new Uint8Array(0);

  /** @param isReused One buffer for all frames, if sending copies at once; else each frame gets new memory. */
  constructor(log: OutputLog, isReused: boolean) {
    this.#log = log;
    this.#isReused = isReused;
  }

  /** The frame of `length` bytes of one stream at `offset`. If frames are reused, valid until the next call. */
  frame(offset: number, length: number, stream: OutputStream): Uint8Array {
    const isIntact = !this.#isReused || FrameSource.#owner === this;
    if (isIntact && this.#offset === offset && this.#frame.length === length + 1) return this.#frame;
    if (this.#isReused) FrameSource.#owner = this;
    const frame = this.#isReused ? FrameSource.#shared.subarray(0, length + 1) : new Uint8Array(length + 1);
    frame[0] = stream;
    this.#log.copy(offset, length, frame, 1);
    return this.keep(offset, frame);
  }

  /** Keeps a frame that was just appended at `offset`, to forward it unchanged. The caller must not modify it. */
  keep(offset: number, frame: Uint8Array): Uint8Array {
    this.#offset = offset;
    this.#frame = frame as Uint8Array<ArrayBuffer>;
    return frame;
  }
}

/** How a process ended; `lost`: without a known exit. */
export type Ending = ExitStatus | "lost";

export class OutputReader {
  readonly flow: Flow;
  readonly peer: OutputPeer;
  readonly #log: OutputLog;
  readonly #frames: FrameSource;
  #cursor: number;
  #sentMark: SizeMark | undefined;
  #sentSize: { readonly cols: number; readonly rows: number };
  /** Whether size changes may have been missed: across a gap, or in a log that has not reached this reader. */
  #mayHaveMissedSizes: boolean;
  #hasExited = false;
  #hasSentOutputEnd = false;
  #isAwaitingScreen = false;
  /**
   * Requests a snapshot; {@link showScreen} or {@link skipToTail} answers it. Absent: a reader that fell behind continues
   * with the log's tail.
   */
  askScreen: (() => void) | undefined;
  /** Since when output waits for room. */
  blockedSinceMs: number | undefined;

  /** @param size The PTY's size in this reader's greeting. */
  constructor(
    log: OutputLog,
    frames: FrameSource,
    cursor: number,
    flow: Flow,
    peer: OutputPeer,
    size: { readonly cols: number; readonly rows: number } = log.sizeAt(cursor),
  ) {
    this.#log = log;
    this.#frames = frames;
    this.#cursor = cursor;
    this.flow = flow;
    this.peer = peer;
    this.#sentSize = { cols: size.cols, rows: size.rows };
    this.#mayHaveMissedSizes = cursor > log.endOffset;
    this.#sentMark = this.#markHere();
  }

  /** Offset of the next byte to send. */
  get cursor(): number {
    return this.#cursor;
  }

  /** The last size sent to this reader, stored while its session sleeps; undefined while a snapshot is on its way. */
  get toldSize(): { readonly cols: number; readonly rows: number } | undefined {
    return this.#isAwaitingScreen ? undefined : this.#sentSize;
  }

  /** Whether the exit has been sent; nothing follows it. */
  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** Redraws the screen at the snapshot's offset and continues there, after a gap if the cursor is before it. */
  showScreen(screen: SnapshotFrame): void {
    this.#isAwaitingScreen = false;
    this.#skip(screen.offset, !screen.isExact);
    const { cols, rows } = screen;
    if (cols !== this.#sentSize.cols || rows !== this.#sentSize.rows) this.#sendSize(cols, rows);
    // The snapshot may or may not include a size change at exactly this offset.
    this.#mayHaveMissedSizes = true;
    this.flow.drew(screen.offset, screen.frame.length - 1);
    this.peer.sendSnapshot(screen.frame);
  }

  /** The snapshot can't be sent now: the next {@link pump} that can send requests another. */
  waiveScreen(): void {
    this.#isAwaitingScreen = false;
  }

  /** No snapshot is available: continues with the log's tail. */
  skipToTail(): void {
    this.#isAwaitingScreen = false;
    this.#skip(this.#log.startOffset, true);
  }

  /**
   * Sends as much output before `end` as is allowed now, and the exit after the last byte. The caller reports a loss.
   * @returns Whether this call reached the end.
   */
  pump(nowMs: number, ending: Ending | undefined, end = this.#log.endOffset): boolean {
    const { flow, peer } = this;
    while (!this.#hasExited && !this.#isAwaitingScreen) {
      if (!peer.isWritable()) {
        this.blockedSinceMs ??= nowMs;
        return false;
      }
      if (this.#cursor > this.#log.endOffset) {
        // A relay's log that has not caught up with this reader, or never will.
        this.#hasExited = ending === "lost";
        return this.#hasExited;
      }
      this.#checkSize();
      const item = this.#log.itemAt(this.#cursor);
      if (item.kind === "end") {
        this.blockedSinceMs = undefined;
        if (this.#log.hasOutputEnded && !this.#hasSentOutputEnd) {
          this.#hasSentOutputEnd = true;
          peer.send({ type: "output_end", offset: this.#cursor });
        }
        if (ending === undefined) return false;
        this.#hasExited = true;
        if (ending !== "lost") peer.send({ type: "exit", ...ending, offset: this.#cursor });
        return true;
      }
      if (item.kind === "bytes" && this.#cursor >= end) {
        this.blockedSinceMs = undefined;
        return false;
      }
      const room = flow.room(this.#cursor, nowMs);
      const isBusy = item.kind === "bytes" && flow.isBusy(this.#cursor);
      const isPatient = isBusy && flow.isPatient;
      const frameBytes = isPatient ? this.#wholeFrameBytes : flow.frameBytes;
      // Don't send small fragments while more waits; each costs as much as a full frame.
      // A gap starts a new window, so it needs room too: else a client that never acknowledges gets window after window.
      const decent = isBusy ? frameBytes : MIN_WINDOW_BYTES / 2;
      const available = item.kind === "gap" ? MIN_WINDOW_BYTES : Math.min(item.length, end - this.#cursor);
      const wanted = Math.min(available, decent, flow.bytes);
      const needsScreen = item.kind === "gap" && this.askScreen !== undefined;
      if (room < wanted || (needsScreen && !flow.hasScreenRoom(this.#cursor, nowMs))) {
        flow.noteFull();
        this.blockedSinceMs ??= nowMs;
        return false;
      }
      if (item.kind === "gap") {
        if (this.askScreen === undefined) this.#skip(item.startOffset, false);
        else {
          this.blockedSinceMs = undefined;
          this.#isAwaitingScreen = true;
          this.askScreen();
        }
        continue;
      }
      this.blockedSinceMs = undefined;
      const length = Math.min(available, room, frameBytes);
      // More output may fill the frame; if not, an acknowledgement triggers it.
      const mayGrow = length < frameBytes && this.#cursor + length === end && ending === undefined;
      if (isPatient && mayGrow) return false;
      const frame = this.#frames.frame(this.#cursor, length, item.stream);
      this.#cursor += length;
      // Count before sending: whatever the send does, these bytes are in flight exactly once.
      flow.sent(this.#cursor, nowMs);
      peer.sendOutput(frame, nowMs);
    }
    return false;
  }

  /** Frames end at common offsets, so that readers share their memory. */
  get #wholeFrameBytes(): number {
    return Math.min(this.flow.frameBytes, MAX_FRAME_BYTES - (this.#cursor % MAX_FRAME_BYTES));
  }

  #skip(to: number, isApproximate: boolean): void {
    if (to <= this.#cursor) return;
    const gap = { type: "gap", from: this.#cursor, to } as const;
    this.peer.send(isApproximate ? { ...gap, approximate: true } : gap);
    this.flow.skipped(this.#cursor, to);
    this.#cursor = to;
    this.#mayHaveMissedSizes = true;
  }

  #sendSize(cols: number, rows: number): void {
    this.#sentSize = { cols, rows };
    this.peer.send({ type: "resize", cols, rows, offset: this.#cursor });
  }

  #checkSize(): void {
    const mark = this.#markHere();
    const size = mark ?? this.#log.sizeAt(this.#cursor);
    const isOther = size.cols !== this.#sentSize.cols || size.rows !== this.#sentSize.rows;
    const isNew = mark !== undefined && mark !== this.#sentMark && (isOther || !this.#mayHaveMissedSizes);
    const isMissed = this.#mayHaveMissedSizes && isOther;
    this.#sentMark = mark;
    this.#mayHaveMissedSizes = false;
    if (isNew || isMissed) this.#sendSize(size.cols, size.rows);
  }

  #markHere(): SizeMark | undefined {
    const mark = this.#log.markFrom(this.#cursor);
    return mark?.offset === this.#cursor ? mark : undefined;
  }
}
