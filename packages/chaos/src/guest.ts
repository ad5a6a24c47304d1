// A client that looks on at a session in a dialect without resume (D4): each of its connections begins anew, and is held to what it is
// promised. Plain frames on pipes count from the log's first byte on, and gaps are told. The addon's bytes on a PTY come in order behind `ready`,
// until a drawing replaces what was missed; terminal queries are left out of them (K6).

import type WebSocket from "ws";
import { type Damage, describeDamage, StreamChecker } from "./checker.ts";
import { openSocket, type Route } from "./dial.ts";
import { keyOf, lengthsOf, type Work } from "./work.ts";

export type GuestDialect = "plain" | "addon";

export type GuestPorts = {
  readonly route: Route;
  readonly dialect: GuestDialect;
  readonly sandbox: string;
  readonly session: string;
  readonly work: Work;
  /** Told of what breaks a promise. */
  readonly wrong: (what: string) => void;
};

const STDERR = 2;
const ESC = 0x1b;
const AGAIN_MS = 100;

export class Guest {
  /** Connections that were shown anything, and bytes that were checked. */
  shown = 0;
  bytes = 0;
  readonly #ports: GuestPorts;
  #isOver = false;
  #socket: WebSocket | undefined;
  #again: NodeJS.Timeout | undefined;

  constructor(ports: GuestPorts) {
    this.#ports = ports;
  }

  connect(): void {
    const { route, dialect, sandbox, session } = this.#ports;
    const query = dialect === "plain" ? { sandbox, tty: "0", offset: "0" } : { id: sandbox };
    const params = Object.entries({ ...query, session, role: "viewer" });
    const socket = openSocket(route, params, dialect === "plain" ? {} : { path: "/ws/terminal" });
    const view = dialect === "plain" ? new PlainView(this.#ports.work) : new AddonView(this.#ports.work);
    this.#socket = socket;
    socket.on("message", (message: Buffer, isBinary) => {
      if (isBinary) view.bytes(message);
      else view.told(JSON.parse(message.toString("utf8")));
    });
    // A refusal and a break are followed by a close.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.bytes += view.received;
      if (view.received > 0) this.shown += 1;
      for (const damage of view.damages()) this.#ports.wrong(`${dialect} guest: ${describeDamage(damage)}`);
      if (!this.#isOver) this.#again = setTimeout(() => this.connect(), AGAIN_MS);
    });
  }

  /** Call when the session has ended: the guest stops reconnecting. */
  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#again);
    this.#socket?.terminate();
  }
}

type Told = { readonly type: string; readonly offset?: number; readonly gap?: number };

/** One connection, from the log's first byte on. */
class PlainView {
  readonly #stdout: StreamChecker;
  readonly #stderr: StreamChecker;
  readonly #stderrLength: number;
  /** Whether nothing was said to be missing: else nothing tells which of the two streams has lost how much. */
  #isWhole = true;

  constructor(work: Work) {
    this.#stdout = new StreamChecker(keyOf(work.seed, work.input === "echo" ? "stdin" : "stdout"));
    this.#stderr = new StreamChecker(keyOf(work.seed, "stderr"));
    this.#stderrLength = lengthsOf(work).stderr;
  }

  get received(): number {
    return this.#stdout.received + this.#stderr.received;
  }

  told({ type, offset = 0 }: Told): void {
    if (type === "gap" || (type === "hello" && offset > 0)) this.#isWhole = false;
  }

  bytes(frame: Uint8Array): void {
    if (!this.#isWhole) return;
    const bytes = frame.subarray(1);
    if (frame[0] !== STDERR) this.#stdout.push(bytes);
    // Behind the pattern comes the process's report.
    else this.#stderr.push(bytes.subarray(0, Math.max(0, this.#stderrLength - this.#stderr.received)));
  }

  damages(): readonly Damage[] {
    return [this.#stdout, this.#stderr].flatMap((checker) => checker.finish(checker.received));
  }
}

/** One connection, from where its replay ends. */
class AddonView {
  readonly #stdout: StreamChecker;
  #phase: "replay" | "live" | "drawn" = "replay";

  constructor(work: Work) {
    this.#stdout = new StreamChecker(keyOf(work.seed, "stdout"));
  }

  get received(): number {
    return this.#stdout.received;
  }

  told({ type }: Told): void {
    if (type === "ready" && this.#phase === "replay") this.#phase = "live";
  }

  bytes(frame: Uint8Array): void {
    if (this.#phase === "live" && frame[0] === ESC) this.#phase = "drawn";
    if (this.#phase === "live") this.#stdout.push(frame);
  }

  damages(): readonly Damage[] {
    return this.#stdout.damages.filter(({ kind }) => kind === "doubled" || kind === "reordered");
  }
}
