// Numbered output (E4): what was told once stays so, over every later cut and every restart.
import fc from "fast-check";
import { expect, test } from "vitest";
import { OutputLog } from "../../src/index.ts";
import { MAX_CHUNK_BYTES } from "../../src/programs/chunk-table.ts";
import { ChunkTable, readChunkList, WriteIds } from "../../src/programs/index.ts";

const logOf = (capacity?: number) => new OutputLog({ cols: 80, rows: 24 }, capacity);
const say = (log: OutputLog, text: string, stream: 1 | 2 = 1) => log.append(Buffer.from(text), stream);

test("E4: a chunk is of one stream, has at most 32 KiB, and is never cut anew", () => {
  const log = logOf();
  const table = new ChunkTable();
  say(log, "out");
  say(log, "err", 2);
  table.cut(log);
  say(log, "x".repeat(MAX_CHUNK_BYTES + 1));
  say(log, "y");
  table.cut(log, log.endOffset - 1);
  expect(table.list(0).chunks).toEqual([
    [0, 3, 1],
    [3, 3, 2],
    [6, MAX_CHUNK_BYTES, 1],
    [6 + MAX_CHUNK_BYTES, 1, 1],
  ]);
  expect(table.list(2, 1)).toMatchObject({ first: 3, chunks: [[6, MAX_CHUNK_BYTES, 1]] });
  expect([table.last, table.list(4).chunks, table.list(9).chunks]).toEqual([4, [], []]);
});

test("E4: what the log held no more has no number, and its place shows that it is missing", () => {
  const log = logOf(4096);
  const table = new ChunkTable();
  say(log, "first");
  table.cut(log);
  say(log, "x".repeat(10_000));
  table.cut(log);
  expect(table.list(0).chunks).toEqual([
    [0, 5, 1],
    [10_005 - 4096, 4096, 1],
  ]);
});

test("E4: whenever it is cut, and however often it is stored, all bytes have one number", () => {
  const step = fc.record({
    length: fc.integer({ min: 0, max: 70_000 }),
    isErr: fc.boolean(),
    cuts: fc.boolean(),
    restarts: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const log = logOf(2 * 1024 * 1024);
      let table = new ChunkTable();
      let told = table.list(0).chunks;
      for (const { length, isErr, cuts, restarts } of steps) {
        log.append(new Uint8Array(length), isErr ? 2 : 1);
        if (cuts) table.cut(log);
        if (restarts) table = new ChunkTable(readChunkList(JSON.parse(JSON.stringify(table.list()))));
        const { chunks } = table.list(0);
        expect(chunks.slice(0, told.length)).toEqual(told);
        told = chunks;
      }
      table.cut(log);
      let at = 0;
      for (const [offset, length] of table.list(0).chunks) {
        expect(offset).toBe(at);
        at += length;
      }
      expect(at).toBe(log.endOffset);
    }),
    { numRuns: 50 },
  );
});

test("E4: an answer that is no table is none", () => {
  const good = {
    first: 1,
    end: 4,
    chunks: [
      [0, 2, 1],
      [2, 2, 2],
    ],
  };
  expect(readChunkList(good)).toEqual(good);
  const bad = [null, [], {}, { ...good, first: 0 }, { ...good, end: 3 }, { ...good, chunks: [[0]] }];
  const worse = [
    { ...good, chunks: [[0, 0, 1]] },
    {
      ...good,
      chunks: [
        [2, 2, 1],
        [0, 2, 1],
      ],
    },
    { ...good, chunks: [[0, "4", 1]] },
    { ...good, chunks: [[0, 1, 3]] },
  ];
  for (const one of [...bad, ...worse]) expect([one, readChunkList(one)]).toEqual([one, undefined]);
});

test("E5: the last 10,000 ids of writes are remembered", () => {
  const ids = new WriteIds();
  for (let i = 0; i < 10_001; i += 1) ids.note(`${i}`, "hash");
  expect([ids.look("0", "hash"), ids.look("1", "hash"), ids.look("1", "other"), ids.look("10000", "hash")]).toEqual([
    "new",
    "known",
    "other",
    "known",
  ]);
});
