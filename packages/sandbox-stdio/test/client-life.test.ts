// A client's life as a state machine: coming, counting, going silent, being sent away, coming back. Time is in this
// file's hands.

import { describe, expect, test } from "vitest";
import {
  type ClientOptions,
  type ClientSocketEvents,
  encodeFrame,
  MAX_FRAME_BYTES,
  MIN_WINDOW_BYTES,
  StdioClient,
} from "../src/index.ts";
import { bytes, join, rig } from "./fixtures.ts";
import { Scheduler } from "./simulation/scheduler.ts";

const HELLO = join(rig({ tty: true, delivery: "live" }).session, "a", { delivery: "live" }).peer.hello;

function harness(options: Partial<ClientOptions> = {}, random = 1, areTimersLate = false) {
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

const states = (seen: unknown[][]) =>
  seen.filter(([name]) => name === "state").map(([, state]) => (state as { phase: string }).phase);

describe("coming", () => {
  test("A2: it names its session, and comes back with its proof and its place", () => {
    const { client, greet, output, socket, sockets, wait } = harness();
    client.start();
    greet({ offset: 100, live: 100 });
    output("abc");
    socket().events.closed(1006, "");
    wait(200);
    expect(sockets.map(({ query }) => query)).toEqual(["session=main", "session=main&resume=r-a&offset=103&stdin=0"]);
  });

  test("it says what it is doing, and that the container is on its way", () => {
    const { client, greet, say, seen, socket, wait } = harness();
    client.start();
    say({ type: "status", status: "starting" });
    greet();
    socket().events.closed(1006, "cut");
    wait(200);
    greet();
    expect(states(seen)).toEqual(["connecting", "starting", "attached", "waiting", "connecting", "attached"]);
    const attached = seen.filter(([name]) => name === "state").map(([, state]) => state as { isResumed?: boolean });
    expect([attached[2]?.isResumed, attached[5]?.isResumed]).toEqual([false, true]);
  });

  test("F4: output before hello, of a type that is not known, and texts of one, count for nothing", () => {
    const { client, greet, output, say, socket, seen } = harness();
    client.start();
    output("early");
    greet();
    socket().events.binary(new Uint8Array([9, 1, 2]));
    say({ type: "weather" });
    output("ok");
    expect(seen.filter(([name]) => name === "output")).toEqual([["output", "ok", 2]]);
  });

  test("before the first greeting it gives up after as many attempts as it was told", () => {
    const { client, socket, wait } = harness({ firstAttempts: 3 });
    client.start();
    for (let i = 0; i < 3; i += 1) {
      socket().events.closed(1006, "no route");
      wait(10_000);
    }
    expect(client.state).toEqual({ phase: "ended", end: { kind: "refused", code: 1006, reason: "no route" } });
  });

  test("R11a: told how long it may try, it gives up then, and not over what the machine slept through", () => {
    const { client, greet, socket, sockets, time } = harness({ giveUpMs: 600_000 });
    client.start();
    greet();
    const fail = () => {
      const count = sockets.length;
      socket().events.closed(1006, "no route");
      time.run(time.now + 60_000, () => sockets.length > count || client.state.phase === "ended");
    };
    fail();
    const brokenAtMs = time.now;
    time.now += 5_000_000; // Asleep in an attempt: it counts as 5 minutes.
    fail();
    expect(client.state.phase).toBe("connecting");
    for (let i = 0; i < 100 && client.state.phase !== "ended"; i += 1) fail();
    const triedMs = time.now - brokenAtMs - 5_000_000 + 300_000;
    expect([triedMs >= 600_000, triedMs < 630_000]).toEqual([true, true]);
    const reason = "gave up after 10 min: no route";
    expect(client.state).toEqual({ phase: "ended", end: { kind: "refused", code: 1006, reason } });
  });

  test("R11a: a greeting begins its patience anew", () => {
    const { client, greet, socket, wait } = harness({ giveUpMs: 20_000 });
    client.start();
    for (let i = 0; i < 10; i += 1) {
      greet();
      wait(1);
      socket().events.closed(1006, "no route");
      wait(15_000);
    }
    expect(client.state.phase).toBe("connecting");
  });

  test("R11: after it, it never gives up by itself, and waits longer each time up to 15 s", () => {
    const { client, greet, socket, sockets, wait, time } = harness({ firstAttempts: 1 });
    client.start();
    greet();
    const waits: number[] = [];
    for (let i = 0; i < 10; i += 1) {
      const at = time.now;
      const count = sockets.length;
      socket().events.closed(1006, "");
      time.run(time.now + 60_000, () => sockets.length > count);
      waits.push(Math.round(time.now - at));
    }
    expect(waits).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 12_800, 15_000, 15_000, 15_000]);
    wait(0);
    expect(client.state.phase).toBe("connecting");
  });
});

