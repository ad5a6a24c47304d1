// A connection to the bridge that is opened while others are asked whether a client may come (H22). Until one may, nothing is asked
// on it: so it starts no container and no process, keeps none awake, and fetches no log.

import { CLOSE } from "sandbox-stdio/core";

/** Longer than it takes to let a client in. The bridge waits longer than that for what is asked on it. */
const KEPT_MS = 5_000;

/** Opens such a connection; undefined where there is none to be had. */
export type Connect = (signal: AbortSignal) => Promise<WebSocket | undefined>;

type Waiting = { readonly socket: Promise<WebSocket | undefined>; readonly stop: () => void; isOpen: boolean };

export class Preconnect {
  #waiting: Waiting | undefined;

  /** Opens one, unless there is one. */
  open(connect: Connect): void {
    if (this.#waiting !== undefined) return;
    const given = new AbortController();
    let settle: (socket: WebSocket | undefined) => void = () => undefined;
    const socket = new Promise<WebSocket | undefined>((resolve) => {
      settle = resolve;
    });
    const timer = setTimeout(() => {
      given.abort();
      end();
    }, KEPT_MS);
    const waiting: Waiting = { socket, isOpen: true, stop: () => clearTimeout(timer) };
    const end = (): void => {
      waiting.isOpen = false;
      waiting.stop();
      if (this.#waiting === waiting) this.#waiting = undefined;
      settle(undefined);
      void socket.then(close);
    };
    const opened = (one: WebSocket | undefined): void => {
      one?.accept();
      if (one === undefined || !waiting.isOpen) {
        close(one);
        end();
        return;
      }
      one.addEventListener("close", end);
      one.addEventListener("error", end);
      settle(one);
    };
    connect(given.signal).then(opened, end);
    this.#waiting = waiting;
  }

  /** The connection, which is the caller's from now on; undefined where there is none. */
  take(): Promise<WebSocket | undefined> | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting?.socket.then((socket) => {
      waiting.stop();
      return waiting.isOpen ? socket : undefined;
    });
  }
}

function close(socket: WebSocket | undefined): void {
  try {
    socket?.close(CLOSE.normal, "nothing is asked");
  } catch {
    // Already closed.
  }
}
