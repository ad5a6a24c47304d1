// What is kept of a batch of input.
import { expect, test } from "vitest";
import { InputBatch } from "../../src/audit/input-batch.ts";

test("what is no UTF-8 is kept as base64, of just the bytes that were given", () => {
  const all = Uint8Array.from({ length: 65_536 + 9 }, (_, index) => index);
  const batch = new InputBatch("a", 0, "typed", "content", false);
  batch.add("a", 0, all.subarray(5, 65_541), "typed", false);
  const { text, base64 } = batch.deed;
  const kept = Uint8Array.from(atob(base64 ?? ""), (character) => character.charCodeAt(0));
  expect([text, kept]).toEqual([undefined, all.slice(5, 65_541)]);
});
