// The output as it comes to a client: which byte is next, where some are missing, how far it has been dealt with, and when that is
// acknowledged. Knows no connections.

import { ACK_BYTES, ACK_DELAY_MS, MIN_WINDOW_BYTES } from "../wire/constants.ts";
import type { Hello } from "../wire/control.ts";
import type { OutputFrame } from "../wire/frames.ts";
import type { ClientEvents } from "./client-types.ts";

type Leap = {
  readonly from: number | undefined;
  readonly to: number;
  readonly isApproximate: boolean;
  /** Told meanwhile, and not before the leap is made. */
  readonly sizes: Size[];
};
type Size = { readonly cols: number; readonly rows: number };

export interface OutputReceiverPorts {
  readonly events: Pick<ClientEvents, "output" | "snapshot" | "resize" | "gap">;
  /** Calls back once after so many ms. The result cancels it. */
  setTimer(ms: number, callback: () => void): () => void;
  /** Tells the server that everything before `offset` has been dealt with. @returns Whether it was sent. */
  ack(offset: number): boolean;
  areTimersLate(): boolean;
}

export class OutputReceiver {
  readonly #ports: OutputReceiverPorts;
  /** Next output byte that will come. */
  #received: number | undefined;
  #dealt = 0;
  #acked = 0;
  /** Places where output is missing that lie after the bytes that have been dealt with. */
  #gaps: { readonly from: number; readonly to: number; readonly hasSnapshot: boolean }[] = [];
  /** A snapshot at this offset has not been drawn: it uses up the window, though the offset does not move. */
  #snapshotAt: number | undefined;
  /**
   * On a PTY output is to go on at `to`, after a snapshot that has not come. Until it has, this client still stands where it
   * stood (`from`; undefined: nowhere): when the connection breaks it asks from there again, or it would go on without the
   * screen that its next bytes are drawn on.
   */
  #leap: Leap | undefined;
  #cancelAck: () => void = nothing;
  #isAckDue = false;

  /** @param offset Where an earlier life of this client stood; undefined: its screen is empty. */
  constructor(offset: number | undefined, ports: OutputReceiverPorts) {
    this.#received = offset;
    this.#dealt = offset ?? 0;
    this.#acked = this.#dealt;
    this.#ports = ports;
  }

  /** The next byte that will come; undefined where nothing has yet. */
  get received(): number | undefined {
    return this.#received;
  }

  get dealt(): number {
    return this.#dealt;
  }

  /** Bytes that came and have not been dealt with. */
  get undealtBytes(): number {
    return (this.#received ?? 0) - this.#dealt;
  }

  /** Every output byte before `end` has been dealt with: drawn, or written. */
  dealtWith(end: number): void {
    const isSnapshotDrawn = this.#snapshotAt !== undefined && end >= this.#snapshotAt;
    if (isSnapshotDrawn) this.#snapshotAt = undefined;
    if (end > this.#dealt) this.#dealt = end;
    this.#skipGaps();
    const waiting = this.#dealt - this.#acked;
    if (waiting <= 0 && !isSnapshotDrawn) return;
    // The least window must not wait for a late timer. Acknowledgements of this size are free (L10a).
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

  /** The places to start from, from a greeting; nothing is told yet. */
  anchor(hello: Hello): void {
    this.#snapshotAt = undefined;
    if (this.#received === undefined) {
      this.#dealt = startOf(hello) ?? 0;
      this.#acked = this.#dealt;
    } else this.#acked = Math.min(this.#acked, this.#dealt);
  }

  /** Output goes on as the greeting says. After {@link anchor}. */
  open(hello: Hello): void {
    const from = this.#received ?? startOf(hello);
    this.#leap = { from, to: hello.offset, isApproximate: hello.approximate === true, sizes: [] };
    if (from === undefined) this.#ports.events.resize(hello.cols, hello.rows, hello.offset);
    else this.#leap.sizes.push({ cols: hello.cols, rows: hello.rows });
    // Nothing is skipped, or nothing that a snapshot stands for.
    if (!hello.tty || hello.offset === (from ?? 0)) this.arrive();
  }

  /** Tells a new connection the offset that has been dealt with. */
  acknowledge(): void {
    if (this.#dealt > 0) this.#sendAck();
  }

  /** Output from `from` to `to` is gone. On a PTY a snapshot follows. */
  gap(from: number, to: number, isApproximate: boolean, tty: boolean): void {
    this.arrive();
    this.#leap = { from, to, isApproximate, sizes: [] };
    if (!tty) this.arrive();
  }

  /** The PTY has this size from `offset` on. */
  resize(cols: number, rows: number, offset: number): void {
    if (this.#leap?.from === undefined) this.#ports.events.resize(cols, rows, offset);
    else this.#leap.sizes.push({ cols, rows });
  }

  /** @returns Whether it moved output on. */
  take(frame: OutputFrame): boolean {
    if (frame.kind === "unknown") return false;
    this.arrive(frame.kind === "snapshot" ? frame.bytes : undefined);
    const at = this.#received;
    if (frame.kind === "snapshot" || at === undefined) return false;
    this.#received = at + frame.bytes.length;
    this.#ports.events.output(frame.stream, frame.bytes, this.#received);
    return true;
  }

  /** The next output has come: a snapshot, or, if there is none, the bytes from there on. */
  arrive(snapshot?: Uint8Array): void {
    const leap = this.#leap;
    this.#leap = undefined;
    if (leap !== undefined) {
      const isEmpty = this.#received === undefined;
      this.#received = leap.to;
      if (isEmpty && snapshot === undefined) {
        this.#dealt = leap.to;
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
   * Bytes that are gone count as dealt with once those before them are, and the snapshot is drawn that stands for them:
   * a client that starts again there has lost no others.
   */
  #missed(from: number, to: number, isApproximate: boolean, hasSnapshot: boolean): void {
    this.#gaps.push({ from, to, hasSnapshot });
    this.#ports.events.gap(from, to, isApproximate);
    this.dealtWith(this.#dealt);
  }

  #skipGaps(): void {
    for (let gap = this.#gaps[0]; gap !== undefined && gap.from <= this.#dealt; gap = this.#gaps[0]) {
      // Also one of an earlier connection: it is still to be drawn.
      if (gap.hasSnapshot && gap.to > this.#dealt) return;
      this.#dealt = Math.max(this.#dealt, gap.to);
      this.#gaps.shift();
    }
  }

  #sendAck(): void {
    this.#cancelAck();
    this.#isAckDue = false;
    if (!this.#ports.ack(this.#dealt)) return;
    this.#acked = this.#dealt;
  }
}

/** Where a client with an empty screen stands: nowhere, unless the beginning of the output is gone. */
function startOf(hello: Hello): number | undefined {
  return hello.gap === undefined ? undefined : hello.offset - hello.gap;
}

function nothing(): void {
  // Nothing to cancel yet.
}
