// The table of attach parameters: each reader that is made of it keeps to its ranges, and each row stands in the documents.

import { readFileSync } from "node:fs";
import {
  attachParams,
  CLIENT_PARAMS,
  fromBody,
  PROCESS_PARAMS,
  parseAttachQuery,
  rowsOf,
  SIZE_PARAMS,
  toBody,
} from "sandbox-stdio/core";
import { parseOrder } from "sandbox-stdio/programs";
import { expect, test } from "vitest";
import { createRequest } from "../src/process-schemas.ts";

const PARAMS = [PROCESS_PARAMS, SIZE_PARAMS, CLIENT_PARAMS].flatMap(rowsOf);
const NUMBERS = PARAMS.flatMap((param) =>
  param.field.kind === "integer" ? [{ ...param, min: param.field.min, max: param.field.max }] : [],
);

const ORDER = {
  ...{ label: "box", session: "s", cmd: "sh", args: [], env: [], tty: false, mode: "collaborative" },
  ...{ keep: 60, keepExited: 0, stdin: "", isStdinEnded: true },
};

test.each(NUMBERS)(
  "A1, P1: $query is taken from $min to $max, wherever it is given",
  ({ key, query, body, min, max }) => {
    for (const [value, isOk] of [
      [min, true],
      [max, true],
      [min - 1, false],
      [max + 1, false],
    ] as const) {
      const asked = parseAttachQuery(new URLSearchParams({ [query]: String(value) }));
      expect(asked.ok ? undefined : asked.detail).toBe(
        isOk ? undefined : `"${query}" must be an integer from ${min} to ${max}`,
      );
      if (body === undefined) continue;
      expect(createRequest.safeParse({ cmd: "sh", [body]: value }).success).toBe(isOk);
      expect("detail" in parseOrder(JSON.stringify({ ...ORDER, [key]: value }))).toBe(!isOk);
    }
  },
);

test("A1, P1: what describes a process is the same in a query, in a body and in the bridge's order", () => {
  const wish = {
    cmd: "sh",
    args: ["-c", "true"],
    cwd: "/w",
    tty: true,
    mode: "exclusive",
    delivery: "lossless",
  } as const;
  const numbers = NUMBERS.filter(({ key }) => key in PROCESS_PARAMS && key !== "tcp").map(({ key, max }) => [key, max]);
  const whole = { ...wish, shellIntegration: false, ...Object.fromEntries(numbers) };
  const asked = parseAttachQuery(new URLSearchParams(attachParams({ process: whole })));
  expect(asked).toMatchObject({ ok: true, query: { process: whole } });
  expect(fromBody(createRequest.parse(toBody(whole)))).toEqual(whole);
  expect(parseOrder(JSON.stringify({ ...ORDER, ...whole }))).toMatchObject({ process: whole });
});

test("every parameter of the table stands in PROTOCOL.md", () => {
  const protocol = readFileSync(new URL("../../sandbox-stdio/PROTOCOL.md", import.meta.url), "utf8");
  expect(PARAMS.filter(({ query }) => !protocol.includes(`\`${query}`)).map(({ key }) => key)).toEqual([]);
});
