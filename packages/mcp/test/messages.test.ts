import { expect, test } from "vitest";
import { isInitialize, needsNewerServer, placeOf, readBody, versionOf } from "../src/gateway/index.ts";

const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { _meta: { progressToken: "p" } } };

test("M2: a message is one line for the server, with what it is told apart by", () => {
  const body = readBody(JSON.stringify(request, undefined, 2).replaceAll("\n", "\r\n"));
  expect(body).toMatchObject({ ok: true, sent: [{ method: "tools/call", id: "1", progressToken: '"p"' }] });
  const [{ line = "" } = {}] = body.ok ? body.sent : [];
  expect([/[\r\n]/.test(line), JSON.parse(line)]).toEqual([false, request]);
  const batch = [
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "a" } },
    { jsonrpc: "2.0", id: "q", result: {} },
    { jsonrpc: "2.0", id: "b", method: "ping" },
  ];
  expect(readBody(JSON.stringify(batch))).toMatchObject({
    sent: [{ cancels: '"a"' }, { line: JSON.stringify(batch[1]) }, { id: '"b"', method: "ping" }],
  });
});

test.each(["", "{", "null", "[]", "1", '"x"', "[[]]", '{"jsonrpc":"1.0","id":1,"method":"x"}', '{"jsonrpc":"2.0"}'])(
  "M2: %s is refused as no message",
  (text) => {
    expect(readBody(text)).toMatchObject({ ok: false, code: expect.any(Number) });
  },
);

test("M2: what only a server of a newer revision can answer is told from what falls back", () => {
  const newer = { params: { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } } };
  expect(needsNewerServer("2026-07-28", [])).toBe(true);
  expect(needsNewerServer(null, [{ ...request, ...newer }])).toBe(true);
  expect(needsNewerServer(null, [{ jsonrpc: "2.0", id: 1, method: "server/discover" }])).toBe(true);
  for (const version of [null, "2025-03-26", "2025-11-25"]) expect(needsNewerServer(version, [request])).toBe(false);
  const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-06-18" } };
  expect([isInitialize(initialize), isInitialize(request)]).toEqual([true, false]);
  expect([versionOf(null, [initialize]), versionOf("2025-11-25", [request]), versionOf(null, [request])]).toEqual([
    "2025-06-18",
    "2025-11-25",
    undefined,
  ]);
});

test("M2: an event's id is STREAM.OFFSET, and nothing else is one", () => {
  expect(placeOf("3.1024")).toEqual({ stream: 3, offset: 1024 });
  for (const id of ["", "3", "3.", ".1", "a.1", "3.1.2", "-1.2", "1e3.2", "9999999999999999.1"])
    expect(placeOf(id)).toBeUndefined();
});

test("M2: what is nested too deeply for a line, and an id that is longer than any is, are no messages", () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const message = (more: string) => `{"jsonrpc":"2.0","method":"x"${more}}`;
  // Alone it is passed on as it came.
  expect(readBody(message(`,"params":${deep}`))).toMatchObject({ ok: true });
  expect(readBody(`[${message(`,"params":${deep}`)}]`)).toMatchObject({ ok: false });
  expect(readBody(message(`,"id":"${"x".repeat(600)}"`))).toMatchObject({ ok: false });
  const tokens = `,"id":1,"params":{"_meta":{"progressToken":${deep}}}`;
  const cancels = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${deep}}}`;
  for (const text of [message(tokens), cancels]) {
    const body = readBody(text);
    const [{ progressToken = undefined, cancels: cancelled = undefined } = {}] = body.ok ? body.sent : [];
    expect([body.ok, progressToken, cancelled]).toEqual([true, undefined, undefined]);
  }
});
