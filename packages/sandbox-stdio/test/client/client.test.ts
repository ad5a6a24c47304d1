// A client that comes, waits for who does not answer, comes back, and ends. Time is in this file's hands.

import { describe, expect, test } from "vitest";
import { StdioClient } from "../../src/index.ts";
import { encodeFrame } from "../../src/wire/frames.ts";
import { attached, harness, PIPES } from "../support/client-harness.ts";
import { bytes } from "../support/fixtures.ts";

describe("coming", () => {
  test("A2, R10: it names its session, and comes back with its proof, its place and a higher number", () => {
    const { output, sockets, cut } = attached({ offset: 100, live: 100 });
    output("abc");
    cut();
    expect(sockets.map(({ query }) => query)).toEqual([
      "session=main",
      "session=main&resume=r-a&offset=103&acked=100&stdin=0",
    ]);
    expect(sockets.map(({ attempt }) => attempt)).toEqual(["10000000.1", "10000000.3"]);
  });

  test("it says what it is doing, and that the container is on its way", () => {
    const { client, greet, say, told, phases, cut } = harness();
    client.start();
    say({ type: "status", status: "starting" });
    greet();
    cut();
    greet();
    expect(phases()).toEqual(["connecting", "starting", "attached", "waiting", "connecting", "attached"]);
    const states = told("state").map(([, state]) => (state as { isResumed?: boolean }).isResumed);
    expect([states[2], states[5]]).toEqual([false, true]);
  });

  test("a word about the container is passed on where it changes no phase", () => {
    const { say, told, phases } = attached();
    say({ type: "status", status: "starting" });
    say({ type: "status", status: "lost" });
    const texts = told("message").map(([, message]) => (message as { status: string }).status);
    expect([texts, phases()]).toEqual([
      ["starting", "lost"],
      ["connecting", "attached"],
    ]);
  });

  test("a signal is sent while it is attached, with a ping, and what is said of others is passed on", () => {
    const { client, greet, say, texts, told } = harness();
    const join = { type: "join", participant: { id: "b", name: "Bob", role: "driver" } };
    client.signal("SIGINT");
    client.start();
    client.signal("SIGINT");
    expect(client.send({ type: "kill" })).toBe(false);
    greet();
    const pings = texts("ping").length;
    client.signal("SIGTERM");
    say(join);
    expect([texts("signal"), texts("kill"), texts("ping").length - pings, told("message")]).toEqual([
      ...[[{ type: "signal", signal: "SIGTERM" }], [], 1, [["message", join]]],
    ]);
  });

  test("it has no place to come back to before it is greeted", () => {
    const { client } = harness({ resume: "r" });
    client.start();
    expect(client.resumePoint).toBeUndefined();
  });

  test("C3: a message of 16 KiB is sent, a longer one is not: the server would close", () => {
    const { client, socket } = attached();
    const auth = (length: number) => ({ type: "auth", token: "t".repeat(length) }) as const;
    const most = 16_384 - JSON.stringify(auth(0)).length;
    expect([client.send(auth(most)), String(socket().sent.at(-1)).length]).toEqual([true, 16_384]);
    expect(() => client.send(auth(most + 1))).toThrow(RangeError);
  });

  test("F4: output before hello, of a type that is not known, and texts of one, count for nothing", () => {
    const { client, greet, output, say, socket, told } = harness();
    client.start();
    output("early");
    greet();
    socket().events.binary(new Uint8Array([9, 1, 2]));
    say({ type: "weather" });
    output("ok");
    expect(told("output")).toEqual([["output", "ok", 2]]);
  });

  test("an offset without a proof is nobody's place: it is not asked for, and not acknowledged", () => {
    const { client, sockets, texts } = attached({}, { offset: 100 });
    client.processed(0);
    expect([sockets[0]?.query, texts("ack"), client.resumePoint?.offset]).toEqual(["session=main", [], 0]);
  });

  test("before the first greeting it gives up after as many attempts as it was told", () => {
    const { client, cut } = harness({ firstAttempts: 3 });
    client.start();
    for (let i = 0; i < 3; i += 1) cut();
    expect(client.state).toEqual({ phase: "ended", end: { kind: "refused", code: 1006, reason: "cut" } });
  });

  test("R11a: told how long it may try, it gives up then, and not over what the machine slept through", () => {
    const { client, time, cut } = attached({}, { giveUpMs: 600_000 });
    cut();
    const brokenAtMs = time.now;
    time.now += 5_000_000; // Asleep in an attempt: it counts as 5 minutes.
    cut();
    expect(client.state.phase).toBe("connecting");
    for (let i = 0; i < 100 && client.state.phase !== "ended"; i += 1) cut();
    const triedMs = time.now - brokenAtMs - 5_000_000 + 300_000;
    expect([triedMs >= 600_000, triedMs < 630_000]).toEqual([true, true]);
    const reason = "gave up after 10 min: cut";
    expect(client.state).toEqual({ phase: "ended", end: { kind: "refused", code: 1006, reason } });
  });

  test("R11a: told how long it may try, it says that in seconds below two minutes", () => {
    const { client, cut } = attached({}, { giveUpMs: 60_000 });
    for (let i = 0; i < 100 && client.state.phase !== "ended"; i += 1) cut();
    expect(JSON.stringify(client.state)).toMatch(/"gave up after (6\d|7\d) s: cut"/);
  });

  test("R11a: its patience begins anew where a key wakes it, however long it has slept", () => {
    const { client, say, wait, cut } = attached({}, { giveUpMs: 200_000 });
    say({ type: "bye", code: 4408, reason: "idle", retry: "never" });
    wait(3_600_000);
    client.type(bytes("x"));
    cut();
    expect(client.state.phase).toBe("connecting");
  });

  test("R11a: a greeting begins its patience anew", () => {
    const { client, greet, socket, wait } = attached({}, { giveUpMs: 20_000 });
    for (let i = 0; i < 10; i += 1) {
      wait(1);
      socket().events.closed(1006, "cut");
      wait(15_000);
      greet();
    }
    expect(client.state.phase).toBe("attached");
  });

  test("a connection that fails at once, within the call that makes it, is waited for like any other", () => {
    const phases: string[] = [];
    let timers = 0;
    const ignore = () => undefined;
    const client = new StdioClient(
      { session: "s" },
      {
        connect: (_query, events) => {
          events.closed(1006, "no route");
          return { send: ignore, close: ignore, abort: ignore };
        },
        setTimer: () => {
          timers += 1;
          return ignore;
        },
        now: () => 0,
        random: () => 0,
      },
      {
        ...{ output: ignore, snapshot: ignore, resize: ignore, gap: ignore, message: ignore, discarded: ignore },
        inputDrained: ignore,
        state: ({ phase }) => phases.push(phase),
      },
    );
    client.start();
    expect([phases, timers]).toEqual([["connecting", "waiting"], 1]);
  });
});

