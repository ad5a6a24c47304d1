// Snapshots in the session core: who starts with one, who goes on with one, what happens to a client while it waits, and
// what asking costs the process.

import { describe, expect, test } from "vitest";
import {
  decodeFrame,
  FrameSource,
  MAX_SNAPSHOT_BYTES,
  OutputLog,
  OutputReader,
  PLAIN,
  ServerConnection,
  SNAPSHOT_PATIENCE_MS,
  Window,
} from "../../src/index.ts";
import { bytes, FakePeer, join, output, pass, request, rig } from "../support/fixtures.ts";
import { CountingSource, flooded, heard, PTY } from "../support/screens.ts";

describe("whoever attaches to a PTY", () => {
  test("A9: gets the whole log from 0 while that is complete and at most 64 KiB, else a snapshot at the offset of hello", () => {
    const source = new CountingSource();
    const at = rig(PTY, { screen: source });
    output(at, new Uint8Array(MAX_SNAPSHOT_BYTES));
    const early = join(at.session, "early");
    expect([early.peer.hello.offset, early.peer.snapshots, source.asked]).toEqual([0, [], 0]);
    output(at, "x");
    const late = join(at.session, "late");
    expect([late.peer.told, source.asked]).toEqual([[], 1]);
    at.session.snapshotReady({ offset: 65_537, bytes: bytes("screen"), cols: 100, rows: 30, isExact: true });
    output(at, "live");
    expect(late.peer.hello).toMatchObject({ offset: 65_537, live: 65_537, cols: 100, rows: 30 });
    expect([late.peer.hello.gap, late.peer.hello.approximate]).toEqual([undefined, undefined]);
    expect(late.peer.told.slice(1)).toEqual([
      [3, "screen"],
      { type: "resize", cols: 80, rows: 24, offset: 65_537 },
      [1, "live"],
    ]);
  });

  test("A9: and is not acknowledging gets the log, since it knows no snapshots", () => {
    const at = flooded();
    const { peer } = join(at.session, "plain", { acknowledges: false });
    expect([peer.hello.offset, peer.hello.approximate, at.asked()]).toEqual([at.log.startOffset, true, 0]);
  });

  test("A9: with offset 0 gets all that is held", () => {
    const at = flooded();
    const { peer } = join(at.session, "a", { offset: 0 });
    expect([peer.hello.offset, peer.hello.gap, at.asked()]).toEqual([131_072, 131_072, 0]);
  });

  test("O7: coming back to an offset that is gone is told the gap up to the snapshot; to one that is held, nothing", () => {
    const at = flooded();
    const gone = join(at.session, "gone", { isResume: true, offset: 1000 });
    const held = join(at.session, "held", { isResume: true, offset: 200_000 });
    expect([gone.peer.told.length, held.peer.hello.gap]).toEqual([0, undefined]);
    at.answer();
    expect([gone.peer.hello.offset, gone.peer.hello.gap, gone.peer.snapshots]).toEqual([393_216, 392_216, ["screen"]]);
  });

  test("O8: is told where the snapshot is a guess, or where none came", () => {
    const at = flooded();
    const guess = join(at.session, "guess");
    at.answer({ isExact: false });
    expect([guess.peer.hello.approximate, guess.peer.snapshots]).toEqual([true, ["screen"]]);
    at.clock.ms += 1000;
    const none = join(at.session, "none");
    at.session.snapshotReady(undefined);
    expect([none.peer.hello.approximate, none.peer.hello.offset, none.peer.snapshots]).toEqual([true, 131_072, []]);
  });

  test("O9: waits for two seconds at most, and the process is held no longer", () => {
    const at = flooded();
    const { peer } = join(at.session, "a");
    expect([at.session.shouldHold, at.session.nextTickMs]).toEqual([true, at.clock.ms + SNAPSHOT_PATIENCE_MS]);
    pass(at, SNAPSHOT_PATIENCE_MS);
    expect([peer.hello.offset, peer.hello.approximate]).toEqual([at.log.startOffset, true]);
    // Late, and of no more use.
    at.answer();
    expect(peer.snapshots).toEqual([]);
  });

  test("O7: a snapshot of before the log's start is no snapshot", () => {
    const at = flooded();
    const { peer } = join(at.session, "a");
    at.answer({ offset: at.log.startOffset - 1 });
    expect([peer.snapshots, peer.hello.approximate]).toEqual([[], true]);
  });
});

