// WebSockets of the simulation: messages come in order and after a while, and a connection may be cut at any message,
// with what was under way lost, each direction by itself, and each end hearing of it or not.

import type { Random } from "../../../local/src/base/random.ts";
import type { Frame } from "../../src/index.ts";
import type { Scheduler } from "./scheduler.ts";

export type LinkProfile = {
  /** One way. */
  readonly latencyMs: number;
  readonly jitterMs: number;
  readonly bytesPerMs: number;
};

export type Chance = {
  readonly time: Scheduler;
  readonly random: Random;
  readonly witness?: {
    /** Told of each connection that is made, and of each message as it comes. */
    made(connection: Connection): void;
    heard(listener: Listener, item: Item): void;
    /** Told of what a client's program and the process see and do, byte by byte: the steps of test/model. */
    noted?(step: string): void;
  };
};

/** What an end of a connection hears. After `closed` it hears nothing more. */
export type Listener = {
  /** Whose end it is. */
  readonly owner?: string;
  receive(frame: Frame): void;
  closed(code: number): void;
};

export type Item = { readonly frame: Frame } | { readonly code: number };

/** One direction: a queue that is emptied at the link's pace. */
class Lane {
  isDead = false;
  readonly world: Chance;
  readonly profile: LinkProfile;
  readonly listener: Listener;
  #isEnded = false;
  readonly #queue: { readonly item: Item; at: number }[] = [];
  #lastAt = 0;
  #busyUntil = 0;

  constructor(world: Chance, profile: LinkProfile, listener: Listener) {
    this.world = world;
    this.profile = profile;
    this.listener = listener;
  }

  send(item: Item): void {
    if (this.isDead || this.#isEnded) return;
    if ("code" in item) this.#isEnded = true;
    const { time, random } = this.world;
    const bytes = "frame" in item ? item.frame.length + 8 : 8;
    this.#busyUntil = Math.max(this.#busyUntil, time.now) + bytes / this.profile.bytesPerMs;
    const wanted = this.#busyUntil + this.profile.latencyMs + random.next() * this.profile.jitterMs;
    this.#lastAt = Math.max(this.#lastAt, wanted);
    this.#queue.push({ item, at: this.#lastAt });
    time.at(this.#lastAt, () => this.#deliver(), true);
  }

  /** Loses the newest `count` messages on the way, and all to come; `code` is what the far end hears, if anything. */
  cut(count: number, code: number | undefined): void {
    const wasEnded = this.#isEnded;
    this.#queue.length = Math.max(0, this.#queue.length - count);
    this.#isEnded = false;
    if (code !== undefined && !wasEnded) this.send({ code });
    this.#isEnded = true;
  }

  /** Frames in flight arrive this much later, and those sent after them too. */
  delay(ms: number): void {
    this.#lastAt += ms;
    for (const queued of this.#queue) {
      queued.at += ms;
      this.world.time.at(queued.at, () => this.#deliver(), true);
    }
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** What is on its way, with when it comes; and whether, and from when on, anything else can. */
  get state(): unknown[] {
    const items = this.#queue.map(({ item, at }) => [at, "code" in item ? item.code : String(item.frame)]);
    const { now } = this.world.time;
    return [this.isDead, this.#isEnded, Math.max(now, this.#lastAt), Math.max(now, this.#busyUntil), items];
  }

  #deliver(): void {
    // An event of a message that was lost finds a later one not due yet, or none.
    const next = this.#queue[0];
    if (next === undefined || next.at > this.world.time.now || this.isDead) return;
    this.#queue.shift();
    this.world.witness?.heard(this.listener, next.item);
    if ("code" in next.item) {
      this.isDead = true;
      this.listener.closed(next.item.code);
    } else this.listener.receive(next.item.frame);
  }
}

/** One end's way to send. */
export type Socket = {
  send(frame: Frame): void;
  close(code: number): void;
  /** Drops the connection: nothing more is heard of it here, and something or nothing at the far end. */
  abort(): void;
};

export class Connection {
  readonly #world: Chance;
  readonly #toA: Lane;
  readonly #toB: Lane;
  readonly a: Socket;
  readonly b: Socket;
  isOver = false;

  constructor(world: Chance, profile: LinkProfile, a: Listener, b: Listener) {
    this.#world = world;
    this.#toA = new Lane(world, profile, a);
    this.#toB = new Lane(world, profile, b);
    this.a = this.#socket(this.#toA, this.#toB, a);
    this.b = this.#socket(this.#toB, this.#toA, b);
    world.witness?.made(this);
  }

  /** Delays the frames in flight to one end. */
  delay(end: "a" | "b", ms: number): void {
    (end === "a" ? this.#toA : this.#toB).delay(ms);
  }

  /** All that the two ends don't know of it. */
  get state(): unknown[] {
    return this.#toA.isDead && this.#toB.isDead ? [] : [this.isOver, this.#toA.state, this.#toB.state];
  }

  /** Cuts it: of what is on the way an end part is lost, and each end hears of it, or does not. */
  cut(hearA: boolean, hearB: boolean): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const [lane, isHeard] of [
      [this.#toA, hearA],
      [this.#toB, hearB],
    ] as const) {
      const lost = this.#world.random.chance(0.3) ? lane.queued : this.#world.random.int(0, lane.queued);
      lane.cut(lost, isHeard ? 1006 : undefined);
    }
  }

  #socket(inbound: Lane, outbound: Lane, self: Listener): Socket {
    return {
      send: (frame) => outbound.send({ frame }),
      close: (code) => {
        if (inbound.isDead) return;
        outbound.send({ code });
        this.isOver = true;
        // Until the closing handshake is over, what was on its way may still come; or not.
        if (this.#world.random.chance(0.5)) inbound.isDead = true;
        this.#world.time.after(this.#world.random.int(0, 20), () => {
          inbound.isDead = true;
          self.closed(code);
        });
      },
      abort: () => {
        inbound.isDead = true;
        if (this.isOver) return;
        this.isOver = true;
        const lost = this.#world.random.int(0, outbound.queued);
        outbound.cut(lost, this.#world.random.chance(0.7) ? 1006 : undefined);
      },
    };
  }
}
