// What a client acknowledges of output, when, and what it asks for of its window.

import { describe, expect, test } from "vitest";
import { MAX_FRAME_BYTES, MIN_WINDOW_BYTES } from "../../src/index.ts";
import { harness } from "../support/client-harness.ts";

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
