// The object that adds counts up, in workerd: what a death of it keeps, and the session's part in front of it.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { Report } from "../../src/metrics/report.ts";
import { SessionMetrics } from "../../src/metrics/session-metrics.ts";
import type { CounterObject } from "../../src/objects/counter-object.ts";
import { giveClock } from "../support/given-clock.ts";

const { COUNTERS } = env as unknown as { COUNTERS: DurableObjectNamespace<CounterObject> };
const TOKEN = "a token of the metrics";
const clock = giveClock();

const lineOf = (text: string, name: string) => text.split("\n").find((line) => line.startsWith(`sbx_stdio_${name} `));

test("sessions and clients are what each session said last, and a session that ended counts no more", async () => {
  const counter = COUNTERS.getByName("levels");
  await counter.report({ sums: { attaches: 2 }, session: { key: "a", clients: 2 } });
  await counter.report({ sums: {}, session: { key: "a", clients: 1 } });
  await counter.report({ sums: { attaches: 1 }, session: { key: "b", clients: 3 } });
  const first = await counter.read();
  expect(["sessions", "clients", "attaches_total"].map((name) => lineOf(first, name))).toEqual([
    "sbx_stdio_sessions 2",
    "sbx_stdio_clients 4",
    "sbx_stdio_attaches_total 3",
  ]);
  await counter.report({ sums: {}, session: { key: "b", clients: undefined } });
  const second = await counter.read();
  expect(["sessions", "clients"].map((name) => lineOf(second, name))).toEqual([
    "sbx_stdio_sessions 1",
    "sbx_stdio_clients 1",
  ]);
});

test("what was added up is stored as one value, however many reports there were, and read by the next life", async () => {
  const counter = COUNTERS.getByName("stored");
  for (let i = 0; i < 5; i += 1) await counter.report({ sums: { gaps: 1 }, session: { key: "a", clients: 1 } });
  const stored = () => runInDurableObject(counter, (_, { storage }) => [...storage.kv.list()].sort());
  expect(await stored()).toEqual([]);
  clock.putForward(10_000);
  await expect.poll(stored).toEqual([
    ["level:a", { clients: 1, atMs: expect.any(Number) }],
    ["sums", { gaps: 5 }],
  ]);
  const text = await runInDurableObject(counter, (object, state) => {
    const Next = object.constructor as new (ctx: DurableObjectState, env: object) => CounterObject;
    return new Next(state, {}).read();
  });
  expect([lineOf(text, "gaps_total"), lineOf(text, "clients")]).toEqual([
    "sbx_stdio_gaps_total 5",
    "sbx_stdio_clients 1",
  ]);
});

function reporting() {
  const reports: Report[] = [];
  const writeDataPoint = vi.fn();
  let clients: number | undefined = 1;
  const stub = { getByName: () => ({ report: async (told: Report) => void reports.push(told) }) };
  const metrics = new SessionMetrics({
    env: { COUNTERS: stub as never, METRICS_TOKEN: TOKEN, METRICS: { writeDataPoint } },
    sessionKey: "key",
    sandboxKey: () => "box",
    clients: () => clients,
    waitUntil: () => undefined,
  });
  const setClients = (count: number | undefined): void => {
    clients = count;
  };
  return { metrics, reports, writeDataPoint, setClients };
}

test("a session reports at most once in the interval, and has no timer while there is nothing new", () => {
  const { metrics, reports, setClients } = reporting();
  metrics.tick(1_000_000);
  expect(reports).toEqual([{ sums: {}, session: { key: "key", clients: 1 } }]);
  expect(metrics.nextTickMs()).toBe(Number.POSITIVE_INFINITY);
  metrics.counts.add("sent_bytes", 7);
  metrics.counts.add("sent_bytes", 5);
  expect(metrics.nextTickMs()).toBe(1_060_000);
  metrics.tick(1_059_999);
  expect(reports).toHaveLength(1);
  metrics.tick(1_060_000);
  expect(reports[1]).toEqual({ sums: { sent_bytes: 12 }, session: { key: "key", clients: 1 } });
  setClients(undefined);
  metrics.flush(1_060_001);
  expect(reports[2]).toEqual({ sums: {}, session: { key: "key", clients: undefined } });
  metrics.flush(1_060_002);
  expect(reports).toHaveLength(3);
});

test("a data point has keys and numbers, by columns that the runbook names", () => {
  const { metrics, writeDataPoint } = reporting();
  metrics.counts.add("attaches");
  metrics.counts.add("sent_bytes", 12);
  metrics.counts.observe("ack", 40);
  metrics.flush(1);
  expect(writeDataPoint.mock.calls).toEqual([
    [{ indexes: ["box"], blobs: ["key"], doubles: [1, 1, 0, 0, 12, 0, 0, 1, 40] }],
  ]);
});