describe("a connection that breaks often", () => {
  test("told to try now, it does not wait, and makes no second connection where it is making or has one", () => {
    const { client, greet, sockets, socket, phases, wait } = attached();
    socket().events.closed(1006, "cut");
    for (let i = 0; i < 2; i += 1) client.retryNow();
    expect([sockets.length, phases().at(-1)]).toEqual([2, "connecting"]);
    greet();
    wait(1_000);
    expect([sockets.length, phases().at(-1)]).toEqual([2, "attached"]);
  });

  test("R11: what was attached for a while comes back as soon as at first, however often it had failed", () => {
    const { greet, cut, wait } = attached();
    const waits = [cut(), cut(), cut()];
    greet();
    wait(30_000);
    expect([waits[2] === waits[0], cut()]).toEqual([false, waits[0]]);
  });

  test("R11: attached for 5 s it comes back as soon as at first, and not for a moment less; it says when it will", () => {
    const waits = [4_999, 5_000].map((ms) => {
      const one = attached();
      for (let i = 0; i < 2; i += 1) one.cut();
      one.greet();
      one.wait(ms);
      one.socket().events.closed(1006, "cut");
      const { state } = one.client;
      return state.phase === "waiting" ? (state.retryAtMs ?? 0) - one.time.now : undefined;
    });
    expect(waits).toEqual([800, 200]);
  });

  test("R11: what moved on one connection says nothing of the next", () => {
    const { greet, output, cut } = attached();
    output(1);
    const waits = [cut(), cut(), cut()];
    greet({ offset: 1, live: 1 });
    expect([...waits, cut()]).toEqual([200, 400, 800, 1_600]);
  });

  test("R11: a client that was greeted never gives up by itself, and waits longer each time up to 15 s", () => {
    const { client, cut } = attached({}, { firstAttempts: 1 });
    const waits = Array.from({ length: 10 }, () => cut());
    expect(waits).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 12_800, 15_000, 15_000, 15_000]);
    expect(client.state.phase).toBe("connecting");
  });

  test.each<[string, number[], (one: ReturnType<typeof harness>, count: number) => void]>([
    [
      "as long as it moves output, the waits do not grow",
      [200, 400, 400, 400],
      ({ greet, output }, count) => {
        greet({ ...PIPES, offset: count, live: count });
        output(1);
      },
    ],
    [
      "an acknowledgement of input counts as well as output",
      [200, 400, 400, 400],
      ({ client, greet, say }, count) => {
        greet({ ...PIPES, stdin: count });
        client.write(bytes("x"));
        say({ type: "stdin_ack", offset: count + 1 });
      },
    ],
    [
      "a screen alone is none of its bytes",
      [200, 400, 800, 1_600],
      ({ greet, snapshot }) => {
        greet({ offset: 700, live: 700 });
        snapshot("screen");
      },
    ],
    [
      "greeted without moving a byte, it is waited for longer each time",
      [200, 400, 800, 1_600],
      ({ greet, say, socket }) => {
        greet(PIPES);
        // Nothing new, and nothing that is known.
        say({ type: "stdin_ack", offset: 0 });
        socket().events.binary(new Uint8Array([9, 1, 2]));
      },
    ],
  ])("%s", (_what, waits, use) => {
    const one = harness();
    one.client.start();
    const waited = waits.map((_, count) => {
      use(one, count);
      return one.cut();
    });
    expect(waited).toEqual(waits);
  });
});