describe("a client that waits for its snapshot", () => {
  test("is here for the others, and hears in its greeting of what happened meanwhile", () => {
    const at = flooded();
    const first = join(at.session, "first", { isResume: true, offset: at.log.endOffset });
    const { peer } = join(at.session, "late");
    join(at.session, "third", { isResume: true, offset: at.log.endOffset });
    expect(first.peer.of("join").map((message) => message.participant.id)).toEqual(["late", "third"]);
    expect(peer.told).toEqual([]);
    at.answer();
    expect(peer.hello.participants.map((one) => one.id)).toEqual(["first", "late", "third"]);
  });

  test("that leaves, vanishes or is replaced is not greeted", () => {
    const at = flooded();
    const left = join(at.session, "left");
    const vanished = join(at.session, "vanished");
    const replaced = join(at.session, "replaced");
    const newer = join(at.session, "replaced");
    at.session.leave(left.client);
    at.session.vanish(vanished.client);
    at.answer();
    expect([left.peer.told, vanished.peer.told, replaced.peer.told]).toEqual([[], [], []]);
    expect([replaced.peer.end, newer.peer.snapshots]).toMatchObject([{ code: 4409 }, ["screen"]]);
  });

  test("that types before hello is closed with 1008", () => {
    const at = flooded();
    const sent: unknown[] = [];
    const closed: number[] = [];
    const socket = {
      send: (frame: unknown) => sent.push(frame),
      close: (code: number) => closed.push(code),
      isWritable: () => true,
    };
    const connection = new ServerConnection({ ...PLAIN, acknowledges: true }, socket, 0);
    connection.attach(at.session, request("a"));
    connection.receive(bytes("ls"), 0);
    expect([closed, [...at.session.clients].length]).toEqual([[1008], 0]);
  });

  test("hears of input that was taken meanwhile in its greeting, and not before", () => {
    const at = flooded();
    const old = join(at.session, "a", { isResume: true, offset: at.log.endOffset });
    at.session.stdin(old.client, bytes("hello"), 0);
    const { peer } = join(at.session, "a", { isResume: true });
    at.session.wrote(old.client, 5);
    pass(at, 20);
    expect(peer.told).toEqual([]);
    at.answer();
    expect([peer.hello.stdin, peer.of("stdin_ack")]).toEqual([5, []]);
  });

  test("X1: gets hello, snapshot and exit where the process ends meanwhile", () => {
    const at = flooded();
    const { peer } = join(at.session, "a");
    at.session.exited({ code: 3 });
    at.answer();
    expect(heard(peer)).toEqual(["hello", [3, "screen"], "exit"]);
    expect(peer.end).toBe("finished");
  });
});

