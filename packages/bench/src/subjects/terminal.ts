// One terminal as the measurements see it, whatever serves it: bytes in, bytes out. The whole path's goes through the real client
// state machine; the bridge's, the floors' and the peers' through the least that speaks to them.

import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import {
  type ClientEnd,
  type ClientState,
  encodeStdin,
  INNER_PROTOCOL,
  MAX_FRAME_BYTES,
  MAX_KEPT_INPUT_BYTES,
  MAX_UNACKED_INPUT_BYTES,
  MAX_WINDOW_BYTES,
  PING_INTERVAL_MS,
  StdioClient,
} from "sandbox-stdio/core";
import WebSocket from "ws";
import { NEAR } from "./ip-link.ts";

export interface Terminal {
  send(bytes: Uint8Array): void;
  /** Called with each piece of output, in order. Output from before it is set for the first time is kept for it. */
  onOutput: (bytes: Uint8Array) => void;
  /** Called with the length of what is left out for a viewer that fell behind; ours alone does that. */
  onGap: (bytes: number) => void;
  /** Stops, or goes on, dealing with output: nothing is read, nothing acknowledged. */
  pause(): void;
  resume(): void;
  /** Ends the command and the connection. */
  close(): void;
}

export type TerminalSpec = {
  readonly kind: "ours" | "bridge" | "floor" | "ssh" | "ttyd" | "mosh";
  /** `http://HOST:PORT` */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  /** Our own clients may share a session by name. */
  readonly session?: string;
  readonly role?: "driver" | "viewer";
  /** Without it as the role has it. */
  readonly delivery?: "live";
  readonly tty?: boolean;
  readonly isRecorded?: boolean;
  readonly logBytes?: number;
  /** Arguments of the ssh client, up to the host. */
  readonly ssh?: readonly string[];
};

const TTYD_DATA = Buffer.from("0");
const ATTACH_PATIENCE_MS = 30_000;
let count = 0;

/** Output may come in the same packet as the greeting, before the caller that opened the terminal can listen. */
class Outlet {
  onGap: (bytes: number) => void = () => undefined;
  #early: Uint8Array[] = [];
  #listener: ((bytes: Uint8Array) => void) | undefined;

  get onOutput(): (bytes: Uint8Array) => void {
    return this.#listener ?? ((bytes) => void this.#early.push(bytes));
  }

