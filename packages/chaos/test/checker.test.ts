// The checker: told by position what is missing, what came twice, late, or was never sent, however the bytes are cut up.

import { expect, test } from "vitest";
import { Random } from "../../local/src/base/random.ts";
import { countDamage, type Damage, describeDamage, StreamChecker } from "../src/checker.ts";
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

const flipped = part(0, TOTAL);
flipped[6_001] = (flipped[6_001] ?? 0) ^ 0x40;

type Found = [kind: Damage["kind"], at: number, bytes: number];
test.each<[string, Uint8Array[], Found[]]>([
  ["a whole stream: none", [part(0, TOTAL)], []],
  ["bytes missing in the middle: lost", [part(0, 3_001), part(3_502, TOTAL)], [["lost", 3_001, 501]]],
  ["one missing byte: lost", [part(0, 5_000), part(5_001, TOTAL)], [["lost", 5_000, 1]]],
  [
    "missing first and last bytes: lost",
    [part(9, 9_990)],
    [
      ["lost", 0, 9],
      ["lost", 9_990, 10],
    ],
  ],
  ["a loss with few bytes behind it: lost", [part(0, 9_900), part(9_995, TOTAL)], [["lost", 9_900, 95]]],
  ["a stream that never came: lost as a whole", [], [["lost", 0, TOTAL]]],
  ["bytes that come again at once: doubled", [part(0, 4_000), part(3_000, TOTAL)], [["doubled", 3_000, 1_000]]],
  [
    "bytes that come again later: doubled",
    [part(0, 8_000), part(1_000, 1_700), part(8_000, TOTAL)],
    [["doubled", 1_000, 700]],
  ],
  ["a few last bytes that come again: doubled", [part(0, TOTAL), part(TOTAL - 6, TOTAL)], [["doubled", TOTAL - 6, 6]]],
  [
    "two parts in the wrong order: the one that stands before came late",
    [part(0, 2_000), part(3_000, 4_000), part(2_000, 3_000), part(4_000, TOTAL)],
    [["reordered", 2_000, 1_000]],
  ],
  [
    "of bytes that came late in part, the rest is lost, and what came twice is doubled",
    [part(0, 2_000), part(3_000, 4_000), part(2_500, 2_700), part(2_600, 2_800), part(4_000, TOTAL)],
    [
      ["lost", 2_000, 500],
      ["reordered", 2_500, 200],
      ["doubled", 2_600, 100],
      ["reordered", 2_700, 100],
      ["lost", 2_800, 200],
    ],
  ],
  ["a byte that was changed: foreign, and not lost besides", [flipped], [["foreign", 6_001, 1]]],
  [
    "bytes of something else in between: foreign",
    [part(0, 700), patternBytes(0, 300, KEY + 1), part(700, TOTAL)],
    [["foreign", 700, 300]],
  ],
  ["bytes beyond the end: foreign", [part(0, TOTAL + 20)], [["foreign", TOTAL, 20]]],
])("%s, however it is cut up", (_what, pieces, found) => {
  const damages = found.map(([kind, at, bytes]) => ({ kind, at, bytes }));
  for (let seed = 0; seed < 20; seed += 1) expect(check(pieces, TOTAL, seed)).toEqual(damages);
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

test("an empty stream has no damage, and what was said not to come is not missed", () => {
  expect(check([], 0)).toEqual([]);
  const checker = new StreamChecker(KEY);
  checker.push(part(0, 100));
  checker.skipTo(600);
  checker.push(part(600, TOTAL));
  expect(checker.finish(TOTAL)).toEqual([]);
});
