// One reader of the log: what it is sent, in which order, and how much of it.

import { describe, expect, test } from "vitest";
import { Random } from "../../../local/src/base/random.ts";
import { ACK_BYTES, ACK_DELAY_MS, MAX_FRAME_BYTES, OutputLog, PLAIN_RATE } from "../../src/index.ts";
import { type Flow, LinkFlow, RatedFlow } from "../../src/output/flow.ts";
import { FrameSource, OutputReader } from "../../src/output/output-reader.ts";
import { Window } from "../../src/output/window.ts";
import { Scheduler } from "../simulation/scheduler.ts";
import { bytes, FakePeer } from "../support/fixtures.ts";

const SIZE = { cols: 80, rows: 24 };
const LARGE = 1 << 20;
/** A flow without a limit of its own. */
const open = (offset = 0) => new LinkFlow(offset, 0, () => true);

function reading<F extends Flow>(flow: F, { logBytes = LARGE, cursor = 0 } = {}) {
  const log = new OutputLog(SIZE, logBytes);
  const peer = new FakePeer();
  const reader = new OutputReader(log, new FrameSource(log, false), cursor, flow, peer);
  /** The process writes, and the reader is looked at. */
  const come = (output: string | number, stream: 1 | 2 = 1) => {
    log.append(typeof output === "string" ? bytes(output) : new Uint8Array(output).fill(120), stream);
    reader.pump(0, undefined);
  };
  const lengths = () => peer.told.flatMap((item) => (Array.isArray(item) ? [item[1].length] : []));
  return { log, peer, flow, reader, come, lengths };
}

describe("order", () => {
  test("O1: output, changes of size and the exit come in the order of the log, once", () => {
    const { log, peer, reader } = reading(open());
    log.append(bytes("ab"), 1);
    log.append(bytes("!"), 2);
    log.markSize(100, 40);
    log.append(bytes("cd"), 1);
    log.markSize(120, 50);
    expect([reader.pump(0, { code: 3 }), reader.pump(0, { code: 3 })]).toEqual([true, false]);
    expect(peer.told).toEqual([
      [1, "ab"],
      [2, "!"],
      { type: "resize", cols: 100, rows: 40, offset: 3 },
      [1, "cd"],
      { type: "resize", cols: 120, rows: 50, offset: 5 },
      { type: "exit", code: 3, offset: 5 },
    ]);
  });

  test("O3: the greeting tells the size at its offset; a later size at the same place is told by itself", () => {
    const log = new OutputLog(SIZE);
    log.markSize(100, 40);
    const peer = new FakePeer();
    const reader = new OutputReader(log, new FrameSource(log, false), 0, open(), peer);
    reader.pump(0, undefined);
    expect(peer.told).toEqual([]);
    log.markSize(90, 30);
    reader.pump(0, undefined);
    expect(peer.told).toEqual([{ type: "resize", cols: 90, rows: 30, offset: 0 }]);
  });

  test("O3: a change to the size that the reader has is told too, where it was made", () => {
    const { log, peer, reader, come } = reading(open());
    come("ab");
    log.markSize(SIZE.cols, SIZE.rows);
    reader.pump(0, undefined);
    expect(peer.of("resize")).toEqual([{ type: "resize", ...SIZE, offset: 2 }]);
  });

  test("X7: a process that is lost has no exit", () => {
    const { peer, reader, come } = reading(open());
    come("ab");
    expect([reader.pump(0, "lost"), reader.hasExited, peer.told]).toEqual([true, true, [[1, "ab"]]]);
  });

  test("O6: after a gap the size is told if it changed within it", () => {
    const { log, peer, come } = reading(open(), { logBytes: 4096 });
    log.append(bytes("ab"), 1);
    log.markSize(100, 40);
    come(5000);
    expect(peer.told.slice(0, 2)).toEqual([
      { type: "gap", from: 0, to: 906 },
      { type: "resize", cols: 100, rows: 40, offset: 906 },
    ]);
    expect(peer.output.length).toBe(4096);
  });

  test("R3: a reader ahead of its log waits, and is told the size that then holds", () => {
    const { log, peer, reader, come } = reading(open(10), { cursor: 10 });
    peer.isStuffed = true;
    reader.pump(0, undefined);
    peer.isStuffed = false;
    log.append(new Uint8Array(4), 1);
    log.markSize(100, 40);
    reader.pump(0, undefined);
    expect(peer.told).toEqual([]);
    come("456789");
    come("abc");
    expect(peer.told).toEqual([{ type: "resize", cols: 100, rows: 40, offset: 10 }, [1, "abc"]]);
  });
});