describe("acknowledging", () => {
  const attached = () => {
    const one = harness();
    one.client.start();
    one.greet();
    return one;
  };

  test("W1: at once after a frame of full length, and not a byte earlier", () => {
    const { client, output, texts } = attached();
    output(MAX_FRAME_BYTES - 1);
    client.dealtWith(MAX_FRAME_BYTES - 1);
    expect(texts("ack")).toEqual([]);
    output(1);
    client.dealtWith(MAX_FRAME_BYTES);
    expect(texts("ack")).toEqual([{ type: "ack", offset: MAX_FRAME_BYTES }]);
  });

  test("W1: else 50 ms after the oldest byte was dealt with, for all that has been dealt with by then", () => {
    const { client, output, texts, wait } = attached();
    output("abc");
    wait(1_000);
    client.dealtWith(1);
    wait(49);
    client.dealtWith(3);
    expect(texts("ack")).toEqual([]);
    wait(1);
    expect(texts("ack")).toEqual([{ type: "ack", offset: 3 }]);
    wait(1_000);
    expect(texts("ack").length).toBe(1);
  });

  test("W1: after 16 KiB where timers come late, so that the least window waits for none", () => {
    const { client, greet, output, texts } = harness({}, 1, true);
    client.start();
    greet();
    output(MIN_WINDOW_BYTES);
    client.dealtWith(MIN_WINDOW_BYTES - 1);
    expect(texts("ack")).toEqual([]);
    client.dealtWith(MIN_WINDOW_BYTES);
    expect(texts("ack")).toEqual([{ type: "ack", offset: MIN_WINDOW_BYTES }]);
  });

  test("W1: what was received but not dealt with is not acknowledged", () => {
    const { output, texts, wait } = attached();
    output(100_000);
    wait(10_000);
    expect(texts("ack")).toEqual([]);
  });

  test("R1: on coming back, what had been dealt with is acknowledged at once", () => {
    const { client, greet, output, socket, texts, wait } = attached();
    output("abcdef");
    client.dealtWith(4);
    socket().events.closed(1006, "");
    wait(200);
    greet({ offset: 6 });
    expect(texts("ack")).toEqual([{ type: "ack", offset: 4 }]);
  });

  test("W12: with a MiB not dealt with it does not ask for more by coming back, until it is", () => {
    const { client, greet, output, socket, sockets, wait } = attached();
    for (let i = 0; i < 16; i += 1) output(65_536);
    socket().events.closed(1006, "");
    wait(30_000);
    expect([sockets.length, client.state.phase]).toEqual([1, "waiting"]);
    client.dealtWith(1);
    wait(1_000);
    expect(sockets.length).toBe(2);
    greet({ offset: 1 << 20 });
    expect(client.state.phase).toBe("attached");
  });
});

describe("silence", () => {
  test("C4: it pings as soon as it is open, and every 15 s", () => {
    const { client, socket, texts, wait } = harness();
    client.start();
    expect(texts("ping").length).toBe(0);
    socket().events.open();
    expect(texts("ping").length).toBe(1);
    wait(14_999);
    expect(texts("ping").length).toBe(1);
    wait(1);
    expect(texts("ping").length).toBe(2);
  });

  test("C4: a server that has said nothing for 40 s is dropped and come back to; any word starts the count anew", () => {
    const { client, greet, output, say, socket, wait } = harness();
    client.start();
    greet();
    wait(39_000);
    say({ type: "pong" });
    wait(39_000);
    output("x");
    wait(39_999);
    expect([client.state.phase, socket().closed]).toEqual(["attached", undefined]);
    wait(1);
    expect(socket().closed).toBe("abort");
    expect(client.state).toMatchObject({ phase: "waiting", reason: "nothing was heard for 40 s" });
  });

  test("C4: a connection that never opens counts as silent too", () => {
    const { client, socket, sockets, wait } = harness();
    client.start();
    wait(40_000);
    expect([socket().closed, client.state.phase, sockets.length]).toEqual(["abort", "waiting", 1]);
  });

  test("C4: a session that does not greet for 200 s, though pings are answered, is come to anew", () => {
    const { client, greet, say, socket, sockets, wait } = harness();
    const pong = (seconds: number) => {
      for (let i = 0; i < seconds; i += 10) {
        say({ type: "pong" });
        wait(10_000);
      }
    };
    client.start();
    socket().events.open();
    pong(100);
    say({ type: "status", status: "starting" });
    pong(90);
    wait(9_999);
    expect([socket().closed, client.state.phase]).toEqual([undefined, "starting"]);
    wait(1);
    expect(socket().closed).toBe("abort");
    expect(client.state).toMatchObject({ phase: "waiting", reason: "the session has not answered for 200 s" });
    wait(200);
    greet();
    pong(300);
    expect([sockets.length, client.state.phase]).toEqual([2, "attached"]);
  });

  test("what a connection reports after it was given up counts for nothing", () => {
    const { client, greet, seen, sockets, wait } = harness();
    client.start();
    greet();
    wait(40_000);
    wait(200);
    greet();
    const before = seen.length;
    sockets[0]?.events.text('{"type":"exit","code":0,"offset":0}');
    sockets[0]?.events.binary(encodeFrame(1, bytes("late")));
    sockets[0]?.events.closed(1006, "late");
    expect([seen.length, client.state.phase]).toEqual([before, "attached"]);
  });
});

