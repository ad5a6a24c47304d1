// A client with its time, and its connections, in the test's hands.

import { type ClientOptions, type ClientSocketEvents, StdioClient } from "../../src/index.ts";
import { encodeFrame } from "../../src/wire/frames.ts";
import { Scheduler } from "../simulation/scheduler.ts";
import { bytes, join, rig, text } from "./fixtures.ts";

/** To the driver `a`, alone on a PTY. */
const HELLO = join(rig({ tty: true, delivery: "live" }).session, "a", { delivery: "live" }).peer.hello;
export const PIPES = { tty: false, delivery: "lossless" } as const;

type Frame = string | Uint8Array;

export type FakeClientSocket = {
  readonly sent: Frame[];
  closed: number | "abort" | undefined;
  readonly events: ClientSocketEvents;
  /** What it was asked with, but for the attempt. */
  readonly query: string;
  readonly attempt: string | undefined;
};

/** A client that has not been started. `random`: 1 makes every backoff as long as it may be. */
export function harness(
  options: Partial<ClientOptions> = {},
  { random = 1, areTimersLate = false, isFullScreen = false } = {},
) {
  const time = new Scheduler();
  const seen: unknown[][] = [];
  const sockets: FakeClientSocket[] = [];
  const note =
    (name: string) =>
    (...args: unknown[]) =>
      void seen.push([name, ...args]);
  const client = new StdioClient(
    { session: "main", ...options },
    {
      connect: (query, events) => {
        const shown = [...query].filter(([name]) => name !== "attempt").map(([name, value]) => `${name}=${value}`);
        const socket: FakeClientSocket = {
          ...{ sent: [], closed: undefined, events },
          ...{ query: shown.join("&"), attempt: query.get("attempt") },
        };
        sockets.push(socket);
        return {
          send: (frame) => void socket.sent.push(frame),
          close: (code) => {
            socket.closed ??= code;
          },
          abort: () => {
            socket.closed ??= "abort";
          },
        };
      },
      setTimer: (ms, callback) => time.after(ms, callback),
      now: () => time.now,
      random: () => random,
      areTimersLate: () => areTimersLate,
      isFullScreen: () => isFullScreen,
    },
    {
      state: note("state"),
      output: (_stream, raw, end) => void seen.push(["output", text(raw), end]),
      snapshot: (raw, offset) => void seen.push(["snapshot", text(raw), offset]),
      resize: note("resize"),
      gap: note("gap"),
      message: note("message"),
      discarded: (keys) => void seen.push(["discarded", text(keys)]),
      quiet: note("quiet"),
      inputDrained: note("drained"),
    },
  );
  const socket = () => {
    const last = sockets.at(-1);
    if (last === undefined) throw new Error("no connection was made");
    return last;
  };
  const say = (message: object) => socket().events.text(JSON.stringify(message));
  const frames = () => socket().sent.filter((frame) => typeof frame !== "string");
  return {
    client,
    time,
    seen,
    sockets,
    socket,
    say,
    frames,
    wait: (ms: number) => {
      const until = time.now + ms;
      time.run(until, () => false);
      time.now = until;
    },
    greet: (over: object = {}) => {
      socket().events.open();
      say({ ...HELLO, ...over });
    },
    /** The connection breaks. @returns After how many ms the client has made another, or has ended. */
    cut: (code = 1006) => {
      const [from, count] = [time.now, sockets.length];
      socket().events.closed(code, "cut");
      time.run(from + 60_000, () => sockets.length > count || client.state.phase === "ended");
      return Math.round(time.now - from);
    },
    output: (payload: string | number) =>
      socket().events.binary(encodeFrame(1, typeof payload === "string" ? bytes(payload) : new Uint8Array(payload))),
    snapshot: (screen: string) => socket().events.binary(encodeFrame(3, bytes(screen))),
    /** What it was told of these kinds. */
    told: (...kinds: string[]) => seen.filter(([kind]) => kinds.includes(String(kind))),
    phases: () => seen.flatMap(([kind, state]) => (kind === "state" ? [(state as { phase: string }).phase] : [])),
    /** Messages of this type that the present connection has sent. */
    texts: (type: string) =>
      socket()
        .sent.filter((frame) => typeof frame === "string")
        .map((frame) => JSON.parse(frame) as { type: string; offset?: number })
        .filter((message) => message.type === type),
    /** Input that it has sent, each frame as its text, and how much that is. */
    typed: () => frames().map(text),
    sentBytes: () => frames().reduce((sum, frame) => sum + frame.length, 0),
  };
}

/** A client that has been greeted. */
export function attached(hello: object = {}, ...how: Parameters<typeof harness>) {
  const one = harness(...how);
  one.client.start();
  one.greet(hello);
  return one;
}
