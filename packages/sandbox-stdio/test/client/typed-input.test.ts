// I4, I4a: what becomes of what a person types around an outage.
import { expect, test } from "vitest";
import { TypedInput } from "../../src/client/typed-input.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const BULK = "x".repeat(300);

type Step = readonly [text: string, isConnected: boolean, afterMs?: number];

/** What becomes of each piece. */
function fates(steps: readonly Step[], isFullScreen = false): string[] {
  const input = new TypedInput(() => isFullScreen);
  let now = 1_000;
  return steps.map(([text, isConnected, afterMs = 10]) => {
    now += afterMs;
    return input.decide(encode(text), isConnected, now);
  });
}

test("I4: keys are sent while connected and discarded while not", () => {
  expect(
    fates([
      ["a", true],
      ["b", false],
      ["\r", false],
      ["c", true],
    ]),
  ).toEqual(["send", "discard", "discard", "send"]);
});

test("I4: what goes on with a discarded line is discarded up to Enter, for half a second", () => {
  const line: Step[] = [
    ["rm -r", false],
    [" x", true],
    ["\r", true],
    ["ls", true],
  ];
  expect(fates(line)).toEqual(["discard", "discard", "discard", "send"]);
  expect(
    fates([
      ["rm -r", false],
      [" x", true, 501],
    ]),
  ).toEqual(["discard", "send"]);
  expect(
    fates(
      [
        ["dd", false],
        ["p", true],
      ],
      true,
    ),
  ).toEqual(["discard", "send"]);
});

test("I4: what clears a line goes through, and ends the discarding", () => {
  for (const key of ["\x03", "\x15"]) {
    expect(
      fates([
        ["rm", false],
        [key, true],
        ["a", true],
      ]),
    ).toEqual(["discard", "send", "send"]);
  }
});

test("I4: whether the program has the beginning of a line is known", () => {
  const input = new TypedInput(() => false);
  input.decide(encode("ls -"), true, 0);
  expect(input.isLineSent).toBe(true);
  input.decide(encode("\x1b[A"), true, 1);
  expect(input.isLineSent).toBe(true);
  input.decide(encode("l\r"), true, 2);
  expect(input.isLineSent).toBe(false);
});

test("I4a: a paste that was begun goes on while there is no connection", () => {
  const steps: Step[] = [
    ["\x1b[200~one", true],
    ["two", false, 5_000],
    ["three\x1b[201~", false, 5_000],
    ["k", false, 500],
  ];
  expect(fates(steps)).toEqual(["send", "keep", "keep", "discard"]);
});

test("I4a: so does other bulk input, as long as it comes without a pause", () => {
  expect(
    fates([
      [BULK, true],
      [BULK, false],
      ["tail", false],
      ["k", false, 101],
    ]),
  ).toEqual(["send", "keep", "keep", "discard"]);
});

test("I4a: what begins while there is no connection is left out whole, also after it is back", () => {
  expect(
    fates([
      ["\x1b[200~one", false],
      ["two", true],
      ["\x1b[201~", true],
      ["\x03", true, 500],
    ]),
  ).toEqual(["discard", "discard", "discard", "send"]);
  expect(
    fates([
      [BULK, false],
      [BULK, true],
      ["\x15", true, 500],
    ]),
  ).toEqual(["discard", "discard", "send"]);
});

test("I4a: a paste's markers are found wherever they are cut", () => {
  const marked = "\x1b[200~one\x1b[201~";
  for (let at = 1; at < 6; at += 1) {
    const steps: Step[] = [
      [marked.slice(0, at), true],
      [marked.slice(at, 9), true],
      [marked.slice(9), false, 900],
    ];
    expect(fates(steps).at(-1)).toBe("keep");
  }
});
