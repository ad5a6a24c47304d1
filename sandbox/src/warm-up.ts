// Has the way of a key run until it is compiled, before anybody types: interpreted, the first hundred keys of a bridge cost it
// two to five times as much as later ones. No process is started: what is typed comes back as output.

import type { ServerWebSocket } from "bun";
import { encodeStdin, MAX_WINDOW_BYTES, OutputLog, parseAttachQuery, STDIO, STREAM_STDOUT } from "sandbox-stdio/core";
import { TimeIndex } from "sandbox-stdio/programs";
import { SessionHost } from "./host.ts";
import { SessionMarks } from "./marks/session-marks.ts";
import type { ChildProcess } from "./process/process.ts";
import { innerSocket, outerSocket, type SocketData } from "./sockets.ts";

/** Most of the gain: after 300 the first thousand keys cost a sixth more, and 8,000 would cost the start another quarter second. */
export const KEYS = 1_500;
/** The client that the bridge was started for connects first, and is not to wait for this. */
const BEGIN_MS = 500;
/** So long at a time, and then a pause, so that a client that connects meanwhile does not notice. */
const TURN_MS = 0.5;
const PAUSE_MS = 5;
/** A client acknowledges what it has drawn every so many keys. */
const KEYS_AN_ACK = 10;
const KEY = Uint8Array.of(0x78);
const CLIENT = "warm";

type Heard = (frame: string | Uint8Array) => void;
type Way = {
  /** Types one key, and has it echoed. */
  type(): void;
  end(): void;
};

/** @param heard Given what the clients would be sent. @returns Resolves when it is over. */
export function warmUp(heard: Heard = ignore): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let ways: Way[] = [];
  let left = KEYS;
  const turn = (): void => {
    if (ways.length === 0) ways = [direct(heard), relayed(heard)];
    const end = performance.now() + TURN_MS;
    do {
      for (const way of ways) way.type();
      left -= 1;
    } while (left > 0 && performance.now() < end);
    if (left > 0) {
      setTimeout(turn, PAUSE_MS).unref();
      return;
    }
    for (const way of ways) way.end();
    resolve();
  };
  setTimeout(turn, BEGIN_MS).unref();
  return promise;
}

/** A client that attaches here. */
function direct(heard: Heard): Way {
  const query = parseAttachQuery(new URLSearchParams({ sandbox: CLIENT, tty: "1" }));
  if (!query.ok) throw new Error(query.detail);
  const { host, echo } = echoingHost();
  const data = outerSocket(host, query.query, undefined, STDIO, CLIENT);
  data.open(socketTo(heard, data));
  let typed = 0;
  return {
    type: () => {
      data.receive(Uint8Array.from(KEY));
      echo();
      typed += 1;
      if (typed % KEYS_AN_ACK === 0) data.receive(JSON.stringify({ type: "ack", offset: typed }));
    },
    end: () => finish(host, data),
  };
}

/** One behind a session object. */
function relayed(heard: Heard): Way {
  const { host, echo } = echoingHost();
  const data = innerSocket(host, undefined);
  data.open(socketTo(heard, data));
  const whose = { client: CLIENT, window: MAX_WINDOW_BYTES };
  const who = { slot: 1, name: "", role: "driver", admin: true, delivery: "live", acknowledges: true, acked: 0 };
  data.receive(JSON.stringify({ type: "attach", ...whose, ...who }));
  let typed = 0;
  return {
    type: () => {
      data.receive(encodeStdin(1, typed, KEY));
      echo();
      typed += 1;
      if (typed % KEYS_AN_ACK === 0) data.receive(JSON.stringify({ type: "ack", ...whose, offset: typed }));
    },
    end: () => finish(host, data),
  };
}

/** A session whose process is none: what is written to it comes back when it is told to. */
function echoingHost(): { host: SessionHost; echo: () => void } {
  const log = new OutputLog({ cols: 80, rows: 24 });
  const marks = new SessionMarks({ commandEnded: ignore, attention: ignore, titled: ignore }, () => performance.now());
  const times = new TimeIndex();
  const createdAt = new Date().toISOString();
  let written = 0;
  const child: ChildProcess = {
    ...{ pid: 0, tty: true, hold: ignore, release: ignore, closeStdin: ignore, resize: ignore, signalAll: ignore },
    ...{ veof: () => 0, signal: () => false },
    write: ({ length }) => {
      written += length;
      return length;
    },
  };
  const names = { sandbox: CLIENT, label: CLIENT, session: CLIENT };
  const wish = { args: [], env: [], tty: true, mode: "collaborative", delivery: "live", keep: 60 } as const;
  const host = SessionHost.over(
    names,
    wish,
    { cmd: [], createdAt, child, log, screen: undefined, marks, times },
    ignore,
  );
  const echo = (): void => {
    const room = log.reserve(written);
    room.set(KEY);
    times.note(log.endOffset, Date.now());
    marks.scan(room, log.endOffset);
    log.commit(written, STREAM_STDOUT);
    written = 0;
    host.committed();
    host.appended();
  };
  return { host, echo };
}

function finish(host: SessionHost, data: SocketData): void {
  data.closed(1000);
  host.remove();
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
