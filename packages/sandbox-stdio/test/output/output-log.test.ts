// The output log: one ring, any number of readers, each byte with its stream, changes of size at their offsets.

import { describe, expect, test } from "vitest";
import { Random } from "../../../local/src/base/random.ts";
import { MAX_FRAME_BYTES, OutputLog, type OutputStream } from "../../src/index.ts";
import { isSame } from "../simulation/pattern.ts";
import { bytes } from "../support/fixtures.ts";

const SIZE = { cols: 80, rows: 24 };

/** Everything from `offset` on, as runs of one stream. */
function readFrom(log: OutputLog, offset: number, maxBytes?: number): [OutputStream, string][] {
  const runs: [OutputStream, string][] = [];
  for (let at = offset; ; ) {
    const item = log.itemAt(at, maxBytes);
    if (item.kind !== "bytes") return runs;
    const copy = new Uint8Array(item.length);
    log.copy(at, item.length, copy, 0);
    runs.push([item.stream, new TextDecoder().decode(copy)]);
    at += item.length;
  }
}

describe("what is held", () => {
  test("O2: a reader gets the bytes from any offset that is held, the gap before it, and the end", () => {
    const log = new OutputLog(SIZE, 4096);
    log.append(bytes("abcdef"), 1);
    for (let offset = 0; offset <= 6; offset += 1) {
      expect(readFrom(log, offset).map(([, text]) => text)).toEqual(offset === 6 ? [] : ["abcdef".slice(offset)]);
    }
    log.append(new Uint8Array(4096).fill(120), 1);
    expect([log.startOffset, log.endOffset]).toEqual([6, 4102]);
    expect(log.itemAt(5)).toEqual({ kind: "gap", startOffset: 6 });
    expect(log.itemAt(4102)).toEqual({ kind: "end" });
  });

  test("what is asked for beyond the end is our own fault and throws", () => {
    const log = new OutputLog(SIZE, 4096);
    expect(() => log.itemAt(1)).toThrow(RangeError);
    expect(() => log.itemAt(Number.NaN)).toThrow(RangeError);
    expect(() => new OutputLog(SIZE, 2048)).toThrow(RangeError);
    log.append(bytes("abc"), 1);
    expect(() => log.skipTo(2)).toThrow(RangeError);
  });

  test("W1: a log of any size holds exactly its newest bytes, and what may be read ahead of a window fits into it", () => {
    for (const capacity of [65_536, 100_000, 1_048_576, 8_388_608]) {
      const log = new OutputLog(SIZE, capacity);
      for (let written = 0; written < 2 * capacity; written += 65_000) log.append(new Uint8Array(65_000).fill(97), 1);
      expect(log.endOffset - log.startOffset).toBe(capacity);
      // A window and a frame, and one of each stream that is read before the process is held.
      expect(log.windowBytes + 3 * log.frameBytes).toBeLessThan(capacity);
    }
  });

  test("W4: its window is the largest from a MiB on, and less than half of a smaller log", () => {
    const windows = [4_096, 65_536, 1_048_575, 1_048_576, 8_388_608].map(
      (size) => new OutputLog(SIZE, size).windowBytes,
    );
    expect(windows).toEqual([16_384, 28_672, 458_751, 524_288, 524_288]);
  });

  test("the ring grows to its capacity and keeps all that it held, streams and all", () => {
    const log = new OutputLog(SIZE, 65_536);
    const written: [OutputStream, string][] = [];
    for (let i = 0; i < 30; i += 1) {
      const text = String.fromCharCode(97 + (i % 26)).repeat(1 + 137 * i);
      const stream = i % 2 === 0 ? 1 : 2;
      log.append(bytes(text), stream);
      written.push([stream, text]);
    }
    expect(log.startOffset).toBe(0);
    expect(readFrom(log, 0)).toEqual(written);
  });

  test("memory is no more than what is held needs, wherever the log begins, nor than its capacity", () => {
    const log = new OutputLog(SIZE, 4096, 2 ** 40);
    const ringBytes = (length: number) => log.reserve(length).buffer.byteLength;
    expect([ringBytes(512), ringBytes(513), ringBytes(65_536)]).toEqual([512, 1024, 4096]);
  });

  test("a chunk longer than the log leaves its own end", () => {
    const log = new OutputLog(SIZE, 4096);
    const chunk = Uint8Array.from({ length: 300_000 }, (_, i) => 97 + (i % 26));
    log.append(chunk, 2);
    expect([log.startOffset, log.endOffset]).toEqual([300_000 - 4096, 300_000]);
    expect(readFrom(log, log.startOffset)).toEqual([[2, new TextDecoder().decode(chunk.subarray(-4096))]]);
  });

  test("offsets go on beyond 2^32 and keep their bytes", () => {
    const start = 2 ** 40 + 12_345;
    const log = new OutputLog(SIZE, 4096, start);
    for (let i = 0; i < 1_000; i += 1) log.append(bytes(`${i % 10}abcdefghi`), i % 3 === 0 ? 2 : 1);
    expect(log.endOffset).toBe(start + 10_000);
    expect(readFrom(log, log.endOffset - 25).map(String)).toEqual(["1,efghi8abcdefghi", "2,9abcdefghi"]);
  });

  test("skipping forgets everything and goes on behind the gap", () => {
    const log = new OutputLog(SIZE, 4096);
    log.append(bytes("abc"), 2);
    for (let i = 0; i < 2; i += 1) log.skipTo(1000);
    log.append(bytes("xyz"), 1);
    expect(log.itemAt(3)).toEqual({ kind: "gap", startOffset: 1000 });
    expect(readFrom(log, 1000)).toEqual([[1, "xyz"]]);
  });
});

