// A client's output as it arrives: which byte is next, where bytes are missing, how much is processed, and when to acknowledge.
// Knows nothing of connections.

import { ACK_BYTES, ACK_DELAY_MS, MIN_WINDOW_BYTES } from "../wire/constants.ts";
import type { Hello } from "../wire/control.ts";
import type { OutputFrame } from "../wire/frames.ts";
import type { ClientEvents } from "./client-types.ts";

type Leap = {
  readonly from: number | undefined;
  readonly to: number;
  readonly isApproximate: boolean;
  /** Size changes that arrived meanwhile; reported with the leap. */
  readonly sizes: Size[];
};
type Size = { readonly cols: number; readonly rows: number };

export interface OutputReceiverPorts {
  readonly events: Pick<ClientEvents, "output" | "snapshot" | "resize" | "gap">;
  /** Calls back once after `ms`. Returns how to cancel it. */
  setTimer(ms: number, callback: () => void): () => void;
  /** Acknowledges everything before `offset`. @returns Whether it was sent. */
  ack(offset: number): boolean;
  areTimersLate(): boolean;
}

export class OutputReceiver {
  readonly #ports: OutputReceiverPorts;
  /** Offset of the next output byte. */
  #received: number | undefined;
  #processedTo = 0;
  #acked = 0;
  /** Missing ranges after the processed output. */
  #gaps: { readonly from: number; readonly to: number; readonly hasSnapshot: boolean }[] = [];
  /** Offset of a snapshot not yet drawn: it uses up the window although the offset does not move. */
  #snapshotAt: number | undefined;
  /**
   * On a PTY output continues at `to`, after a snapshot that has not arrived. Until then the client stays at `from` (undefined:
   * empty screen): after a break it asks from there again, or its next bytes would be drawn on a wrong screen.
   */
  #leap: Leap | undefined;
  #cancelAck: () => void = noop;
  #isAckDue = false;

  /** @param offset Position of an earlier life; undefined: the screen is empty. */
  constructor(offset: number | undefined, ports: OutputReceiverPorts) {
    this.#received = offset;
    this.#processedTo = offset ?? 0;
    this.#acked = this.#processedTo;
    this.#ports = ports;
  }

  /** Offset of the next output byte; undefined if none has arrived. */
  get received(): number | undefined {
    return this.#received;
  }

  get processedTo(): number {
    return this.#processedTo;
  }

