// The benchmark's rows with goals: how each is held against its goal, and that one measurement can't stop the others.
import { expect, test } from "vitest";
import { inTime } from "../../packages/bench/src/base/in-time.ts";
import { isMeasured } from "../../packages/bench/src/measures/measures.ts";
import { GOAL_PLAN, GOALS, goalsTable, speedTable } from "../../packages/bench/src/results/goals.ts";
import type { Results } from "../../packages/bench/src/results/rounds.ts";

function resultsOf(rows: Record<string, Record<string, number[]>>): Results {
  return new Map(Object.entries(rows).map(([row, values]) => [row, new Map(Object.entries(values))])) as Results;
}

test("a row stands beside its goal: times the best rival or floor, or itself; bold where it is missed", () => {
  const results = resultsOf({
    "echo idle p50, ms": { bridge: [0.3, 0.1, 0.2], path: [0.5], "path floor": [0.4], "node-pty": [0.2], ssh: [0.4] },
    "output raw, MB/s": { bridge: [120], path: [80], ssh: [90], ttyd: [100] },
    "memory for each of the next 100, KB": { bridge: [40], path: [400] },
    "one session to 64, MB/s in all": { path: [50], "path floor": [100] },
  });
  expect(goalsTable(results, "Here.").split("\n").slice(4)).toEqual([
    "| echo idle p50, ms | to the best rival | 0.20 | 1.00 | ≤ 1.1 | 0.50 | **2.50** | ≤ 2.2 | - | 0.40 | - | 0.20 | 0.40 |",
    "| echo idle p50, ms | to its floor | 0.20 |  |  | 0.50 | 1.25 | ≤ 1.25 | - | 0.40 | - | 0.20 | 0.40 |",
    "| output raw, MB/s | to the best rival | 120 | 1.20 | ≥ 1 | 80.0 | **0.80** | ≥ 0.9 | - | - | 100 | - | 90.0 |",
    "| memory for each of the next 100, KB | itself | 40.0 |  | ≤ 50 | 400 | **400** | ≤ 240 | - | - | - | - | - |",
    "| one session to 64, MB/s in all | to its floor | - |  |  | 50.0 | **0.50** | ≥ 0.9 | - | 100 | - | - | - |",
  ]);
});

test("a row that was not measured misses no goal, and one that never came does", () => {
  const results = resultsOf({
    "^C in a flood p50, ms": { bridge: [Number.POSITIVE_INFINITY], "node-pty": [1] },
  });
  expect(goalsTable(results, "Here.").split("\n").slice(4)).toEqual([
    "| ^C in a flood p50, ms | to the best rival | never | **never** | ≤ 1.1 | - | - | ≤ 2 | - | - | - | 1.00 | - |",
    "| ^C in a flood p50, ms | itself | never |  |  | - | - | ≤ 1.5 | - | - | - | 1.00 | - |",
  ]);
});

test("the README's table has a few rows with no goal, floor or ratio in it", () => {
  const results = resultsOf({
    "echo idle p50, ms": { bridge: [0.3, 0.1, 0.2], path: [0.5], "path floor": [0.4], "node-pty": [0.2], ssh: [0.4] },
    "CPU of 100 idle sessions, % of a core": { path: [0.4] },
  });
  const lines = speedTable(results, "2026-11-26, rounds: 3").split("\n");
  expect(lines[0]).toBe(
    "| 2026-11-26, rounds: 3 | what is compared | bridge | whole path | ttyd | node-pty + ws | OpenSSH |",
  );
  expect(lines.filter((line) => /echo idle p50|CPU/.test(line))).toEqual([
    "| echo idle p50, ms | a key to `cat` on a raw PTY and back: the median | 0.20 | 0.50 | - | 0.20 | 0.40 |",
  ]);
});

test("whoever has a goal is measured, and so is what it is held against", () => {
  const planned = new Set(
    GOAL_PLAN.flatMap(({ measure, subjects }) => subjects.filter((name) => isMeasured(measure, name))),
  );
  expect([...planned].sort()).toEqual(["bridge", "bridge floor", "node-pty", "path", "path floor", "ssh", "ttyd"]);
  expect(GOALS.filter(({ bridge, path }) => bridge === undefined && path === undefined)).toEqual([]);
});

test("a measurement that does not end is given up, and one that does gives its result", async () => {
  await expect(inTime(new Promise(() => undefined), 1)).rejects.toThrow("it did not end in 0.001 s");
  expect(await inTime(Promise.resolve(7), 60_000)).toBe(7);
  await expect(inTime(Promise.reject(new Error("broken")), 60_000)).rejects.toThrow("broken");
});
