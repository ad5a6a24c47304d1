// Has the way of a key run until it is compiled, before anybody types: interpreted, the first hundred keys of a bridge cost it
// two to five times as much as later ones. All of that way is the real one, a process on a terminal and the runtime's sockets:
// what is compiled for anything else is compiled anew when a person types.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AttachQuery, encodeStdin, MAX_WINDOW_BYTES, parseAttachQuery, STDIO } from "sandbox-stdio/core";
import { SessionHost } from "./host.ts";
import { log } from "./log.ts";
import { innerSocket, outerSocket, type SocketData, websocket } from "./sockets.ts";

/** On each way, for most of it to be compiled. */
export const KEYS = 700;
/** The client that the bridge was started for connects first, and is not to wait for this. */
const BEGIN_MS = 500;
/** So long at a time, and then a pause of at least that. Between two keys the loop turns: a client that connects meanwhile does not notice. */
const TURN_MS = 2;
/** It is given up then: the machine is busy with something else. */
const MOST_MS = 60_000;
/** A client acknowledges what it has drawn every so many keys. */
const KEYS_AN_ACK = 10;
/** The terminal keeps what is typed until a line is over, up to 4,096 bytes. */
export const KEYS_A_LINE = 100;
const KEY = Uint8Array.of(0x78);
const ENTER = Uint8Array.of(0x0d);
const CLIENT = "warm";
const PROGRAM = "cat";

/** Two of each, unlike each other: what is only ever met in one shape is compiled for that alone. */
const KINDS: readonly Kind[] = [
  { isRelayed: false, asked: { cols: "80", rows: "24", mode: "collaborative" } },
  { isRelayed: true, asked: { cols: "80", rows: "24", mode: "collaborative" } },
  { isRelayed: false, asked: { role: "driver", name: CLIENT } },
  { isRelayed: true, asked: { role: "driver", name: CLIENT } },
];

type Kind = { readonly isRelayed: boolean; readonly asked: Readonly<Record<string, string>> };

type Heard = (frame: string | Uint8Array) => void;
type Way = {
  /** Resolves when the first byte can be typed. */
  readonly opened: Promise<void>;
  /** Types one key: its echo comes to the socket. */
  type(): void;
  end(): Promise<void>;
};

/** @param heard Given what the clients are sent. @returns Resolves when it is over. */
export async function warmUp(heard: Heard = ignore): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, BEGIN_MS).unref());
  // Until a first buffer is handed to another thread, code is compiled for a program that never does that; then all of it is thrown away.
  const handed = new Uint8Array(1).buffer;
  structuredClone(handed, { transfer: [handed] });
  let ways: readonly Way[] = [];
  let server: Listening | undefined;
  try {
    let told: Heard = heard;
    server = listen();
    for (const kind of KINDS) {
      const open = kind.isRelayed ? relayed : direct;
      ways = [...ways, open(server, queryOf(kind), (frame) => told(frame))];
    }
    await Promise.all(ways.map((way) => way.opened));
    server.close();
    await typeAll(ways, (next) => {
      told = (frame) => {
        heard(frame);
        next(frame);
      };
    });
  } catch (error) {
    log.warn("the way of a key is not compiled beforehand:", error);
  } finally {
    server?.close();
    await Promise.all(ways.map((way) => way.end()));
  }
}

function typeAll(ways: readonly Way[], listenWith: (heard: Heard) => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = KEYS * ways.length;
  let begunAtMs = 0;
  let isAwaited = false;
  const end = (): void => {
    left = 0;
    clearTimeout(limit);
    resolve();
  };
  const limit = setTimeout(end, MOST_MS);
  limit.unref();
  const next = (): void => {
    const way = ways[left % ways.length];
    if (way === undefined || left === 0) {
      end();
      return;
    }
    left -= 1;
    isAwaited = true;
    way.type();
  };
  const turn = (): void => {
    begunAtMs = performance.now();
    next();
  };
  listenWith((frame) => {
    // A line that comes back whole is more than was awaited.
    if (typeof frame === "string" || !isAwaited) return;
    isAwaited = false;
    const tookMs = performance.now() - begunAtMs;
    // Where the bridge has a sixteenth of a core, a turn takes long, and the pause is as long: half of what it has is others'.
    if (tookMs < TURN_MS) setImmediate(next);
    else setTimeout(turn, tookMs).unref();
  });
  turn();
  return promise;
}

