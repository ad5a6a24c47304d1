// The words of `record`, `replay` and `logs --since`.

import { afterEach, expect, test, vi } from "vitest";
import { parseArgs } from "../../src/args/args.ts";
import { CliError } from "../../src/base/outcome.ts";

const URL = "https://h.example";
const parse = (words: string) => parseArgs(words.split(" "), "1.2.3");
const refusal = (words: string): string => {
  try {
    parse(words);
  } catch (error) {
    if (error instanceof CliError && error.exitCode === 2) return error.message;
    throw error;
  }
  throw new Error(`Cannot find a refusal of ${words}`);
};

afterEach(() => void vi.useRealTimers());

test("a time of day is the last one that has been, here", () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date(2026, 10, 29, 15, 0, 0) });
  const since = (text: string) => parse(`logs ${URL} --session s --since ${text}`);
  expect(since("14:03")).toMatchObject({ since: { since: new Date(2026, 10, 29, 14, 3).toISOString() } });
  expect(since("15:00:01")).toMatchObject({ since: { since: new Date(2026, 10, 28, 15, 0, 1).toISOString() } });
  expect(since("77")).toMatchObject({ since: { offset: 77 } });
  expect(since("10m")).toMatchObject({ since: { agoMs: 600_000 } });
  for (const text of ["24:00", "14:60", "noon"])
    expect(refusal(`logs ${URL} --session s --since ${text}`)).toMatch(/14:03/);
});

test("replay takes a file, an address or a session's name", () => {
  for (const file of ["a.cast", "./a", "/tmp/b", "-"])
    expect(parse(`replay ${file}`)).toEqual({ kind: "replay", speed: 1, file });
  expect(parse(`replay ${URL}/x --session a.cast --speed 0.5`)).toMatchObject({
    session: "a.cast",
    speed: 0.5,
    query: {},
  });
  expect(parseArgs(["replay", "web", "--speed", "max"], "1", { server: URL })).toMatchObject({
    session: "web",
    speed: Number.POSITIVE_INFINITY,
  });
  for (const speed of ["0", "-1", "fast", "1000001"])
    expect(refusal(`replay a.cast --speed ${speed}`)).toMatch(/factor/);
});

test("record watches, or saves the server's recording with --stored, which its options are about", () => {
  expect(parse(`record ${URL} --session s -o a.cast --idle-limit 2.5`)).toMatchObject({
    kind: "record",
    output: "a.cast",
    idleLimitSeconds: 2.5,
  });
  expect(parse(`record ${URL} --session s --stored --incarnation i -f`)).toMatchObject({
    stored: { follow: "1", incarnation: "i" },
  });
  expect(refusal(`record ${URL} --session s -f`)).toBe("--follow is about the server's recording: add --stored");
  expect(refusal(`record ${URL}`)).toMatch(/missing session/);
});

test("the start of a process asks for a recording, attached or by run", () => {
  expect(parse(`${URL} --session s --record -- ls`)).toMatchObject({ request: { record: true } });
  expect(parse(`run ${URL} --record -- ls`)).toMatchObject({ request: { record: true } });
  expect(refusal(`record ${URL} --session s --idle-limit many`)).toMatch(/such as 2 or 0.5/);
});

test("recordings names what is done to which", () => {
  expect(parse(`recordings hold ${URL} --session s --reason audit`)).toMatchObject({
    kind: "recordings",
    action: "hold",
    session: "s",
    options: { reason: "audit" },
  });
  expect(parse(`recordings remove ${URL} --of bob`)).toMatchObject({ action: "remove", options: { of: "bob" } });
  expect(refusal(`recordings remove ${URL} --session s`)).toMatch(/one of --incarnation, --all and --of/);
});
