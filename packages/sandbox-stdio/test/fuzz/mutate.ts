// Makes inputs out of inputs: bytes changed, dropped, repeated, put together, numbers made extreme. Knows no format.

import type { Random } from "../../../local/src/base/random.ts";

/** Pieces that parsers trip over. */
const PIECES = [
  "\0",
  "\x1b",
  "\xff",
  '"',
  "\\",
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  "-1",
  "1e999",
  "9007199254740993",
  "null",
].map((text) => Buffer.from(text, "latin1"));

/** Another input, made of one of `pool` by up to four changes. */
export function mutate(pool: readonly Uint8Array[], random: Random, maxBytes: number): Uint8Array {
  let bytes: Uint8Array = random.pick(pool);
  for (let changes = random.int(1, 4); changes > 0; changes -= 1) bytes = change(bytes, pool, random);
  return bytes.subarray(0, maxBytes);
}

function change(bytes: Uint8Array, pool: readonly Uint8Array[], random: Random): Uint8Array {
  const at = random.int(0, bytes.length);
  const end = Math.min(bytes.length, at + random.scale(1, 64));
  const [before, middle, after] = [bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(end)];
  switch (random.int(0, 6)) {
    case 0:
      return Buffer.concat([before, after]);
    case 1:
      return Buffer.concat([before, middle, middle, after]);
    case 2:
      return Buffer.concat([before, random.pick(PIECES), after]);
    case 3:
      return Buffer.concat([before, random.pick(pool).subarray(random.int(0, 16))]);
    case 4:
      return Buffer.concat([before, Uint8Array.of(random.int(0, 255)), middle, after]);
    case 5:
      return Buffer.from(
        Buffer.from(bytes)
          .toString("latin1")
          .replace(/\d+/g, () => String(number(random))),
        "latin1",
      );
    default: {
      const changed = Uint8Array.from(bytes);
      if (at < changed.length) changed[at] = (changed[at] ?? 0) ^ (1 << random.int(0, 7));
      return changed;
    }
  }
}

function number(random: Random): number {
  return random.pick([0, 1, -1, 1.5, 500, 501, 65_536, 2 ** 31, 2 ** 32, 2 ** 52, 2 ** 53, 2 ** 53 + 2, 1e308]);
}
