// L10: what a client may say that is no use to anybody, in every dialect, and that those who behave never come near it.

import { describe, expect, test } from "vitest";
import { OutputReceiver } from "../../src/client/output-receiver.ts";
import {
  ACK_DELAY_MS,
  DEFAULT_BUDGET,
  type Dialect,
  type Frame,
  PLAIN,
  ServerConnection,
  STDIO,
} from "../../src/index.ts";
import { Budget } from "../../src/session/budget.ts";
import { Scheduler } from "../simulation/scheduler.ts";
import { harness } from "../support/client-harness.ts";
import { TYPING, wordsOf } from "../support/dialect-words.ts";
import { bytes, join, output, pass, request, rig, takeAll } from "../support/fixtures.ts";
import { speaking } from "../support/speaking.ts";

const KIB = 1024;
const LIVE = { tty: true, delivery: "live" } as const;

/** A viewer, unless said otherwise, that has been greeted. */
const greeted = (speaker: Parameters<typeof speaking>[1] = {}, at = rig(LIVE)) =>
  speaking(at, { role: "viewer", delivery: "live", ...speaker }).attach();

describe.each(TYPING)("L10: of $name", (dialect) => {
  test("2,000 messages at once and then 200 a second; one more closes with 1008, and its place is free", () => {
    const one = greeted({ dialect });
    expect(one.hear(wordsOf(dialect).resized, 2_000)).toBe(2_000);
    one.at.clock.ms += 500;
    expect(one.hear(wordsOf(dialect).resized, 101)).toBe(100);
    expect([one.closes, one.at.session.client("a")]).toEqual([[[1008, "too many messages"]], undefined]);
  });

  test("refused input: 256 KiB at once and then 64 KiB a second", () => {
    const one = greeted({ dialect });
    const piece = wordsOf(dialect).typed("x".repeat(8_192));
    expect(one.hear(piece, 32)).toBe(32);
    one.at.clock.ms += 1_000;
    expect(one.hear(piece, 9)).toBe(8);
    expect(one.closes).toEqual([[1008, "too much input was refused"]]);
  });

  test("nothing of input that is accepted: a paste key by key, as long as anybody likes", () => {
    const one = greeted({ dialect, role: "driver" });
    const { client } = one;
    for (let done = 0; done < 5_000; done += 1_000) {
      expect(one.hear(wordsOf(dialect).typed("x"), 1_000)).toBe(1_000);
      takeAll(one.at.session, client);
    }
  });

  test("nothing of a tab that is dragged to another size for a minute, 120 times a second", () => {
    const one = greeted({ dialect, role: "driver" });
    for (let second = 0; second < 60; second += 1) {
      expect(one.hear(wordsOf(dialect).resized, 120)).toBe(120);
      one.at.clock.ms += 1_000;
    }
  });
});