describe("keys", () => {
  test("I4: pressed while the connection is down, they are discarded visibly and never sent", () => {
    const { client, greet, seen, socket, wait } = harness();
    client.start();
    greet();
    expect(client.type(bytes("a"))).toBe(true);
    socket().events.closed(1006, "");
    expect(client.type(bytes("b"))).toBe(false);
    wait(200);
    expect(client.type(bytes("c"))).toBe(false);
    greet({ stdin: 0 });
    // The rest of the same line would be half a line to the program.
    expect(client.type(bytes("\r"))).toBe(false);
    expect(client.type(bytes("d"))).toBe(true);
    expect(seen.filter(([name]) => name === "discarded")).toEqual([
      ["discarded", "b"],
      ["discarded", "c"],
      ["discarded", "\r"],
    ]);
    // What was sent before the break and not acknowledged is sent again.
    const sent = socket().sent.filter((frame) => typeof frame !== "string");
    expect(sent.map((frame) => new TextDecoder().decode(frame))).toEqual(["a", "d"]);
  });

  test("I4: what follows the end of a discarded line in the same piece is sent", () => {
    const { client, greet, seen, socket, wait } = harness();
    client.start();
    greet();
    socket().events.closed(1006, "");
    client.type(bytes("rm"));
    wait(200);
    greet({ stdin: 0 });
    expect(client.type(bytes(" -r\rls"))).toBe(true);
    const sent = socket().sent.filter((frame) => typeof frame !== "string");
    expect(sent.map((frame) => new TextDecoder().decode(frame))).toEqual(["ls"]);
    expect(seen.filter(([name]) => name === "discarded").map(([, keys]) => keys)).toEqual(["rm", " -r\r"]);
  });

  test("I4a: the rest of a paste that was begun is kept while the connection is down, and sent once", () => {
    const { client, greet, seen, socket, wait } = harness();
    client.start();
    greet();
    client.type(bytes("\x1b[200~one,"));
    socket().events.closed(1006, "");
    expect(client.type(bytes("two,"))).toBe(true);
    wait(200);
    greet({ stdin: 0 });
    client.type(bytes("three\x1b[201~"));
    const sent = socket().sent.filter((frame) => typeof frame !== "string");
    expect(sent.map((frame) => new TextDecoder().decode(frame)).join("")).toBe("\x1b[200~one,two,three\x1b[201~");
    expect(seen.filter(([name]) => name === "discarded")).toEqual([]);
  });

  test("C: with nothing heard for 3 s after a key it says so, and again when something is heard", () => {
    const { client, greet, say, seen, socket, wait } = harness();
    client.start();
    greet();
    wait(5_000);
    expect(seen.filter(([name]) => name === "quiet")).toEqual([]);
    client.type(bytes("a"));
    expect(socket().sent.at(-1)).toBe('{"type":"ping"}');
    wait(2_999);
    expect(seen.filter(([name]) => name === "quiet")).toEqual([]);
    wait(1);
    say({ type: "pong" });
    expect(seen.filter(([name]) => name === "quiet")).toEqual([
      ["quiet", true],
      ["quiet", false],
    ]);
  });

  test("C: a key soon after one that was answered is watched for 3 s of its own", () => {
    const { client, greet, say, seen, socket, wait } = harness();
    const told = () => seen.filter(([name]) => name === "quiet");
    client.start();
    greet();
    client.type(bytes("a"));
    wait(100);
    say({ type: "pong" });
    wait(900);
    const before = socket().sent.length;
    client.type(bytes("b"));
    wait(2_000);
    // It had no ping of its own yet.
    expect(
      socket()
        .sent.slice(before)
        .filter((sent) => sent === '{"type":"ping"}'),
    ).toHaveLength(1);
    wait(999);
    expect(told()).toEqual([]);
    wait(1);
    expect(told()).toEqual([["quiet", true]]);
    // One that is answered in between is not told of.
    say({ type: "pong" });
    client.type(bytes("c"));
    wait(100);
    say({ type: "pong" });
    wait(2_000);
    client.type(bytes("d"));
    wait(900);
    say({ type: "pong" });
    wait(5_000);
    expect(told()).toHaveLength(2);
  });

  test("C: a round trip is that of its own ping: the answer of an earlier one does not count, nor does a broken one", () => {
    const { client, greet, say, socket, wait } = harness();
    const times: number[] = [];
    const time = () => client.time((ms) => times.push(ms));
    expect(time()).toBe(false);
    client.start();
    greet(); // Pings, too.
    const pings = () => socket().sent.filter((message) => message === '{"type":"ping"}').length;
    expect([time(), pings()]).toEqual([true, 2]);
    wait(40);
    say({ type: "pong" });
    expect(times).toEqual([]);
    wait(2);
    say({ type: "pong" });
    expect(times).toEqual([42]);
    time();
    socket().events.closed(1006, "", 0);
    expect(time()).toBe(false);
    wait(60_000);
    greet();
    for (let i = 0; i < 20; i += 1) say({ type: "pong" });
    expect(times).toEqual([42]);
  });

  test("R11, I4b: sent away for idleness (4408) it stays away until a key is pressed, which is kept, as are those after it", () => {
    const { client, greet, say, seen, socket, sockets, wait } = harness();
    client.start();
    greet();
    say({ type: "bye", code: 4408, reason: "idle", retry: "never" });
    wait(3_600_000);
    expect([client.state, sockets.length]).toEqual([
      { phase: "waiting", retryAtMs: undefined, reason: "idle", attempt: 0 },
      1,
    ]);
    client.type(bytes("x"));
    expect([sockets.length, client.state.phase]).toEqual([2, "connecting"]);
    client.type(bytes("y"));
    greet({ stdin: 0 });
    const sent = socket().sent.filter((frame) => typeof frame !== "string");
    expect(sent.map((frame) => new TextDecoder().decode(frame)).join("")).toBe("xy");
    expect(seen.filter(([name]) => name === "discarded")).toEqual([]);
  });
});

