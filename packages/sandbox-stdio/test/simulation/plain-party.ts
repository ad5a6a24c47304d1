// A client of the simulation that speaks the plain dialect: it counts nothing, acknowledges nothing and, when its
// connection breaks, comes back as somebody new.

import type { AttachRequest, Frame } from "../../src/index.ts";
import { isOutput } from "./bridge.ts";
import type { Chance, Connection, Listener } from "./network.ts";
import { isSnapshot } from "./pattern.ts";

type Dial = (request: AttachRequest, listener: Listener) => Connection;

export class PlainParty {
  connection: Connection | undefined;
  isOver = false;
  lives = 0;
  #position: number | undefined;
  /** It fell behind on a PTY: what comes next draws the screen, unless it was told that there is none. */
  #leap: { readonly isApproximate: boolean } | undefined;
  readonly #world: Chance;
  readonly #tty: boolean;
  readonly #dial: Dial;

  constructor(world: Chance, tty: boolean, dial: Dial) {
    this.#world = world;
    this.#tty = tty;
    this.#dial = dial;
  }

  start(): void {
    this.lives += 1;
    const life = this.lives;
    this.#position = undefined;
    this.#leap = undefined;
    const request: AttachRequest = {
      ...{ id: "", name: "", role: "viewer", isAdmin: false, delivery: "live" },
      ...{ acknowledges: false, isResume: false, resume: "" },
    };
    const connection = this.#dial(request, {
      receive: (frame) => {
        if (life === this.lives) this.#receive(frame);
      },
      closed: () => {
        if (life === this.lives) this.#again();
      },
    });
    this.connection = connection;
    // The seed's client does not ping; it is looked after by whoever started it, who gives up after a while.
    const look = () => {
      if (life !== this.lives || this.isOver) return;
      if (!connection.isOver) {
        this.#world.time.after(60_000, look);
        return;
      }
      connection.a.abort();
      this.#again();
    };
    this.#world.time.after(60_000, look);
  }

  describe(): string {
    return `life ${this.lives} at ${this.#position} over ${this.isOver}`;
  }

  #again(): void {
    if (this.isOver) return;
    const life = ++this.lives;
    this.#world.time.after(this.#world.random.int(0, 3_000), () => {
      if (life === this.lives && !this.isOver) this.start();
    });
  }

  #receive(frame: Frame): void {
    if (this.isOver) throw new Error("a plain client heard something after the exit");
    if (typeof frame !== "string") {
      const at = this.#position;
      if (at === undefined) throw new Error("a plain client was sent output before hello");
      const bytes = frame.subarray(1);
      const leap = this.#leap;
      this.#leap = undefined;
      if (leap !== undefined) {
        const screen = frame[0] === 1 ? isSnapshot(bytes, at) : undefined;
        if (screen?.isExact !== true && !leap.isApproximate) throw new Error(`a plain client got no screen at ${at}`);
        if (screen !== undefined) return;
      }
      if (!isOutput(at, bytes, frame[0] ?? 0, this.#tty)) throw new Error(`a plain client got wrong bytes at ${at}`);
      this.#position = at + bytes.length;
      return;
    }
    type Told = { type: string; offset?: number; from?: number; to?: number; approximate?: boolean };
    const message = JSON.parse(frame) as Told;
    if (message.type === "hello") this.#position = message.offset;
    else if (message.type === "gap") {
      if (message.from !== this.#position) throw new Error(`gap from ${message.from} at ${this.#position}`);
      this.#position = message.to;
      if (this.#tty) this.#leap = { isApproximate: message.approximate === true };
    } else if (message.type === "exit") {
      if (message.offset !== this.#position) throw new Error(`exit at ${message.offset}, stood at ${this.#position}`);
      this.isOver = true;
    }
  }
}
