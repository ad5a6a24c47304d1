// When clients are told that a terminal begins or stops echoing.

import { expect, test } from "vitest";
import { EchoWatch } from "../../src/session/echo-watch.ts";

test("Echo: a switch right after a prompt is told 50 ms later at the latest, and switches to and fro at a bounded rate", () => {
  const told: [number, boolean][] = [];
  let [isOn, nowMs] = [true, 1_000];
  const watch = new EchoWatch(
    () => isOn,
    (on) => told.push([nowMs, on]),
  );
  watch.look(nowMs);
  isOn = false;
  expect(watch.nextMs).toBe(1_050);
  nowMs = 1_050;
  watch.tick(nowMs);
  expect([told, watch.nextMs]).toEqual([[[1_050, false]], undefined]);

  isOn = true;
  nowMs = 1_060;
  watch.look(nowMs);
  expect([told.length, watch.nextMs]).toEqual([1, 1_100]);
  nowMs = 1_100;
  watch.tick(nowMs);
  expect([told.at(-1), watch.nextMs]).toEqual([[1_100, true], undefined]);
});