describe("memory lent for reading into", () => {
  test("what was committed counts, and no more", () => {
    const log = new OutputLog(SIZE, 4096);
    log.reserve(100).set(bytes("hello"));
    log.commit(5, 2);
    log.reserve().set(bytes("!"));
    log.commit(1, 1);
    expect(readFrom(log, 0).map(String)).toEqual(["2,hello", "1,!"]);
    log.reserve(10);
    expect(() => log.commit(11, 1)).toThrow(RangeError);
    log.commit(0, 1);
    expect(() => log.commit(1, 1)).toThrow(RangeError);
  });

  test("it is contiguous, at least one byte and never more than asked for, wherever the ring stands", () => {
    const log = new OutputLog(SIZE, 4096);
    for (let i = 0; i < 5_000; i += 1) {
      const memory = log.reserve(1_000);
      expect(memory.length > 0 && memory.length <= 1_000).toBe(true);
      log.commit(Math.min(memory.length, 1 + (i % 7)), 1);
    }
  });
});

describe("runs", () => {
  test("F5: a run is of one stream, also where the pattern changes at every bit", () => {
    const log = new OutputLog(SIZE, 4096);
    for (let i = 0; i < 40; i += 1) log.append(bytes("ab".slice(0, 1 + (i % 2))), i % 3 === 0 ? 2 : 1);
    const runs = readFrom(log, 0);
    expect(runs.every(([stream], i) => i === 0 || stream !== runs[i - 1]?.[0])).toBe(true);
    expect(runs.map(([, text]) => text).join("").length).toBe(60);
  });

  test("F5: a long run is cut at the frame's length, and where the reader says", () => {
    const log = new OutputLog(SIZE);
    log.append(new Uint8Array(MAX_FRAME_BYTES + 5), 2);
    expect(log.itemAt(0)).toEqual({ kind: "bytes", stream: 2, length: MAX_FRAME_BYTES });
    expect(log.itemAt(MAX_FRAME_BYTES)).toEqual({ kind: "bytes", stream: 2, length: 5 });
    expect(log.itemAt(3, 100)).toEqual({ kind: "bytes", stream: 2, length: 100 });
  });
});

