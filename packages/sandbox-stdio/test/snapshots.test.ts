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
  RESUME_GRACE_MS,
  ServerConnection,
  SNAPSHOT_PATIENCE_MS,
  type Snapshot,
  Window,
} from "../src/index.ts";
import { bytes, FakePeer, InnerRig, join, output, type Rig, relayRig, request, rig } from "./fixtures.ts";

const PTY = { tty: true, delivery: "live" } as const;
const LOG_BYTES = 1 << 18;

class CountingSource {
  asked = 0;
  request(): void {
    this.asked += 1;
  }
}

/** A PTY session that has printed more than it holds, and a screen that answers when it is told to. */
function flooded(
  over: { logBytes?: number } = {},
): Rig & { asked: () => number; answer: (over?: Partial<Snapshot>) => Snapshot } {
  const source = new CountingSource();
  const at = rig(PTY, { logBytes: LOG_BYTES, ...over, screen: source });
  for (let i = 0; i < 6; i += 1) output(at, new Uint8Array(65_536));
  return {
    ...at,
    asked: () => source.asked,
    answer: (over = {}) => {
      const snapshot = { offset: at.log.endOffset, bytes: bytes("screen"), cols: 80, rows: 24, isExact: true, ...over };
      at.session.snapshotReady(snapshot);
      return snapshot;
    },
  };
}

