// ttyd's wire format, message by message: what comes in, and what that asks for; what happens, and how it is said.
import { describe, expect, test } from "vitest";
import { TTYD, TTYD_ROUTES } from "../../src/dialects/ttyd.ts";
import { defined } from "../../src/index.ts";
import { chooseRoute, type Frame, type SessionEvent } from "../../src/server/dialect.ts";
import { hello } from "../support/hello.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (frame: Frame) => (typeof frame === "string" ? `text:${frame}` : new TextDecoder().decode(frame));

const HELLO = hello({ you: { id: "a", name: "Ann", role: "driver" }, holder: "a" });

const command = (value: object) => ({ kind: "command", command: value });
const stdin = (value: Uint8Array) => command({ type: "stdin", bytes: value });
const close = (code: number, reason: string) => ({ kind: "close", code, reason });
const NOTHING = { kind: "nothing" };
const NO_OBJECT = close(1008, "the message is not a JSON object");
const BAD_SIZE = { kind: "error", code: "bad_size", message: "columns are 1 to 1000 and rows 1 to 500" };

describe("client to server", () => {
  test.each<[string, string, object]>([
    ["input", "0ls -la\r", stdin(bytes("ls -la\r"))],
    ["input that looks like another message", "01{", stdin(bytes("1{"))],
    ["no input", "0", NOTHING],
    ["a resize", '1{"columns":100,"rows":30}', command({ type: "resize", cols: 100, rows: 30 })],
    ["a resize too small", '1{"columns":0,"rows":30}', BAD_SIZE],
    ["a resize too large", '1{"columns":1001,"rows":30}', BAD_SIZE],
    ["a resize of half a column", '1{"columns":80.5,"rows":30}', BAD_SIZE],
    ["a resize of one dimension", '1{"columns":80}', close(1008, 'a resize is 1{"columns":80,"rows":24}')],
    ["a resize that is no JSON", "1{", NO_OBJECT],
    ["a resize that is no object", "180", NO_OBJECT],
    ["pause", "2", command({ type: "pause" })],
    ["resume", "3", command({ type: "unpause" })],
    ["the first message of ttyd's page", '{"AuthToken":"","columns":80,"rows":24}', begin({ cols: 80, rows: 24 })],
    ["the first message of its page without a token", '{"columns":80,"rows":24}', begin({ cols: 80, rows: 24 })],
    ["the first message of one that gives no size", '{"AuthToken":""}', begin()],
    ["a first message with a size that can't be", '{"columns":0,"rows":0}', begin()],
    ["a first message with a token", '{"AuthToken":"abc"}', command({ type: "begin", token: "abc" })],
    ["another product's message", '{"type":"resize","cols":1,"rows":1}', begin()],
    ["a first message that is cut short", '{"AuthToken":', NO_OBJECT],
    ["one too long for JSON", `{"AuthToken":"${"x".repeat(16_384)}"}`, close(1008, "message of more than 16384 bytes")],
    ["an unknown message", "9x", NOTHING],
    ["an empty message", "", NOTHING],
  ])("%s, in text and in bytes", (_name, frame, expected) => {
    expect(TTYD.decode(bytes(frame))).toEqual(expected);
    expect(TTYD.decode(frame)).toEqual(expected);
  });

  test("input keeps every byte, also those that are no UTF-8, and in text is sent in UTF-8", () => {
    const all = Uint8Array.from({ length: 257 }, (_, index) => (index === 0 ? 0x30 : index - 1));
    expect([TTYD.decode(all), TTYD.decode("0ä€😀")]).toEqual([stdin(all.subarray(1)), stdin(bytes("ä€😀"))]);
  });

  test("input of 4 MiB is taken, and of one byte more closes with 1009", () => {
    const frame = new Uint8Array(4 * 1024 * 1024 + 2).fill(0x30);
    const taken = TTYD.decode(frame.subarray(1));
    const command = taken.kind === "command" ? taken.command : undefined;
    expect(command !== undefined && "bytes" in command && command.bytes.length).toBe(4_194_304);
    expect(TTYD.decode(frame)).toEqual(close(1009, "stdin frame of 4194305 bytes: limit 4194304"));
  });
});

