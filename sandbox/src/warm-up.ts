// Has the way of a key run until it is compiled, before anybody types: interpreted, the first hundred keys of a bridge cost it
// two to five times as much as later ones. No process is started: what is typed comes back through a pipe, as output.

import type { ServerWebSocket } from "bun";
import { encodeStdin, MAX_WINDOW_BYTES, parseAttachQuery, STDIO } from "sandbox-stdio/core";
import { SessionHost } from "./host.ts";
import { log } from "./log.ts";
import { openPipe } from "./process/pipes.ts";
import type { ChildProcess, OutputSink } from "./process/process.ts";
import { ProcessInput } from "./process/process-input.ts";
import { ProcessOutput } from "./process/process-output.ts";
import { innerSocket, outerSocket, type SocketData } from "./sockets.ts";

/**
 * On each way. With fewer the compiler comes to much of it only while people type; with 1,500 it begins to compile parts of it once
 * more, for longer than it has by then.
 */
export const KEYS = 800;
/** The client that the bridge was started for connects first, and is not to wait for this. */
const BEGIN_MS = 500;
/** So long at a time, and then a pause. Between two keys the loop turns: a client that connects meanwhile does not notice. */
const TURN_MS = 2;
const PAUSE_MS = 5;
/** A client acknowledges what it has drawn every so many keys. */
const KEYS_AN_ACK = 10;
const KEY = Uint8Array.of(0x78);
const CLIENT = "warm";

type Heard = (frame: string | Uint8Array) => void;
type Way = {
  /** Types one key: its echo comes to the socket. */
  type(): void;
  end(): void;
};

/** @param heard Given what the clients would be sent. @returns Resolves when it is over. */
export function warmUp(heard: Heard = ignore): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let ways: Way[] = [];
  let left = KEYS * 2;
  let pauseAtMs = 0;
  const begin = (): void => {
    try {
      ways = [direct(told), relayed(told)];
    } catch (error) {
      log.warn("the way of a key is not compiled beforehand:", error);
      resolve();
      return;
    }
    turn();
  };
  const turn = (): void => {
    pauseAtMs = performance.now() + TURN_MS;
    next();
  };
  const next = (): void => {
    const way = ways[left % 2];
    if (way === undefined || left === 0) {
      for (const one of ways) one.end();
      resolve();
      return;
    }
    left -= 1;
    way.type();
  };
  const told = (frame: string | Uint8Array): void => {
    heard(frame);
    if (typeof frame === "string") return;
    if (performance.now() < pauseAtMs) setImmediate(next);
    else setTimeout(turn, PAUSE_MS).unref();
  };
  setTimeout(begin, BEGIN_MS).unref();
  return promise;
}

/** A client that attaches here. */
function direct(heard: Heard): Way {
  const query = parseAttachQuery(new URLSearchParams({ sandbox: CLIENT, tty: "1" }));
  if (!query.ok) throw new Error(query.detail);
  const { host, close } = echoingHost();
  const data = outerSocket(host, query.query, undefined, STDIO, CLIENT);
  data.open(socketTo(heard, data));
  let typed = 0;
  return {
    type: () => {
      data.receive(Buffer.from(KEY)); // As the runtime gives it: bytes of another class would be compiled for anew.
      typed += 1;
      if (typed % KEYS_AN_ACK === 0) data.receive(JSON.stringify({ type: "ack", offset: typed - 1 }));
    },
    end: () => finish(data, close),
  };
}

/** One behind a session object. */
function relayed(heard: Heard): Way {
  const { host, close } = echoingHost();
  const data = innerSocket(host, undefined);
  data.open(socketTo(heard, data));
  const whose = { client: CLIENT, window: MAX_WINDOW_BYTES };
  const who = { slot: 1, name: "", role: "driver", admin: true, delivery: "live", acknowledges: true, acked: 0 };
  data.receive(JSON.stringify({ type: "attach", ...whose, ...who }));
  let typed = 0;
  return {
    type: () => {
      data.receive(Buffer.from(encodeStdin(1, typed, KEY)));
      typed += 1;
      if (typed % KEYS_AN_ACK === 0) data.receive(JSON.stringify({ type: "ack", ...whose, offset: typed - 1 }));
    },
    end: () => finish(data, close),
  };
}

/** A session whose process is none: what is written to it comes back. */
function echoingHost(): { host: SessionHost; close: () => void } {
  const names = { sandbox: CLIENT, label: CLIENT, session: CLIENT };
  const how = { mode: "collaborative", delivery: "live", keep: 60, shellIntegration: false } as const;
  const wish = { args: [], env: [], tty: true, ...how };
  let closePipe = ignore;
  const openPane = (sink: OutputSink): ChildProcess => {
    const { read, write } = openPipe();
    const input = new ProcessInput(write, ignore);
    const output = new ProcessOutput(read, 1, sink, ignore);
    closePipe = () => {
      input.close();
      output.close();
    };
    return {
      ...{
        pid: 0,
        tty: true,
        closeStdin: ignore,
        resize: ignore,
        signalAll: ignore,
        veof: () => 0,
        signal: () => false,
      },
      hold: () => output.hold(),
      release: () => output.release(),
      write: (bytes) => input.write(bytes),
    };
  };
  const host = SessionHost.start(
    names,
    { process: wish, size: { cols: 80, rows: 24 } },
    { env: {}, home: "/", openPane },
    ignore,
  );
  if ("fault" in host) throw new Error(host.detail);
  const close = () => {
    host.remove();
    closePipe();
  };
  return { host, close };
}

function finish(data: SocketData, close: () => void): void {
  data.closed(1000);
  close();
}

/** A socket that takes everything. */
function socketTo(heard: Heard, data: SocketData): ServerWebSocket<SocketData> {
  const send = (frame: string | Uint8Array): number => {
    heard(frame);
    return frame.length;
  };
  return { data, send, close: ignore, getBufferedAmount: () => 0 } as unknown as ServerWebSocket<SocketData>;
}

function ignore(): void {
  // Nobody is told.
}