/** A client that attaches here. */
function direct(server: Listening, query: AttachQuery, heard: Heard): Way {
  const host = startProgram(query);
  const socket = server.connect(outerSocket(host, query, undefined, STDIO, CLIENT), heard);
  return way(socket, host, ignore, (key, typed) => {
    socket.send(key);
    if (typed % KEYS_AN_ACK === 0) socket.send(JSON.stringify({ type: "ack", offset: typed }));
  });
}

/** One behind a session object. */
function relayed(server: Listening, query: AttachQuery, heard: Heard): Way {
  const host = startProgram(query);
  const socket = server.connect(innerSocket(host, undefined), heard);
  const whose = { client: crypto.randomUUID(), window: MAX_WINDOW_BYTES };
  const who = { slot: 1, name: CLIENT, role: "driver", kind: "person", admin: true, delivery: "live", ...query.size };
  const begin = () => {
    socket.send(JSON.stringify({ type: "attach", ...whose, ...who, acknowledges: true, acked: 0 }));
    socket.send(JSON.stringify({ type: "answerer", id: whose.client, offset: 0 }));
  };
  return way(socket, host, begin, (key, typed) => {
    socket.send(encodeStdin(1, typed, key));
    if (typed % KEYS_AN_ACK === 0) socket.send(JSON.stringify({ type: "ack", ...whose, offset: typed }));
  });
}

/** @param type Given a key and how many were typed before it. */
function way(
  socket: WebSocket,
  host: SessionHost,
  begin: () => void,
  type: (key: Uint8Array, typed: number) => void,
): Way {
  const opened = new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => {
      begin();
      resolve();
    });
    socket.addEventListener("error", () => reject(new Error("Cannot connect to the bridge's own socket")));
  });
  opened.catch(ignore); // Where another way can't be opened, nobody waits for this one.
  let typed = 0;
  return {
    opened,
    type: () => {
      type(typed % KEYS_A_LINE === KEYS_A_LINE - 1 ? ENTER : KEY, typed);
      typed += 1;
    },
    end: async () => {
      socket.close();
      await host.kill();
      host.remove();
    },
  };
}

/** As a request asks: text that came from outside is of another kind to the compiler. */
function queryOf({ asked }: Kind): AttachQuery {
  const own = { sandbox: CLIENT, cmd: PROGRAM, tty: "1", shell_integration: "0" };
  const parsed = parseAttachQuery(
    new URL(`http://localhost/attach?${new URLSearchParams({ ...own, ...asked })}`).searchParams,
  );
  if (!parsed.ok) throw new Error(parsed.detail);
  return parsed.query;
}

function startProgram(query: AttachQuery): SessionHost {
  const names = { sandbox: CLIENT, label: CLIENT, session: CLIENT };
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  const host = SessionHost.start(names, query, { env, home: "/" }, ignore);
  if ("fault" in host) throw new Error(host.detail);
  return host;
}

type Listening = {
  connect(data: SocketData, heard: Heard): WebSocket;
  /** Nobody connects any more; who has stays. */
  close(): void;
};

/** A socket that nobody else finds: in a directory of its own, under a name that can't be guessed, and not for long. */
function listen(): Listening {
  const directory = mkdtempSync(join(tmpdir(), "stdio-warm-"));
  const unix = join(directory, "socket");
  const expected = new Map<string, SocketData>();
  const server = Bun.serve<SocketData>({
    unix,
    fetch: (request, self) => {
      const { pathname } = new URL(request.url);
      const data = expected.get(pathname);
      expected.delete(pathname);
      if (data !== undefined && self.upgrade(request, { data })) return undefined;
      return new Response(null, { status: 404 });
    },
    websocket,
  });
  return {
    connect: (data, heard) => {
      const path = `/${crypto.randomUUID()}`;
      expected.set(path, data);
      const socket = new WebSocket(`ws+unix://${unix}:${path}`);
      socket.binaryType = "arraybuffer";
      socket.addEventListener("message", ({ data: frame }) => {
        heard(typeof frame === "string" ? frame : new Uint8Array(frame as ArrayBuffer));
      });
      return socket;
    },
    close: () => {
      void server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function ignore(): void {
  // Nobody is told.
}
