// PandaStack's pty, beside the lines of its own page.

import { describe, expect, test } from "vitest";
import { PTY, PTY_ROUTES, PTY_SHARED } from "../../src/dialects/pty.ts";
import type { SessionEvent } from "../../src/server/dialect.ts";
import { bytes } from "../support/fixtures.ts";
import { alice, bob, found, heard, hello, out, said } from "./speaking.ts";

const error = (code: string, words = "") => ({ kind: "error", code, message: expect.stringContaining(words) });
const close = (code: number, words = "") => ({ kind: "close", code, reason: expect.stringContaining(words) });
const unknown = error("unknown_type");
const RESIZE = '{"type":"resize","rows":40,"cols":120}';

describe("/exec/pty", () => {
  test.each<[line: string, frame: string | Uint8Array, command: unknown]>([
    ["binary frame: bytes typed into stdin", bytes("ls\r"), "stdin:ls\r"],
    [
      '{"type":"resize","rows":40,"cols":120} (text JSON): resize the PTY',
      RESIZE,
      { type: "resize", cols: 120, rows: 40 },
    ],
    ["keep-alive with an empty resize", '{"type":"resize"}', { type: "keep_alive" }],
    ["… with no size in another way", '{"type":"resize","rows":0,"cols":0}', { type: "keep_alive" }],
    ["an empty binary frame is nothing", new Uint8Array(0), { kind: "nothing" }],
    ["half a size", '{"type":"resize","rows":40}', close(1008, "cols")],
    ["a size that no terminal has", '{"type":"resize","rows":40,"cols":5000}', error("bad_size", "5000 by 40")],
    ["its own dashboard's size", '{"resize":{"cols":120,"rows":40}}', { type: "resize", cols: 120, rows: 40 }],
    [
      "its own dashboard's size, that no terminal has",
      '{"resize":{"cols":5000,"rows":40}}',
      error("bad_size", "5000 by 40"),
    ],
    ["the keyboard is not handed on here", '{"type":"request_stdin"}', unknown],
    ["another dialect's message", '{"type":"input","data":"ls"}', unknown],
    ["what is not JSON", "ls\r", close(1008, "not JSON")],
    ["over 16 KiB of JSON", " ".repeat(16_385), close(1008, "16384")],
    ["over 4 MiB of stdin", new Uint8Array(4_194_305), close(1009)],
  ])("client → server: %s", (_line, frame, command) => {
    expect(heard(PTY, frame)).toEqual(command);
  });

  test.each<[line: string, events: SessionEvent[], frames: string[]]>([
    ["binary frame: PTY stdout/stderr bytes", [out("$ "), out("oops", 2)], ["bytes:$ ", "bytes:oops"]],
    ['{"type":"exit","code":N}', [{ type: "exit", code: 3, offset: 9 }], ['{"type":"exit","code":3}']],
    [
      "by a signal: 128 and its number",
      [{ type: "exit", code: 143, signal: "SIGTERM", offset: 9 }],
      ['{"type":"exit","code":143}'],
    ],
    [
      "nothing of who else is there",
      [
        found(false),
        hello(),
        { type: "join", participant: bob },
        { type: "stdin_holder", id: "a" },
        { type: "leave", id: "b" },
        { type: "resize", cols: 1, rows: 1, offset: 0 },
        { type: "bye", code: 4408, reason: "idle", retry: "never" },
      ],
      [],
    ],
  ])("server → client: %s", (_line, events, frames) => {
    expect(said(PTY, ...events)).toEqual(frames);
  });

  test("bytes that are not UTF-8 pass as they are", () => {
    const { frames } = PTY.encode(out(Uint8Array.of(0xff, 0x00, 0xc3)), undefined);
    expect(frames).toEqual([Uint8Array.of(0xff, 0x00, 0xc3)]);
  });
});

/** A line of the page's table, whose message is ours word for word. */
const same = (line: string, event: SessionEvent): [string, SessionEvent[], unknown[]][] => [[line, [event], [event]]];

