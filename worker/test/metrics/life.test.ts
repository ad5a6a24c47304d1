// The lines about the lives of sessions and containers: one schema, ids and numbers only.
import { afterEach, expect, test, vi } from "vitest";
import { useLogLevel } from "../../src/base/log.ts";
import { requestId } from "../../src/base/request-id.ts";
import { type LifeEvent, noteLife } from "../../src/refusal/life.ts";

afterEach(() => {
  useLogLevel({});
  vi.restoreAllMocks();
});

const FACTS = {
  request: "ray",
  tenant: "t",
  sandbox: "key",
  session: "s",
  incarnation: "i",
  code: 7,
  ms: 1_000,
  bytes: 11,
};

test("an exit is one line of JSON at the level of information, and a data point where a data set is bound", () => {
  const info = vi.spyOn(console, "info").mockImplementation(() => undefined);
  const writeDataPoint = vi.fn();
  useLogLevel({ LOG_LEVEL: "info" });
  noteLife({ LIVES: { writeDataPoint } }, "session.exited", FACTS);
  expect(info.mock.calls).toEqual([[JSON.stringify({ event: "session.exited", ...FACTS })]]);
  expect(writeDataPoint.mock.calls).toEqual([
    [{ indexes: ["key"], blobs: ["session.exited", "s", "i", "t", "ray"], doubles: [7, 1_000, 11] }],
  ]);
});

test("a client that attaches is a line at the level of information, and no report of its own", () => {
  const info = vi.spyOn(console, "info").mockImplementation(() => undefined);
  const report = vi.fn();
  useLogLevel({ LOG_LEVEL: "info" });
  const env = { METRICS_TOKEN: "a token of the metrics", COUNTERS: { getByName: () => ({ report }) } as never };
  noteLife(env, "client.attached", FACTS);
  expect(info).toHaveBeenCalledTimes(1);
  expect(report).not.toHaveBeenCalled();
});

test.each([
  ["8a1b2c3d4e5f-AMS", "8a1b2c3d4e5f-AMS"],
  ["two words", expect.stringMatching(/^[0-9a-f-]{36}$/)],
  [undefined, expect.stringMatching(/^[0-9a-f-]{36}$/)],
])("a request whose CF-Ray is %s has an id", (ray, id) => {
  const headers = ray === undefined ? {} : { "CF-Ray": ray };
  expect(requestId(new Request("http://x/", { headers }))).toEqual(id);
});

test.each<LifeEvent>(["session.lost", "container.failed", "container.hung"])(
  "%s is a warning, which the level of a deployment shows",
  (event) => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    noteLife({}, event, { sandbox: "key" });
    expect(warn.mock.calls).toEqual([[JSON.stringify({ event, sandbox: "key" })]]);
  },
);
