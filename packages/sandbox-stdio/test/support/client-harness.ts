// A client with its time, and its connections, in the test's hands.

import { type ClientOptions, type ClientSocketEvents, encodeFrame, StdioClient } from "../../src/index.ts";
import { Scheduler } from "../simulation/scheduler.ts";
import { bytes, join, rig } from "./fixtures.ts";

const HELLO = join(rig({ tty: true, delivery: "live" }).session, "a", { delivery: "live" }).peer.hello;

/** A client whose sockets and time are the test's. */
export function harness(options: Partial<ClientOptions> = {}, random = 1, areTimersLate = false) {
  const time = new Scheduler();
  const seen: unknown[][] = [];
  const sockets: {
    sent: (string | Uint8Array)[];
    closed: number | "abort" | undefined;
    events: ClientSocketEvents;
    query: string;
  }[] = [];
  const note =
    (name: string) =>
    (...args: unknown[]) =>
      void seen.push([name, ...args]);
  const client = new StdioClient(
    { session: "main", ...options },
    {
      connect: (query, events) => {
        const shown = [...query].filter(([name]) => name !== "attempt").map(([name, value]) => `${name}=${value}`);
        const socket = {
          sent: [] as (string | Uint8Array)[],
          closed: undefined as number | "abort" | undefined,
          events,
          query: shown.join("&"),
        };
        sockets.push(socket);
        return {
          send: (message) => void socket.sent.push(message),
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
    },
    {
      state: note("state"),
      output: (_stream, raw, end) => void seen.push(["output", new TextDecoder().decode(raw), end]),
      snapshot: note("snapshot"),
      resize: note("resize"),
      gap: note("gap"),
      message: note("message"),
      discarded: (keys) => void seen.push(["discarded", new TextDecoder().decode(keys)]),
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
  return {
    client,
    time,
    seen,
    sockets,
    socket,
    say,
    wait: (ms: number) => {
      const until = time.now + ms;
      time.run(until, () => false);
      time.now = until;
    },
    greet: (over: object = {}) => {
      socket().events.open();
      say({ ...HELLO, ...over });
    },
    output: (payload: string | number) =>
      socket().events.binary(encodeFrame(1, typeof payload === "string" ? bytes(payload) : new Uint8Array(payload))),
    texts: (type: string) =>
      socket()
        .sent.filter((frame) => typeof frame === "string")
        .map((frame) => JSON.parse(frame) as { type: string; offset?: number })
        .filter((message) => message.type === type),
  };
}

/** The phases that it told of. */
export const states = (seen: unknown[][]) =>
  seen.filter(([name]) => name === "state").map(([, state]) => (state as { phase: string }).phase);