describe("/exec/pty/shared: extra messages on top of the single-user protocol", () => {
  test.each<[line: string, events: SessionEvent[], frames: unknown[]]>([
    [
      '{"type":"hello","you":{...},"holder":"<id>","participants":[…],"rows":40,"cols":120}: sent immediately on connect',
      [found(false), hello({ holder: "a", participants: [alice, bob] }), out("$ ")],
      [{ type: "hello", you: alice, holder: "a", participants: [alice, bob], rows: 40, cols: 120 }, "bytes:$ "],
    ],
    ...same('{"type":"join","participant":{...}}: someone joined', { type: "join", participant: bob }),
    ...same('{"type":"leave","id":"<id>"}: someone left', { type: "leave", id: "b" }),
    ...same('{"type":"stdin_holder","id":"<id>"}: keyboard moved to <id>', { type: "stdin_holder", id: "b" }),
    ...same('holder leaves → holder = ""', { type: "stdin_holder", id: "" }),
    [
      '{"type":"error","message":"not stdin holder"}: you wrote a binary frame without holding stdin',
      [{ type: "error", code: "not_stdin_holder", message: "not stdin holder" }],
      [{ type: "error", message: "not stdin holder" }],
    ],
    [
      "shell exits → server broadcasts {exit, code}",
      [{ type: "exit", code: 0, offset: 0 }],
      [{ type: "exit", code: 0 }],
    ],
  ])("server → client: %s", (_line, events, frames) => {
    const actual = said(PTY_SHARED, ...events).map((frame) => (frame.startsWith("{") ? JSON.parse(frame) : frame));
    expect(actual).toEqual(frames);
  });

  test.each<[line: string, message: object]>([
    ["ask to become the holder", { type: "request_stdin" }],
    ["hand the keyboard back to the floor", { type: "release_stdin" }],
    ["current holder explicitly gives to another participant", { type: "grant_stdin", to: "b" }],
    ["steal the keyboard", { type: "force_take" }],
    ["resize the PTY", { type: "resize", cols: 120, rows: 40 }],
  ])("client → server: %s", (_line, message) => {
    expect(heard(PTY_SHARED, JSON.stringify(message))).toEqual(message);
  });

  test.each(["kill", "eof", "ping", "ack"])("%s is not said here", (type) => {
    expect(heard(PTY_SHARED, JSON.stringify({ type, offset: 0 }))).toEqual(unknown);
  });
});

describe("the routes", () => {
  const wish = (path: string, query: string) =>
    PTY_ROUTES.find((route) => route.path.endsWith(path))?.wish({
      params: { id: "dev" },
      search: new URLSearchParams(query),
    });

  test("the shell defaults to bash -li, in a fresh session that ends with its client", () => {
    const wished = wish("/pty", "rows=40&cols=120");
    expect(wished).toMatchObject({
      ok: true,
      command: ["bash", "-li"],
      query: { sandbox: "dev", size: { cols: 120, rows: 40 }, process: { tty: true, keep: 0, mode: "collaborative" } },
    });
    expect(wished).not.toHaveProperty("query.session");
    expect(wished).not.toHaveProperty("query.process.cmd");
  });

  test("override with ?cmd=, a URL-encoded full command line", () => {
    expect(wish("/pty", `cmd=${encodeURIComponent("npm test -- --watch 'a b' | tee log")}`)).toMatchObject({
      query: { process: { cmd: "bash", args: ["-lc", "npm test -- --watch 'a b' | tee log"] } },
      line: "npm test -- --watch 'a b' | tee log",
    });
  });

  test("shared is session main, where one at a time holds stdin", () => {
    expect(wish("/shared", "name=alice&rows=40&cols=120")).toMatchObject({
      query: { sandbox: "dev", session: "main", name: "alice", process: { mode: "exclusive", keep: 0 } },
    });
  });

  test("force_take only works with ?resolve=1", () => {
    expect([wish("/shared", ""), wish("/shared", "resolve=1"), wish("/shared", "resolve=0")]).toMatchObject([
      { mayForce: false },
      { mayForce: true },
      { mayForce: false },
    ]);
  });

  test("a size that can't be, or a sandbox with no such name, is refused", () => {
    expect(wish("/pty", "rows=0")).toMatchObject({ ok: false, code: 4400, detail: expect.stringContaining("rows") });
    const route = PTY_ROUTES[0];
    expect(route?.wish({ params: { id: "../x" }, search: new URLSearchParams() })).toMatchObject({ code: 4400 });
  });

  test("its own limit of idleness; pds-pty is selected where it is offered", () => {
    for (const route of PTY_ROUTES) {
      expect(route).toMatchObject({ limits: "pty", subprotocol: { name: "pds-pty", isRequired: false } });
    }
  });
});
