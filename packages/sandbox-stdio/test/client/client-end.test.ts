// The ends of a client's connection, and of its session: which it comes back from.

import { describe, expect, test } from "vitest";
import { harness } from "../support/client-harness.ts";

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
