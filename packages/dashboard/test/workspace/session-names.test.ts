// The names that a person gives to sessions. No browser.

import { expect, test } from "vitest";
import { cleanName, mergeNames, readNames, type SessionNames, withName } from "../../src/workspace/session-names.ts";

test("a name is one line, of 40 characters at most, and none if nothing is left", () => {
  expect(["a\n b", " \u202e\u0007 ", "x".repeat(50), "👩‍💻 日本"].map(cleanName)).toEqual([
    "a b",
    "",
    "x".repeat(40),
    "👩‍💻 日本",
  ]);
});

test("the names that were given last are kept, as many as there is room for", () => {
  let names: SessionNames = {};
  for (let i = 0; i < 100; i += 1) names = withName(names, `dev/s${i}`, `n${i}`);
  expect([Object.keys(names).length, names["dev/s99"], names["dev/s0"]]).toEqual([64, "n99", undefined]);
  for (let i = 0; i < 100; i += 1) names = withName(names, `${"x".repeat(60)}/${"y".repeat(58)}${i}`, "日".repeat(40));
  expect(new TextEncoder().encode(JSON.stringify(names)).length).toBeLessThan(2_048);
  expect(withName({ "dev/a": "one" }, "dev/a", " ")).toEqual({});
});

test("of two devices each keeps what it has changed", () => {
  const base = { "dev/a": "a", "dev/b": "b", "dev/c": "c" };
  expect(
    mergeNames(base, { "dev/a": "mine", "dev/c": "c" }, { "dev/a": "a", "dev/b": "b", "dev/d": "theirs" }),
  ).toEqual({
    "dev/a": "mine",
    "dev/d": "theirs",
  });
});

test("what is no name of a session is not read", () => {
  expect(readNames({ "dev/a": "good", "dev/b": 7, dev: "x", "dev/../x": "x", "a/b/c": "x", "dev/e": "" })).toEqual({
    "dev/a": "good",
  });
  expect([readNames(null), readNames([]), readNames("x")]).toEqual([{}, {}, {}]);
});
