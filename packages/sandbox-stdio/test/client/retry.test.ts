// Which ends of a connection a client comes back from: every close code, and what a bye makes of it.

import { expect, test } from "vitest";
import { Attempts } from "../../src/client/attempts.ts";
import { BACKOFF_BASE_MS, BACKOFF_CAP_MS, decideRetry } from "../../src/client/retry.ts";
import { backoffMs, CLOSE, defined, httpStatusOf } from "../../src/index.ts";
import type { Bye } from "../../src/wire/control.ts";

const bye = (code: number, retry: Bye["retry"], seconds?: number) =>
  ({ type: "bye", code, reason: "", retry, ...defined({ seconds }) }) as const;

test("R11: a close without a bye is come back from, or is the end, or waits for a key", () => {
  const kindOf = (code: number) => decideRetry(code, undefined).kind;
  const back = [1000, 1001, 1005, 1006, 1011, 1012, 1013, 4429, 4503];
  const end = [1002, 1003, 1007, 1008, 1009, 1010, 1015, 3000, 4000, 4400, 4401, 4403, 4404, 4409, 4422, 4999];
  expect([back, end, [4408]].map((codes) => [...new Set(codes.map(kindOf))])).toEqual([
    ["backoff"],
    ["never"],
    ["on_input"],
  ]);
});

test.each<[string, number, Bye, object]>([
  ["never", 1001, bye(1001, "never"), { kind: "never" }],
  ["now", 4404, bye(4404, "now"), { kind: "wait", ms: 0 }],
  ["after so many seconds", 1006, bye(4503, "after", 2.5), { kind: "wait", ms: 2_500 }],
  ["after, without saying when", 4404, bye(4404, "after"), { kind: "backoff" }],
  ["after a time that has passed", 1006, bye(4503, "after", -5), { kind: "wait", ms: 0 }],
  ["never for idleness: at the next key", 1000, bye(4408, "never"), { kind: "on_input" }],
  ["now for idleness: at the next key", 1000, bye(4408, "now"), { kind: "on_input" }],
  ["after idleness: at the next key", 1000, bye(4408, "after"), { kind: "on_input" }],
  ["by its own code", 1006, bye(4401, "never"), { kind: "never" }],
])("C5: a bye wins over the close's code: %s", (_what, code, said, decided) => {
  expect(decideRetry(code, said)).toEqual(decided);
});

test("R11: backoff doubles from 200 ms to 15 s, and chance takes any part of it", () => {
  expect([0, 1, 2, 6, 7, 100, 1e9].map((attempt) => backoffMs(attempt, 1))).toEqual([
    200, 400, 800, 12_800, 15_000, 15_000, 15_000,
  ]);
  expect([BACKOFF_BASE_MS, BACKOFF_CAP_MS, backoffMs(5, 0), backoffMs(5, 0.5)]).toEqual([200, 15_000, 0, 3_200]);
});

test("R11a: it gives up when the time that it was told has passed, and not a moment earlier", () => {
  const attempts = new Attempts({ giveUpMs: 1_000 }, () => 0);
  const cut = { code: 1006, bye: undefined, retryAfterSeconds: 0, attachedMs: 0, wasGreeted: true };
  expect([0, 999, 1_000].map((nowMs) => attempts.next({ ...cut, nowMs }).kind)).toEqual(["after", "after", "never"]);
  const words = [119_499, 120_000].map((nowMs) => attempts.next({ ...cut, nowMs }));
  expect(words).toMatchObject(["119 s", "2 min"].map((time) => ({ words: `gave up after ${time}: ` })));
});

test("Z: the close codes are these, and before an upgrade each is an HTTP status", () => {
  expect(Object.values(CLOSE)).toEqual([
    1000, 1001, 1008, 1009, 1011, 1012, 1013, 4400, 4401, 4403, 4404, 4408, 4409, 4422, 4429, 4503,
  ]);
  expect([4400, 4401, 4403, 4404, 4409, 4422, 4429, 4503, 1013, 1008, 1011].map(httpStatusOf)).toEqual([
    400, 401, 403, 404, 409, 422, 429, 503, 503, 400, 503,
  ]);
});
