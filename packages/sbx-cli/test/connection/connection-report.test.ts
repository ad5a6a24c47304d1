// What a person is told while something is waited for: always a line after 2 s, with why and how long.

import type { Hello } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import { Notices } from "../../src/base/notices.ts";
import { Output } from "../../src/base/output.ts";
import { withSlowNotice } from "../../src/base/slow-notice.ts";
import { ConnectionReport } from "../../src/connection/connection-report.ts";

function harness(startMs = 0) {
  const said: string[] = [];
  const output = new Output({ written: () => undefined, broken: () => undefined });
  output.push = (_fd, bytes) => void said.push(new TextDecoder().decode(bytes).trim());
  let now = startMs;
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

test("an answer that does not come is spoken of after 2 s, and again after four times as long", () => {
  const { report, said, wait } = harness();
  report.state({ phase: "connecting", attempt: 0 });
  wait(1_999);
  expect(said).toEqual([]);
  wait(1);
  wait(2_000);
  expect(said).toEqual(["sbx-stdio: waiting for the server (2 s so far)"]);
  wait(2_000);
  expect(said).toHaveLength(1);
  wait(2_000);
  expect(said.slice(1)).toEqual(["sbx-stdio: waiting for the server (8 s so far)"]);
});

test("each thing that a connection waits for is told with how long it has been, and when it changes", () => {
  const { report, said, wait } = harness();
  report.state({ phase: "connecting", attempt: 0 });
  report.stage("looking up the name example.com");
  wait(2_000);
  report.stage("connecting to example.com");
  wait(2_000);
  report.state({ phase: "starting" });
  wait(2_000);
  wait(18_000);
  expect(said).toEqual([
    "sbx-stdio: looking up the name example.com (2 s so far)",
    "sbx-stdio: connecting to example.com (4 s so far)",
    "sbx-stdio: the sandbox is starting",
    "sbx-stdio: the sandbox is still starting (24 s so far)",
  ]);
});

test("a machine that was slow to start this program counts as waiting, and is named", () => {
  const { report, said, wait } = harness(6_000);
  report.state({ phase: "connecting", attempt: 0 });
  wait(499);
  expect(said).toEqual([]);
  wait(1);
  const span = "7 s so far; 6 s of it to start on this busy machine";
  expect(said).toEqual([`sbx-stdio: waiting for the server (${span})`]);
});

test("a wait of an outage is counted from its beginning, not from the program's", () => {
  const { report, said, wait } = harness();
  const hello = { session: "s", sandbox: "d", tty: false } as Hello;
  report.state({ phase: "attached", hello, isResumed: false });
  wait(60_000);
  report.state({ phase: "waiting", retryAtMs: 60_100, reason: "the connection broke", attempt: 0 });
  wait(100);
  report.state({ phase: "connecting", attempt: 1 });
  report.stage("connecting to example.com");
  wait(1_900);
  expect(said).toEqual([
    "sbx-stdio: connection lost (the connection broke), reconnecting…",
    "sbx-stdio: not connected (the connection broke): trying again, connecting to example.com (2 s so far)",
  ]);
});

test("an answer over HTTP that does not come is spoken of too, and one that comes in time is not", async () => {
  const said: string[] = [];
  let answer: (value: number) => void = () => undefined;
  const work = new Promise<number>((resolve) => {
    answer = resolve;
  });
  // The answer comes once the wait has been told.
  const value = await withSlowNotice("waiting for example.com", work, (line) => answer(said.push(line)));
  await withSlowNotice("never said", Promise.resolve(), (line) => said.push(line));
  expect(said).toEqual([expect.stringMatching(/^waiting for example\.com \(\d+ s so far\)$/)]);
  expect(value).toBe(1);
});

test("a refusal that asks to come back later is told with why and how long", () => {
  const { report, said, wait } = harness();
  report.state({ phase: "connecting", attempt: 0 });
  wait(100);
  report.state({ phase: "waiting", retryAtMs: 42_100, reason: "too many attempts to attach", attempt: 0 });
  wait(1_900);
  expect(said).toEqual(["sbx-stdio: not connected (too many attempts to attach): trying again in 41 s"]);
});

test("the end of a wait that was told is not told, nor is what the attempt before waited for", () => {
  const { report, said, wait } = harness();
  report.state({ phase: "connecting", attempt: 0 });
  report.stage("connected to example.com: waiting for the session");
  report.state({ phase: "waiting", retryAtMs: 9_000, reason: "too many attempts to attach", attempt: 0 });
  for (let i = 0; i < 4; i += 1) wait(2_000);
  expect(said).toEqual(["sbx-stdio: not connected (too many attempts to attach): trying again in 7 s"]);
  report.state({ phase: "connecting", attempt: 1 });
  report.stage("connecting to example.com");
  wait(2_000);
  expect(said.slice(1)).toEqual([
    "sbx-stdio: not connected (too many attempts to attach): trying again, connecting to example.com (10 s so far)",
  ]);
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
  expect(said).toEqual([
    "sbx-stdio: no response for 3 s: the network may be down",
    "sbx-stdio: the server responds again",
  ]);
});
