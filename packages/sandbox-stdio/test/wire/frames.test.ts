// Binary messages, byte by byte.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeStdin, MAX_FRAME_BYTES } from "../../src/index.ts";
import { decodeFrame, decodeStdin, encodeFrame, STDIN_HEADER_BYTES } from "../../src/wire/frames.ts";
import { bytes } from "../support/fixtures.ts";

describe("F1: a frame from the server", () => {
  // 0x01: standard output; then the payload as it is.
  const stdout = new Uint8Array([0x01, 0x68, 0x69, 0x00, 0xff]);
  // 0x02: standard error.
  const stderr = new Uint8Array([0x02, 0x21]);
  // 0x03: snapshot, which does not advance the offset.
  const snapshot = new Uint8Array([0x03, 0x1b, 0x5b, 0x48]);

  test("is its type byte and its payload", () => {
    expect(encodeFrame(1, stdout.subarray(1))).toEqual(stdout);
    expect(encodeFrame(2, bytes("!"))).toEqual(stderr);
    expect(encodeFrame(3, bytes("\u001b[H"))).toEqual(snapshot);
  });

  test("decodes to a view of its payload", () => {
    expect(decodeFrame(stdout)).toEqual({ kind: "output", stream: 1, bytes: stdout.subarray(1) });
    expect(decodeFrame(stderr)).toEqual({ kind: "output", stream: 2, bytes: bytes("!") });
    expect(decodeFrame(snapshot)).toEqual({ kind: "snapshot", bytes: snapshot.subarray(1) });
    const decoded = decodeFrame(stdout);
    expect(decoded.kind === "output" && decoded.bytes.buffer === stdout.buffer).toBe(true);
  });

  test("may be empty behind its type", () => {
    expect(decodeFrame(new Uint8Array([1]))).toEqual({ kind: "output", stream: 1, bytes: new Uint8Array(0) });
  });

  test("F5: of full length is read at once by a client that reads 64 KiB at once, its WebSocket header included", () => {
    const message = encodeFrame(1, new Uint8Array(MAX_FRAME_BYTES));
    const header = message.length < 65_536 ? 4 : 10;
    expect(header + message.length).toBe(65_536);
  });

  test("F4: of an unknown type, or of no byte at all, is ignored", () => {
    for (const frame of [[], [0x00], [0x04, 1, 2], [0x10, 1], [0xff]]) {
      expect(decodeFrame(new Uint8Array(frame))).toEqual({ kind: "unknown" });
    }
  });
});

describe("H9: stdin on the inner hop", () => {
  const golden = Uint8Array.of(
    0x10, // standard input
    ...[0x00, 0x00, 0x01, 0x02], // slot 258
    ...[0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x07], // offset 5 * 2^32 + 7
    ...[0x61, 0x62], // "ab"
  );

  test("is type, slot, offset and bytes, big-endian", () => {
    expect(encodeStdin(258, 5 * 2 ** 32 + 7, bytes("ab"))).toEqual(golden);
    expect(decodeStdin(golden)).toEqual({ slot: 258, offset: 5 * 2 ** 32 + 7, bytes: bytes("ab") });
    expect(STDIN_HEADER_BYTES).toBe(13);
  });

  test("is nothing where it is cut within its header, is of another type, or its offset is no safe integer", () => {
    for (let length = 0; length < STDIN_HEADER_BYTES; length += 1) {
      expect(decodeStdin(golden.subarray(0, length))).toBeUndefined();
    }
    expect(decodeStdin(golden.subarray(0, STDIN_HEADER_BYTES))?.bytes.length).toBe(0);
    expect(decodeStdin(Uint8Array.from(golden, (byte, i) => (i === 0 ? 0x01 : byte)))).toBeUndefined();
    expect(decodeStdin(Uint8Array.from(golden, (byte, i) => (i === 6 ? 0x20 : byte)))).toBeUndefined();
    expect(encodeStdin(0, Number.MAX_SAFE_INTEGER, bytes("")).subarray(5, 13)).toEqual(
      new Uint8Array([0x00, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
    );
  });

  test("comes back as it was, wherever in memory it lies", () => {
    fc.assert(
      fc.property(
        fc.nat(0xffff_ffff),
        fc.nat(Number.MAX_SAFE_INTEGER),
        fc.uint8Array({ maxLength: 100 }),
        fc.nat(9),
        (slot, offset, payload, shift) => {
          const frame = encodeStdin(slot, offset, payload);
          const memory = new Uint8Array(shift + frame.length);
          memory.set(frame, shift);
          expect(decodeStdin(memory.subarray(shift))).toEqual({ slot, offset, bytes: payload });
        },
      ),
      { seed: 3, numRuns: 300 },
    );
  });
});