describe("L10: of stdio.v1", () => {
  test("refused input: as much at once as its window holds, and all else as before", () => {
    const at = rig({ tty: true, delivery: "live", mode: "exclusive", inputWindow: 1_048_576 });
    const one = greeted({ role: "driver", keeps: 1_048_576 }, at);
    join(at.session, "b");
    at.session.setHolder("b");
    expect(one.hear(new Uint8Array(65_536), 16)).toBe(16);
    expect(one.hear(wordsOf(STDIO).resized, 100)).toBe(100);
    expect(one.hear(new Uint8Array(1))).toBe(0);
    expect(one.closes).toEqual([[1008, "too much input was refused"]]);
  });

  test("refused input: a later life is told before its greeting that the process takes none, and sends none", () => {
    const at = rig();
    const one = greeted({ role: "driver" }, at);
    at.session.closeInput();
    one.hear(bytes("x"));
    at.session.vanish(one.client);
    const next = speaking(at, { role: "driver", isResume: true, offset: 0, stdin: "new" }).attach();
    expect([next.types().slice(0, 2), next.sent[0]?.includes("stdin_closed")]).toEqual([["error", "hello"], true]);
    const viewer = speaking(at, { id: "b", role: "viewer" }).attach();
    expect(viewer.types()[0]).toBe("hello");

    const { client, told, frames, greet, say } = harness(); // The client's own end.
    client.write(bytes("typed in vain"));
    client.start();
    say({ type: "error", code: "stdin_closed", message: "" });
    greet();
    expect([frames(), told("discarded")]).toEqual([[], [["discarded", "typed in vain"]]]);
  });

  test("pings cost nothing", () => {
    expect(greeted().hear('{"type":"ping"}', 10_000)).toBe(10_000);
  });

  test.each([
    '{"type":"request_stdin"}',
    '{"type":"secret","on":true}',
    '{"type":"eof"}',
    '{"type":"signal","signal":"SIGINT"}',
    '{"type":"nonsense"}',
    '{"type":"resize","cols":0,"rows":0}',
    '{"type":"auth","token":"t"}',
    '{"type":"ack","offset":0}',
    "",
  ])("%j costs one", (text) => {
    const frame = text === "" ? new Uint8Array(0) : text;
    // Of acknowledgements the first is free: none came before it.
    expect(greeted().hear(frame, 3_000)).toBe(text.includes('"ack"') ? 2_001 : 2_000);
  });

  test("what is answered before the session is there costs one, too", () => {
    expect(speaking(rig(LIVE)).hear('{"type":"nonsense"}', 3_000)).toBe(2_000);
  });

  test("a budget is a client's: another connection of the same has what is left, less what it said before its attach", () => {
    const one = greeted({ role: "driver" });
    one.hear('{"type":"nonsense"}', 1_000);
    one.connection.closed(1006);
    const two = speaking(one.at, { role: "driver", delivery: "live", isResume: true });
    two.hear('{"type":"nonsense"}', 600);
    two.attach();
    expect(two.hear('{"type":"nonsense"}', 1_000)).toBe(400);
  });

  test("acknowledgements cost nothing that set 16 KiB or a snapshot free, or come 20 ms after the last", () => {
    const limits = { ...DEFAULT_BUDGET, messageBurst: 1, messagesPerSecond: 1 };
    const one = greeted({ limits });
    const flow = one.client.greeted?.reader.flow;
    let offset = 0;
    for (let i = 0; i < 50; i += 1) {
      output(one.at, "x".repeat(16 * KIB));
      offset += 16 * KIB;
      expect(one.hear(`{"type":"ack","offset":${offset}}`)).toBe(1);
      flow?.drew(offset + 1, 10);
      output(one.at, "xx");
      offset += 2;
      expect(one.hear(`{"type":"ack","offset":${offset}}`)).toBe(1);
    }
    for (let i = 0; i < 50; i += 1) {
      one.at.clock.ms += 20;
      expect(one.hear(`{"type":"ack","offset":${offset}}`)).toBe(1);
    }
    one.at.clock.ms += 19;
    expect([
      one.hear(`{"type":"ack","offset":${offset}}`, 1),
      one.hear(`{"type":"ack","offset":${offset}}`, 1),
    ]).toEqual([1, 0]);
  });

  test.each([
    ["a flood at 100 MB/s in whole frames", 65_531, 0.65],
    ["a flood in frames of 8 KiB", 8_192, 0.2],
    ["a program that writes a byte 2,000 times a second", 1, 0.5],
    ["lines of 80 bytes, 1,000 a second", 80, 1],
    ["a flood in frames of 8 KiB, on a page whose timers come late,", 8_192, 0.2, true],
    ["lines of 80 bytes, 1,000 a second, on such a page,", 80, 1, true],
  ])("what our clients acknowledge of %s costs nothing", (_what, frameBytes, everyMs, isLate = false) => {
    const time = new Scheduler();
    const limits = { ...DEFAULT_BUDGET, messageBurst: 1, messagesPerSecond: 0.001 };
    const at = rig({ tty: true, delivery: "live" }, { now: () => time.now });
    at.clock.ms = 0;
    const inbox = new OutputReceiver(0, {
      events: { output: () => undefined, snapshot: () => undefined, resize: () => undefined, gap: () => undefined },
      setTimer: (ms, callback) => time.after(ms, callback),
      ack: (offset) => {
        connection.receive(JSON.stringify({ type: "ack", offset }), time.now);
        return true;
      },
      areTimersLate: () => isLate,
    });
    let end = 0;
    let isDealing = false;
    const deal = () => {
      isDealing = false;
      inbox.processed(end);
    };
    const send = (frame: Frame) => {
      if (typeof frame === "string") return;
      end += frame.length - 1;
      // Dealt with when its turn comes, as a screen or a disk does.
      if (!isDealing) time.after(0, deal);
      isDealing = true;
    };
    const socket = { send, close: () => undefined, isWritable: () => true };
    const connection = new ServerConnection(STDIO, socket, 0, {}, limits);
    connection.attach(at.session, request("a", { delivery: "live", role: "viewer" }));
    const frame = bytes("x".repeat(frameBytes));
    const write = () => {
      output(at, frame);
      if (time.now < 1_500) time.after(everyMs, write);
    };
    write();
    time.run(1_500 + 2 * ACK_DELAY_MS, () => false);
    expect([connection.isEnded, end > 0, connection.client?.acked]).toEqual([false, true, end]);
  });
});

