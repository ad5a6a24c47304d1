// One connection through the proxy, and how it ends.

import { connect, type Socket } from "node:net";
import type { Random } from "../../local/src/base/random.ts";
import type { Break, BreakKind, ConnectionPlan, Direction } from "./faults.ts";
import { Lane } from "./lane.ts";

export type ConnectionPorts = {
  readonly target: { readonly host: string; readonly port: number };
  readonly plan: ConnectionPlan;
  readonly random: Random;
  readonly mayBreak: (kind: BreakKind) => boolean;
  readonly onTwin: () => void;
  /** Both sockets are gone. */
  readonly onOver: () => void;
};

/** An end that was told of the end and does not go is thrown out after so long. */
const LINGER_MS = 2_000;
/** A silent connection is given up after so long: the parties at its ends have had time to notice. */
const SILENT_MS = 90_000;

export class ProxiedConnection {
  readonly #ports: ConnectionPorts;
  readonly #client: Socket;
  readonly #upstream: Socket;
  #twin: Socket | undefined;
  #up: Lane | undefined;
  #down: Lane | undefined;
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Directions in which not even the end is passed on. */
  #silenced: readonly Direction[] = [];
  #planned: Break | undefined;
  #isBroken = false;
  #isOver = false;

  /** @param head The first bytes from the client. */
  constructor(client: Socket, head: Uint8Array, ports: ConnectionPorts) {
    this.#ports = ports;
    this.#client = client;
    this.#upstream = connect({ ...ports.target, allowHalfOpen: true, noDelay: true });
    client.on("close", (hadError) => this.#closed(this.#upstream, "up", hadError));
    this.#upstream.on("error", ignore);
    this.#upstream.on("close", (hadError) => this.#closed(client, "down", hadError));
    if (ports.plan.hasTwin && canPlayTwice(head)) {
      this.#twin = openTwin(ports.target, head, (isGreeted) => {
        if (isGreeted) ports.onTwin();
        // It may yet arrive, and would then be the newer one.
        if (isGreeted) this.#begin(head);
        else this.destroy();
      });
    } else this.#begin(head);
  }

  get bytes(): { readonly up: number; readonly down: number } {
    return { up: this.#up?.forwarded ?? 0, down: this.#down?.forwarded ?? 0 };
  }

  /** Whether its break has begun. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Breaks it so, if it has not been broken yet: bytes and age count from now. */
  breakFromNow(planned: Break): void {
    const lane = planned.direction === "up" ? this.#up : this.#down;
    if (lane === undefined || this.#isBroken) return;
    this.#planned = planned;
    lane.stopAt(lane.forwarded + planned.bytes);
    this.#in(planned.orAfterMs, () => this.#break(planned));
  }

  destroy(): void {
    this.#client.resetAndDestroy();
    this.#upstream.resetAndDestroy();
    this.#twin?.resetAndDestroy();
  }

  #begin(head: Uint8Array): void {
    if (this.#isOver || this.#client.destroyed) return;
    const { plan, random } = this.#ports;
    const onStop = () => this.#planned !== undefined && this.#break(this.#planned);
    this.#up = new Lane(this.#client, this.#upstream, plan.up, random, onStop);
    this.#down = new Lane(this.#upstream, this.#client, plan.down, random, onStop);
    if (plan.break !== undefined) this.breakFromNow(plan.break);
    this.#up.inject(head);
    this.#client.resume();
  }

  #break(planned: Break): void {
    if (this.#isBroken || this.#client.destroyed || this.#upstream.destroyed) return;
    if (!this.#ports.mayBreak(planned.kind)) return;
    this.#isBroken = true;
    switch (planned.kind) {
      case "rst":
        this.#silence(["up", "down"]);
        this.#client.resetAndDestroy();
        this.#upstream.resetAndDestroy();
        return;
      case "fin":
        this.#silence(["up", "down"]);
        this.#client.end();
        this.#upstream.end();
        this.#in(LINGER_MS, () => this.destroy());
        return;
      case "silent":
        this.#silence(["up", "down"]);
        this.#in(SILENT_MS, () => this.destroy());
        return;
      case "silent-up":
        this.#silence(["up"]);
        this.#in(SILENT_MS, () => this.destroy());
        return;
      case "silent-down":
        this.#silence(["down"]);
        this.#in(SILENT_MS, () => this.destroy());
        return;
      case "late":
        this.#up?.hold();
        this.#in(planned.gatherMs, () => this.#cutAndDeliver(planned.lateMs));
    }
  }

  #silence(directions: readonly Direction[]): void {
    this.#silenced = directions;
    if (directions.includes("up")) this.#up?.discard();
    if (directions.includes("down")) this.#down?.discard();
  }

  #cutAndDeliver(lateMs: number): void {
    this.#silenced = ["up", "down"];
    this.#down?.discard();
    this.#client.resetAndDestroy();
    this.#in(lateMs, () => {
      this.#up?.release();
      this.#upstream.end();
      this.#in(LINGER_MS, () => this.destroy());
    });
  }

  /** One end is gone; `other` is told, unless it is not to know. */
  #closed(other: Socket, direction: Direction, hadError: boolean): void {
    if (this.#client.destroyed && this.#upstream.destroyed) {
      this.#over();
      return;
    }
    if (this.#silenced.includes(direction)) return;
    if (hadError || this.#up === undefined) other.resetAndDestroy();
    else this.#in(LINGER_MS, () => other.resetAndDestroy());
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#twin?.resetAndDestroy();
    this.#ports.onOver();
  }

  #in(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, ms);
    this.#timers.add(timer);
  }
}

function ignore(): void {
  // Said by the close that follows.
}

/** How long the far end may take to greet. */
const PATIENCE_MS = 5_000;
const GREETING = '"type":"hello"';
const KEPT_BYTES = 4_096;

/** Whether these first bytes are a whole handshake that says whose it is: else the twin would be another client. */
function canPlayTwice(head: Uint8Array): boolean {
  const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString("latin1");
  return text.endsWith("\r\n\r\n") && /^GET [^ ]*[?&](attempt|incarnation)=/.test(text);
}

/**
 * Opens it. `then` is called once, when it has been greeted and so is certainly the older of the two, or is not.
 * @param head The first bytes of a connection, a whole request.
 */
function openTwin(
  target: { readonly host: string; readonly port: number },
  head: Uint8Array,
  then: (isGreeted: boolean) => void,
): Socket {
  const twin = connect({ ...target, noDelay: true });
  let text = "";
  let isDone = false;
  const done = (isGreeted: boolean) => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    then(isGreeted);
  };
  const timer = setTimeout(() => done(false), PATIENCE_MS);
  twin.on("error", () => done(false));
  twin.on("close", () => done(false));
  twin.on("data", (chunk: Uint8Array) => {
    if (isDone) return; // Read, so that it does not stop its sender, and lost.
    text = (text + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString("latin1")).slice(-KEPT_BYTES);
    if (text.includes(GREETING)) done(true);
  });
  twin.write(head);
  return twin;
}
