// One direction of a connection through the proxy: takes bytes from one socket and passes them on to another, late, slowly
// or in pieces, up to a certain byte, or not at all. Holds a bounded number of them.

import type { Socket } from "node:net";
import type { Random } from "../../local/src/base/random.ts";
import type { LaneShape } from "./faults.ts";

/** With more than this waiting the source is not read. */
const MAX_QUEUED_BYTES = 256 * 1024;

type Queued = { readonly bytes: Uint8Array; readonly dueMs: number };

export class Lane {
  readonly #source: Socket;
  readonly #sink: Socket;
  readonly #shape: LaneShape;
  readonly #random: Random;
  readonly #onStop: () => void;
  #mode: "forward" | "hold" | "discard" = "forward";
  #queue: Queued[] = [];
  #queuedBytes = 0;
  #forwarded = 0;
  #stopAt = Number.POSITIVE_INFINITY;
  #hasEnded = false;
  #hasStalled = false;
  #wait: NodeJS.Timeout | NodeJS.Immediate | undefined;

  /** @param onStop Called when the byte of {@link stopAt} is next. */
  constructor(source: Socket, sink: Socket, shape: LaneShape, random: Random, onStop: () => void) {
    this.#source = source;
    this.#sink = sink;
    this.#shape = shape;
    this.#random = random;
    this.#onStop = onStop;
    source.on("data", (chunk: Uint8Array) => this.#take(chunk));
    source.on("end", () => this.#end());
    sink.on("drain", () => this.#pump());
  }

  /** Bytes passed on so far. */
  get forwarded(): number {
    return this.#forwarded;
  }

  /** Passes on exactly so many bytes, then calls back instead of passing on the next. */
  stopAt(bytes: number): void {
    this.#stopAt = bytes;
    this.#pump();
  }

  /** Bytes that came before this lane was made. */
  inject(bytes: Uint8Array): void {
    this.#take(bytes);
  }

  /** Keeps the bytes that come. */
  hold(): void {
    if (this.#mode === "forward") this.#mode = "hold";
  }

  /** Passes on again, without any limit, the bytes that were held. */
  release(): void {
    if (this.#mode !== "hold") return;
    this.#mode = "forward";
    this.#stopAt = Number.POSITIVE_INFINITY;
    this.#pump();
  }

  /** Everything that comes is lost, the end too; the source notices nothing. */
  discard(): void {
    this.#mode = "discard";
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#cancelWait();
    this.#source.resume();
  }

  #take(chunk: Uint8Array): void {
    if (this.#mode === "discard") return;
    this.#queue.push({ bytes: chunk, dueMs: performance.now() + this.#shape.delayMs });
    this.#queuedBytes += chunk.length;
    if (this.#queuedBytes > MAX_QUEUED_BYTES) this.#source.pause();
    this.#pump();
  }

  #end(): void {
    this.#hasEnded = true;
    this.#pump();
  }

  #pump(): void {
    while (this.#mode === "forward" && this.#wait === undefined && !this.#sink.writableNeedDrain) {
      const next = this.#queue[0];
      if (next === undefined) {
        if (this.#hasEnded) this.#sink.end();
        return;
      }
      if (this.#forwarded >= this.#stopAt) {
        this.#stopAt = Number.POSITIVE_INFINITY;
        this.#onStop();
        continue;
      }
      const waitMs = Math.max(next.dueMs - performance.now(), this.#stallMs());
      if (waitMs > 0) this.#pumpIn(waitMs);
      else this.#pass(next);
    }
  }

  #pass(next: Queued): void {
    const { pieceBytes, bytesPerSecond } = this.#shape;
    const most = Math.min(next.bytes.length, this.#stopAt - this.#forwarded);
    let length = pieceBytes === 0 ? most : Math.min(most, this.#random.int(1, pieceBytes));
    // A hundredth of a second's worth at once, so that a slow link is not one of bursts.
    if (bytesPerSecond > 0) length = Math.min(length, Math.max(1, Math.round(bytesPerSecond / 100)));
    this.#sink.write(next.bytes.subarray(0, length));
    this.#forwarded += length;
    this.#queuedBytes -= length;
    if (length === next.bytes.length) this.#queue.shift();
    else this.#queue[0] = { bytes: next.bytes.subarray(length), dueMs: next.dueMs };
    if (this.#queuedBytes <= MAX_QUEUED_BYTES / 2) this.#source.resume();
    if (bytesPerSecond > 0) this.#pumpIn((length / bytesPerSecond) * 1000);
    else if (length < most) this.#pumpNextTurn();
  }

  /** How long to stand still before the next byte, asked once it is its turn. */
  #stallMs(): number {
    const { stall } = this.#shape;
    if (stall === undefined || this.#hasStalled || this.#forwarded < stall.atByte) return 0;
    this.#hasStalled = true;
    return stall.ms;
  }

  #pumpIn(ms: number): void {
    this.#wait = setTimeout(() => this.#resume(), ms);
  }

  /** So that pieces are sent, and not put together again. */
  #pumpNextTurn(): void {
    this.#wait = setImmediate(() => this.#resume());
  }

  #resume(): void {
    this.#wait = undefined;
    this.#pump();
  }

  #cancelWait(): void {
    // Whichever it is; each ignores the other's.
    clearTimeout(this.#wait as NodeJS.Timeout);
    clearImmediate(this.#wait as NodeJS.Immediate);
    this.#wait = undefined;
  }
}
