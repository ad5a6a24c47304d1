// The lines about the lives of sessions and containers: one schema, ids and numbers only.
import { afterEach, expect, test, vi } from "vitest";
import { type LifeEvent, noteLife } from "../src/life.ts";
import { useLogLevel } from "../src/log.ts";

afterEach(() => {
  useLogLevel({});
  vi.restoreAllMocks();
});

const FACTS = { sandbox: "key", session: "s", incarnation: "i", code: 7, ms: 1_000, bytes: 11 };

test("an exit is one line of JSON at the level of information, and a data point where a data set is bound", () => {
  const info = vi.spyOn(console, "info").mockImplementation(() => undefined);
  const writeDataPoint = vi.fn();
  useLogLevel({ LOG_LEVEL: "info" });
  noteLife({ LIVES: { writeDataPoint } }, "session.exited", FACTS);
  expect(info.mock.calls).toEqual([[JSON.stringify({ event: "session.exited", ...FACTS })]]);
  expect(writeDataPoint.mock.calls).toEqual([
    [{ indexes: ["key"], blobs: ["session.exited", "s", "i"], doubles: [7, 1_000, 11] }],
  ]);
});

test.each<LifeEvent>(["session.lost", "container.failed", "container.hung"])(
  "%s is a warning, which the level of a deployment shows",
  (event) => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    noteLife({}, event, { sandbox: "key" });
    expect(warn.mock.calls).toEqual([[JSON.stringify({ event, sandbox: "key" })]]);
  },
);
