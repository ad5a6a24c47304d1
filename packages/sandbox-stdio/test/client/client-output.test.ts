// A client's output: what counts as dealt with and is acknowledged, what is lost, and who answers a terminal query.

import { describe, expect, test } from "vitest";
import { MAX_FRAME_BYTES, MIN_WINDOW_BYTES } from "../../src/index.ts";
import { attached, harness, PIPES } from "../support/client-harness.ts";

const ack = (offset: number) => ({ type: "ack", offset });

describe("acknowledging", () => {
  test.each([
    ["W1: at once after a frame of full length, and not a byte earlier", MAX_FRAME_BYTES, false],
    ["W1: after 16 KiB where timers come late, so that the least window waits for none", MIN_WINDOW_BYTES, true],
  ])("%s", (_when, bytes, areTimersLate) => {
    const { client, output, texts } = attached({}, {}, { areTimersLate });
    output(bytes);
    client.processed(bytes - 1);
    expect(texts("ack")).toEqual([]);
    client.processed(bytes);
    expect(texts("ack")).toEqual([ack(bytes)]);
  });

  test("W1: else 50 ms after the oldest byte was dealt with, for all that has been dealt with by then, and no more", () => {
    const { client, output, texts, wait } = attached();
    output(100_000);
    wait(1_000);
    client.processed(1);
    wait(10);
    client.processed(2);
    wait(39);
    client.processed(3);
    expect(texts("ack")).toEqual([]);
    wait(1);
    expect(texts("ack")).toEqual([ack(3)]);
    client.processed(3);
    wait(10_000);
    expect(texts("ack").length).toBe(1);
    // A late report takes nothing back.
    client.processed(2);
    expect(client.resumePoint?.offset).toBe(3);
  });

  test("W1: then anew, and once where a frame of full length was dealt with meanwhile", () => {
    const { client, output, texts, wait } = attached();
    for (let i = 0; i < 2; i += 1) output(MAX_FRAME_BYTES);
    for (const processed of [1, 2]) {
      client.processed(processed);
      wait(50);
    }
    client.processed(3);
    client.processed(MAX_FRAME_BYTES + 3);
    wait(1_000);
    expect(texts("ack")).toEqual([1, 2, MAX_FRAME_BYTES + 3].map(ack));
  });

  test("K4, R1: a later life tells its size first, and once what the life before had dealt with", () => {
    const { client, greet, socket, texts } = harness({ resume: "r", offset: 100_000 });
    client.resize(100, 40);
    client.start();
    greet({ ...PIPES, offset: 100_010, live: 100_010, gap: 10 });
    expect(texts("ack")).toEqual([ack(100_010)]);
    expect(socket().sent.at(-1)).toBe(JSON.stringify(ack(100_010)));
  });

  test("W12: with a MiB not dealt with it does not ask for more by coming back, until it is", () => {
    const { client, greet, output, socket, sockets, wait } = attached();
    for (let i = 0; i < 16; i += 1) output(65_536);
    socket().events.closed(1006, "");
    wait(30_000);
    expect([sockets.length, client.state.phase]).toEqual([1, "waiting"]);
    client.processed(1);
    wait(1_000);
    expect(sockets.length).toBe(2);
    greet({ offset: 1 << 20 });
    expect(client.state.phase).toBe("attached");
  });

  test("K4, R1: its window's size is told again on every connection, before what had been dealt with, which lets more come", () => {
    const { client, greet, output, socket, texts, cut } = attached();
    client.resize(100, 40);
    const size = { type: "resize", cols: 100, rows: 40 };
    expect(texts("resize")).toEqual([size]);
    output("abcdef");
    client.processed(4);
    cut();
    greet({ offset: 6, live: 6 });
    expect(socket().sent.slice(-2)).toEqual([size, ack(4)].map((message) => JSON.stringify(message)));
  });

  test("what was gone before the first output is not acknowledged by itself", () => {
    const { client, output, texts, told, wait } = attached({ ...PIPES, offset: 100_000, live: 100_000, gap: 100_000 });
    expect([told("gap"), client.resumePoint?.offset]).toEqual([[["gap", 0, 100_000, false]], 100_000]);
    wait(1_000);
    expect(texts("ack")).toEqual([]);
    output("ab");
    client.processed(100_001);
    wait(50);
    expect(texts("ack")).toEqual([ack(100_001)]);
  });

  test("a snapshot is acknowledged when it is drawn and not before, though no output follows it", () => {
    const { client, snapshot, texts, wait } = attached({ offset: 700, live: 700 });
    snapshot("screen");
    wait(1_000);
    expect(texts("ack")).toEqual([]);
    client.processed(700);
    client.processed(700);
    expect(texts("ack")).toEqual([ack(700)]);
  });
});

