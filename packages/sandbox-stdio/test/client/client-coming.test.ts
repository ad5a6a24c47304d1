// A client that comes, and comes back, and waits for who does not answer. Time is in this file's hands.

import { describe, expect, test } from "vitest";
import { encodeFrame } from "../../src/index.ts";
import { harness, states } from "../support/client-harness.ts";
import { bytes } from "../support/fixtures.ts";

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
