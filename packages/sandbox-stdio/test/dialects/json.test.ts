// The JSON gateway, beside the lines of its own document.

import { describe, expect, test } from "vitest";
import { JSON_GATEWAY, JSON_ROUTES } from "../../src/dialects/json.ts";
import type { SessionEvent } from "../../src/server/dialect.ts";
import { bytes } from "../support/fixtures.ts";
import { alice, bob, found, heard, hello, out, said } from "./speaking.ts";

const close = (reason: unknown) => ({ kind: "close", code: 1008, reason });

describe("client to server", () => {
  test.each<[line: string, frame: string | Uint8Array, command: unknown]>([
    ['{ "type": "input", "data": "string (<= 8192 chars)" }', '{"type":"input","data":"ls\\r"}', "stdin:ls\r"],
    ["Clients must send UTF-8 JSON payloads", '{"type":"input","data":"é日👩"}', "stdin:é日👩"],
    ["… the same bytes in a binary frame", bytes('{"type":"input","data":"é"}'), "stdin:é"],
    ["input of nothing", '{"type":"input","data":""}', { kind: "nothing" }],
    ["<= 8192 chars", `{"type":"input","data":"${"x".repeat(8192)}"}`, `stdin:${"x".repeat(8192)}`],
    [
      '{ "type": "resize", "cols": 1-500, "rows": 1-200 }',
      '{"type":"resize","cols":500,"rows":200}',
      { type: "resize", cols: 500, rows: 200 },
    ],
    ["… 1-500", '{"type":"resize","cols":1,"rows":1}', { type: "resize", cols: 1, rows: 1 }],
  ])("%s", (_line, frame, command) => {
    expect(heard(JSON_GATEWAY, frame)).toEqual(command);
  });

  test.each<[line: string, frame: string | Uint8Array, reason: unknown]>([
    ["more than 8192 chars", `{"type":"input","data":"${"x".repeat(8193)}"}`, expect.stringContaining("8192")],
    ["cols over 500", '{"type":"resize","cols":501,"rows":1}', expect.stringContaining("from 1 to 500")],
    ["rows over 200", '{"type":"resize","cols":1,"rows":201}', expect.stringContaining("from 1 to 200")],
    ["no cols", '{"type":"resize","rows":1}', expect.stringContaining('"cols" is missing')],
    ["half a column", '{"type":"resize","cols":1.5,"rows":1}', expect.stringContaining("integer")],
    ["not JSON", "ls\r", expect.stringContaining("not JSON")],
    ["not UTF-8", Uint8Array.of(0xff, 0xfe), expect.stringContaining("not JSON")],
    ["unsupported: another dialect's resize", '1{"columns":80,"rows":24}', expect.stringContaining("not JSON")],
    ["unsupported: another dialect's message", '{"type":"request_stdin"}', expect.stringContaining("unknown type")],
    ["unsupported: ping", '{"type":"ping"}', expect.stringContaining("unknown type")],
    ["unsupported: signal", '{"type":"signal","signal":"SIGINT"}', expect.stringContaining("unknown type")],
    ["larger than 16KiB", `{"type":"input","data":"${"é".repeat(8180)}"}`, expect.stringContaining("16384 bytes")],
    ["larger than 64KiB", " ".repeat(65_537), expect.stringContaining("16384 bytes")],
  ])("closes the offending socket with policy code 1008: %s", (_line, frame, reason) => {
    expect(JSON_GATEWAY.decode(frame)).toEqual(close(reason));
  });

  test("16 KiB to the byte are taken", () => {
    const frame = `{"type":"input","data":"${"é".repeat(8179)}"}`;
    expect(bytes(frame).length).toBe(16 * 1024);
    expect(JSON_GATEWAY.decode(frame).kind).toBe("command");
  });
});

