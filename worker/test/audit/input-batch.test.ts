// What is kept of a batch of input.
import { createHash } from "node:crypto";
import { release } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import { InputBatch } from "../../src/audit/input-batch.ts";

test("what is no UTF-8 is kept for base64, of just the bytes that were given", () => {
  const all = Uint8Array.from({ length: 65_536 + 9 }, (_, index) => index);
  const batch = new InputBatch("a", 0, "typed", "content", false);
  batch.add("a", 0, all.subarray(5, 65_541), "typed", false);
  const { text, base64 } = batch.finish();
  expect([text, base64]).toEqual([undefined, all.slice(5, 65_541)]);
});

test("what was given is kept or hashed at once: its memory may be given back before the batch is stored", () => {
  const given = () => new Uint8Array(20_000).fill(97);
  const [content, hash] = (["content", "hash"] as const).map((keeping) => {
    const batch = new InputBatch("a", 0, "typed", keeping, false);
    for (const offset of [0, 20_000]) {
      const bytes = given();
      batch.add("a", offset, bytes, "typed", false);
      release(bytes);
    }
    return batch.finish();
  });
  expect(content).toEqual({ type: "input", offset: 0, length: 40_000, text: expect.any(Uint8Array) });
  expect(new TextDecoder().decode(content?.text as Uint8Array)).toBe("a".repeat(40_000));
  expect(hash?.sha256).toBe(createHash("sha256").update("a".repeat(40_000)).digest("hex"));
});