describe("sizes", () => {
  test("O3: a size holds from its offset on, and cuts the run before it", () => {
    const log = new OutputLog(SIZE, 4096);
    log.append(bytes("abc"), 1);
    log.markSize(100, 40);
    log.append(bytes("def"), 1);
    expect([0, 2, 3, 6].map((offset) => log.sizeAt(offset).cols)).toEqual([80, 80, 100, 100]);
    expect(log.itemAt(1)).toEqual({ kind: "bytes", stream: 1, length: 2 });
    expect([log.markFrom(0)?.offset, log.markFrom(3)?.offset, log.markFrom(4)]).toEqual([3, 3, undefined]);
  });

  test("O3: of two sizes at one place the later counts; one whose place is no longer held is the size at the start", () => {
    const log = new OutputLog(SIZE, 4096);
    log.markSize(120, 50);
    log.markSize(100, 40);
    expect([log.sizeAt(0).cols, log.markFrom(0)]).toEqual([100, { offset: 0, cols: 100, rows: 40 }]);
    log.append(new Uint8Array(10), 1);
    log.markSize(90, 30);
    log.append(new Uint8Array(4096), 1);
    expect([log.startOffset, log.sizeAt(10).cols, log.markFrom(0)?.offset]).toEqual([10, 90, 10]);
    log.append(new Uint8Array(1), 1);
    expect([log.startOffset, log.sizeAt(11).cols, log.markFrom(0)]).toEqual([11, 90, undefined]);
  });

  test("O3: of 1024 changes of size the oldest are forgotten first, and the newest is right", () => {
    const log = new OutputLog(SIZE, 65_536);
    for (let i = 0; i < 3_000; i += 1) {
      log.append(bytes("a"), 1);
      log.markSize(1 + (i % 1000), 1 + (i % 500));
    }
    expect(log.sizeAt(3_000)).toEqual({ cols: 1000, rows: 500 });
    expect(log.sizeAt(2_500)).toEqual({ cols: 500, rows: 500 });
    expect([log.changes.length, log.changes[0]?.offset]).toEqual([1_024, 1_977]);
  });

  test("O3: of changes that were stored only those within the log are restored", () => {
    const log = new OutputLog(SIZE, 4096, 10);
    log.append(bytes("abc"), 1);
    log.restoreChanges([9, 10, 13, 14].map((offset) => ({ offset, cols: 90, rows: 30 })));
    expect(log.changes.map(({ offset }) => offset)).toEqual([10, 13]);
  });
});

test("a log is what an array of bytes with a stream each would be, whatever is written and skipped", () => {
  for (let seed = 1; seed <= 15; seed += 1) {
    const random = new Random(seed);
    const capacity = random.pick([4_096, 8_192, 65_536]);
    const first = random.pick([0, 0, 123_456_789_012]);
    const log = new OutputLog(SIZE, capacity, first);
    /** Bytes and streams since {@link start}. */
    const model = { bytes: new Uint8Array(1 << 20), streams: new Uint8Array(1 << 20), length: 0 };
    let start = first;
    const sizes = [{ offset: first, ...SIZE }];
    let next = 0;
    const check = (condition: boolean, what: string) => {
      if (!condition) throw new Error(`seed ${seed}: ${what} at ${log.endOffset}`);
    };
    for (let step = 0; step < 120; step += 1) {
      const kind = random.int(0, 9);
      if (kind === 0) {
        const gap = random.scale(1, 10_000);
        log.skipTo(log.endOffset + gap);
        model.length = 0;
        start = log.endOffset;
      } else if (kind === 1) {
        const size = { cols: random.int(1, 1000), rows: random.int(1, 500) };
        log.markSize(size.cols, size.rows);
        sizes.push({ offset: log.endOffset, ...size });
      } else {
        const stream = random.chance(0.4) ? 2 : 1;
        const chunk = Uint8Array.from({ length: random.scale(1, 12_000) }, () => next++ & 0xff);
        if (random.chance(0.5)) log.append(chunk, stream);
        else {
          for (let done = 0; done < chunk.length; ) {
            const memory = log.reserve(random.int(1, 70_000));
            const count = Math.min(memory.length, chunk.length - done, random.int(1, 5_000));
            memory.set(chunk.subarray(done, done + count));
            log.commit(count, stream);
            done += count;
          }
        }
        model.bytes.set(chunk, model.length);
        model.streams.fill(stream, model.length, model.length + chunk.length);
        model.length += chunk.length;
      }
      const held = Math.min(model.length, capacity);
      check(log.endOffset === start + model.length, "end");
      // A ring that has not grown to its capacity holds all that there is.
      check(log.startOffset === start + model.length - held, "start");
      const from = random.int(log.startOffset, log.endOffset);
      for (let at = from; at < log.endOffset; ) {
        const item = log.itemAt(at, random.scale(1, 65_536));
        if (item.kind !== "bytes") throw new Error(`seed ${seed}: ${item.kind} at ${at}`);
        const copy = new Uint8Array(item.length);
        log.copy(at, item.length, copy, 0);
        const place = at - start;
        check(isSame(copy, model.bytes.subarray(place, place + item.length)), `bytes from ${at}`);
        const streams = new Uint8Array(item.length).fill(item.stream);
        check(isSame(streams, model.streams.subarray(place, place + item.length)), `stream from ${at}`);
        const mark = sizes.find((size) => size.offset > at);
        check(mark === undefined || at + item.length <= mark.offset || mark.offset < start, "a run across a size");
        at += item.length;
      }
      const size = sizes.findLast((known) => known.offset <= from);
      check(size?.cols === log.sizeAt(from).cols && size.rows === log.sizeAt(from).rows, `size at ${from}`);
    }
  }
});
