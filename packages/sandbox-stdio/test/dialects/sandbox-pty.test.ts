// The terminal of Cloudflare's bridge (V5): what its clients are told, and in which order.
import { expect, test } from "vitest";
import { SANDBOX_PTY, SANDBOX_PTY_ROUTES } from "../../src/dialects/sandbox-pty.ts";
import type { Frame } from "../../src/server/dialect.ts";
import { Outgoing } from "../../src/server/outgoing.ts";
import { STREAM_SNAPSHOT, STREAM_STDOUT } from "../../src/wire/constants.ts";
import type { Hello } from "../../src/wire/control.ts";

const READY = '{"type":"ready"}';

function hello(offset: number, live: number): Hello {
  const answerer = { id: "", offset: 0 };
  // As much of it as is looked at here.
  return { type: "hello", tty: true, offset, live, answerer, you: { id: "a" } } as unknown as Hello;
}

const framed = (kind: number, text: string) => Buffer.concat([Buffer.of(kind), Buffer.from(text)]);

function told(play: (outgoing: Outgoing) => void): string[] {
  const frames: string[] = [];
  const send = (frame: Frame) => frames.push(typeof frame === "string" ? frame : Buffer.from(frame).toString());
  play(new Outgoing(SANDBOX_PTY, { send }));
  return frames;
}

test("V5: ready comes at once where there is nothing, behind the log, and behind the screen that stands for it", () => {
  expect(told((outgoing) => outgoing.message(hello(0, 0)))).toEqual([READY]);
  const log = told((outgoing) => {
    outgoing.message(hello(0, 3));
    outgoing.output(framed(STREAM_STDOUT, "log"), 0);
    outgoing.output(framed(STREAM_STDOUT, "new"), 0);
  });
  expect(log).toEqual(["log", READY, "new"]);
  const screen = told((outgoing) => {
    outgoing.message(hello(100, 100));
    outgoing.snapshot(framed(STREAM_SNAPSHOT, "screen"));
    outgoing.output(framed(STREAM_STDOUT, "new"), 0);
  });
  expect(screen).toEqual(["screen", READY, "new"]);
  const both = told((outgoing) => {
    outgoing.message(hello(100, 103));
    outgoing.snapshot(framed(STREAM_SNAPSHOT, "screen"));
    outgoing.output(framed(STREAM_STDOUT, "log"), 0);
  });
  expect(both).toEqual(["screen", "log", READY]);
});

test("V5: exits and refusals are JSON; keys are bytes, a size out of range is an error and no end", () => {
  const { encode, decode } = SANDBOX_PTY;
  const said = (event: Parameters<typeof encode>[0]) => encode(event, undefined).frames;
  expect(said({ type: "exit", code: 137, signal: "SIGKILL" } as never)).toEqual([
    '{"type":"exit","code":137,"signal":"SIGKILL"}',
  ]);
  expect(said({ type: "bye", code: 4404, reason: "gone", retry: "never" } as never)).toEqual([
    '{"type":"error","message":"gone"}',
  ]);
  expect(decode(Uint8Array.of(3))).toEqual({ kind: "command", command: { type: "stdin", bytes: Uint8Array.of(3) } });
  expect(decode('{"type":"resize","cols":100,"rows":30}')).toMatchObject({ kind: "command" });
  expect(decode('{"type":"resize","cols":0,"rows":30}')).toMatchObject({ kind: "error" });
  expect(decode('{"type":"kill"}')).toMatchObject({ kind: "error" });
});

test("V5: an id that is none of ours is not found; without a session the terminal ends with its client", () => {
  const [route] = SANDBOX_PTY_ROUTES;
  const wish = (sandbox: string, query: string) =>
    route?.wish({ params: { sandbox }, search: new URLSearchParams(query) });
  expect(wish("dev", "")).toMatchObject({ ok: false, code: 4404 });
  const id = "0123456789abcdef".repeat(2);
  expect(wish(id, "shell=sh&role=viewer")).toMatchObject({
    ok: true,
    command: ["sh"],
    query: { role: "driver", process: { tty: true, keep: 0, shellIntegration: false } },
  });
  expect(wish(id, "session=work")).toMatchObject({ ok: true, query: { session: "work", process: { keep: 1800 } } });
  expect(wish(id, "cols=0&rows=1")).toMatchObject({ ok: false, code: 4400 });
});