test("D14: a viewer reads in the title that it can only look on", () => {
  const { frames } = TTYD.encode({ ...HELLO, you: { id: "b", name: "Bob", role: "viewer" } }, undefined);
  expect(frames.map(text)[0]).toBe("1view only: main (dev)");
});

describe("server to client, always in bytes", () => {
  test.each<[string, SessionEvent, readonly string[]]>([
    ["the greeting: title, then preferences", HELLO, ["1main (dev)", '2{"disableLeaveAlert":true}']],
    ["output", output(0x01, "a\u001b[0m"), ["0a\u001b[0m"]],
    ["output of stderr", output(0x02, "b"), ["0b"]],
    ["a screen that is drawn again", output(0x03, "c"), ["0c"]],
    ["output of a kind that is not known yet", output(0x7f, "d"), []],
    ["a refusal for good", bye("never"), ['2{"disableReconnect":true}']],
    ["a refusal for a while, which its page would not wait for", bye("after"), ['2{"disableReconnect":true}']],
    ["a restart, after which it comes back", bye("now"), []],
    ["the exit, which its close says", { type: "exit", code: 7, offset: 0 }, []],
    ["an error", { type: "error", code: "not_stdin_holder", message: "not stdin holder" }, []],
    ["what is found", { type: "found", hasExited: false }, []],
    ["a size", { type: "resize", cols: 1, rows: 1, offset: 0 }, []],
    ["a gap", { type: "gap", from: 0, to: 9 }, []],
    ["who comes", { type: "join", participant: { id: "b", name: "Bob", role: "viewer" } }, []],
    ["a pong", { type: "pong" }, []],
  ])("%s", (_name, event, frames) => {
    expect(TTYD.encode(event, undefined).frames.map(text)).toEqual(frames);
  });

  test("output is a copy: the frame is the other clients' too", () => {
    const frame = Uint8Array.of(0x01, 0xff, 0x00);
    expect(TTYD.encode({ type: "output", frame, end: 2 }, undefined).frames).toEqual([Uint8Array.of(0x30, 0xff, 0x00)]);
    expect(frame).toEqual(Uint8Array.of(0x01, 0xff, 0x00));
  });
});

describe("its routes", () => {
  const wish = (project: string, query = "") =>
    chooseRoute(TTYD_ROUTES, ["tty"])?.wish({ params: { project }, search: new URLSearchParams(query) });

  test("name a project and, in the query, a session, a size and a role", () => {
    expect(wish("p-1")).toMatchObject({
      ok: true,
      query: { sandbox: "p-1", session: "main", process: { tty: true }, wake: true },
    });
    expect(wish("p-1", "session=s&cols=90&rows=20&role=viewer&wake=0")).toMatchObject({
      ok: true,
      query: { session: "s", size: { cols: 90, rows: 20 }, role: "viewer", wake: false },
    });
  });

  test("take no command, variables or directory from the query, and refuse a project that can be no sandbox", () => {
    const wished = wish("p", "cmd=rm&arg=-rf&env=A=1&cwd=/etc");
    expect(wished).toMatchObject({ ok: true, query: { process: { args: [], env: [] } } });
    expect(JSON.stringify(wished)).not.toMatch(/"cmd"|"cwd"/);
    for (const project of ["-x", "a".repeat(65)]) expect(wish(project)).toMatchObject({ ok: false, code: 4400 });
  });

  test("are for who offers tty, or nothing", () => {
    expect(chooseRoute(TTYD_ROUTES, [])?.dialect).toBe(TTYD);
    expect(chooseRoute(TTYD_ROUTES, ["other", "tty"])?.dialect).toBe(TTYD);
    expect(chooseRoute(TTYD_ROUTES, ["stdio.v1"])).toBeUndefined();
  });
});

function begin(size?: { cols: number; rows: number }) {
  return command({ type: "begin", ...defined({ size }) });
}

function output(stream: number, content: string): SessionEvent {
  return { type: "output", frame: Uint8Array.of(stream, ...bytes(content)), end: content.length };
}

function bye(retry: "never" | "now" | "after"): SessionEvent {
  return { type: "bye", code: 4401, reason: "no", retry };
}
