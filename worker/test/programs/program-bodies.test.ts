// The bodies and queries of programs' requests: what is refused before anything is done.
import { processSchemas, sessionSchemas } from "@sbx/api";
import { expect, test } from "vitest";
import { parseBody, parseQuery, processOf } from "../../src/programs/parse.ts";

const ADDRESS = "http://sbx.test/api/sandboxes/dev/run";
const post = (body: BodyInit, query = "") => new Request(`${ADDRESS}${query}`, { method: "POST", body });

async function refusalOf(body: BodyInit, query?: string): Promise<unknown> {
  const parsed = await parseBody(post(body, query), processSchemas.runRequest);
  return parsed.ok ? undefined : { status: parsed.answer.status, ...parsed.answer.body };
}

test("R4b: a body that is not UTF-8 is 400 bad_encoding, wherever it is cut; U+FFFD itself is text", async () => {
  const bad = new Uint8Array([...new TextEncoder().encode('{"command":"'), 0xff, ...new TextEncoder().encode('"}')]);
  const unfinished = new TextEncoder().encode('{"command":"\u20ac').subarray(0, -1);
  for (const body of [bad, unfinished]) {
    expect(await refusalOf(body)).toMatchObject({ status: 400, error: "bad_encoding" });
  }
  expect(await refusalOf('{"command":"\ufffd \u20ac"}')).toBeUndefined();
  expect(await refusalOf('{"command":')).toMatchObject({ status: 400, error: "bad_request" });
});

test("R4a: an unknown field is 400 unknown_field with the nearest name, in a body and in a query", async () => {
  const unknown = { status: 400, error: "unknown_field" };
  expect(await refusalOf('{"command":"ls","timeoutMs":5}')).toEqual({
    ...unknown,
    message: 'unknown field "timeoutMs": the nearest is "waitMs"',
    ...{ field: "timeoutMs", nearest: "waitMs" },
  });
  // Also beside another fault.
  expect(await refusalOf('{"max_bytes":5}')).toMatchObject({ ...unknown, nearest: "maxBytes" });
  expect(await refusalOf('{"command":"ls"}', "?waitMs=5")).toEqual({
    ...unknown,
    message: 'unknown field "waitMs" in the query: it belongs in the body',
    ...{ field: "waitMs", nearest: "waitMs" },
  });
  expect(await refusalOf('{"command":"ls"}', "?incarnation=one")).toBeUndefined();
  const query = parseQuery(new Request(`${ADDRESS}?form=3`), sessionSchemas.readQuery);
  expect(query).toMatchObject({ ok: false, answer: { body: { error: "unknown_field", nearest: "from" } } });
});

test("P1: 130,000 arguments or variables are 422, as many as there may be are taken", () => {
  const counted = (args: number, variables: number) => {
    const env = Object.fromEntries(Array.from({ length: variables }, (_, i) => [`V${i}`, ""]));
    const body = { ...processSchemas.createRequest.parse({ cmd: "true" }), args: Array<string>(args).fill("a"), env };
    const process = processOf(body, "", true);
    return process.ok ? "taken" : { status: process.answer.status, error: process.answer.body.error };
  };
  const tooLong = { status: 422, error: "cmd_too_long" };
  expect([counted(130_000, 0), counted(0, 130_000)]).toEqual([tooLong, tooLong]);
  expect([counted(65_537, 0), counted(65_536, 65_536)]).toEqual([tooLong, "taken"]);
});
