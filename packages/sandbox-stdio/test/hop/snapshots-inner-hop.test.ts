// Snapshots across the inner hop: the bridge draws, the relay asks, and each waits for the other only so long.

import { describe, expect, test } from "vitest";
import { OutputLog, RESUME_GRACE_MS, type Snapshot } from "../../src/index.ts";
import { SNAPSHOT_TIMEOUT_MS } from "../../src/output/snapshot-requests.ts";
import { bytes, InnerRig, join, output, pass, relayRig } from "../support/fixtures.ts";
import { CountingSource, heard, PTY } from "../support/screens.ts";

describe("over the inner hop", () => {
  /** A relay whose bridge has printed more than 64 KiB, and is asked for screens. */
  function hop() {
    const source = new CountingSource();
    const at = new InnerRig(PTY, { screen: source }).connect().flush();
    output(at.bridge, new Uint8Array(100_000));
    at.flush();
    const draw = (screen: Snapshot | undefined = snapshot(100_000)) => {
      at.bridge.session.snapshotReady(screen);
      at.flush();
    };
    return { at, draw, asked: () => source.asked };
  }
  const snapshot = (offset: number): Snapshot => ({
    ...{ offset, bytes: bytes("screen"), cols: 90, rows: 30, isExact: true },
  });

  test("H11: the bridge is asked, holds its process meanwhile, and answers once for all who wait", () => {
    const { at, draw, asked } = hop();
    const a = join(at.session, "a");
    const b = join(at.session, "b");
    at.flush();
    expect([asked(), at.bridge.session.shouldHold]).toEqual([1, true]);
    draw();
    expect(at.bridge.session.shouldHold).toBe(false);
    for (const { peer } of [a, b]) {
      expect([peer.hello.offset, peer.hello.cols, peer.snapshots]).toEqual([100_000, 90, ["screen"]]);
    }
    // Where they stand is told upstream, or the bridge would wait for them.
    expect([at.remote("a").acked, at.remote("b").acked]).toEqual([100_000, 100_000]);
  });

  test("O9: the bridge alone spares its process: a relay asks again at once", () => {
    const { at, draw, asked } = hop();
    join(at.session, "a");
    at.flush();
    at.bridge.clock.ms += 100;
    draw();
    const { peer } = join(at.session, "b");
    at.flush();
    expect([asked(), at.session.nextTickMs]).toEqual([1, at.bridge.clock.ms + SNAPSHOT_TIMEOUT_MS]);
    pass(at.bridge, 300);
    expect(asked()).toBe(2);
    draw();
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

  test("H11: a frame that no message has announced is no snapshot, also where one before was announced", () => {
    const { at, draw } = hop();
    const { peer } = join(at.session, "a");
    at.inner.receive(Uint8Array.of(3, 65), 0);
    expect(peer.told).toEqual([]);
    at.flush();
    draw();
    expect(peer.snapshots).toEqual(["screen"]);
    const late = join(at.session, "b").peer;
    at.inner.receive(Uint8Array.of(3, 65), 0);
    at.inner.receive('{"type":"snapshot","offset":100000,"cols":80,"rows":24,"exact":true}', 0);
    at.inner.receive(Uint8Array.of(1, 65), 0);
    expect(late.told).toEqual([]);
    at.connect().flush();
    at.inner.receive(Uint8Array.of(3, 65), 0);
    expect(late.told).toEqual([]);
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
    at.bridge.clock.ms += SNAPSHOT_TIMEOUT_MS;
    at.session.tick();
    expect([peer.hello.offset, peer.hello.approximate]).toEqual([0, undefined]);
  });

  test("X6: at the exit the relay asks for the last screen before it is settled, and keeps it", () => {
    const { at, draw } = hop();
    at.exited({ code: 0 });
    at.flush();
    expect([at.session.exit, at.session.isSettled]).toEqual([{ code: 0 }, false]);
    draw();
    expect([at.session.isSettled, at.session.lastScreen]).toEqual([true, snapshot(100_000)]);
    const { peer } = join(at.session, "late");
    expect(heard(peer)).toEqual(["hello", [3, "screen"], "resize", "exit"]);
  });

  test("X6: where it does not come in two seconds, the log's tail is all that is kept", () => {
    const { at } = hop();
    at.exited({ code: 0 });
    at.flush().cut();
    at.bridge.clock.ms += SNAPSHOT_TIMEOUT_MS;
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
    const at = new InnerRig({}, { logBytes: 1 << 20 }).connect().flush();
    const first = join(at.session, "first");
    at.flush();
    for (let frames = 0; frames < 20; frames += 1) {
      output(at.bridge, new Uint8Array(65_536));
      at.flush();
      at.session.command(first.client, { type: "ack", offset: at.session.log.endOffset });
      at.flush();
    }
    const late = join(at.session, "late");
    // The process writes on until its attach has come to the bridge.
    output(at.bridge, new Uint8Array(65_536));
    expect([late.peer.told, at.bridge.session.shouldHold]).toEqual([[], false]);
    at.flush();
    expect(at.bridge.session.shouldHold).toBe(true);
    expect([late.peer.hello.offset, late.peer.hello.gap]).toEqual([5 * 65_536, 5 * 65_536]);
    while (late.peer.output.length < 16 * 65_536) {
      const { acked } = late.client;
      const offset = late.peer.hello.offset + late.peer.output.length;
      at.session.command(late.client, { type: "ack", offset });
      at.flush();
      expect(late.client.acked).toBeGreaterThan(acked);
    }
    expect(late.peer.of("gap")).toEqual([]);
  });

  test("H12: the bridge is told where it starts, which the log may have left behind since its attach", () => {
    const at = new InnerRig({}, { logBytes: 1 << 20 }).connect().flush();
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
    const at = new InnerRig().connect().flush();
    output(at.bridge, new Uint8Array(600_000));
    at.flush();
    const late = join(at.session, "late");
    expect(late.peer.told).toEqual([]);
    at.bridge.clock.ms += 2000;
    at.session.tick();
    expect(late.peer.hello.offset).toBe(0);
  });
});