describe("how much", () => {
  test("W1: no more is in flight than the window, and an acknowledgement makes room", () => {
    const { peer, flow, reader, come } = reading(new Window(0));
    come(900_000);
    expect([reader.cursor, peer.output.length, reader.blockedSinceMs]).toEqual([65_536, 65_536, 0]);
    flow.ack(65_536, 10);
    reader.pump(10, undefined);
    expect(reader.cursor).toBe(65_536 + flow.bytes);
  });

  test("W6: a gap counts as nothing in flight: what was sent before it still does", () => {
    const { log, peer, flow, reader, come } = reading(new Window(0));
    for (let i = 0; i < 21; i += 1) come(65_536);
    expect(peer.of("gap")).toEqual([]);
    flow.ack(32_768, 10);
    reader.pump(10, undefined);
    const { startOffset } = log;
    expect(peer.of("gap")).toEqual([{ type: "gap", from: 65_536, to: startOffset }]);
    expect(reader.cursor - startOffset).toBe(flow.bytes - 32_768);
  });

  test("F5: no frame is longer than the limit, nor crosses a change of stream", () => {
    const { log, reader, peer } = reading(open());
    log.append(new Uint8Array(MAX_FRAME_BYTES + 10), 1);
    log.append(new Uint8Array(3), 2);
    reader.pump(0, undefined);
    expect(peer.told.map((item) => (Array.isArray(item) ? [item[0], item[1].length] : item))).toEqual([
      [1, MAX_FRAME_BYTES],
      [1, 10],
      [2, 3],
    ]);
  });

  describe("F5: while as much as a frame of full length is in flight to a viewer", () => {
    function viewing() {
      let acked = 0;
      const isBusy = (cursor: number) => cursor - acked >= ACK_BYTES;
      const one = reading(Object.assign(open(), { isBusy, isPatient: true }));
      const ack = (offset: number) => {
        acked = offset;
        one.reader.pump(0, undefined);
      };
      return { ...one, ack };
    }

    test("frames of full length are sent, or up to the next multiple of that in the log", () => {
      const { come, lengths } = viewing();
      for (let i = 0; i < 3; i += 1) come(40_000);
      expect(lengths()).toEqual([40_000, 40_000]);
      come(100_000);
      expect(lengths().slice(2)).toEqual([2 * MAX_FRAME_BYTES - 80_000, MAX_FRAME_BYTES]);
    });

    test("what is there goes out once that is acknowledged, and at once where nothing can be added to it", () => {
      const { reader, come, ack, lengths } = viewing();
      come(MAX_FRAME_BYTES);
      come(10);
      expect([lengths().length, reader.blockedSinceMs]).toEqual([1, undefined]);
      ack(1);
      expect(lengths().slice(1)).toEqual([10]);
      ack(0);
      come(20);
      expect(lengths().length).toBe(2);
      come(30, 2);
      expect(lengths().slice(2)).toEqual([20]);
      reader.pump(0, { code: 0 });
      expect(lengths().slice(3)).toEqual([30]);
    });

    test("a frame that has not room waits for it, and that counts as a full window", () => {
      const { log, flow, reader } = reading(new Window(0, undefined, "viewer"));
      log.append(new Uint8Array(200_000), 1);
      reader.pump(5, undefined);
      expect([reader.cursor, reader.blockedSinceMs]).toEqual([65_536, 5]);
      flow.ack(65_535, 6);
      reader.pump(6, undefined);
      // A byte is missing for one more.
      expect(reader.cursor).toBe(65_536 + flow.bytes - flow.frameBytes);
    });
  });

  test("F5: while a full frame is in flight, a frame to a driver waits for room for all of it", () => {
    let [limit, isBusy] = [60_000, false];
    const flow = Object.assign(open(), { room: (cursor: number) => limit - cursor, isBusy: () => isBusy });
    const { reader, come } = reading(flow);
    const reached = (newLimit: number, busy: boolean) => {
      [limit, isBusy] = [newLimit, busy];
      reader.pump(0, undefined);
      return reader.cursor;
    };
    come(2 * MAX_FRAME_BYTES);
    expect(reached(60_000, false)).toBe(60_000);
    expect(reached(60_000 + MAX_FRAME_BYTES - 1, true)).toBe(60_000);
    expect(reached(60_000 + MAX_FRAME_BYTES, true)).toBe(60_000 + MAX_FRAME_BYTES);
    // No more than this is there.
    expect(reached(2 * MAX_FRAME_BYTES - 1, true)).toBe(60_000 + MAX_FRAME_BYTES);
    expect(reached(2 * MAX_FRAME_BYTES, true)).toBe(2 * MAX_FRAME_BYTES);
  });

  test("F5: a driver never waits with nothing in flight, however its window changes", () => {
    const random = new Random(1);
    const time = new Scheduler();
    const { log, peer, flow, reader } = reading(new Window(0));
    const period = 251;
    const pattern = new Uint8Array(period + 200_000).map((_, i) => i % period);
    let [dealt, acked, wrong, stalls, leastWindow, mostWindow] = [0, 0, 0, 0, flow.bytes, flow.bytes];
    let [bytesPerMs, mostPauseMs, busyUntil] = [1000, 50, 0];
    let cancelAck: (() => void) | undefined;

    // A process that is held up while too much waits, and now and then another link.
    const come = () => {
      const from = log.endOffset % period;
      const chunk = pattern.subarray(from, from + random.scale(1, 200_000));
      if (log.endOffset + chunk.length <= acked + LARGE) log.append(chunk, 1);
      pump();
      if (random.chance(0.002)) [bytesPerMs, mostPauseMs] = [random.pick([20, 1000]), random.pick([50, 50, 500])];
      if (time.now < 60_000) time.after(random.scale(1, mostPauseMs), come);
    };
    const pump = () => {
      reader.pump(time.now, undefined);
      if (reader.cursor < log.endOffset && reader.cursor === acked) stalls += 1;
      [leastWindow, mostWindow] = [Math.min(leastWindow, flow.bytes), Math.max(mostWindow, flow.bytes)];
    };
    peer.sendOutput = (frame) => {
      busyUntil = Math.max(time.now, busyUntil) + frame.length / bytesPerMs;
      time.at(busyUntil + 100, () => deal(frame.subarray(1)));
    };
    // Acknowledges after a frame of full length, or 50 ms after the oldest byte: as a client does.
    const deal = (data: Uint8Array) => {
      const from = dealt % period;
      if (Buffer.compare(data, pattern.subarray(from, from + data.length)) !== 0) wrong += 1;
      dealt += data.length;
      if (dealt - acked >= ACK_BYTES) ack();
      else cancelAck ??= time.after(ACK_DELAY_MS, ack);
    };
    const ack = () => {
      cancelAck?.();
      cancelAck = undefined;
      acked = dealt;
      flow.ack(acked, time.now);
      pump();
    };
    come();
    time.run(Number.POSITIVE_INFINITY, () => false);

    expect({ stalls, wrong, acked, told: peer.told }).toEqual({ stalls: 0, wrong: 0, acked: log.endOffset, told: [] });
    expect(leastWindow).toBeLessThan(ACK_BYTES);
    expect(mostWindow).toBeGreaterThan(2 * ACK_BYTES);
  });

  test("a peer that can't be written to is left alone, and how long is known", () => {
    const { log, peer, reader } = reading(open());
    log.append(bytes("ab"), 1);
    peer.isStuffed = true;
    for (const nowMs of [7, 9]) reader.pump(nowMs, undefined);
    expect([peer.told, reader.blockedSinceMs]).toEqual([[], 7]);
    peer.isStuffed = false;
    reader.pump(11, undefined);
    expect([peer.output, reader.blockedSinceMs]).toEqual(["ab", undefined]);
  });

  test("W10: a client that can't acknowledge is sent its rate, and no more", () => {
    const flow = new RatedFlow(0, 0);
    let cursor = 0;
    for (let ms = 0; ms <= 1000; ms += 1) {
      cursor += flow.room(cursor, ms);
      flow.sent(cursor);
    }
    expect(cursor).toBeGreaterThan(PLAIN_RATE);
    expect(cursor).toBeLessThan(PLAIN_RATE * 1.11);
  });

  test("W10: it waits for room for 8 KiB, not for a frame of full length", () => {
    const { log, flow, reader } = reading(new RatedFlow(0, 0, 100_000));
    log.append(new Uint8Array(200_000), 1);
    const reached = [0, 81, 82].map((ms) => {
      reader.pump(ms, undefined);
      return reader.cursor;
    });
    expect(reached).toEqual([MAX_FRAME_BYTES, MAX_FRAME_BYTES, 65_536 + 8_200]);
    // The client can't acknowledge: nothing says that it keeps up, and nothing is freed.
    expect([flow.ack(), flow.keepsUp()]).toEqual([false, false]);
  });

  test("W13: a screen counts against the window of its reader", () => {
    const { flow, reader } = reading(new Window(0));
    reader.showScreen({ offset: 0, ...SIZE, isExact: true, frame: new Uint8Array(1_001) });
    expect(flow.inFlight(reader.cursor)).toBe(1_000);
  });

  test("W10: at a low rate too it has room for a frame and for a screen some time, and no more than its rate", () => {
    const rate = 10_000;
    const flow = new RatedFlow(0, 0, rate);
    flow.sent(flow.room(0, 0));
    expect([flow.room(0, 6_000), flow.hasScreenRoom(0, 6_000)]).toEqual([60_000, false]);
    expect([flow.room(0, 7_000), flow.hasScreenRoom(0, 7_000)]).toEqual([65_536, true]);
    flow.drew(0, 65_536);
    expect(flow.room(0, 8_000)).toBe(rate);
  });
});