describe("silence", () => {
  test("C4: it pings as soon as it is open, and every 15 s", () => {
    const { client, socket, texts, wait } = harness();
    const pings: number[] = [];
    const count = () => pings.push(texts("ping").length);
    client.start();
    count();
    socket().events.open();
    count();
    wait(14_999);
    count();
    wait(1);
    count();
    expect(pings).toEqual([0, 1, 1, 2]);
  });

  test("C4: a server that has said nothing for 40 s is dropped and come back to; any word starts the count anew", () => {
    const { client, greet, output, say, seen, socket, sockets, wait } = attached();
    wait(39_000);
    say({ type: "pong" });
    wait(39_000);
    output("x");
    wait(39_999);
    expect([client.state.phase, socket().closed]).toEqual(["attached", undefined]);
    wait(1);
    expect(socket().closed).toBe("abort");
    expect(client.state).toMatchObject({ phase: "waiting", reason: "nothing was heard for 40 s" });
    // What that connection still reports counts for nothing.
    wait(200);
    greet({ offset: 1, live: 1 });
    const before = seen.length;
    sockets[0]?.events.text('{"type":"exit","code":0,"offset":0}');
    sockets[0]?.events.binary(encodeFrame(1, bytes("late")));
    sockets[0]?.events.closed(1006, "late");
    expect([seen.length, client.state.phase]).toEqual([before, "attached"]);
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
});

describe("the end", () => {
  test("X1: the exit ends it, with its code and signal, and the connection is closed with 1000", () => {
    const { client, say, socket, sockets, cut } = attached();
    say({ type: "exit", code: 143, signal: "SIGTERM", offset: 0 });
    cut();
    expect([client.state, socket().closed, sockets.length]).toEqual([
      { phase: "ended", end: { kind: "exit", code: 143, signal: "SIGTERM" } },
      1000,
      1,
    ]);
  });

  test("C5: a bye that says never ends it with its code and reason, without waiting for the close", () => {
    const { client, say } = attached();
    say({ type: "bye", code: 4401, reason: "token expired", retry: "never" });
    expect(client.state).toEqual({ phase: "ended", end: { kind: "refused", code: 4401, reason: "token expired" } });
  });

  test("C5: a bye that says now is followed at once, but not over and over; its connection is dropped, not left", () => {
    const { greet, say, sockets, time } = attached();
    const waits = Array.from({ length: 6 }, () => {
      const [from, count] = [time.now, sockets.length];
      say({ type: "bye", code: 1012, reason: "restarted", retry: "now" });
      time.run(from + 60_000, () => sockets.length > count);
      const waited = Math.round(time.now - from);
      greet();
      return waited;
    });
    expect([waits, sockets[0]?.closed]).toEqual([[0, 0, 0, 1_600, 3_200, 6_400], "abort"]);
  });

  test("C5, R11: a bye that says after, or an HTTP answer that says when, is followed after so long", () => {
    const { say, socket, sockets, wait } = attached();
    say({ type: "bye", code: 4503, reason: "starting", retry: "after", seconds: 3 });
    wait(2_999);
    expect(sockets.length).toBe(1);
    wait(1);
    expect(sockets.length).toBe(2);
    socket().events.closed(4429, "too many", 7);
    wait(6_999);
    expect(sockets.length).toBe(2);
    wait(1);
    expect(sockets.length).toBe(3);
  });

  test("R11: a close with 1000 and no last word is a lost connection", () => {
    const { client, socket } = attached();
    socket().events.closed(1000, "");
    expect(client.state.phase).toBe("waiting");
  });

  test("R8: leaving closes with 1000, and nothing happens afterwards", () => {
    const { client, socket, seen, cut } = attached();
    client.leave();
    const before = seen.length;
    client.leave();
    cut(1000);
    const left = { phase: "ended", end: { kind: "left" } };
    expect([socket().closed, seen.length, client.state]).toEqual([1000, before, left]);
  });

  test("a client that ends waits for nothing more, and says nothing to a connection that is gone", () => {
    const { client, output, say, socket, time } = attached();
    output(10);
    client.processed(1);
    client.type(bytes("a"));
    client.time(() => undefined);
    say({ type: "exit", code: 0, offset: 10 });
    expect(time.agenda).toEqual([]);
    const waiting = attached();
    waiting.socket().events.closed(1006, "cut");
    waiting.client.leave();
    expect([waiting.socket().closed, waiting.time.agenda]).toEqual([undefined, []]);
    expect(socket().closed).toBe(1000);
  });

  test("suspending drops the connection without leaving, and the resume point is what was dealt with", () => {
    const { client, output, socket } = attached(PIPES);
    output(10);
    client.processed(4);
    client.suspend();
    expect([socket().closed, client.state]).toEqual(["abort", { phase: "ended", end: { kind: "left" } }]);
    expect(client.resumePoint).toEqual({ session: "main", resume: "r-a", offset: 4 });
  });

  test("X1: bytes that are gone before the exit are told before it", () => {
    const { say, seen } = attached({ offset: 20, live: 20, gap: 12 }, { resume: "r", offset: 8 });
    say({ type: "exit", code: 0, offset: 20 });
    expect(seen.slice(-3).map(([kind, first]) => [kind, kind === "state" ? "" : first])).toEqual([
      ["gap", 8],
      ["resize", 80],
      ["state", ""],
    ]);
  });

  test("leaving or suspending after the exit changes nothing: it has ended with that", () => {
    const { client, say, phases } = attached();
    say({ type: "exit", code: 3, offset: 0 });
    client.suspend();
    client.leave();
    expect([client.state, phases()]).toEqual([
      { phase: "ended", end: { kind: "exit", code: 3 } },
      ["connecting", "attached", "ended"],
    ]);
  });

  test("a client that was suspended hears nothing more of its connection, and makes no other", () => {
    const { client, output, say, seen, socket, sockets, wait } = attached(PIPES);
    client.suspend();
    const before = [seen.length, socket().sent.length];
    output("late");
    say({ type: "exit", code: 0, offset: 4 });
    socket().events.closed(1006, "cut");
    wait(600_000);
    expect([[seen.length, socket().sent.length], sockets.length]).toEqual([before, 1]);
  });

  test("a server that says what can't be read is dropped: browsers can't close with 1008", () => {
    const { client, socket } = harness();
    client.start();
    socket().events.text("{}");
    expect([socket().closed, client.state.phase]).toEqual(["abort", "waiting"]);
  });
});