const heard = (peer: FakePeer) => peer.told.map((item) => (Array.isArray(item) ? item : item.type));

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
    at.clock.ms += SNAPSHOT_PATIENCE_MS;
    at.session.tick();
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
    at.clock.ms += 20;
    at.session.tick();
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
    at.clock.ms += 1000;
    at.session.tick();
    expect([at.asked(), at.session.shouldHold]).toEqual([2, true]);
  });

  test("O9: the process runs three times as long as it was held before it is held again", () => {
    const at = flooded();
    join(at.session, "a");
    at.clock.ms += 100;
    at.answer();
    const { peer } = join(at.session, "b");
    expect([at.asked(), at.session.nextTickMs]).toEqual([1, at.clock.ms + 300]);
    at.clock.ms += 300;
    at.session.tick();
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

describe("over the inner hop", () => {
  /** A relay whose bridge has printed more than 64 KiB, and is asked for screens. */
  function hop() {
    const source = new CountingSource();
    const at = new InnerRig(PTY, { screen: source });
    at.connect().flush();
    output(at.bridge, new Uint8Array(100_000));
    at.flush();
    return { at, asked: () => source.asked };
  }
  const snapshot = (offset: number): Snapshot => ({
    offset,
    bytes: bytes("screen"),
    cols: 90,
    rows: 30,
    isExact: true,
  });

  test("H11: the bridge is asked, holds its process meanwhile, and answers once for all who wait", () => {
    const { at, asked } = hop();
    const a = join(at.session, "a");
    const b = join(at.session, "b");
    at.flush();
    expect([asked(), at.bridge.session.shouldHold]).toEqual([1, true]);
    at.bridge.session.snapshotReady(snapshot(100_000));
    at.flush();
    expect(at.bridge.session.shouldHold).toBe(false);
    for (const { peer } of [a, b]) {
      expect([peer.hello.offset, peer.hello.cols, peer.snapshots]).toEqual([100_000, 90, ["screen"]]);
    }
    // Where they stand is told upstream, or the bridge would wait for them.
    expect([at.remote("a").acked, at.remote("b").acked]).toEqual([100_000, 100_000]);
  });

  test("O9: the bridge alone spares its process: a relay asks again at once", () => {
    const { at, asked } = hop();
    join(at.session, "a");
    at.flush();
    at.bridge.clock.ms += 100;
    at.bridge.session.snapshotReady(snapshot(100_000));
    at.flush();
    const { peer } = join(at.session, "b");
    at.flush();
    expect([asked(), at.session.nextTickMs]).toEqual([1, at.bridge.clock.ms + SNAPSHOT_PATIENCE_MS]);
    at.bridge.clock.ms += 300;
    at.bridge.session.tick();
    expect(asked()).toBe(2);
    at.bridge.session.snapshotReady(snapshot(100_000));
    at.flush();
    expect(peer.snapshots).toEqual(["screen"]);
  });

  test("H11: a snapshot ahead of the relay's log is met by the bytes on the way", () => {
    const { at } = hop();
    const { peer } = join(at.session, "a");
    at.session.snapshotReady(snapshot(100_004));
    expect([peer.hello.offset, peer.hello.live]).toEqual([100_004, 100_004]);
    // Also for one that comes back there.
    expect(join(at.session, "b", { isResume: true, offset: 100_004 }).peer.hello.gap).toBeUndefined();
    output(at.bridge, "wxyz and on");
    at.flush();
    expect(peer.told.slice(1).filter((item) => Array.isArray(item) || item.type !== "join")).toEqual([
      [3, "screen"],
      { type: "resize", cols: 80, rows: 24, offset: 100_004 },
      [1, " and on"],
    ]);
  });

  test("H11: it is asked again over a new connection, and where it has none the log's tail has to do", () => {
    const { at, asked } = hop();
    const { peer } = join(at.session, "a");
    at.flush().cut().connect().flush();
    expect(asked()).toBe(1);
    at.bridge.session.snapshotReady(undefined);
    at.flush();
    expect([peer.hello.offset, peer.output.length, peer.snapshots]).toEqual([0, 65_536, []]);
  });

  test("H11: a bridge that knows no snapshots costs two seconds", () => {
    const { at } = hop();
    const { peer } = join(at.session, "a");
    at.toBridge = [];
    at.bridge.clock.ms += SNAPSHOT_PATIENCE_MS;
    at.session.tick();
    expect([peer.hello.offset, peer.hello.approximate]).toEqual([0, undefined]);
  });

  test("X6: at the exit the relay asks for the last screen before it is settled, and keeps it", () => {
    const { at } = hop();
    at.exited({ code: 0 });
    at.flush();
    expect([at.session.exit, at.session.isSettled]).toEqual([{ code: 0 }, false]);
    at.bridge.session.snapshotReady(snapshot(100_000));
    at.flush();
    expect([at.session.isSettled, at.session.lastScreen]).toEqual([true, snapshot(100_000)]);
    const { peer } = join(at.session, "late");
    expect(heard(peer)).toEqual(["hello", [3, "screen"], "resize", "exit"]);
  });

  test("X6: where it does not come in two seconds, the log's tail is all that is kept", () => {
    const { at } = hop();
    at.exited({ code: 0 });
    at.flush().cut();
    at.bridge.clock.ms += SNAPSHOT_PATIENCE_MS;
    at.session.tick();
    expect([at.session.isSettled, at.session.lastScreen]).toEqual([true, undefined]);
    expect(join(at.session, "late").peer.hello.offset).toBe(0);
  });

  test("X6: a session that was stored with its last screen shows it, and one without it does not wait", () => {
    for (const lastScreen of [snapshot(0), undefined]) {
      const at = relayRig(PTY, { lastScreen, log: new OutputLog({ cols: 80, rows: 24 }, undefined, 0) });
      at.log.append(new Uint8Array(100_000), 1);
      at.session.exited({ code: 0 });
      expect([at.session.isSettled, join(at.session, "a").peer.snapshots.length]).toEqual([true, lastScreen ? 1 : 0]);
      at.clock.ms += RESUME_GRACE_MS;
    }
  });
});

describe("a lossless driver that comes late, over the inner hop", () => {
  test("H12: is greeted when the bridge holds the process for it, and nothing that it was promised is lost", () => {
    const at = new InnerRig({}, { logBytes: 1 << 20 });
    at.connect().flush();
    const first = join(at.session, "first");
    at.flush();
    const print = (bytesLeft: number) => {
      for (let left = bytesLeft; left > 0; left -= 65_536) {
        output(at.bridge, new Uint8Array(65_536));
        at.flush();
        at.session.command(first.client, { type: "ack", offset: at.session.log.endOffset });
        at.flush();
      }
    };
    print(20 * 65_536);
    const late = join(at.session, "late");
    // The process writes on until its attach has come to the bridge.
    output(at.bridge, new Uint8Array(65_536));
    expect([late.peer.told, at.bridge.session.shouldHold]).toEqual([[], false]);
    at.flush();
    expect(at.bridge.session.shouldHold).toBe(true);
    expect([late.peer.hello.offset, late.peer.hello.gap]).toEqual([5 * 65_536, 5 * 65_536]);
    while (late.peer.output.length < 16 * 65_536) {
      const { acked } = late.client;
      at.session.command(late.client, {
        type: "ack",
        offset: Number(late.peer.hello.offset) + late.peer.output.length,
      });
      at.flush();
      expect(late.client.acked).toBeGreaterThan(acked);
    }
    expect(late.peer.of("gap")).toEqual([]);
  });

  test("H12: the bridge is told where it starts, which the log may have left behind since its attach", () => {
    const at = new InnerRig({}, { logBytes: 1 << 20 });
    at.connect().flush();
    const print = (frames: number) => {
      for (let left = frames; left > 0; left -= 1) output(at.bridge, new Uint8Array(65_536));
    };
    print(16);
    at.flush();
    const late = join(at.session, "late");
    print(4);
    at.flush();
    expect([late.peer.hello.offset, at.remote("late").acked]).toEqual([4 * 65_536, 4 * 65_536]);
  });

  test("H12: waits two seconds at most", () => {
    const at = new InnerRig({});
    at.connect().flush();
    output(at.bridge, new Uint8Array(600_000));
    at.flush();
    const late = join(at.session, "late");
    expect(late.peer.told).toEqual([]);
    at.bridge.clock.ms += 2000;
    at.session.tick();
    expect(late.peer.hello.offset).toBe(0);
  });
});