describe("what is gone", () => {
  test("O4, O5: a gap in hello or in mid-stream is told with where it lies, before what comes after it", () => {
    const { greet, output, say, told, cut } = attached();
    output("abc");
    say({ type: "gap", from: 3, to: 7 });
    output("d");
    cut();
    greet({ offset: 20, live: 20, gap: 12 });
    output("xyz");
    expect(told("gap", "output")).toEqual([
      ["output", "abc", 3],
      ["gap", 3, 7, false],
      ["output", "d", 8],
      ["gap", 8, 20, false],
      ["output", "xyz", 23],
    ]);
  });

  test("bytes that are lost, also while it was away, count as dealt with only once those before them are drawn", () => {
    const { client, say, output, greet, texts, told, cut, wait } = attached(PIPES);
    output("12345678");
    say({ type: "gap", from: 8, to: 100 });
    // On pipes no snapshot follows: it is told at once.
    expect(told("gap")).toEqual([["gap", 8, 100, false]]);
    cut();
    greet({ ...PIPES, offset: 208, live: 208, gap: 108 });
    expect([client.resumePoint?.offset, texts("ack")]).toEqual([0, []]);
    client.processed(8);
    wait(50);
    expect([client.resumePoint?.offset, texts("ack")]).toEqual([208, [ack(208)]]);
  });

  /** 8 bytes of output, and then a gap. */
  function behind(hello: object = {}) {
    const one = attached(hello);
    one.output("12345678");
    one.say({ type: "gap", from: 8, to: 5000, approximate: true });
    const stands = (dealt: number) => {
      one.client.processed(dealt);
      return one.client.resumePoint?.offset;
    };
    return { ...one, stands };
  }

  test("O7: on a PTY a gap is passed only when the snapshot that stands for it is drawn", () => {
    const { say, snapshot, seen, told, texts, stands } = behind();
    say({ type: "resize", cols: 90, rows: 30, offset: 5000 });
    expect([stands(8), told("gap")]).toEqual([8, []]);
    snapshot("screen");
    expect(seen.slice(-3)).toEqual([
      ["gap", 8, 5000, true],
      ["resize", 90, 30, 5000],
      ["snapshot", "screen", 5000],
    ]);
    expect([stands(8), stands(5000), texts("ack").at(-1)]).toEqual([8, 5000, ack(5000)]);
  });

  test("O7: nor does a new connection pass it, while the snapshot of the one before is still to be drawn", () => {
    const { snapshot, greet, socket, stands, cut } = behind();
    snapshot("screen");
    cut();
    expect(socket().query).toContain("offset=5000");
    greet({ offset: 5000, live: 5000 });
    expect([stands(8), stands(5000)]).toEqual([8, 5000]);
  });

  test("O7: nor does the next gap pass it, whose snapshot is another", () => {
    const { say, snapshot, stands } = behind();
    snapshot("screen");
    say({ type: "gap", from: 5000, to: 9000 });
    snapshot("newer screen");
    expect([stands(8), stands(5000), stands(9000)]).toEqual([8, 5000, 9000]);
  });

  test("O7: a gap that comes before the snapshot of the one in hello is told after that one", () => {
    const { client, say, snapshot, told } = attached(
      { offset: 5000, live: 5000, gap: 4992 },
      { resume: "r", offset: 8 },
    );
    say({ type: "gap", from: 5000, to: 9000 });
    snapshot("screen");
    expect(told("gap")).toEqual([
      ["gap", 8, 5000, false],
      ["gap", 5000, 9000, false],
    ]);
    client.processed(9000);
    expect(client.resumePoint?.offset).toBe(9000);
  });

  test("O7: a gap with nothing in its place, right behind a snapshot, is passed as soon as that is drawn", () => {
    const { snapshot, greet, output, stands, cut } = behind();
    snapshot("screen");
    cut();
    greet({ offset: 6000, live: 6000, gap: 1000 });
    output("x");
    expect(stands(5000)).toBe(6000);
  });

  test("an empty screen has its size before the first output, and one that is drawn with what comes after a gap", () => {
    const { greet, say, output, told, seen, cut } = attached({ cols: 90, rows: 30 });
    expect(told("resize")).toEqual([["resize", 90, 30, 0]]);
    cut();
    greet({ offset: 20, live: 20, gap: 20, approximate: true });
    say({ type: "resize", cols: 70, rows: 20, offset: 20 });
    expect(told("gap", "resize").length).toBe(1);
    output("x");
    expect(seen.slice(-4)).toEqual([
      ["gap", 0, 20, true],
      ["resize", 80, 24, 20],
      ["resize", 70, 20, 20],
      ["output", "x", 21],
    ]);
  });

  test("with nothing to be gone before it, a screen is known to be empty, and is come back to at 0", () => {
    const { socket, cut } = attached();
    cut();
    expect(socket().query).toBe("session=main&resume=r-a&offset=0&stdin=0");
  });

  test("O7: whoever loses the connection before the snapshot asks from where it stood, or for the first screen again", () => {
    const gap = behind();
    gap.cut();
    gap.say({ type: "resize", cols: 90, rows: 30, offset: 8 });
    // The size is from this connection, which has no gap yet.
    expect(gap.told("resize").at(-1)).toEqual(["resize", 90, 30, 8]);
    expect(gap.socket().query).toContain("offset=8");
    const first = attached({ offset: 5000, live: 5000 });
    expect(first.client.resumePoint?.offset).toBe(0);
    first.cut();
    expect(first.socket().query).toBe("session=main&resume=r-a&stdin=0");
  });
});

