// What a copy that goes on leaves out, and what its line says.
import { expect, test } from "vitest";
import { bytesOf, missing, parseListing } from "../src/copy-listing.ts";
import { progressText } from "../src/copy-progress.ts";

test("a file is left out where size and time are the same; folders and links never are", () => {
  const wanted = parseListing("5 100.25 ./a\0" + "6 100.0 ./b\nc\0" + "0 -1 ./folder\0" + "7 100 ./d\0");
  const had = parseListing("5 100.75 ./a\0" + "6 101.0 ./b\nc\0" + "0 -1 ./folder\0");
  expect(missing(wanted, had)).toEqual(["./b\nc", "./folder", "./d"]);
  expect([bytesOf(wanted), bytesOf(wanted, ["./b\nc", "./d"])]).toEqual([18, 13]);
});

test("progress says how much of how much, and how fast", () => {
  expect(progressText(1_500_000, 3_000_000, 1_000)).toBe("1.5 MB of 3.0 MB  50%  1.5 MB/s");
  expect(progressText(3_100_000, 3_000_000, 2_000)).toBe("3.0 MB of 3.0 MB  100%  1.6 MB/s");
  expect(progressText(999, undefined, 1_000)).toBe("999 B  999 B/s");
});
