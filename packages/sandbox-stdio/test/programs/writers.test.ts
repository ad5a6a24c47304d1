// W2 to W4: counted input of programs, on the input queue of the session core.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputQueue } from "../../src/input/input-queue.ts";
import { MAX_WRITE_BYTES, receiptOf } from "../../src/programs/index.ts";
import { planWrite, type WriteRequest, type WriteState } from "../../src/programs/writers.ts";

const OPEN: WriteState = { hasExited: false, isStdinClosed: false, mayType: true, holder: "" };
const bytes = (length: number) => new Uint8Array(length);

/** A queue that has received some bytes, of which some are taken. */
function queue(received: number, taken: number): InputQueue {
  const input = new InputQueue("process");
  if (received > 0) input.push(0, bytes(received));
  if (taken > 0) input.take(taken);
  return input;
}

const plan = (input: InputQueue, request: Partial<WriteRequest>, state: Partial<WriteState> = {}) =>
  planWrite(input, { ...OPEN, ...state }, { length: 0, eof: false, ...request });

describe("W2: writers", () => {
  test("W2: 200 once the bytes have been taken and stored, until then 202 with how many were", () => {
    expect(receiptOf(queue(10, 4), 10)).toEqual({ status: 202, taken: 4 });
    expect(receiptOf(queue(10, 10), 10)).toEqual({ status: 200 });
    expect(receiptOf(queue(10, 10), 10, 7)).toEqual({ status: 202, taken: 7 });
    expect(receiptOf(queue(20, 12), 10)).toEqual({ status: 200 });
  });
});

describe("W3: at", () => {
  test("W3: at the count it types; without `at` too", () => {
    expect(plan(queue(5, 5), { length: 3, at: 5 })).toEqual({ kind: "type", from: 5, to: 8, eof: false });
    expect(plan(queue(5, 0), { length: 3, eof: true })).toEqual({ kind: "type", from: 5, to: 8, eof: true });
  });

  test("W3: below the count it types nothing, whatever the body, also when the call would now be refused", () => {
    const duplicate = { kind: "duplicate", from: 2, to: 5 };
    expect(plan(queue(5, 5), { length: 99, at: 2 })).toEqual(duplicate);
    expect(plan(queue(5, 5), { length: 3, at: 2 }, { hasExited: true, isStdinClosed: true, mayType: false })).toEqual(
      duplicate,
    );
  });

  test("W3: above the count is a gap, with what is expected", () => {
    expect(plan(queue(5, 5), { length: 3, at: 6 })).toEqual({ kind: "refuse", code: "input_gap", expected: 5 });
  });

  test("W3: an end of input that is repeated at its place is a duplicate", () => {
    const input = queue(5, 5);
    expect(plan(input, { eof: true, at: 5 })).toEqual({ kind: "type", from: 5, to: 5, eof: true });
    input.pushEof(5);
    expect(plan(input, { eof: true, at: 5 }, { isStdinClosed: true })).toEqual({ kind: "duplicate", from: 5, to: 5 });
    expect(plan(input, { length: 1, at: 5 }, { isStdinClosed: true })).toMatchObject({ code: "stdin_closed" });
  });

  test("W3: calls that are repeated in any order after a break type every byte once", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 10 }),
        fc.array(fc.nat({ max: 9 }), { maxLength: 30 }),
        (lengths, again) => {
          const input = new InputQueue("process");
          let typed = 0;
          const call = (i: number) => {
            const at = lengths.slice(0, i).reduce((sum, length) => sum + length, 0);
            const decided = plan(input, { length: lengths[i] ?? 0, at });
            if (decided.kind === "type") {
              input.push(decided.from, bytes(lengths[i] ?? 0));
              typed += lengths[i] ?? 0;
            } else expect(decided.kind).toBe(at < input.received ? "duplicate" : "refuse");
          };
          for (const i of again) if (i < lengths.length) call(i);
          for (const [i] of lengths.entries()) call(i);
          expect(typed).toBe(lengths.reduce((sum, length) => sum + length, 0));
          expect(input.received).toBe(typed);
        },
      ),
    );
  });
});

test("W4, W1: the refusals: not the keyboard's holder, exited, closed, too long", () => {
  const input = queue(5, 5);
  const refusal = (length: number, state: Partial<WriteState> = {}) => plan(input, { length }, state);
  expect(refusal(1, { mayType: false, holder: "c7" })).toEqual({
    kind: "refuse",
    code: "not_stdin_holder",
    holder: "c7",
  });
  expect(refusal(1, { hasExited: true, mayType: false })).toEqual({ kind: "refuse", code: "exited" });
  expect(refusal(1, { isStdinClosed: true })).toEqual({ kind: "refuse", code: "stdin_closed" });
  expect([MAX_WRITE_BYTES, refusal(65_536).kind]).toEqual([65_536, "type"]);
  expect(refusal(65_537)).toEqual({ kind: "refuse", code: "input_too_long" });
});