describe("frames", () => {
  function source(reuses: boolean, text = "abcd") {
    const log = new OutputLog(SIZE);
    log.append(bytes(text), 1);
    return new FrameSource(log, reuses);
  }
  const frame = (text: string) => Uint8Array.of(1, ...bytes(text));

  test("readers at the same place share one frame, made once", () => {
    const one = source(false);
    expect(one.frame(0, 3, 1)).toBe(one.frame(0, 3, 1));
    expect([one.frame(0, 2, 1), one.frame(1, 2, 1)]).toEqual([frame("ab"), frame("bc")]);
  });

  test("a frame that came whole is passed on as it came", () => {
    const one = source(false, "ab");
    const came = frame("ab");
    one.keep(0, came);
    expect(one.frame(0, 2, 1)).toBe(came);
  });

  test("with memory used again, what a frame holds is right until the next is made, of this log or of another", () => {
    const [one, two] = [source(true), source(true, "xy")];
    expect(one.frame(0, 2, 1)).toEqual(frame("ab"));
    expect(one.frame(2, 2, 1)).toEqual(frame("cd"));
    expect(two.frame(0, 2, 1)).toEqual(frame("xy"));
    expect(one.frame(0, 2, 1)).toEqual(frame("ab"));
  });

  test("with memory used again, readers share a frame as well, and all logs one buffer", () => {
    const [one, two] = [source(true), source(true, "xy")];
    const first = one.frame(0, 3, 1);
    expect(one.frame(0, 3, 1)).toBe(first);
    expect(two.frame(0, 2, 1).buffer).toBe(first.buffer);
  });
});
