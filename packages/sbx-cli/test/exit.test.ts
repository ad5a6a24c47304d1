// The end of the process, while Node is still busy with what came before.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

/** With process.exit() alone four in five hang. */
const RUNS = 4;

test("the process ends, though its code is still being compiled and garbage waits to be collected", () => {
  const ends = Array.from({ length: RUNS }, () => {
    const { status, signal } = spawnSync(process.execPath, [join(import.meta.dirname, "fixture/hot.ts")], {
      timeout: 60_000,
      killSignal: "SIGKILL",
    });
    return signal ?? status;
  });
  expect(ends).toEqual(ends.map(() => 7));
}, 600_000);
