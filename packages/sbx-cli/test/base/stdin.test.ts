// Standard input from a pipe or a file: held back, resumed, and begun in the middle.

import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { StdinPump } from "../../src/base/stdin.ts";

function start(room: number, skip = 0) {
  const input = new PassThrough();
  const seen: string[] = [];
  let left = room;
  const pump = new StdinPump(input, {
    bytes: (bytes) => {
      seen.push(Buffer.from(bytes).toString());
      left -= 1;
      return left > 0;
    },
    end: () => seen.push("end"),
    failed: (error) => seen.push(`failed: ${error.message}`),
  });
  pump.start(skip);
  const more = (chunks: number) => {
    left = chunks;
    pump.resume();
  };
  return { input, seen, more };
}

test("where there is no room, reading stops until there is", async () => {
  const { input, seen, more } = start(2);
  for (const chunk of ["a", "b", "c", "d"]) input.write(chunk);
  input.end();
  await expect.poll(() => seen).toEqual(["a", "b"]);
  expect(input.isPaused()).toBe(true);
  more(9);
  await expect.poll(() => seen).toEqual(["a", "b", "c", "d", "end"]);
});

test("what was sent in an earlier life is left out, wherever chunks end", async () => {
  const { input, seen } = start(9, 5);
  for (const chunk of ["abc", "defg", "h"]) input.write(chunk);
  input.end();
  await expect.poll(() => seen).toEqual(["fg", "h", "end"]);
});

test("an input that is shorter than what was sent is not the same input, and that is said", async () => {
  const { input, seen } = start(9, 5);
  input.end("abc");
  await expect.poll(() => seen).toEqual(["failed: it ends 2 bytes before the position that was already sent", "end"]);
});

test("an input that can't be read is said", async () => {
  const { input, seen } = start(9);
  input.destroy(new Error("EISDIR"));
  await expect.poll(() => seen).toEqual(["failed: EISDIR"]);
});
