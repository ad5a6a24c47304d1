// The schemas of requests: defaults and limits as the contract has them, and JSON Schema of each.

import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createRequest, runRequest } from "../src/process-schemas.ts";
import { ROUTES, type Route } from "../src/routes.ts";
import { readQuery, waitRequest, writeRequest } from "../src/session-schemas.ts";
import { unknownFieldOf } from "../src/unknown-field.ts";

const isOk = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success;

test.each<[z.ZodObject, object, string, string]>([
  [runRequest, { command: "ls", timeoutMs: 5 }, "timeoutMs", "waitMs"],
  [runRequest, { command: "ls", max_bytes: 5 }, "max_bytes", "maxBytes"],
  [runRequest, { command: "ls", std_in_base_64: "" }, "std_in_base_64", "stdinBase64"],
  [runRequest, { comand: "ls" }, "comand", "command"],
  [runRequest, { command: "ls", ...JSON.parse('{"__proto__":{}}') }, "__proto__", "rows"],
  [waitRequest, { until: { exit: true }, waitMs: 5 }, "waitMs", "timeoutMs"],
  [waitRequest, { until: { match: "a", flag: "i" } }, "flag", "flags"],
  [readQuery, { form: "5" }, "form", "from"],
])("R4a: of an unknown field the nearest name is told (#%#)", (schema, value, field, nearest) => {
  const issues = schema.safeParse(value).error?.issues ?? [];
  expect(unknownFieldOf(schema, issues)).toEqual({ field, nearest });
});

test("R4a: two conditions of a wait at once are no unknown field", () => {
  for (const until of [
    { match: "a", text: "b" },
    { text: "a", flags: "i" },
  ]) {
    const issues = waitRequest.safeParse({ until }).error?.issues ?? [];
    expect([issues.length, unknownFieldOf(waitRequest, issues)]).toEqual([1, undefined]);
  }
});

test("P1: each variable of env counts, whatever its name", () => {
  const env: unknown = JSON.parse('{"__proto__":"a","constructor":"b"}');
  const told = createRequest.parse({ cmd: "ls", env }).env ?? {};
  expect(Object.entries(told)).toEqual([
    ["__proto__", "a"],
    ["constructor", "b"],
  ]);
  for (const bad of [[], null, { A: 1 }, JSON.parse('{"__proto__":1}')]) {
    expect(isOk(createRequest, { cmd: "ls", env: bad })).toBe(false);
  }
  expect(z.toJSONSchema(createRequest, { io: "input" }).properties?.env).toEqual({
    type: "object",
    additionalProperties: { type: "string" },
  });
});

describe("requests", () => {
  test("P1: exactly one of cmd and command; args only with cmd", () => {
    expect(isOk(createRequest, { cmd: "ls", args: ["-l"] })).toBe(true);
    expect(isOk(createRequest, { command: "ls -l" })).toBe(true);
    for (const bad of [{}, { cmd: "ls", command: "ls" }, { command: "ls", args: [] }]) {
      expect(isOk(createRequest, bad)).toBe(false);
    }
  });

  test("P2: ended replace needs attempt; P4: keepSeconds 1800, keepExitedSeconds 600", () => {
    expect(isOk(createRequest, { cmd: "ls", ended: "replace" })).toBe(false);
    expect(createRequest.parse({ cmd: "ls", ended: "replace", attempt: "a" })).toMatchObject({
      tty: false,
      keepSeconds: 1_800,
      keepExitedSeconds: 600,
    });
  });

  test("U1: waitMs 10000, from 0 to 600000; maxBytes 65536, from 16 to 1 MiB; stdin may be null", () => {
    expect(runRequest.parse({ command: "ls", stdin: null })).toMatchObject({
      waitMs: 10_000,
      maxBytes: 65_536,
      stdin: null,
    });
    for (const bad of [
      { waitMs: 600_001 },
      { waitMs: -1 },
      { maxBytes: 15 },
      { maxBytes: 1_048_577 },
      { stdin: "", stdinBase64: "" },
    ]) {
      expect(isOk(runRequest, { command: "ls", ...bad })).toBe(false);
    }
  });

  test("D1, D2: a read's numbers come as text; from and tail exclude each other", () => {
    expect(readQuery.parse({ from: "12" })).toEqual({
      from: 12,
      maxBytes: 65_536,
      waitMs: 0,
      stream: "all",
      format: "text",
    });
    for (const bad of [
      { from: "1", tail: "1" },
      { from: "-1" },
      { from: "x" },
      { maxBytes: "15" },
      { format: "html" },
    ]) {
      expect(isOk(readQuery, bad)).toBe(false);
    }
  });

  test("W1: one of text, keys, paste and base64, with enter or eof or one of them alone", () => {
    for (const good of [
      { text: "" },
      { keys: ["C-c"] },
      { paste: "x", enter: true },
      { base64: "AA==", eof: true },
      { eof: true },
      { enter: true },
    ]) {
      expect([good, isOk(writeRequest, good)]).toEqual([good, true]);
    }
    for (const bad of [
      {},
      { text: "a", paste: "b" },
      { enter: true, eof: true },
      { base64: "?" },
      { text: "a", at: -1 },
    ]) {
      expect([bad, isOk(writeRequest, bad)]).toEqual([bad, false]);
    }
    expect(writeRequest.parse({ text: "a" })).toMatchObject({ writer: "api", waitMs: 10_000 });
  });

  test("T1: exactly one condition; timeoutMs 30000, to 3600000; maxBytes 8192", () => {
    expect(waitRequest.parse({ until: { match: "x", flags: "im" } })).toMatchObject({
      timeoutMs: 30_000,
      maxBytes: 8_192,
    });
    for (const bad of [
      {},
      { until: {} },
      { until: { exit: true, text: "a" } },
      { until: { exit: true }, timeoutMs: 3_600_001 },
    ]) {
      expect(isOk(waitRequest, bad)).toBe(false);
    }
  });
});

test("each schema of the table becomes JSON Schema", () => {
  const routes: readonly Route[] = ROUTES;
  expect(routes).toHaveLength(14);
  for (const { query, body, answer } of routes) {
    for (const schema of [query, body]) {
      if (schema !== undefined) expect(z.toJSONSchema(schema, { io: "input" })).toMatchObject({ type: "object" });
    }
    if (answer !== undefined) expect(z.toJSONSchema(answer)).toMatchObject({ type: "object" });
  }
});
