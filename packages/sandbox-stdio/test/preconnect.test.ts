// H22: what is asked on a connection that was there already, and how it is refused.
import { expect, test } from "vitest";
import { parseBegin, parseBeginRefused } from "../src/wire/preconnect.ts";
import { INNER_HELLO } from "./hello.ts";

test("H22: begin holds a query, however long", () => {
  const query = `cmd=${"x".repeat(500_000)}`;
  expect(parseBegin(JSON.stringify({ type: "begin", query }))).toMatchObject({ ok: true, message: { query } });
  expect(parseBegin('{"type":"begin"}')).toMatchObject({ ok: false, fault: "wrong_shape" });
  expect(parseBegin('{"type":"attach","query":""}')).toMatchObject({ ok: false, fault: "unknown_type" });
});

test("H22: a refusal is read, also one that quotes a long command", () => {
  const refused = { type: "refused", status: 422, error: "cmd_not_found", message: `no ${"x".repeat(10_000)}` };
  expect(parseBeginRefused(JSON.stringify(refused))).toEqual(refused);
});

test.each([
  ["a status that is none of a refusal", { status: 200, error: "ok", message: "" }],
  ["a status that is none at all", { status: 99_999, error: "no", message: "" }],
  ["an error that would draw on a terminal", { status: 422, error: "no\u001b[2J", message: "" }],
  ["nothing", {}],
])("H22: a refusal with %s is one all the same, of what is no bridge", (_, refused) => {
  expect(parseBeginRefused(JSON.stringify({ type: "refused", ...refused }))).toMatchObject({
    status: 502,
    error: "no_bridge",
  });
});

test("H22: what is no refusal is a greeting, or is read as one", () => {
  for (const text of [JSON.stringify(INNER_HELLO), '{"type":"pong"}', "{}", "no JSON"]) {
    expect(parseBeginRefused(text)).toBeUndefined();
  }
});
