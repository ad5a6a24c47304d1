// What becomes of a client's keys and input while nothing answers them.

import { describe, expect, test } from "vitest";
import { harness } from "../support/client-harness.ts";
import { bytes } from "../support/fixtures.ts";

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

  test("I4: after the exit no key is told to be lost for want of a connection", () => {
    const { client, greet, seen, socket } = harness();
    client.start();
    greet();
    socket().events.text('{"type":"exit","code":0,"offset":0}');
    expect(client.type(bytes("a"))).toBe(false);
    expect(seen.filter(([name]) => name === "discarded")).toEqual([]);
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
