// Masking by words gives what RFC 6455 says byte by byte, wherever the bytes lie in memory.

import { expect, test } from "vitest";
import { mask, unmask } from "../../src/connection/mask.ts";

const KEY = Uint8Array.of(0x11, 0xa2, 0x00, 0xff);

function bytes(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 37 + 11) & 0xff);
}

function expected(source: Uint8Array): Uint8Array {
  return source.map((byte, i) => byte ^ (KEY[i & 3] ?? 0));
}

test("each length from each place in memory is masked, and nothing beside it", () => {
  for (let length = 0; length <= 70; length += 1) {
    for (let offset = 0; offset < 9; offset += 1) {
      const output = new Uint8Array(90).fill(7);
      mask(bytes(length), KEY, output, offset, length);
      const around = new Uint8Array(90).fill(7);
      around.set(expected(bytes(length)), offset);
      expect(output).toEqual(around);
    }
  }
});

test("a piece that is masked where it lies is unmasked to what it was", () => {
  const memory = new Uint8Array(1_003);
  const piece = memory.subarray(3, 1_003);
  piece.set(bytes(1_000));
  mask(piece, KEY, memory, 3, 1_000);
  expect(piece).toEqual(expected(bytes(1_000)));
  unmask(piece, KEY);
  expect(piece).toEqual(bytes(1_000));
});
