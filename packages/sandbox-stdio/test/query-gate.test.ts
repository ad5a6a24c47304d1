// K5, K6: what a client is sent that can't be told who answers.

import { expect, test } from "vitest";
import { encodeFrame, type Hello, type ServerMessage } from "../src/index.ts";
import { QueryGate } from "../src/query-gate.ts";

const STDOUT = 1;
const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const frame = (text: string) => encodeFrame(STDOUT, bytes(text));
const shown = (frame: Uint8Array | undefined) => Buffer.from(frame ?? []).toString("latin1");

function hello(facts: Partial<Hello>): Hello {
  return {
    type: "hello",
    protocol: "stdio.v1",
    sandbox: "dev",
    session: "build",
    incarnation: "i",
    tty: true,
    cols: 80,
    rows: 24,
    offset: 0,
    live: 0,
    stdin: 0,
    resume: "",
    window: 65_536,
    delivery: "live",
    you: { id: "me", name: "", role: "driver" },
    answerer: { id: "me", offset: 0 },
    holder: "",
    mode: "collaborative",
    participants: [],
    ...facts,
  };
}

/** Tells and sends these in turn; what comes out of each. */
function run(facts: Partial<Hello>, ...steps: (string | ServerMessage)[]): string[] {
  const gate = new QueryGate();
  gate.note(hello(facts));
  return steps.map((step) => {
    return shown(typeof step === "string" ? gate.pass(frame(step)) : gate.note(step));
  });
}

test("K6: replay has no queries, whoever answers; what ends after it has them", () => {
  expect(run({ live: 6 }, "a\x1b[6nb\x1b[6nc")).toEqual(["\x01ab\x1b[6nc"]);
  expect(run({ live: 4 }, "a\x1b[6nb")).toEqual(["\x01a\x1b[6nb"]);
  expect(run({ live: 5 }, "a\x1b[6", "n")).toEqual(["\x01a", ""]);
});

test("K6: a client that is not the answerer gets none, over any frames", () => {
  const answerer = { id: "other", offset: 0 };
  expect(run({ answerer }, "a\x1b", "[6", "nb", "\x1b[", "1m")).toEqual(["\x01a", "", "\x01b", "", "\x01\x1b[1m"]);
});

test("K6: a hand-over in the middle of a query gives it to whom the offset says, as often as it is handed over", () => {
  const to = (id: string, offset: number): ServerMessage => ({ type: "answerer", id, offset });
  expect(run({}, "ab\x1b[", to("other", 4), "6n", to("me", 6), "\x1b[c")).toEqual(["\x01ab", "", "", "", "\x01\x1b[c"]);
  // Told before the bytes are sent: a client that is behind answers what came before the hand-over.
  expect(run({}, to("other", 4), "\x1b[6n", "\x1b[6n")).toEqual(["", "\x01\x1b[6n", ""]);
});

test("what is held back comes out at the exit, and over a gap can't be completed by what follows", () => {
  const answerer = { id: "", offset: 0 };
  expect(run({ answerer }, "a\x1b[6", { type: "exit", code: 0, offset: 4 })).toEqual(["\x01a", "\x01\x1b[6"]);
  const gap: ServerMessage = { type: "gap", from: 4, to: 100 };
  expect(run({ answerer }, "a\x1b[6", gap, "n")).toEqual(["\x01a", "\x01\x1b[6\x18", "\x01n"]);
});

test("offsets go on after a gap", () => {
  const gap: ServerMessage = { type: "gap", from: 1, to: 100 };
  const handOver: ServerMessage = { type: "answerer", id: "other", offset: 103 };
  expect(run({}, "a", gap, handOver, "\x1b[c", "\x1b[c")).toEqual(["\x01a", "", "", "\x01\x1b[c", ""]);
});

test("a snapshot asks nothing, and does not count", () => {
  const gate = new QueryGate();
  gate.note(hello({}));
  expect(shown(gate.pass(frame("\x1b[")))).toBe("");
  expect(shown(gate.redraw(bytes("\x1b[2J\x1b[6nx\x1b[?1004h")))).toBe("\x01\x1b[\x18\x1b[2Jx");
  expect(shown(gate.pass(frame("\x1b[c")))).toBe("\x01\x1b[c");
});

test("a frame in which nothing is left out is passed on as it is; on pipes every frame", () => {
  const gate = new QueryGate();
  gate.note(hello({}));
  const whole = frame("\x1b[1mbold\x1b[m");
  expect(gate.pass(whole)).toBe(whole);
  const pipes = new QueryGate();
  pipes.note(hello({ tty: false, live: 100 }));
  const asking = frame("\x1b[c\x05");
  expect(pipes.pass(asking)).toBe(asking);
});