describe("server to client", () => {
  const join: SessionEvent = { type: "join", participant: bob };
  const leave: SessionEvent = { type: "leave", id: "b" };
  test.each<[line: string, events: SessionEvent[], frames: string[]]>([
    [
      '{ "type": "status", "status": "connected" | "disconnected", "clients": <count> } when clients attach or detach',
      [hello(), join, leave],
      [
        '{"type":"status","status":"connected","clients":1}',
        '{"type":"status","status":"connected","clients":2}',
        '{"type":"status","status":"disconnected","clients":1}',
      ],
    ],
    [
      '{ "type": "output", "data": "..." } – PTY stdout/stderr stream',
      [out('a"\u001b[31m\r\n'), out("err", 2)],
      ['{"type":"output","data":"a\\"\\u001b[31m\\r\\n"}', '{"type":"output","data":"err"}'],
    ],
    [
      '{ "type": "exit", "exitCode": <code>, "signal"?: <signal> }',
      [{ type: "exit", code: 7, offset: 0 }],
      ['{"type":"exit","exitCode":7}'],
    ],
    [
      "… with a signal, by its number",
      [{ type: "exit", code: 137, signal: "SIGKILL", offset: 0 }],
      ['{"type":"exit","exitCode":137,"signal":9}'],
    ],
    [
      "no word for anything else",
      [
        found(false),
        { type: "error", code: "not_stdin_holder", message: "not stdin holder" },
        { type: "stdin_holder", id: "a" },
        { type: "resize", cols: 1, rows: 1, offset: 0 },
        { type: "status", status: "lost" },
        { type: "expiring", seconds: 60 },
        { type: "bye", code: 4401, reason: "token expired", retry: "never" },
      ],
      [],
    ],
  ])("%s", (_line, events, frames) => {
    expect(said(JSON_GATEWAY, ...events)).toEqual(frames);
  });
});

describe("UTF-8 is never cut inside a character", () => {
  const data = (...events: SessionEvent[]) =>
    said(JSON_GATEWAY, ...events).map((frame) => (JSON.parse(frame) as { data?: string }).data ?? frame);
  /** Some bytes of a character of four. */
  const some = (from: number, to: number, before = "", after = "") =>
    out(Uint8Array.of(...bytes(before), ...bytes("👩").subarray(from, to), ...bytes(after)));
  const exit: SessionEvent = { type: "exit", code: 0, offset: 0 };

  test.each<[what: string, events: SessionEvent[], data: string[]]>([
    ["a character in four frames", [0, 1, 2, 3].map((at) => some(at, at + 1)), ["👩"]],
    ["text around it", [some(0, 2, "x"), some(2, 4, "", "y")], ["x", "👩y"]],
    ["what never comes, at the exit", [some(0, 1, "x"), exit], ["x", "\ufffd", '{"type":"exit","exitCode":0}']],
    ["… at a gap", [some(0, 1), { type: "gap", from: 1, to: 5 }, out("y")], ["\ufffd", "y"]],
    ["bytes that are not UTF-8 are replaced", [out(Uint8Array.of(0x61, 0xff, 0x62, 0xc0, 0x63))], ["a\ufffdb\ufffdc"]],
    ["the second half of a character whose first is gone", [some(2, 4, "", "x")], ["\ufffd\ufffdx"]],
    ["a byte order mark is output too", [out(Uint8Array.of(0xef, 0xbb, 0xbf, 0x78))], ["\ufeffx"]],
  ])("%s", (_what, events, expected) => {
    expect(data(...events)).toEqual(expected);
  });
});

describe("the route", () => {
  const wish = (query: string) => JSON_ROUTES[0]?.wish({ params: {}, search: new URLSearchParams(query) });

  test.each([
    ["sessionId=dev:build", "dev", "build"],
    ["sessionId=dev", "dev", "main"],
  ])("%s is session %s, %s, which ends when all clients disconnect", (query, sandbox, session) => {
    expect(wish(query)).toMatchObject({ ok: true, query: { sandbox, session, process: { tty: true, keep: 0 } } });
  });

  test.each(["", "sessionId=", "sessionId=:main", "sessionId=dev:", "sessionId=a:b:c", "sessionId=other/dev:main"])(
    "mismatches are denied with 401: %s",
    (query) => {
      expect(wish(query)).toMatchObject({ ok: false, code: 4401 });
    },
  );

  test("its own limit of connections for one address; origins are checked; refusals are HTTP statuses", () => {
    expect(JSON_ROUTES).toMatchObject([
      { path: "/sandbox/terminal", limits: "json", checksOrigin: true, refusal: "status" },
    ]);
  });
});

test("D10: a viewer reads that it can only look on, again when it types", () => {
  const refused = { type: "error", code: "not_stdin_holder", message: "not stdin holder" } as const;
  const status = '{"type":"status","status":"connected","clients":2,"readOnly":true}';
  expect(said(JSON_GATEWAY, hello({ you: bob, participants: [alice, bob] }), refused)).toEqual([status, status]);
  const driver = said(JSON_GATEWAY, hello({ participants: [alice] }));
  expect(driver).toEqual(['{"type":"status","status":"connected","clients":1}']);
});
