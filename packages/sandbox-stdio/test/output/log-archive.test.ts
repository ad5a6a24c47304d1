// The log as bytes to be stored, and back.

import { expect, test } from "vitest";
import { decodeArchive, encodeArchive, OutputLog } from "../../src/index.ts";
import { bytes } from "../support/fixtures.ts";

const SIZE = { cols: 80, rows: 24 };

function contentOf(log: OutputLog): string {
  let content = "";
  for (let at = log.startOffset; at < log.endOffset; ) {
    const item = log.itemAt(at);
    if (item.kind !== "bytes") throw new Error("unreachable");
    const copy = new Uint8Array(item.length);
    log.copy(at, item.length, copy, 0);
    content += `${item.stream}:${new TextDecoder("latin1").decode(copy)} `;
    at += item.length;
  }
  return content;
}

test("X5: a log comes back with its offsets, its bytes and their streams, in pieces of half a MiB at most", () => {
  const log = new OutputLog(SIZE);
  for (let i = 0; i < 3_000; i += 1) log.append(bytes(`${i}`.repeat(1 + (i % 200))), i % 4 === 0 ? 2 : 1);
  const pieces = encodeArchive(log);
  expect(log.startOffset).toBeGreaterThan(0);
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.every((piece) => piece.length <= 512 * 1024)).toBe(true);
  const back = decodeArchive(pieces, log.startOffset, SIZE);
  expect([back.startOffset, back.endOffset]).toEqual([log.startOffset, log.endOffset]);
  expect(contentOf(back)).toBe(contentOf(log));
});

test("X5: changes of size come back where they were, at the log's end too", () => {
  const log = new OutputLog(SIZE, 4096);
  for (let i = 0; i < 5; i += 1) {
    log.append(bytes("x".repeat(1_000)), 1);
    log.markSize(100 + i, 30);
  }
  log.markSize(50, 10);
  const start = log.startOffset;
  const back = decodeArchive(encodeArchive(log), start, log.sizeAt(start), log.changes);
  expect(back.changes).toEqual([
    ...[0, 1, 2, 3].map((i) => ({ offset: 1_000 * (i + 1), cols: 100 + i, rows: 30 })),
    { offset: 5_000, cols: 50, rows: 10 },
  ]);
  expect([back.sizeAt(start), back.sizeAt(5_000)]).toEqual([log.sizeAt(start), { cols: 50, rows: 10 }]);
});

test("X5: single bytes of alternating streams are stored too, at some cost; an empty log is no piece", () => {
  const log = new OutputLog(SIZE, 4096);
  for (let i = 0; i < 5_000; i += 1) log.append(bytes(String(i % 10)), i % 2 === 0 ? 2 : 1);
  const back = decodeArchive(encodeArchive(log), log.startOffset, SIZE);
  expect(contentOf(back)).toBe(contentOf(log));
  expect(encodeArchive(new OutputLog(SIZE, undefined, 77))).toEqual([]);
  expect(decodeArchive([], 77, SIZE).endOffset).toBe(77);
});
