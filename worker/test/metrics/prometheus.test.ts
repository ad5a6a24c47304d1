// What is counted, and how Prometheus reads it.
import { expect, test } from "vitest";
import { Counts } from "../../src/metrics/counts.ts";
import { renderMetrics } from "../../src/metrics/prometheus.ts";

const LINE = /^(# (HELP|TYPE) sbx_stdio_\w+ .+|sbx_stdio_\w+(\{(le|code)="[\d.+Inf]+"\})? \d+(\.\d+)?)$/;

test("counts are lines of the text format, with no label but a code and a bound", () => {
  const counts = new Counts();
  counts.add("attaches", 3);
  counts.refused(4401);
  counts.refused(4429);
  counts.refused(4401);
  const lines = renderMetrics(counts, { sessions: 2, clients: 5 }).split("\n");
  expect(lines.pop()).toBe("");
  expect(lines.filter((line) => !LINE.test(line))).toEqual([]);
  expect(lines).toEqual(
    expect.arrayContaining([
      "sbx_stdio_sessions 2",
      "sbx_stdio_clients 5",
      "sbx_stdio_attaches_total 3",
      "sbx_stdio_resumes_total 0",
      'sbx_stdio_refusals_total{code="4401"} 2',
      'sbx_stdio_refusals_total{code="4429"} 1',
    ]),
  );
});

test("a histogram's buckets add up, and what exceeds the last bound counts in +Inf alone", () => {
  const counts = new Counts();
  for (const ms of [5, 6, 300, 11_000]) counts.observe("ack", ms);
  const lines = renderMetrics(counts, { sessions: 0, clients: 0 }).split("\n");
  const ofAck = lines.filter((line) => line.startsWith("sbx_stdio_ack_seconds"));
  expect(ofAck.map((line) => line.replace("sbx_stdio_ack_seconds", ""))).toEqual([
    ...['_bucket{le="0.005"} 1', '_bucket{le="0.01"} 2', '_bucket{le="0.025"} 2', '_bucket{le="0.05"} 2'],
    ...['_bucket{le="0.1"} 2', '_bucket{le="0.25"} 2', '_bucket{le="0.5"} 3', '_bucket{le="1"} 3'],
    ...['_bucket{le="2.5"} 3', '_bucket{le="5"} 3', '_bucket{le="10"} 3', '_bucket{le="+Inf"} 4'],
    ...["_sum 11.311", "_count 4"],
  ]);
});

test("what is taken to be reported is counted once", () => {
  const counts = new Counts();
  const whole = new Counts();
  counts.add("gaps");
  whole.merge(counts.take());
  expect(counts.isEmpty).toBe(true);
  counts.add("gaps", 2);
  whole.merge(counts.take());
  expect(whole.of("gaps")).toBe(3);
});
