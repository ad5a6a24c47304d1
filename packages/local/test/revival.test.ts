import { expect, test } from "vitest";
import { Revival } from "../src/processes/revival.ts";

/** A server whose every start is answered by the test, on a clock that the test moves. */
function revived() {
  const lines: string[] = [];
  const failures: string[] = [];
  const starts: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const clock = { now: 0 };
  const revival = new Revival({
    name: "Worker",
    effect: "Sessions go on",
    restart: () => new Promise<void>((resolve, reject) => starts.push({ resolve, reject })),
    say: (line) => lines.push(line),
    giveUp: (message) => failures.push(message),
    now: () => clock.now,
  });
  const crash = async () => {
    const done = revival.crashed("It ends so.");
    starts.at(-1)?.resolve();
    await done;
  };
  return { revival, lines, failures, starts, clock, crash };
}

test("a crash is told, and that it is up again", async () => {
  const { lines, failures, starts, crash } = revived();
  await crash();
  expect(starts).toHaveLength(1);
  expect(lines).toEqual(["The Worker has crashed: starting it again. Sessions go on", "The Worker is up again"]);
  expect(failures).toEqual([]);
});

test("the fourth crash within a minute is the last, and its message names the cause", async () => {
  const { failures, starts, clock, crash } = revived();
  for (const at of [0, 20_000, 40_000, 59_999]) {
    clock.now = at;
    await crash();
  }
  expect(starts).toHaveLength(3);
  expect(failures).toEqual(["Given up after 4 crashes within a minute. It ends so."]);
});

test("crashes that are a minute past do not count", async () => {
  const { failures, starts, clock, crash } = revived();
  for (const at of [0, 20_000, 40_000, 60_000, 80_000]) {
    clock.now = at;
    await crash();
  }
  expect(starts).toHaveLength(5);
  expect(failures).toEqual([]);
});

test("one that does not come up is given up with the reason", async () => {
  const { revival, failures, starts } = revived();
  const done = revival.crashed("");
  starts[0]?.reject(new Error("The Worker was not ready after 120 s"));
  await done;
  expect(failures).toEqual(["The Worker was not ready after 120 s"]);
});

test("one that crashes while it starts is started again, and the broken start ends nothing", async () => {
  const { revival, lines, failures, starts } = revived();
  const first = revival.crashed("");
  const second = revival.crashed("");
  starts[0]?.reject(new Error("The Worker ended before it was ready"));
  starts[1]?.resolve();
  await Promise.all([first, second]);
  expect(failures).toEqual([]);
  expect(lines.filter((line) => line === "The Worker is up again")).toHaveLength(1);
});
