// What runs at the bridge's start so that the first keys cost no more than later ones.
import { readdirSync, readlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { KEYS, warmUp } from "../src/warm-up.ts";

test("each key of the warm-up comes back on both ways, neither client is refused, and no pipe stays", async () => {
  const texts: { type: string }[] = [];
  let output = "";
  const before = openPipes();
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
  expect(openPipes()).toEqual(before);
});

function openPipes(): string[] {
  const targets = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return ""; // The list's own.
    }
  });
  return targets.filter((target) => target.startsWith("pipe:")).sort();
}
