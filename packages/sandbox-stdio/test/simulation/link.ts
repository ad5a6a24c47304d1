// A window at work: a sender that always has output, a link of some rate and delay, a client that acknowledges as the
// protocol says. Measures what is in flight and how long a byte waits.

import { Random } from "../../../local/src/base/random.ts";
import { ACK_BYTES, ACK_DELAY_MS, MIN_WINDOW_BYTES } from "../../src/index.ts";
import { Window } from "../../src/output/window.ts";
import { Scheduler } from "./scheduler.ts";

export type Link = {
  bytesPerMs: number;
  readonly delayMs: number;
  /** By how much longer a frame takes on average, holding up those behind it: a radio, or a busy machine. Few take much longer. */
  readonly jitterMs?: number;
};

export type Measured = {
  /** Bytes a ms that arrived. */
  readonly rate: number;
  /** How long a frame took from the sender to the client, beyond the link's own delay: median and largest. */
  readonly queueMs: number;
  readonly worstQueueMs: number;
  readonly window: number;
  readonly leastWindow: number;
  readonly mostWindow: number;
};

export class LinkRun {
  readonly time = new Scheduler();
  readonly window = new Window(0);
  readonly link: Link;
  /** Of the program's writes, each of which is sent at once. */
  readonly #mostFrameBytes: number;
  /** What the sender has to send now: a flood, or what a person's keys echo. */
  available = 0;
  #cursor = 0;
  #busyUntil = 0;
  #arrivesLast = 0;
  #processedTo = 0;
  #acked = 0;
  #isAckDue = false;
  #cancelAck: () => void = () => undefined;
  #queues: number[] = [];
  #windows: number[] = [];
  readonly #random = new Random(1);
  #arrived = 0;
  #since = 0;

  constructor(link: Link, mostFrameBytes = Number.POSITIVE_INFINITY) {
    this.link = link;
    this.#mostFrameBytes = mostFrameBytes;
  }

  flood(): this {
    this.available = Number.POSITIVE_INFINITY;
    this.#pump();
    return this;
  }

  type(bytes: number): void {
    this.available += bytes;
    this.#pump();
  }

  /** The link stands still until then. */
  stallUntil(ms: number): void {
    this.#busyUntil = Math.max(this.#busyUntil, ms);
  }

  /** Runs on for so long, and measures only that. */
  run(ms: number): Measured {
    this.#queues = [];
    this.#windows = [this.window.bytes];
    this.#arrived = 0;
    this.#since = this.time.now;
    this.time.run(this.#since + ms, () => false);
    this.time.now = this.#since + ms;
    const sorted = this.#queues.toSorted((a, b) => a - b);
    return {
      rate: this.#arrived / ms,
      queueMs: sorted[sorted.length >> 1] ?? 0,
      worstQueueMs: sorted.at(-1) ?? 0,
      window: this.window.bytes,
      leastWindow: Math.min(...this.#windows),
      mostWindow: Math.max(...this.#windows),
    };
  }

  /** As OutputReader.pump does it. */
  #pump(): void {
    const { time, window, link } = this;
    while (this.available > 0) {
      const room = window.room(this.#cursor);
      if (room < Math.min(this.available, MIN_WINDOW_BYTES / 2, window.bytes)) {
        window.noteFull();
        return;
      }
      const length = Math.min(this.available, room, window.frameBytes, this.#mostFrameBytes);
      this.available -= length;
      this.#cursor += length;
      window.sent(this.#cursor, time.now);
      const ready = Math.max(time.now, this.#busyUntil);
      this.#busyUntil = ready + length / link.bytesPerMs;
      const queued = this.#busyUntil - time.now;
      const end = this.#cursor;
      const heldUpMs = -(link.jitterMs ?? 0) * Math.log(1 - this.#random.next());
      this.#arrivesLast = Math.max(this.#arrivesLast, this.#busyUntil + link.delayMs + heldUpMs);
      time.at(this.#arrivesLast, () => {
        this.#queues.push(queued);
        this.#arrived += length;
        this.#deal(end);
      });
    }
  }

  /** As StdioClient.processed does it. */
  #deal(end: number): void {
    this.#processedTo = end;
    if (this.#processedTo - this.#acked >= ACK_BYTES) this.#ack();
    else if (!this.#isAckDue) {
      this.#isAckDue = true;
      this.#cancelAck = this.time.after(ACK_DELAY_MS, () => this.#ack());
    }
  }

  #ack(): void {
    this.#isAckDue = false;
    this.#cancelAck();
    this.#acked = this.#processedTo;
    const offset = this.#acked;
    this.time.after(this.link.delayMs, () => {
      this.window.ack(offset, this.time.now);
      this.#windows.push(this.window.bytes);
      this.#pump();
    });
  }
}
