// Which ends of a connection a client comes back from: every close code, and what a bye makes of it.

import { describe, expect, test } from "vitest";
import { BACKOFF_BASE_MS, BACKOFF_CAP_MS } from "../../src/client/retry.ts";
import { type Bye, backoffMs, CLOSE, decideRetry, httpStatusOf } from "../../src/index.ts";

const bye = (code: number, retry: Bye["retry"], seconds?: number): Bye => ({
  type: "bye",
  code,
  reason: "",
  retry,
  ...(seconds === undefined ? {} : { seconds }),
});

describe("R11: a close without a bye", () => {
  for (const code of [1000, 1001, 1005, 1006, 1011, 1012, 1013, 4429, 4503]) {
    test(`${code} is come back from`, () => expect(decideRetry(code, undefined)).toEqual({ kind: "backoff" }));
  }
  for (const code of [1002, 1003, 1007, 1008, 1009, 1010, 1015, 3000, 4000, 4400, 4401, 4403, 4404, 4409, 4422, 4999]) {
    test(`${code} is the end`, () => expect(decideRetry(code, undefined)).toEqual({ kind: "never" }));
  }
  test("4408 is come back from when a key is pressed", () => {
    expect(decideRetry(4408, undefined)).toEqual({ kind: "on_input" });
  });
});

describe("C5: a bye wins over the code", () => {
  test("never", () => expect(decideRetry(1001, bye(1001, "never"))).toEqual({ kind: "never" }));
  test("now", () => expect(decideRetry(4404, bye(4404, "now"))).toEqual({ kind: "wait", ms: 0 }));
  test("after so many seconds", () => {
    expect(decideRetry(1006, bye(4503, "after", 2.5))).toEqual({ kind: "wait", ms: 2_500 });
  });
  test("after, without saying when", () => expect(decideRetry(4404, bye(4404, "after"))).toEqual({ kind: "backoff" }));
  test("after a time that has passed is now", () => {
    expect(decideRetry(1006, bye(4503, "after", -5))).toEqual({ kind: "wait", ms: 0 });
  });
  test("idle waits for a key whatever it says", () => {
    for (const retry of ["never", "now", "after"] as const) {
      expect(decideRetry(1000, bye(4408, retry))).toEqual({ kind: "on_input" });
    }
  });
  test("and its code over the close's", () => expect(decideRetry(1006, bye(4401, "never"))).toEqual({ kind: "never" }));
});

test("R11: backoff doubles from 200 ms to 15 s, and chance takes any part of it", () => {
  expect([0, 1, 2, 6, 7, 100, 1e9].map((attempt) => backoffMs(attempt, 1))).toEqual([
    200, 400, 800, 12_800, 15_000, 15_000, 15_000,
  ]);
  expect([BACKOFF_BASE_MS, BACKOFF_CAP_MS, backoffMs(5, 0), backoffMs(5, 0.5)]).toEqual([200, 15_000, 0, 3_200]);
});

test("Z: the close codes are these, and before an upgrade each is an HTTP status", () => {
  expect(Object.values(CLOSE)).toEqual([
    1000, 1001, 1008, 1009, 1011, 1012, 1013, 4400, 4401, 4403, 4404, 4408, 4409, 4422, 4429, 4503,
  ]);
  expect([4400, 4401, 4403, 4404, 4409, 4422, 4429, 4503, 1013, 1008, 1011].map(httpStatusOf)).toEqual([
    400, 401, 403, 404, 409, 422, 429, 503, 503, 400, 503,
  ]);
});
