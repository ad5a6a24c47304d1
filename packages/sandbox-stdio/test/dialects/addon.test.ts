// SandboxAddon of @cloudflare/sandbox/xterm, beside what its source does with each message.

import { describe, expect, test } from "vitest";
import { ADDON, ADDON_ROUTES } from "../../src/dialects/addon.ts";
import type { SessionEvent } from "../../src/server/dialect.ts";
import { bytes } from "../support/fixtures.ts";
import { bob, found, heard, hello, out, said } from "./speaking.ts";

const READY = '{"type":"ready"}';
const live: SessionEvent = { type: "live" };
const error = (code: string) => ({ kind: "error", code, message: expect.any(String) });
const close = (code: number) => ({ kind: "close", code, reason: expect.any(String) });
const RESET = "bytes:\u001bc";

describe("what it says", () => {
  test.each<[line: string, frame: string | Uint8Array, command: unknown]>([
    ["this.socket.send(this.textEncoder.encode(data))", bytes("ls\r"), "stdin:ls\r"],
    [
      'this.socket.send(JSON.stringify({ type: "resize", cols, rows }))',
      '{"type":"resize","cols":120,"rows":40}',
      { type: "resize", cols: 120, rows: 40 },
    ],
    ["a size that no terminal has", '{"type":"resize","cols":0,"rows":0}', error("bad_size")],
    ["it says nothing else", '{"type":"kill"}', error("unknown_type")],
    ["a resize of another shape", '{"type":"resize"}', close(1008)],
    ["xterm.js's AttachAddon: a key", "\r", "stdin:\r"],
    ["xterm.js's AttachAddon: a paste that begins like JSON", '{"x":1}é', 'stdin:{"x":1}é'],
    ["xterm.js's AttachAddon: a paste of JSON that says no type", '{"x":1}', 'stdin:{"x":1}'],
    ["over 4 MiB of stdin", new Uint8Array(4_194_305), close(1009)],
  ])("%s", (_line, frame, command) => {
    expect(heard(ADDON, frame)).toEqual(command);
  });
});

describe("what it is told", () => {
  test.each<[what: string, events: SessionEvent[], frames: string[]]>([
    ["a new session: ready at once", [found(false), hello(), live, out("$ ")], [READY, "bytes:$ "]],
    [
      "a replay: a reset, the bytes, and ready after the last of them",
      [found(false), hello({ live: 4 }), out("ab"), out("cd"), live, out("ef")],
      [RESET, "bytes:ab", "bytes:cd", READY, "bytes:ef"],
    ],
    [
      "a session that has ended: what was, and the exit. With ready it would come back for ever",
      [found(true), hello({ live: 2 }), out("ab"), live, { type: "exit", code: 0, offset: 2 }],
      [RESET, "bytes:ab", '{"type":"exit","code":0}'],
    ],
    [
      'case "exit": new Error("Session exited with code " + msg.code, and msg.signal behind it)',
      [{ type: "exit", code: 143, signal: "SIGTERM", offset: 0 }],
      ['{"type":"exit","code":143,"signal":"SIGTERM"}'],
    ],
    [
      'case "error": new Error(msg.message ?? "Unknown error")',
      [{ type: "error", code: "not_stdin_holder", message: "not stdin holder" }],
      ['{"type":"error","message":"not stdin holder"}'],
    ],
    [
      "why the server closes",
      [{ type: "bye", code: 4401, reason: "token expired", retry: "never" }],
      ['{"type":"error","message":"token expired"}'],
    ],
    [
      "nothing of who else is there",
      [
        { type: "join", participant: bob },
        { type: "leave", id: "b" },
        { type: "stdin_holder", id: "b" },
        { type: "status", status: "lost" },
        { type: "resize", cols: 1, rows: 1, offset: 0 },
      ],
      [],
    ],
  ])("%s", (_what, events, frames) => {
    expect(said(ADDON, ...events)).toEqual(frames);
  });
});

describe("the route", () => {
  const wish = (query: string) => ADDON_ROUTES[0]?.wish({ params: {}, search: new URLSearchParams(query) });

  test.each([
    ["id=dev&session=build", "dev", "build"],
    ["id=dev", "dev", "main"],
    ["id=dev&session=", "dev", "main"],
  ])("%s is sandbox %s, session %s", (query, sandbox, session) => {
    expect(wish(query)).toMatchObject({
      ok: true,
      query: { sandbox, session, role: "driver", process: { tty: true } },
    });
  });

  test("a viewer may ask to be one", () => {
    expect(wish("id=dev&role=viewer&name=bob")).toMatchObject({ query: { role: "viewer", name: "bob" } });
  });

  test("no id, or one that is no name, is refused with the reason", () => {
    expect([wish(""), wish("id=a%2Fb")]).toMatchObject([
      { ok: false, code: 4400, detail: expect.stringContaining('"id"') },
      { ok: false, code: 4400, detail: expect.stringContaining('"sandbox"') },
    ]);
  });
});