  set onOutput(listener: (bytes: Uint8Array) => void) {
    this.#listener = listener;
    for (const bytes of this.#early.splice(0)) listener(bytes);
  }
}

/** Open terminals, to be closed if a measurement is aborted. */
const open = new Set<Terminal>();

export async function openTerminal(spec: TerminalSpec): Promise<Terminal> {
  const terminal = await openOf(spec);
  const { close } = terminal;
  terminal.close = () => {
    if (open.delete(terminal)) close();
  };
  open.add(terminal);
  return terminal;
}

/** Closes what a measurement has left open, so that it is no load for the next one. */
export function closeTerminals(): void {
  for (const terminal of open) terminal.close();
}

function openOf(spec: TerminalSpec): Promise<Terminal> {
  if (spec.kind === "ssh") return Promise.resolve(openSsh(spec));
  if (spec.kind === "ttyd") return openTtyd(spec);
  if (spec.kind === "mosh") return Promise.resolve(openMosh(spec));
  if (spec.kind === "bridge") return openAtBridge(spec);
  return spec.kind === "ours" ? openOurs(spec) : openFloor(spec);
}

/** What an attach asks for, but the session. */
function queryOf({ command, tty, role = "driver", delivery, isRecorded, logBytes }: TerminalSpec): [string, string][] {
  const [cmd = "", ...args] = command;
  return [
    ["sandbox", "bench"],
    ["tty", tty === false ? "0" : "1"],
    ["role", role],
    ["keeps", String(MAX_KEPT_INPUT_BYTES)],
    ...(isRecorded === true ? [["record", "1"] as [string, string]] : []),
    ...(logBytes === undefined ? [] : [["logBytes", String(logBytes)] as [string, string]]),
    ...(delivery === undefined ? [] : [["delivery", delivery] as [string, string]]),
    ...(cmd === "" ? [] : [["cmd", cmd] as [string, string]]),
    ...args.map((arg): [string, string] => ["arg", arg]),
  ];
}

/** A terminal at the bridge, as a session object has it. */
async function openAtBridge(spec: TerminalSpec): Promise<Terminal> {
  const query = new URLSearchParams([...queryOf(spec), ["session", `bench-${process.pid}-${count++}`]]);
  const outlet = new Outlet();
  const inner = await openInner(spec.url, spec.headers, query, (bytes) => outlet.onOutput(bytes));
  return Object.assign(outlet, inner);
}

/** A terminal of this project: `stdio.v1`, every byte acknowledged. */
function openOurs(spec: TerminalSpec, ended: (end: ClientEnd) => void = () => undefined): Promise<Terminal> {
  const session = spec.session ?? `bench-${process.pid}-${count++}`;
  let socket: WebSocket | undefined;
  let isPaused = false;
  let waitingEnd = 0;
  return new Promise((resolve, reject) => {
    const terminal: Terminal = Object.assign(new Outlet(), {
      send: (bytes: Uint8Array) => void client.type(bytes),
      pause: () => {
        isPaused = true;
        socket?.pause();
      },
      resume: () => {
        isPaused = false;
        socket?.resume();
        if (waitingEnd > 0) client.processed(waitingEnd);
      },
      close: () => {
        client.send({ type: "kill" });
        client.leave();
      },
    });
    const processed = (end: number) => {
      if (isPaused) waitingEnd = end;
      else client.processed(end);
    };
    const client = new StdioClient(
      { session, firstAttempts: 1 },
      {
        connect: (resume, events) => {
          const query = new URLSearchParams([...queryOf(spec), ...resume]);
          const opened = new WebSocket(`${spec.url}/attach?${query}`, ["stdio.v1"], {
            headers: spec.headers,
            perMessageDeflate: false,
          });
          socket = opened;
          opened.on("open", () => events.open());
          opened.on("message", (data: Buffer, isBinary) =>
            isBinary ? events.binary(data) : events.text(String(data)),
          );
          opened.on("close", (code, reason) => events.closed(code, String(reason)));
          opened.on("error", () => undefined); // A close follows.
          return {
            send: (message) => opened.send(message),
            close: (code) => opened.close(code),
            abort: () => opened.terminate(),
          };
        },
        setTimer: (ms, callback) => {
          const timer = setTimeout(callback, ms);
          return () => clearTimeout(timer);
        },
        now: () => performance.now(),
        random: Math.random,
      },
      {
        state: (state: ClientState) => {
          if (state.phase === "attached") resolve(terminal);
          if (state.phase === "ended") ended(state.end);
          if (state.phase === "ended" && state.end.kind === "refused") reject(new Error(state.end.reason));
        },
        output: (_stream, bytes, end) => {
          terminal.onOutput(bytes);
          processed(end);
        },
        snapshot: (_bytes, offset) => processed(offset),
        resize: () => undefined,
        gap: (from, to) => terminal.onGap(to - from),
        message: () => undefined,
        discarded: () => undefined,
        inputDrained: () => undefined,
      },
    );
    client.start();
    // One that is refused for now would be tried again for ever.
    setTimeout(() => {
      if (client.state.phase === "attached") return;
      client.leave();
      reject(new Error(`not attached after ${ATTACH_PATIENCE_MS} ms`));
    }, ATTACH_PATIENCE_MS).unref();
  });
}

/** Runs a command at one of ours, with its input at an end. @returns Its exit code. */
export async function runToExit(spec: TerminalSpec): Promise<number> {
  const end = await new Promise<ClientEnd>((resolve, reject) => {
    openOurs(spec, resolve).catch(reject);
  });
  if (end.kind !== "exit") throw new Error(`The command did not end: ${JSON.stringify(end)}`);
  return end.code;
}

/** A terminal of a floor: the command as the first message, then raw bytes; output has one header byte. */
async function openFloor(spec: TerminalSpec): Promise<Terminal> {
  const session = spec.session ?? `${process.pid}-${count++}`;
  const query = new URLSearchParams({ name: session, role: spec.role ?? "driver" });
  const socket = new WebSocket(`${spec.url}/?${query}`, { perMessageDeflate: false });
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  const terminal: Terminal = Object.assign(new Outlet(), {
    send: (bytes: Uint8Array) => socket.send(bytes),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.terminate(),
  });
  socket.on("message", (data: Buffer) => terminal.onOutput(data.subarray(1)));
  socket.on("error", () => undefined); // A close follows, and a floor is not asked why.
  socket.send(JSON.stringify({ command: spec.command, session }));
  return terminal;
}

/** A terminal of ttyd, which takes the command from the address: `0` stands before input, and before output. */
async function openTtyd(spec: TerminalSpec): Promise<Terminal> {
  const query = new URLSearchParams();
  for (const word of spec.command) query.append("arg", word);
  const socket = new WebSocket(`${spec.url}/ws?${query}`, ["tty"], { perMessageDeflate: false });
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  const terminal: Terminal = Object.assign(new Outlet(), {
    send: (bytes: Uint8Array) => socket.send(Buffer.concat([TTYD_DATA, bytes])),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.terminate(),
  });
  socket.on("message", (data: Buffer) => {
    if (data[0] === TTYD_DATA[0]) terminal.onOutput(data.subarray(1)); // Else its title or settings.
  });
  socket.on("error", () => undefined);
  socket.send(JSON.stringify({ AuthToken: "", columns: 80, rows: 24 }));
  return terminal;
}

/** A terminal through the ssh client: a process of its own, on pipes. */
function openSsh({ url, ssh = [], command }: TerminalSpec): Terminal {
  const { hostname, port } = new URL(url);
  // If given two ports, ssh uses the first.
  const args = ["-p", port, "-o", `HostName=${hostname}`, ...ssh, command.map(quoted).join(" ")];
  return overPipes(spawn("ssh", args, { stdio: ["pipe", "pipe", "ignore"] }));
}

/**
 * A terminal of mosh, whose client wants one itself: `script` makes that. Its guesses of echoes are off: they would be measured.
 */
function openMosh({ url, command }: TerminalSpec): Terminal {
  const { port, env, stop } = startMoshServer(command);
  const client = spawn(
    "script",
    ["-qfec", `stty cols 80 rows 24; exec mosh-client ${new URL(url).hostname} ${port}`, "/dev/null"],
    {
      env: { ...process.env, ...env, TERM: "xterm-256color", MOSH_PREDICTION_DISPLAY: "never" },
      stdio: ["pipe", "pipe", "ignore"],
    },
  );
  return overPipes(client, stop);
}

/** A server of one terminal, and what its client needs to know. */
export function startMoshServer(command: readonly string[]) {
  const locale = { LC_ALL: "C.UTF-8" };
  const words = ["new", "-i", NEAR, "-c", "256", "--", ...command];
  const { stdout, stderr } = spawnSync("mosh-server", words, {
    env: { ...process.env, ...locale, TERM: "xterm-256color" },
    encoding: "utf8",
  });
  const [, port, key] = /^MOSH CONNECT (\d+) (\S+)$/m.exec(stdout) ?? [];
  const server = /(?<=pid = )\d+/.exec(stderr)?.[0];
  if (port === undefined) throw new Error(`mosh-server: ${stderr}`);
  const stop = () => {
    if (server !== undefined) spawnSync("kill", [server]); // It may have ended.
  };
  return { port, env: { ...locale, MOSH_KEY: key }, stop };
}

function overPipes(
  child: ChildProcessByStdio<Writable, Readable, null>,
  ended: () => void = () => undefined,
): Terminal {
  const terminal: Terminal = Object.assign(new Outlet(), {
    send: (bytes: Uint8Array) => void child.stdin.write(bytes),
    pause: () => void child.stdout.pause(),
    resume: () => void child.stdout.resume(),
    close: () => {
      child.kill("SIGKILL");
      ended();
    },
  });
  child.stdout.on("data", (chunk: Buffer) => terminal.onOutput(chunk));
  child.stdin.on("error", () => undefined); // It was closed while input was on its way.
  return terminal;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Resolves once output has gone by that ends with, or holds, `text`. */
export function seen(terminal: Terminal, text: string): Promise<void> {
  const wanted = Buffer.from(text);
  let tail = Buffer.alloc(0);
  return new Promise((resolve) => {
    terminal.onOutput = (bytes) => {
      tail = Buffer.concat([tail, bytes]).subarray(-4096);
      if (!tail.includes(wanted)) return;
      terminal.onOutput = () => undefined;
      resolve();
    };
  });
}

/** As a session object relays acknowledgements (W9). */
const ACK_BYTES = Math.min(2 * MAX_FRAME_BYTES, MAX_WINDOW_BYTES / 4);
const STDOUT = 1;
const CLIENT = "bench";
const SLOT = 0;

type Told = {
  readonly type: string;
  readonly offset?: number;
  readonly inputWindow?: number;
  readonly reason?: string;
};

type InnerTerminal = {
  send(bytes: Uint8Array): void;
  pause(): void;
  resume(): void;
  close(): void;
};

/** @param query As of a client's attach. @param output Given each piece of output. @returns Once its client is attached. */
function openInner(
  url: string,
  headers: Readonly<Record<string, string>>,
  query: URLSearchParams,
  output: (bytes: Uint8Array) => void,
): Promise<InnerTerminal> {
  const socket = new WebSocket(`${url}/attach?${query}`, [INNER_PROTOCOL], { headers, perMessageDeflate: false });
  const say = (message: object) => socket.send(JSON.stringify(message));
  let came = 0;
  let acked = 0;
  let isPaused = false;
  let typed = 0;
  let taken = 0;
  let room = MAX_UNACKED_INPUT_BYTES;
  const waiting: Uint8Array[] = [];

  const acknowledge = () => {
    if (isPaused || came - acked < ACK_BYTES) return;
    acked = came;
    say({ type: "ack", client: CLIENT, offset: came, window: MAX_WINDOW_BYTES });
  };
  /** Types what the bridge has room for. */
  const type = () => {
    for (let bytes = waiting[0]; bytes !== undefined && typed + bytes.length - taken <= room; bytes = waiting[0]) {
      waiting.shift();
      socket.send(encodeStdin(SLOT, typed, bytes));
      typed += bytes.length;
    }
  };
  const begin = ({ inputWindow = room }: Told) => {
    room = inputWindow;
    const who = {
      slot: SLOT,
      name: "",
      role: "driver",
      kind: "person",
      admin: false,
      delivery: "live",
      acknowledges: true,
    };
    say({ type: "attach", client: CLIENT, ...who, acked: 0, window: MAX_WINDOW_BYTES });
    say({ type: "answerer", id: CLIENT, offset: 0 });
  };
  const pings = setInterval(() => say({ type: "ping" }), PING_INTERVAL_MS);
  const terminal: InnerTerminal = {
    send: (bytes) => {
      waiting.push(bytes);
      type();
    },
    pause: () => {
      isPaused = true;
      socket.pause();
    },
    resume: () => {
      isPaused = false;
      socket.resume();
      acknowledge();
    },
    close: () => {
      clearInterval(pings);
      say({ type: "kill", client: CLIENT });
      socket.close(1000);
    },
  };
  return new Promise((resolve, reject) => {
    socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) {
        if (data[0] !== STDOUT) return; // The terminals that are measured have no other stream.
        came += data.length - 1;
        output(data.subarray(1));
        acknowledge();
        return;
      }
      const told = JSON.parse(String(data)) as Told;
      if (told.type === "hello") {
        begin(told);
        resolve(terminal);
      } else if (told.type === "stdin_ack") {
        taken = told.offset ?? taken;
        type();
      } else if (told.type === "bye") reject(new Error(told.reason));
    });
    socket.on("error", reject);
    socket.on("close", () => clearInterval(pings));
  });
}