describe("L10c: input that was on its way when the right to type was taken", () => {
  const limits = { ...DEFAULT_BUDGET, messageBurst: 1, messagesPerSecond: 0.001, refusedBurstBytes: 1 };

  /** A driver who has typed, and lost the keyboard since. */
  function overtaken(dialect: Dialect = STDIO, typedBytes = 1) {
    const at = rig({ tty: true, delivery: "live", mode: "exclusive" });
    const one = greeted({ dialect, role: "driver", limits }, at);
    join(at.session, "b");
    expect(one.hear(new Uint8Array(typedBytes))).toBe(1);
    return { ...one, client: one.client, take: () => at.session.setHolder("b") };
  }

  test("costs nothing up to 256 KiB behind the last acknowledgement, in whole frames and in keys", () => {
    const one = overtaken();
    one.take();
    expect(one.hear(new Uint8Array(65_536), 3)).toBe(3);
    expect(one.hear(new Uint8Array(1), 65_535)).toBe(65_535);
    expect(one.closes).toEqual([]);
    expect(one.hear(new Uint8Array(2))).toBe(0);
    expect(one.closes).toEqual([[1008, "too much input was refused"]]);
  });

  test("what was acknowledged before makes room for more of it, and each loss of the right counts anew", () => {
    const one = overtaken(STDIO, 65_536);
    takeAll(one.at.session, one.client);
    pass(one.at, 1_000);
    one.take();
    expect(one.hear(new Uint8Array(65_536), 4)).toBe(4);
    one.at.session.setHolder("a");
    expect(one.hear(new Uint8Array(1))).toBe(1);
    takeAll(one.at.session, one.client);
    pass(one.at, 1_000);
    one.take();
    expect(one.hear(new Uint8Array(65_536), 5)).toBe(4);
  });

  test("a client that gave the keyboard away itself knew, and one that never typed did", () => {
    const one = overtaken();
    one.hear('{"type":"grant_stdin","to":"b"}', 1);
    expect([one.client.id, one.at.session.keyboard.holder, one.hear(new Uint8Array(2), 1)]).toEqual(["a", "b", 0]);
    const viewer = greeted({ limits });
    expect(viewer.hear(new Uint8Array(2))).toBe(0);
  });

  test("empty frames cost a message each, whoever has the keyboard", () => {
    const one = overtaken();
    one.take();
    expect(one.hear(new Uint8Array(0), 3)).toBe(1);
  });

  test("nor does what waits of a client without acknowledgements, which had come before", () => {
    const one = overtaken(PLAIN, 1_000_000);
    one.take();
    takeAll(one.at.session, one.client);
    expect([one.closes, one.client.feed.bytes]).toEqual([[], 0]);
    expect(one.hear(new Uint8Array(262_145), 2)).toBe(1);
  });
});

test("a budget is rested once all is there again, and 20 ms after an acknowledgement", () => {
  const start = 1_000;
  const limits = { messagesPerSecond: 10, messageBurst: 5, refusedBytesPerSecond: 100, refusedBurstBytes: 50 };
  const restedAfter = (spend: (budget: Budget) => void, ...ms: number[]) => {
    const budget = new Budget(limits, start);
    spend(budget);
    return ms.map((each) => budget.isRested(start + each));
  };
  expect(restedAfter(() => undefined, 0)).toEqual([true]);
  expect(restedAfter((budget) => budget.message(start), 0, 99, 100)).toEqual([false, false, true]);
  expect(restedAfter((budget) => budget.message(start, 25), 100, 249, 250)).toEqual([false, false, true]);
  expect(restedAfter((budget) => budget.ack(start, true), 19, 20)).toEqual([false, true]);
});

test("L9: what a viewer sends, or a driver without the keyboard, is no activity; what counts is, and so is output", () => {
  for (const dialect of [STDIO, PLAIN, ...TYPING]) {
    for (const role of ["viewer", "driver"] as const) {
      const at = rig({ tty: true, delivery: "live", mode: "exclusive" });
      join(at.session, "holder");
      const one = greeted({ dialect, role }, at);
      const before = one.connection.activity;
      one.hear(wordsOf(dialect).typed("x"), 5);
      one.hear(wordsOf(dialect).resized, 5);
      if (dialect.name.startsWith("pty")) one.hear('{"type":"resize"}', 5);
      expect([dialect.name, role, one.connection.activity - before]).toEqual([dialect.name, role, 0]);
      if (role === "viewer") continue;
      at.session.setHolder("a");
      one.hear(wordsOf(dialect).typed("x"), 1);
      one.hear(wordsOf(dialect).resized, 1);
      const held = one.connection.activity - before;
      output(at, "y");
      expect([dialect.name, held >= 2, one.connection.activity - before > held]).toEqual([dialect.name, true, true]);
    }
  }
});