describe("the end", () => {
  test("X1: the exit ends it, with its code and signal, and the connection is closed with 1000", () => {
    const { client, greet, say, socket, sockets, wait } = harness();
    client.start();
    greet();
    say({ type: "exit", code: 143, signal: "SIGTERM", offset: 0 });
    socket().events.closed(1006, "");
    wait(100_000);
    expect([client.state, socket().closed, sockets.length]).toEqual([
      { phase: "ended", end: { kind: "exit", code: 143, signal: "SIGTERM" } },
      1000,
      1,
    ]);
  });

  test("C5: a bye that says never ends it with its code and reason, without waiting for the close", () => {
    const { client, greet, say } = harness();
    client.start();
    greet();
    say({ type: "bye", code: 4401, reason: "token expired", retry: "never" });
    expect(client.state).toEqual({ phase: "ended", end: { kind: "refused", code: 4401, reason: "token expired" } });
  });

  test("C5: a bye that says now is followed at once, but not over and over", () => {
    const { client, greet, say, sockets, time } = harness();
    client.start();
    const waits: number[] = [];
    for (let i = 0; i < 6; i += 1) {
      greet();
      const at = time.now;
      const count = sockets.length;
      say({ type: "bye", code: 1012, reason: "restarted", retry: "now" });
      time.run(time.now + 60_000, () => sockets.length > count);
      waits.push(Math.round(time.now - at));
    }
    expect(waits).toEqual([0, 0, 0, 1_600, 3_200, 6_400]);
  });

  test("C5: a bye that says after is followed after so long", () => {
    const { client, greet, say, sockets, wait } = harness();
    client.start();
    greet();
    say({ type: "bye", code: 4503, reason: "starting", retry: "after", seconds: 3 });
    wait(2_999);
    expect(sockets.length).toBe(1);
    wait(1);
    expect(sockets.length).toBe(2);
  });

  test("R11: an HTTP answer that says when to come back is kept to, in place of a connection", () => {
    const { client, greet, socket, sockets, wait } = harness();
    client.start();
    greet();
    socket().events.closed(1006, "the connection broke");
    wait(200);
    socket().events.closed(4429, "too many", 7);
    wait(6_999);
    expect(sockets.length).toBe(2);
    wait(1);
    expect(sockets.length).toBe(3);
  });

  test("R11: a close with 1000 and no last word is a lost connection", () => {
    const { client, greet, socket } = harness();
    client.start();
    greet();
    socket().events.closed(1000, "");
    expect(client.state.phase).toBe("waiting");
  });

  test("R8: leaving closes with 1000, and nothing happens afterwards", () => {
    const { client, greet, socket, seen, wait } = harness();
    client.start();
    greet();
    client.leave();
    client.leave();
    const before = seen.length;
    socket().events.closed(1000, "");
    wait(100_000);
    expect([socket().closed, seen.length, client.state]).toEqual([
      1000,
      before,
      { phase: "ended", end: { kind: "left" } },
    ]);
  });
});