  /** Bytes that arrived but are not processed. */
  get unprocessedBytes(): number {
    return (this.#received ?? 0) - this.#processedTo;
  }

  /** Every output byte before `end` has been processed: drawn or written. */
  processed(end: number): void {
    const isSnapshotDrawn = this.#snapshotAt !== undefined && end >= this.#snapshotAt;
    if (isSnapshotDrawn) this.#snapshotAt = undefined;
    if (end > this.#processedTo) this.#processedTo = end;
    this.#skipGaps();
    const waiting = this.#processedTo - this.#acked;
    if (waiting <= 0 && !isSnapshotDrawn) return;
    // The smallest window must not wait for a late timer. Acknowledgements of this size are free (L10a).
    const enough = this.#ports.areTimersLate() ? MIN_WINDOW_BYTES : ACK_BYTES;
    if (waiting >= enough || isSnapshotDrawn) this.#sendAck();
    else if (!this.#isAckDue) {
      this.#isAckDue = true;
      this.#cancelAck = this.#ports.setTimer(ACK_DELAY_MS, () => this.#sendAck());
    }
  }

  /** A new connection begins. */
  connecting(): void {
    this.#leap = undefined;
  }

  /** The connection is gone: nothing can be acknowledged. */
  disconnected(): void {
    this.#cancelAck();
    this.#isAckDue = false;
  }

  /** A greeting has come: an older snapshot uses up no window any more. */
  greeted(): void {
    this.#snapshotAt = undefined;
  }

  /** Continues the output as the greeting says. Call after {@link greeted}. */
  open(hello: Hello): void {
    const from = this.#received ?? startOf(hello);
    this.#leap = { from, to: hello.offset, isApproximate: hello.approximate === true, sizes: [] };
    if (from === undefined) this.#ports.events.resize(hello.cols, hello.rows, hello.offset);
    else this.#leap.sizes.push({ cols: hello.cols, rows: hello.rows });
    // Nothing is skipped, or nothing that a snapshot replaces.
    if (!hello.tty || hello.offset === (from ?? 0)) this.arrive();
  }

  /** Acknowledges the processed output on a new connection. */
  acknowledge(): void {
    if (this.#processedTo > 0) this.#sendAck();
  }

  /** Output from `from` to `to` is lost. On a PTY a snapshot follows. */
  gap(from: number, to: number, isApproximate: boolean, tty: boolean): void {
    this.arrive();
    this.#leap = { from, to, isApproximate, sizes: [] };
    if (!tty) this.arrive();
  }

  /** Sets the PTY's size from `offset` on. */
  resize(cols: number, rows: number, offset: number): void {
    if (this.#leap?.from === undefined) this.#ports.events.resize(cols, rows, offset);
    else this.#leap.sizes.push({ cols, rows });
  }

  /** @returns Whether output advanced. */
  take(frame: OutputFrame): boolean {
    if (frame.kind === "unknown") return false;
    this.arrive(frame.kind === "snapshot" ? frame.bytes : undefined);
    const at = this.#received;
    if (frame.kind === "snapshot" || at === undefined) return false;
    this.#received = at + frame.bytes.length;
    this.#ports.events.output(frame.stream, frame.bytes, this.#received);
    return true;
  }

  /** The output continues: with a snapshot, or without one with the bytes after the leap. */
  arrive(snapshot?: Uint8Array): void {
    const leap = this.#leap;
    this.#leap = undefined;
    if (leap !== undefined) {
      const isEmpty = this.#received === undefined;
      this.#received = leap.to;
      if (isEmpty && snapshot === undefined) {
        this.#processedTo = leap.to;
        this.#acked = leap.to;
      }
      const { from, to, isApproximate } = leap;
      if (from !== undefined && to > from) {
        this.#missed(from, to, isApproximate, snapshot !== undefined);
      }
      for (const { cols, rows } of leap.sizes) this.#ports.events.resize(cols, rows, leap.to);
    }
    if (snapshot === undefined || this.#received === undefined) return;
    this.#snapshotAt = this.#received;
    this.#ports.events.snapshot(snapshot, this.#received);
  }

  /**
   * Lost bytes count as processed once those before them are, and the snapshot that replaces them is drawn. A client that
   * restarts there has lost nothing else.
   */
  #missed(from: number, to: number, isApproximate: boolean, hasSnapshot: boolean): void {
    this.#gaps.push({ from, to, hasSnapshot });
    this.#ports.events.gap(from, to, isApproximate);
    this.processed(this.#processedTo);
  }

  #skipGaps(): void {
    for (let gap = this.#gaps[0]; gap !== undefined && gap.from <= this.#processedTo; gap = this.#gaps[0]) {
      // A snapshot from a previous connection may still be undrawn.
      if (gap.hasSnapshot && gap.to > this.#processedTo) return;
      this.#processedTo = Math.max(this.#processedTo, gap.to);
      this.#gaps.shift();
    }
  }

  #sendAck(): void {
    this.#cancelAck();
    this.#isAckDue = false;
    if (!this.#ports.ack(this.#processedTo)) return;
    this.#acked = this.#processedTo;
  }
}

/** Position of a client with an empty screen: undefined, unless the start of the output is gone. */
function startOf(hello: Hello): number | undefined {
  return hello.gap === undefined ? undefined : hello.offset - hello.gap;
}

function noop(): void {
  // Nothing to cancel yet.
}
