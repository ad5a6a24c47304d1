// A connection to the bridge that is opened while others are asked whether a client may come (H22). Until one may, nothing is asked
// on it: so it starts no container and no process, keeps none awake, and fetches no log.

import { CLOSE } from "sandbox-stdio/core";

/** Longer than it takes to let a client in. The bridge waits longer than that to be asked. */
const KEPT_MS = 5_000;
/** How long a client that was let in waits for it to be opened: without it, the attach is made as ever. */
const OPENING_MS = 1_000;
/** A bridge says nothing before it is asked. */
const ENDS = ["close", "error", "message"] as const;

/** Opens such a connection; undefined where there is none to be had. */
export type Connect = (signal: AbortSignal) => Promise<WebSocket | undefined>;

export class Preconnect {
  #one: Ahead | undefined;

  /** Opens one, unless there is one. */
  open(connect: Connect): void {
    if (this.#one !== undefined) return;
    const one = new Ahead(connect, () => {
      if (this.#one === one) this.#one = undefined;
    });
    this.#one = one;
  }

  /** The connection, which is the caller's from now on; undefined where there is none. */
  take(): Promise<WebSocket | undefined> | undefined {
    const one = this.#one;
    this.#one = undefined;
    return one?.take();
  }
}

/** One such connection, from when it is begun until it is taken. */
class Ahead {
  readonly #given = new AbortController();
  readonly #settled: Promise<void>;
  readonly #onEnd: () => void;
  #settle: () => void = () => undefined;
  #timer: ReturnType<typeof setTimeout>;
  #socket: WebSocket | undefined;
  #hasEnded = false;

  constructor(connect: Connect, onEnd: () => void) {
    this.#onEnd = onEnd;
    this.#settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#timer = setTimeout(this.#end, KEPT_MS);
    connect(this.#given.signal).then(this.#opened, this.#end);
  }

  async take(): Promise<WebSocket | undefined> {
    clearTimeout(this.#timer);
    if (!this.#hasEnded) this.#timer = setTimeout(this.#end, OPENING_MS);
    await this.#settled;
    clearTimeout(this.#timer);
    for (const type of ENDS) this.#socket?.removeEventListener(type, this.#end);
    return this.#socket;
  }

  readonly #opened = (socket: WebSocket | undefined): void => {
    socket?.accept();
    if (socket === undefined || this.#hasEnded) {
      close(socket);
      this.#end();
      return;
    }
    for (const type of ENDS) socket.addEventListener(type, this.#end);
    this.#socket = socket;
    this.#settle();
  };

  readonly #end = (): void => {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    // One that is open would break by it.
    if (this.#socket === undefined) this.#given.abort();
    close(this.#socket);
    this.#socket = undefined;
    this.#settle();
    this.#onEnd();
  };
}

function close(socket: WebSocket | undefined): void {
  try {
    socket?.close(CLOSE.normal, "nothing is asked");
  } catch {
    // Already closed.
  }
}