describe("a client that fell behind", () => {
  /** A viewer whose window is full beside a driver that has all. */
  function behind() {
    const at = flooded();
    const end = at.log.endOffset;
    const driver = join(at.session, "driver", { isResume: true, offset: end });
    const viewer = join(at.session, "viewer", { role: "viewer", isResume: true, offset: end });
    for (let i = 0; i < 8; i += 1) {
      output(at, new Uint8Array(65_536));
      at.session.command(driver.client, { type: "ack", offset: at.log.endOffset });
    }
    at.clock.ms += 5000;
    return { ...at, viewer, driver, end };
  }

  test("O5: gets gap and snapshot when its acknowledgement makes room, and not before", () => {
    const at = behind();
    expect(at.asked()).toBe(0);
    at.session.command(at.viewer.client, { type: "ack", offset: at.end + 65_536 });
    expect([at.asked(), at.viewer.peer.of("gap")]).toEqual([1, []]);
    output(at, "on the way");
    const { offset } = at.answer();
    expect(at.viewer.peer.of("gap")).toEqual([{ type: "gap", from: at.end + 65_536, to: offset }]);
    expect(at.viewer.peer.told.at(-1)).toEqual([3, "screen"]);
    output(at, "live");
    expect(at.viewer.peer.told.at(-1)).toEqual([1, "live"]);
  });

  test("O5: is told the snapshot's size before it, where that is new", () => {
    const at = behind();
    at.session.command(at.viewer.client, { type: "ack", offset: at.end + 65_536 });
    at.answer({ cols: 40, rows: 10 });
    expect(heard(at.viewer.peer).slice(-4)).toEqual(["gap", "resize", [3, "screen"], "resize"]);
  });

  test("O9: all who wait share one request, and get a screen a second", () => {
    const at = behind();
    at.session.command(at.viewer.client, { type: "ack", offset: at.end + 65_536 });
    join(at.session, "late", { role: "viewer" });
    expect(at.asked()).toBe(1);
    at.answer();
    expect(at.session.shouldHold).toBe(false);
    for (let i = 0; i < 8; i += 1) {
      output(at, new Uint8Array(65_536));
      at.session.command(at.driver.client, { type: "ack", offset: at.log.endOffset });
    }
    const offset = at.viewer.client.greeted?.reader.cursor ?? 0;
    at.session.command(at.viewer.client, { type: "ack", offset });
    expect([at.asked(), at.session.shouldHold, at.session.nextTickMs]).toEqual([1, false, at.clock.ms + 1000]);
    pass(at, 1000);
    expect([at.asked(), at.session.shouldHold]).toEqual([2, true]);
  });

  test("O9: the process runs three times as long as it was held before it is held again", () => {
    const at = flooded();
    join(at.session, "a");
    at.clock.ms += 100;
    at.answer();
    const { peer } = join(at.session, "b");
    expect([at.asked(), at.session.nextTickMs]).toEqual([1, at.clock.ms + 300]);
    pass(at, 300);
    expect([at.asked(), peer.told]).toEqual([2, []]);
  });

  test("O10: a plain client gets the screen as output", () => {
    const sent: (string | Uint8Array)[] = [];
    let isWritable = true;
    const socket = {
      send: (frame: string | Uint8Array) => void sent.push(frame),
      close: () => undefined,
      isWritable: () => isWritable,
    };
    const connection = new ServerConnection(PLAIN, socket, 0);
    const at = flooded();
    connection.attach(at.session, request("p", { acknowledges: false, role: "viewer" }));
    isWritable = false;
    at.clock.ms += 5000;
    for (let i = 0; i < 8; i += 1) output(at, new Uint8Array(65_536));
    isWritable = true;
    connection.drained();
    at.answer();
    const last = sent.at(-1);
    if (typeof last !== "object") throw new Error("the last frame is binary");
    const frame = decodeFrame(last);
    expect(frame).toEqual({ kind: "output", stream: 1, bytes: bytes("screen") });
  });
});

describe("the window", () => {
  test("W13: a snapshot uses it up until its offset is acknowledged, also where everything before was", () => {
    const window = new Window(1000);
    window.drew(1000, 60_000);
    expect([window.inFlight(1000), window.room(1000)]).toEqual([60_000, 5_536]);
    window.ack(999, 1);
    expect(window.inFlight(1000)).toBe(60_000);
    window.ack(1000, 1);
    expect([window.inFlight(1000), window.room(1000)]).toEqual([0, 65_536]);
  });

  test("W13: one may be sent into an empty window, however small, and beside other bytes only where both have room", () => {
    const window = new Window(0);
    expect(window.hasScreenRoom(0)).toBe(true);
    window.sent(1, 0);
    expect(window.hasScreenRoom(1)).toBe(false);
  });

  test("O5: without a screen a reader that fell behind goes on with what is held, and says that it may be wrong", () => {
    const log = new OutputLog({ cols: 80, rows: 24 }, 4096);
    const peer = new FakePeer();
    const reader = new OutputReader(log, new FrameSource(log, false), 0, new Window(0), peer);
    reader.askScreen = () => reader.skipToTail();
    log.append(new Uint8Array(5000), 1);
    reader.pump(0, undefined);
    expect(peer.of("gap")).toEqual([{ type: "gap", from: 0, to: 904, approximate: true }]);
  });
});
