// Snapshots in the session core: who starts with one, who goes on with one, what happens to a client while it waits, and
// what asking costs the process.

import { describe, expect, test } from "vitest";
import { type ClientRecord, MAX_SNAPSHOT_BYTES, OutputLog, PLAIN, STDIO } from "../../src/index.ts";
import { FrameSource, OutputReader } from "../../src/output/output-reader.ts";
import { SNAPSHOT_TIMEOUT_MS } from "../../src/output/snapshot-requests.ts";
import { Window } from "../../src/output/window.ts";
import { bytes, FakePeer, join, output, pass, rig } from "../support/fixtures.ts";
import { CountingSource, flooded, heard, PTY } from "../support/screens.ts";
import { speaking } from "../support/speaking.ts";

const FRAME = new Uint8Array(65_536);

describe("whoever attaches to a PTY", () => {
  test("A9: gets the whole log from 0 while that is complete and at most 64 KiB, else a snapshot at the offset of hello", () => {
    const source = new CountingSource();
    const at = rig(PTY, { screen: source });
    output(at, new Uint8Array(MAX_SNAPSHOT_BYTES));
    const early = join(at.session, "early");
    expect([early.peer.hello.offset, early.peer.snapshots, source.asked]).toEqual([0, [], 0]);
    output(at, "x");
    const { peer } = join(at.session, "late");
    expect([peer.told, source.asked]).toEqual([[], 1]);
    at.session.snapshotReady({ offset: 65_537, bytes: bytes("screen"), cols: 100, rows: 30, isExact: true });
    output(at, "live");
    expect(peer.hello).toMatchObject({ offset: 65_537, live: 65_537, cols: 100, rows: 30 });
    expect([peer.hello.gap, peer.hello.approximate]).toEqual([undefined, undefined]);
    const size = { type: "resize", cols: 80, rows: 24, offset: 65_537 };
    expect(peer.told.slice(1)).toEqual([[3, "screen"], size, [1, "live"]]);
  });

  test("A9: gets what is held where it asks for offset 0, or does not acknowledge: then it knows no snapshots", () => {
    const at = flooded();
    const all = join(at.session, "all", { offset: 0 }).peer.hello;
    const plain = join(at.session, "plain", { acknowledges: false }).peer.hello;
    expect([all.offset, all.gap, plain.offset, plain.approximate]).toEqual([131_072, 131_072, 131_072, true]);
    expect(at.asked()).toBe(0);
  });

  test("O7: coming back to an offset that is gone is told the gap up to the snapshot; to one that is held, nothing", () => {
    const at = flooded();
    const gone = join(at.session, "gone", { isResume: true, offset: 1000 });
    const held = join(at.session, "held", { isResume: true, offset: 200_000 });
    expect([gone.peer.told.length, held.peer.hello.gap]).toEqual([0, undefined]);
    at.answer();
    expect([gone.peer.hello.offset, gone.peer.hello.gap, gone.peer.snapshots]).toEqual([393_216, 392_216, ["screen"]]);
  });

  test("O7, O8: is told where the snapshot is a guess, where none came, or one of before the log's start", () => {
    const at = flooded();
    const { startOffset } = at.log;
    const joined = (id: string, answer: () => void) => {
      at.clock.ms += 1000;
      const { peer } = join(at.session, id);
      answer();
      return [peer.hello.approximate, peer.hello.offset, peer.snapshots];
    };
    expect(joined("guess", () => at.answer({ isExact: false }))).toEqual([true, at.log.endOffset, ["screen"]]);
    expect(joined("none", () => at.session.snapshotReady(undefined))).toEqual([true, startOffset, []]);
    expect(joined("early", () => at.answer({ offset: startOffset - 1 }))).toEqual([true, startOffset, []]);
  });

  test("O9: waits for two seconds at most, and the process is held no longer", () => {
    const at = flooded();
    const { peer } = join(at.session, "a");
    expect([at.session.shouldHold, at.session.nextTickMs]).toEqual([true, at.clock.ms + SNAPSHOT_TIMEOUT_MS]);
    pass(at, SNAPSHOT_TIMEOUT_MS);
    expect([peer.hello.offset, peer.hello.approximate]).toEqual([at.log.startOffset, true]);
    // Late, and of no more use.
    at.answer();
    expect(peer.snapshots).toEqual([]);
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
    const [left, vanished, replaced] = [join(at.session, "l"), join(at.session, "v"), join(at.session, "replaced")];
    const newer = join(at.session, "replaced");
    at.session.leave(left.client);
    at.session.vanish(vanished.client);
    at.answer();
    expect([left.peer.told, vanished.peer.told, replaced.peer.told]).toEqual([[], [], []]);
    expect([replaced.peer.end, newer.peer.snapshots]).toMatchObject([{ code: 4409 }, ["screen"]]);
  });

  test("that types before hello is closed with 1008", () => {
    const at = flooded();
    const one = speaking(at, { dialect: STDIO }).attach();
    one.hear(bytes("ls"));
    expect([one.closed?.[0], [...at.session.clients].length]).toEqual([1008, 0]);
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

  test("is greeted though the process takes input of its earlier connection meanwhile", () => {
    const at = flooded();
    const plain = { acknowledges: false, startsWithScreen: "always" } as const;
    const { client } = join(at.session, "a", { acknowledges: false });
    at.session.feed(client, new Uint8Array(1 << 20));
    at.session.disconnect(client, "vanished");
    const { peer } = join(at.session, "a", { ...plain, isResume: true });
    const waiting = client.feed.bytes;
    at.session.wrote(client, 65_536);
    expect([waiting - client.feed.bytes, peer.told]).toEqual([65_536, []]);
    at.answer();
    expect(peer.hello.offset).toBe(at.log.endOffset);
  });

  test("X1: gets hello, snapshot and exit where the process ends meanwhile", () => {
    const at = flooded();
    const { peer } = join(at.session, "a");
    at.session.exited({ code: 3 });
    at.answer();
    expect([heard(peer), peer.end]).toEqual([["hello", [3, "screen"], "exit"], "finished"]);
  });
});

describe("a client that fell behind", () => {
  /** A viewer whose window is full beside a driver that has all. */
  function behind() {
    const at = flooded();
    const end = at.log.endOffset;
    const driver = join(at.session, "driver", { isResume: true, offset: end }).client;
    const viewer = join(at.session, "viewer", { role: "viewer", isResume: true, offset: end });
    const fall = () => {
      for (let i = 0; i < 8; i += 1) {
        output(at, FRAME);
        at.session.command(driver, { type: "ack", offset: at.log.endOffset });
      }
    };
    /** It has dealt with all that it was sent. */
    const wake = () => {
      const offset = viewer.client.greeted?.reader.cursor ?? 0;
      at.session.command(viewer.client, { type: "ack", offset });
      return offset;
    };
    fall();
    at.clock.ms += 5000;
    return { ...at, peer: viewer.peer, fall, wake };
  }

  test("O5: gets gap and snapshot when its acknowledgement makes room, and not before", () => {
    const at = behind();
    expect(at.asked()).toBe(0);
    const from = at.wake();
    expect([at.asked(), at.peer.of("gap")]).toEqual([1, []]);
    output(at, "on the way");
    const { offset } = at.answer();
    expect(at.peer.of("gap")).toEqual([{ type: "gap", from, to: offset }]);
    expect(at.peer.told.at(-1)).toEqual([3, "screen"]);
    output(at, "live");
    expect(at.peer.told.at(-1)).toEqual([1, "live"]);
  });

  test("O5: is told the snapshot's size before it, where that is new", () => {
    const at = behind();
    at.wake();
    at.answer({ cols: 40, rows: 10 });
    expect(heard(at.peer).slice(-4)).toEqual(["gap", "resize", [3, "screen"], "resize"]);
  });

  test("O5: asks once more when it can be written to, if it could not when its screen came", () => {
    const at = behind();
    at.wake();
    at.peer.isStuffed = true;
    at.answer();
    expect(at.peer.snapshots).toEqual([]);
    at.peer.isStuffed = false;
    at.clock.ms += 1_000;
    at.session.drained(at.session.client("viewer") as ClientRecord);
    expect(at.asked()).toBe(2);
    at.answer();
    expect(at.peer.snapshots).toEqual(["screen"]);
  });

  test("O9: all who wait share one request, and get a screen a second", () => {
    const at = behind();
    at.wake();
    join(at.session, "late", { role: "viewer" });
    expect(at.asked()).toBe(1);
    at.answer();
    expect(at.session.shouldHold).toBe(false);
    at.fall();
    at.wake();
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
    const at = flooded();
    const one = speaking(at, { dialect: PLAIN, role: "viewer" }).attach();
    one.socket.isStuffed = true;
    at.clock.ms += 5000;
    for (let i = 0; i < 8; i += 1) output(at, FRAME);
    one.socket.isStuffed = false;
    one.connection.drained();
    at.answer();
    expect(one.sent.at(-1)).toBe("1:screen");
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
    const wide = new Window(0, undefined, "driver", undefined, 100_000);
    expect([100_000 - MAX_SNAPSHOT_BYTES, 100_001 - MAX_SNAPSHOT_BYTES].map((at) => wide.hasScreenRoom(at))).toEqual([
      true,
      false,
    ]);
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