describe("who answers a terminal query", () => {
  test("before it is greeted, nobody has said that this client does", () => {
    expect(harness().client.mayAnswer(0)).toBe(false);
  });

  test("a query whose last byte is the last byte of the replay is not answered, the next byte's is", () => {
    const { client } = attached({ live: 4 });
    expect([client.mayAnswer(3), client.mayAnswer(4)]).toEqual([false, true]);
    expect([client.nextAnswerChange(0), client.nextAnswerChange(4)]).toEqual([4, Number.POSITIVE_INFINITY]);
  });

  test("after a hand-over this client answers what came before it and is not drawn yet, and nothing after", () => {
    const { client, say } = attached();
    say({ type: "answerer", id: "other", offset: 10 });
    expect([client.mayAnswer(9), client.mayAnswer(10)]).toEqual([true, false]);
    say({ type: "answerer", id: "a", offset: 20 });
    expect([client.mayAnswer(9), client.mayAnswer(19), client.mayAnswer(20)]).toEqual([true, false, true]);
    expect(client.nextAnswerChange(9)).toBe(10);
  });

  test("answerers of before what has been drawn are forgotten, the one who answers now is not", () => {
    const { client, say, output } = attached();
    say({ type: "answerer", id: "other", offset: 4 });
    output("12345678");
    client.processed(8);
    say({ type: "answerer", id: "third", offset: 8 });
    say({ type: "answerer", id: "a", offset: 9 });
    expect([client.mayAnswer(3), client.mayAnswer(8), client.mayAnswer(9)]).toEqual([false, false, true]);
  });
});
