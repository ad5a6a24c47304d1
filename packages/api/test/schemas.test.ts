// The schemas of requests: defaults and limits as the contract has them, and JSON Schema of each.

import { expect, test } from "vitest";
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

const RUN = { command: "ls" };
test.each<[string, z.ZodType, object[], object[]]>([
  [
    "P1: exactly one of cmd and command; args only with cmd; P2: ended replace needs attempt",
    createRequest,
    [{ cmd: "ls", args: ["-l"] }, { command: "ls -l" }],
    [{}, { cmd: "ls", command: "ls" }, { command: "ls", args: [] }, { cmd: "ls", ended: "replace" }],
  ],
  [
    "U1: waitMs from 0 to 600000; maxBytes from 16 to 1 MiB; one of stdin and stdinBase64",
    runRequest,
    [RUN],
    [
      { waitMs: 600_001 },
      { waitMs: -1 },
      { maxBytes: 15 },
      { maxBytes: 1_048_577 },
      { stdin: "", stdinBase64: "" },
    ].map((bad) => ({ ...RUN, ...bad })),
  ],
  [
    "D1, D2: a read's numbers come as text; from and tail exclude each other",
    readQuery,
    [{ from: "12" }],
    [{ from: "1", tail: "1" }, { from: "-1" }, { from: "x" }, { maxBytes: "15" }, { format: "html" }],
  ],
  [
    "W1: one of text, keys, paste and base64, with enter or eof or one of them alone",
    writeRequest,
    [{ text: "" }, { keys: ["C-c"] }, { paste: "x", enter: true }, { base64: "AA==", eof: true }, { eof: true }],
    [{}, { text: "a", paste: "b" }, { enter: true, eof: true }, { base64: "?" }, { text: "a", at: -1 }],
  ],
  [
    "T1: exactly one condition; timeoutMs to 3600000",
    waitRequest,
    [{ until: { match: "x", flags: "im" } }],
    [{}, { until: {} }, { until: { exit: true, text: "a" } }, { until: { exit: true }, timeoutMs: 3_600_001 }],
  ],
])("%s", (_rule, schema, good, bad) => {
  expect(good.map((value) => [value, isOk(schema, value)])).toEqual(good.map((value) => [value, true]));
  expect(bad.map((value) => [value, isOk(schema, value)])).toEqual(bad.map((value) => [value, false]));
});

test("P4, U1, D2, W1, T1: what is usual where nothing is said", () => {
  expect(createRequest.parse({ cmd: "ls", ended: "replace", attempt: "a" })).toMatchObject({
    ...{ tty: false, keepSeconds: 1_800, keepExitedSeconds: 600 },
  });
  const run = { waitMs: 10_000, maxBytes: 65_536, stdin: null };
  expect(runRequest.parse({ command: "ls", stdin: null })).toMatchObject(run);
  const read = { from: 12, maxBytes: 65_536, waitMs: 0, stream: "all", format: "text" };
  expect(readQuery.parse({ from: "12" })).toEqual(read);
  expect(writeRequest.parse({ enter: true })).toMatchObject({ writer: "api", waitMs: 10_000 });
  expect(waitRequest.parse({ until: { exit: true } })).toMatchObject({ timeoutMs: 30_000, maxBytes: 8_192 });
});

test("each schema of the table becomes JSON Schema", () => {
  const routes: readonly Route[] = ROUTES;
  expect(routes).toHaveLength(24);
  for (const { operation, query, body, answer } of routes) {
    for (const schema of [query, body]) {
      if (schema !== undefined) expect(z.toJSONSchema(schema, { io: "input" })).toMatchObject({ type: "object" });
    }
    // An asciicast is lines of JSON.
    const type = operation === "recording" ? "string" : "object";
    if (answer !== undefined) expect(z.toJSONSchema(answer)).toMatchObject({ type });
  }
});
