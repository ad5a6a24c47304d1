// What runs at the bridge's start so that the first keys cost no more than later ones.
import { expect, test } from "vitest";
import { KEYS, warmUp } from "../src/warm-up.ts";

test("each key of the warm-up goes in and comes back on both ways, in order, and neither client is refused", async () => {
  const texts: { type: string }[] = [];
  let output = "";
  await warmUp((frame) => {
    if (typeof frame === "string") texts.push(JSON.parse(frame));
    else output += Buffer.from(frame.subarray(1)).toString();
  });
  expect(output).toBe("x".repeat(2 * KEYS));
  const types = new Set(texts.map(({ type }) => type));
  expect([types.has("hello"), types.has("stdin_ack"), types.has("error"), types.has("bye")]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
