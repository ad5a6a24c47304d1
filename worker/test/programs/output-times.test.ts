// When output came, where there is no index of times (D2a).
import { type InnerClient, OutputLog } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import type { Reached } from "../../src/programs/operations/reached.ts";
import { timesOf } from "../../src/programs/operations/since.ts";

const createdAt = "2026-11-26T08:00:00.000Z";
const whole = { from: 0, next: 3 };

/** A process whose bridge answers nothing, and of which nothing is kept. */
function unanswered(state: "running" | "lost" | "exited", exitedAfterMs?: number, range = whole) {
  const log = new OutputLog({ cols: 80, rows: 24 });
  log.append(new TextEncoder().encode("abc"), 1);
  const reached = { log, state } as unknown as Reached;
  const hop = { ask: () => ({ answer: Promise.resolve(undefined), forget: () => undefined }) };
  const exit = exitedAfterMs === undefined ? {} : { exitedAtMs: Date.parse(createdAt) + exitedAfterMs };
  const kept = () => ({ screen: undefined, commands: undefined });
  return timesOf(reached, range, { hop: hop as unknown as InnerClient, kept, record: { createdAt, ...exit } });
}

test("only of a process that ended within seconds is its start the time of all output; else no time is told", async () => {
  expect(await unanswered("exited", 5_000)).toEqual([{ offset: 0, at: createdAt }]);
  expect(await unanswered("exited", 5_001)).toBeUndefined();
  expect(await unanswered("running")).toBeUndefined();
  expect(await unanswered("lost")).toBeUndefined();
  // Of no bytes there is no time that could be missing.
  expect(await unanswered("running", undefined, { from: 3, next: 3 })).toEqual([]);
});
