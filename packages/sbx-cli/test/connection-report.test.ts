// What a person is told while something is waited for: always a line after 2 s, with why and how long.

import { expect, test } from "vitest";
import { ConnectionReport } from "../src/connection-report.ts";
import { Notices } from "../src/notices.ts";
import { Output } from "../src/output.ts";

function harness() {
  const said: string[] = [];
  const output = new Output({ written: () => undefined, broken: () => undefined });
  output.push = (_fd, bytes) => void said.push(new TextDecoder().decode(bytes).trim());
  let now = 0;
  const timers = new Set<{ atMs: number; callback: () => void }>();
  const report = new ConnectionReport(new Notices(false, { kind: "stream", output }), {
    now: () => now,
    setTimer: (ms, callback) => {
      const timer = { atMs: now + ms, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  });
  const wait = (ms: number) => {
    now += ms;
    for (const timer of [...timers]) if (timer.atMs <= now && timers.delete(timer)) timer.callback();
  };
  return { report, said, wait };
}

test("an answer that does not come is spoken of after 2 s, once", () => {
  const { report, said, wait } = harness();
  report.state({ phase: "connecting", attempt: 0 });
  wait(1_999);
  expect(said).toEqual([]);
  wait(1);
  wait(2_000);
  expect(said).toEqual(["sbx-stdio: waiting for the server's answer"]);
});

test("a refusal that asks to come back later is told with why and how long", () => {
  const { report, said, wait } = harness();
  report.state({ phase: "connecting", attempt: 0 });
  wait(100);
  report.state({ phase: "waiting", retryAtMs: 42_100, reason: "too many attempts to attach", attempt: 0 });
  wait(1_900);
  expect(said).toEqual(["sbx-stdio: not connected (too many attempts to attach): trying again in 41 s"]);
});

test("what is attached in time is not spoken of", () => {
  const { report, said, wait } = harness();
  report.state({ phase: "connecting", attempt: 0 });
  report.state({ phase: "ended", end: { kind: "left" } });
  wait(10_000);
  expect(said).toEqual([]);
});

test("silence after a key is told, and its end", () => {
  const { report, said } = harness();
  report.quiet(true);
  report.quiet(false);
  expect(said).toEqual(["sbx-stdio: nothing heard for 3 s: the network may be down", "sbx-stdio: heard again"]);
});
