// K5, K6: what a client is sent that can't be told who answers.

import { describe, expect, test } from "vitest";
import type { Hello, ServerMessage } from "../../src/index.ts";
import { QueryGate } from "../../src/server/query-gate.ts";
import { encodeFrame } from "../../src/wire/frames.ts";
import { hello } from "../support/hello.ts";

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const frame = (text: string) => encodeFrame(1, bytes(text));
const shown = (frame: Uint8Array | undefined) => Buffer.from(frame ?? []).toString("latin1");

type Typed = { readonly typed: string; readonly ms: number };

/** Tells and sends these in turn; what comes out of each. */
function run(facts: Partial<Hello>, ...steps: (string | ServerMessage | Typed)[]): string[] {
  const gate = new QueryGate();
  gate.note(hello(facts));
  return steps.map((step) => {
    if (typeof step === "string") return shown(gate.pass(frame(step), 0));
    if ("typed" in step) gate.typed(bytes(step.typed), step.ms);
    return "typed" in step ? "" : shown(gate.note(step));
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

test("K6: after hand-overs within a query, the offset says who answers it", () => {
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

test("offsets go on from the greeting's, and after a gap", () => {
  const answerer = { id: "me", offset: 104 };
  expect(run({ offset: 100, live: 100, answerer }, "\x1b[6n", "\x1b[6n")).toEqual(["", "\x01\x1b[6n"]);
  const gap: ServerMessage = { type: "gap", from: 1, to: 100 };
  const handOver: ServerMessage = { type: "answerer", id: "other", offset: 103 };
  expect(run({}, "a", gap, handOver, "\x1b[c", "\x1b[c")).toEqual(["\x01a", "", "", "\x01\x1b[c", ""]);
});

test("K6c: a replay, and a picture of the screen, ring, copy and notify nothing; what comes after the replay does", () => {
  const effects = "a\x07\x1b]52;c;aGk=\x07\x1b]9;hi\x1b\\\x1b]777;notify;a;b\x07b";
  expect(run({ live: effects.length }, effects, effects)).toEqual(["\x01ab", `\x01${effects}`]);
  const gate = new QueryGate();
  gate.note(hello({}));
  expect(shown(gate.redraw(bytes(`\x1bc${effects}`)))).toBe("\x01\x1bcab");
});

describe("K6b: a file transfer by ZMODEM", () => {
  const answerer = { id: "other", offset: 0 };
  const offer = "rz\r**\x18B00";
  const end = "**\x18B08";
  const queries = "\x05\x1b[6n\x1bZ\xc2\x9a\xe3\x80";
  const answer: Typed = { typed: "**\x18B0100000023be50\r\x8a\x11", ms: 0 };
  /** What comes out of each step after an offer and its answer. */
  const answered = (...steps: (string | ServerMessage | Typed)[]) =>
    run({ answerer }, offer, answer, ...steps).slice(2);

  test("passes whole from its answer to its end, to a client that is not the answerer of queries", () => {
    expect(answered(`${queries}${end}b\x05`)).toEqual([`\x01${queries}${end}b`]);
    expect(answered("\x1b", "\xe3\x80", `${end}\x05`, "\x05")).toEqual(["\x01\x1b", "\x01\xe3\x80", `\x01${end}`, ""]);
    expect(run({ answerer }, "**\x18B01", answer, queries)).toEqual(["\x01**\x18B01", "", `\x01${queries}`]);
  });

  test("a program begins none: without an answer its queries are taken out, however it offers one", () => {
    const out = run({ answerer }, `\x05a${offer}`, "\x05b\x1b[6n", `${offer}\x1b[6n`);
    expect(out).toEqual([`\x01a${offer}`, "\x01b", `\x01${offer}`]);
  });

  test("is answered by a header in the input, cut anywhere, and by nothing else", () => {
    const after = (...typed: string[]) =>
      run({ answerer }, offer, ...typed.map((text) => ({ typed: text, ms: 15_000 })), "a\x05").at(-1);
    for (const header of ["**\x18B0100", "*\x18A\x04\x00", "*\x18C\x04\x00", "x***\x18B0"])
      for (const typed of [[header], [...header]]) expect(after(...typed)).toBe("\x01a\x05");
    for (const typed of ["ls\r", "**B01", "*\x18\x18", "\x18A", "* \x18A", "*\x18D"])
      expect(after(typed)).toBe("\x01a");
  });

  test("an answer counts for 15 s from the offer, and without an offer not at all", () => {
    expect(run({ answerer }, offer, { ...answer, ms: 15_001 }, "a\x05", answer, "\x05").at(-1)).toBe("");
    expect(run({ answerer }, answer, offer, "a\x05").at(-1)).toBe("\x01a");
    expect(answered(end, answer, "a\x05").at(-1)).toBe("\x01a");
  });

  test("waits for nothing, whoever answers", () => {
    expect(run({}, offer, answer, "\x1b[", "6")).toEqual([`\x01${offer}`, "", "\x01\x1b[", "\x016"]);
  });

  test("ends when it is given up, where output is missing, and where no block goes on for so long", () => {
    const cancel = "\x18".repeat(5);
    expect(answered(`\x05${cancel}\x05`)).toEqual([`\x01\x05${cancel}`]);
    const gap: ServerMessage = { type: "gap", from: offer.length, to: 100 };
    expect(answered(gap, "a\x05")).toEqual(["", "\x01a"]);
    const block = "\x05".repeat(8_192);
    expect(answered(block, "\x05a")).toEqual([`\x01${block}`, "\x01a"]);
    expect(answered(`\x18k${block}`, "\x18k\x05")).toEqual([`\x01\x18k${block.slice(1)}`, "\x01\x18k"]);
  });

  test("is offered in no replay, by no other header, and not without its stars", () => {
    expect(run({ live: offer.length, answerer }, offer, answer, "a\x05").at(-1)).toBe("\x01a");
    for (const other of ["*\x18B00", "**\x18B02", "**B00", "**\x18C00"])
      expect(run({ answerer }, other, answer, "\x05a").at(-1)).toBe("\x01a");
  });

  test("is found over any frames", () => {
    const sent = `a\x05***\x18B00`;
    for (const pieces of [[sent], [...sent]]) {
      const out = run({ answerer }, ...pieces, answer, queries, ..."*\x18\x18", queries, ..."**\x18B08\x05b");
      expect(out.map((one) => one.slice(1)).join("")).toBe(`a***\x18B00${queries}*\x18\x18${queries}**\x18B08b`);
    }
  });
});

test("D11: a piece of a character that stock xterm.js would lose waits for the next output", () => {
  expect(run({}, "a\xe3\x80", "\x82b")).toEqual(["\x01a\xe3", "\x01\x80\x82b"]);
  expect(run({}, "\xf1\x80\x81", "a")).toEqual(["\x01\xf1", "\x01\x80\x81a"]);
  // A piece that is not lost does not wait, and bytes that are no text are not delayed either.
  expect(run({}, "\xe3", "\x80", "\x82")).toEqual(["\x01\xe3", "", "\x01\x80\x82"]);
  expect(run({}, "\xe3\x81", "\xff\xc3", "\x80")).toEqual(["\x01\xe3\x81", "\x01\xff\xc3", "\x01\x80"]);
});

test("D11: it comes out before the exit, a gap, a new size and a close", () => {
  const steps: ServerMessage[] = [
    { type: "exit", code: 0, offset: 2 },
    { type: "gap", from: 2, to: 100 },
    { type: "resize", cols: 90, rows: 30, offset: 2 },
  ];
  for (const step of steps) expect(run({}, "\xe3\x80", step, "\x82")).toEqual(["\x01\xe3", "\x01\x80", "\x01\x82"]);
  const gate = new QueryGate();
  gate.note(hello({}));
  gate.pass(frame("\xe3\x80"), 0);
  expect([shown(gate.flush()), shown(gate.flush())]).toEqual(["\x01\x80", ""]);
  gate.pass(frame("\xe3\x80"), 0);
  expect(shown(gate.redraw(bytes("\x1bc")))).toBe("\x01\x80\x1bc");
});

test("D11: it waits in front of a sequence that is held back behind it", () => {
  const answerer = { id: "other", offset: 0 };
  const exit: ServerMessage = { type: "exit", code: 0, offset: 4 };
  expect(run({ answerer }, "\xe3\x80", "\x1b[", "6n")).toEqual(["\x01\xe3", "", "\x01\x80\x1b\\"]);
  expect(run({ answerer }, "\xe3\x80", "\x1b[", exit)).toEqual(["\x01\xe3", "", "\x01\x80\x1b["]);
});

test("a snapshot asks nothing, and does not count", () => {
  const gate = new QueryGate();
  gate.note(hello({}));
  expect(shown(gate.pass(frame("\x1b["), 0))).toBe("");
  expect(shown(gate.redraw(bytes("\x1b[2J\x1b[6nx\x1b[?1004h")))).toBe("\x01\x1b[\x18\x1b[2Jx");
  expect(shown(gate.pass(frame("\x1b[c"), 0))).toBe("\x01\x1b[c");
});

test("F1: what is left of a frame is of its stream", () => {
  const gate = new QueryGate();
  gate.note(hello({ answerer: { id: "other", offset: 0 }, live: 1 }));
  for (const piece of ["ab\x1b[6nc", "d\x1b[6ne"])
    expect(gate.pass(encodeFrame(2, bytes(piece)), 0)).toEqual(encodeFrame(2, bytes(piece.replace("\x1b[6n", ""))));
});

test("a frame in which nothing is left out is passed on as it is; on pipes every frame", () => {
  const gate = new QueryGate();
  gate.note(hello({}));
  const whole = frame("\x1b[1mbold\x1b[m");
  expect(gate.pass(whole, 0)).toBe(whole);
  const pipes = new QueryGate();
  pipes.note(hello({ tty: false, live: 100 }));
  const asking = frame("\x1b[c\x05\xe3\x80");
  expect(pipes.pass(asking, 0)).toBe(asking);
});