describe("what is gone", () => {
  test("O4: a gap in hello is told with where it lies, before what comes after it", () => {
    const { client, greet, output, seen, socket, wait } = harness();
    client.start();
    greet();
    output("abc");
    socket().events.closed(1006, "");
    wait(200);
    greet({ offset: 10, live: 10, gap: 7 });
    output("xyz");
    expect(seen.filter(([name]) => name === "gap" || name === "output")).toEqual([
      ["output", "abc", 3],
      ["gap", 3, 10, false],
      ["output", "xyz", 13],
    ]);
  });

  test("O5: a gap in mid-stream moves the count", () => {
    const { client, greet, output, say, seen } = harness();
    client.start();
    greet();
    output("abc");
    say({ type: "gap", from: 3, to: 1_000 });
    output("d");
    expect(seen.filter(([name]) => name === "gap" || name === "output")).toEqual([
      ["output", "abc", 3],
      ["gap", 3, 1_000, false],
      ["output", "d", 1_001],
    ]);
  });

  test("K4: its window's size is told again on every connection", () => {
    const { client, greet, socket, texts, wait } = harness();
    client.start();
    client.resize(100, 40);
    greet();
    expect(texts("resize")).toEqual([{ type: "resize", cols: 100, rows: 40 }]);
    socket().events.closed(1006, "");
    wait(200);
    greet();
    expect(texts("resize").length).toBe(1);
  });

  test("its size goes before the acknowledgement that lets the session send more", () => {
    const { client, greet, output, socket, texts, wait } = harness();
    client.start();
    client.resize(100, 40);
    greet();
    output("abc");
    client.dealtWith(3);
    socket().events.closed(1006, "");
    wait(200);
    greet({ offset: 3, live: 3 });
    const size = { type: "resize", cols: 100, rows: 40 };
    expect([...texts("resize"), ...texts("ack")]).toEqual([size, { type: "ack", offset: 3 }]);
    const said = socket().sent.slice(-2);
    expect(said).toEqual([JSON.stringify(size), '{"type":"ack","offset":3}']);
  });
});

test("I3b: it keeps and sends what its window holds; a later connection may have a smaller one", () => {
  const { client, greet, say, socket, wait } = harness();
  client.start();
  greet({ inputWindow: 1_048_576 });
  const sent = () => socket().sent.reduce((sum, frame) => sum + (typeof frame === "string" ? 0 : frame.length), 0);
  expect(client.write(new Uint8Array(1_048_575))).toBe(true);
  expect(client.write(new Uint8Array(100_000))).toBe(false);
  expect(sent()).toBe(1_048_576);
  say({ type: "stdin_ack", offset: 1_000 });
  expect(sent()).toBe(1_049_576);
  socket().events.closed(1006, "");
  wait(200);
  greet({ stdin: 2_000 });
  expect([sent(), client.unackedInput]).toEqual([262_144, 1_146_575]);
  say({ type: "stdin_ack", offset: 2_001 });
  expect(sent()).toBe(262_145);
});

test("I3: beyond 256 KiB not acknowledged it asks for a pause, and says when it may go on", () => {
  const { client, greet, say, seen, socket } = harness();
  client.start();
  greet();
  const drained = () => seen.filter(([name]) => name === "drained").length;
  expect(client.write(new Uint8Array(262_143))).toBe(true);
  expect(client.write(new Uint8Array(100_000))).toBe(false);
  const sent = () => socket().sent.reduce((sum, frame) => sum + (typeof frame === "string" ? 0 : frame.length), 0);
  expect(sent()).toBe(262_144);
  const before = drained();
  say({ type: "stdin_ack", offset: 99_998 });
  expect([drained(), client.unackedInput, sent()]).toEqual([before, 262_145, 362_142]);
  say({ type: "stdin_ack", offset: 100_000 });
  expect([drained(), client.unackedInput, sent()]).toEqual([before + 1, 262_143, 362_143]);
});
