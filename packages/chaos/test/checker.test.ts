// The checker: told by position what is missing, what came twice, late, or was never sent, however the bytes are cut up.

import { expect, test } from "vitest";
import { Random } from "../../local/src/base/random.ts";
import { countDamage, describeDamage, StreamChecker } from "../src/checker.ts";
import { patternBytes } from "../src/pattern.ts";

const KEY = 77;
const TOTAL = 10_000;

const part = (start: number, end: number) => patternBytes(start, end, KEY);

/** What is found when these bytes come, cut at random. */
function check(pieces: readonly Uint8Array[], total = TOTAL, seed = 1) {
  const bytes = Buffer.concat(pieces);
  const random = new Random(seed, "cuts");
  const checker = new StreamChecker(KEY);
  for (let at = 0; at < bytes.length; ) {
    const length = random.scale(1, 4_000);
    checker.push(bytes.subarray(at, at + length));
    at += length;
  }
  return checker.finish(total);
}

test("a stream that is whole has no damage, however it is cut up", () => {
  for (let seed = 0; seed < 200; seed += 1) expect(check([part(0, TOTAL)], TOTAL, seed)).toEqual([]);
});

test("an empty stream has no damage", () => {
  expect(check([], 0)).toEqual([]);
});

test("bytes that are missing in the middle are lost there", () => {
  for (let seed = 0; seed < 50; seed += 1) {
    const damages = check([part(0, 3_001), part(3_502, TOTAL)], TOTAL, seed);
    expect(damages).toEqual([{ kind: "lost", at: 3_001, bytes: 501 }]);
  }
});

test("one missing byte is one lost byte", () => {
  expect(check([part(0, 5_000), part(5_001, TOTAL)])).toEqual([{ kind: "lost", at: 5_000, bytes: 1 }]);
});

test("missing first and last bytes are lost", () => {
  expect(check([part(9, 9_990)])).toEqual([
    { kind: "lost", at: 0, bytes: 9 },
    { kind: "lost", at: 9_990, bytes: 10 },
  ]);
});

test("a loss just before the end is seen though few bytes follow it", () => {
  expect(check([part(0, 9_900), part(9_995, TOTAL)])).toEqual([{ kind: "lost", at: 9_900, bytes: 95 }]);
});

test("a stream that never came is lost as a whole", () => {
  expect(check([])).toEqual([{ kind: "lost", at: 0, bytes: TOTAL }]);
});

test("bytes that come again at once are doubled", () => {
  for (let seed = 0; seed < 50; seed += 1) {
    const damages = check([part(0, 4_000), part(3_000, TOTAL)], TOTAL, seed);
    expect(damages).toEqual([{ kind: "doubled", at: 3_000, bytes: 1_000 }]);
  }
});

test("bytes that come again later are doubled", () => {
  expect(check([part(0, 8_000), part(1_000, 1_700), part(8_000, TOTAL)])).toEqual([
    { kind: "doubled", at: 1_000, bytes: 700 },
  ]);
});

test("the last bytes coming again are doubled, few as they are", () => {
  expect(check([part(0, TOTAL), part(TOTAL - 6, TOTAL)])).toEqual([{ kind: "doubled", at: TOTAL - 6, bytes: 6 }]);
});

test("two parts in the wrong order: the one that stands before came late", () => {
  for (let seed = 0; seed < 50; seed += 1) {
    const damages = check([part(0, 2_000), part(3_000, 4_000), part(2_000, 3_000), part(4_000, TOTAL)], TOTAL, seed);
    expect(damages).toEqual([{ kind: "reordered", at: 2_000, bytes: 1_000 }]);
  }
});

test("of bytes that came late in part, the rest is lost, and what came twice is doubled", () => {
  const damages = check([
    part(0, 2_000),
    part(3_000, 4_000),
    part(2_500, 2_700),
    part(2_600, 2_800),
    part(4_000, TOTAL),
  ]);
  expect(damages).toEqual([
    { kind: "lost", at: 2_000, bytes: 500 },
    { kind: "reordered", at: 2_500, bytes: 200 },
    { kind: "doubled", at: 2_600, bytes: 100 },
    { kind: "reordered", at: 2_700, bytes: 100 },
    { kind: "lost", at: 2_800, bytes: 200 },
  ]);
});

test("a byte that was changed is foreign, and not lost besides", () => {
  const bytes = part(0, TOTAL);
  bytes[6_001] = (bytes[6_001] ?? 0) ^ 0x40;
  expect(check([bytes])).toEqual([{ kind: "foreign", at: 6_001, bytes: 1 }]);
});

test("bytes of something else in between are foreign", () => {
  const other = patternBytes(0, 300, KEY + 1);
  expect(check([part(0, 700), other, part(700, TOTAL)])).toEqual([{ kind: "foreign", at: 700, bytes: 300 }]);
});

test("bytes beyond the end are foreign", () => {
  expect(check([part(0, TOTAL + 20)])).toEqual([{ kind: "foreign", at: TOTAL, bytes: 20 }]);
});

test("random losses and doublings are counted to the byte", () => {
  for (let seed = 0; seed < 300; seed += 1) {
    const random = new Random(seed, "damage");
    const pieces: Uint8Array[] = [];
    const expected = { lost: 0, doubled: 0, reordered: 0, foreign: 0 };
    for (let at = 0; at < TOTAL; ) {
      const end = Math.min(TOTAL, at + random.int(100, 1_500));
      const what = random.int(0, 3);
      if (what === 0 && end < TOTAL) expected.lost += end - at;
      else pieces.push(part(at, end));
      if (what === 1 && end < TOTAL) {
        // Enough of it to be told from chance.
        const again = random.int(20, end - at);
        pieces.push(part(end - again, end));
        expected.doubled += again;
      }
      at = end;
    }
    expect({ seed, ...countDamage(check(pieces, TOTAL, seed)) }).toEqual({ seed, ...expected });
  }
});

test("damage is told in words", () => {
  expect(describeDamage({ kind: "lost", at: 5, bytes: 3 })).toBe("3 bytes lost at offset 5");
  expect(describeDamage({ kind: "doubled", at: 5, bytes: 3 })).toBe("3 bytes came twice at offset 5");
});

test("what was said not to come is not missed", () => {
  const checker = new StreamChecker(KEY);
  checker.push(part(0, 100));
  checker.skipTo(600);
  checker.push(part(600, TOTAL));
  expect(checker.finish(TOTAL)).toEqual([]);
});
