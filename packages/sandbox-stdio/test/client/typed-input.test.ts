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

/** A piece as `text`, typed while there is no connection as `-text`; and after how many ms, if not 10. */
const steps = (...pieces: (string | [string, number])[]): Step[] =>
  pieces.map((piece) => {
    const [text, ms] = typeof piece === "string" ? [piece, 10] : piece;
    return [text.replace(/^-/, ""), !text.startsWith("-"), ms];
  });
const PASTE = "\x1b[200~";
const PASTED = "\x1b[201~";

test.each<[string, Step[], string, boolean?]>([
  [
    "I4: keys are sent while connected and discarded while not",
    steps("a", "-b", "-\r", "c"),
    "send discard discard send",
  ],
  [
    "I4: what goes on with a discarded line is discarded up to Enter",
    steps("-rm -r", " x", "\r", "ls"),
    "discard discard discard send",
  ],
  ["I4: for half a second", steps("-rm -r", [" x", 499], ["y", 500]), "discard discard send"],
  ["I4: not where a full-screen program has the terminal", steps("-dd", "p"), "discard send", true],
  ["I4: what clears a line goes through, and ends the discarding", steps("-rm", "\x03", "a"), "discard send send"],
  ["I4: also Ctrl+U", steps("-rm", "\x15", "a"), "discard send send"],
  [
    "I4a: a paste that was begun goes on while there is no connection",
    steps(`${PASTE}one`, ["-two", 5_000], [`-three${PASTED}`, 5_000], ["-k", 500]),
    "send keep keep discard",
  ],
  [
    "I4a: so does other bulk input, as long as it comes without a pause",
    steps(BULK, `-${BULK}`, "-tail", ["-k", 100]),
    "send keep keep discard",
  ],
  [
    "I4a: what begins while there is no connection is left out whole, also after it is back",
    steps(`-${PASTE}one`, "two", PASTED, ["\x03", 500]),
    "discard discard discard send",
  ],
  ["I4a: bulk too", steps(`-${BULK}`, BULK, ["\x15", 500]), "discard discard send"],
])("%s", (_rule, pieces, expected, isFullScreen = false) => {
  expect(fates(pieces, isFullScreen).join(" ")).toBe(expected);
});

test("I4: whether the program has the beginning of a line is known", () => {
  const input = new TypedInput(() => false);
  expect(input.isLineSent).toBe(false);
  input.decide(encode("\x1b[A"), true, 0);
  expect(input.isLineSent).toBe(false);
  input.decide(encode("ls -"), true, 0);
  expect(input.isLineSent).toBe(true);
  input.decide(encode("\x1b[A"), true, 1);
  expect(input.isLineSent).toBe(true);
  input.decide(encode("l\r"), true, 2);
  expect(input.isLineSent).toBe(false);
});

test("I4: a line is split behind its end only where its beginning was discarded", () => {
  const input = new TypedInput(() => false);
  const lengths = () => input.split(encode("l\rls")).map(({ length }) => length);
  const before = lengths();
  input.decide(encode("rm"), false, 0);
  expect([before, lengths()]).toEqual([[4], [2, 2]]);
});

test("I4a: 256 bytes are bulk, 255 are typed", () => {
  const fatesOf = (length: number) => fates(steps("x".repeat(length), ["-tail", 10])).at(-1);
  expect([fatesOf(255), fatesOf(256)]).toEqual(["discard", "keep"]);
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

test("I4a: a paste ends by its whole marker alone, and keys that begin alike are none", () => {
  const text = (middle: string) => steps([`${PASTE}one`, 10], [middle, 10], ["-x", 5_000]);
  expect(fates(text("[201~")).at(-1)).toBe("keep");
  expect(fates(text("\x1b[20~")).at(-1)).toBe("keep");
  expect(fates(text(PASTED)).at(-1)).toBe("discard");
  // The key F9, after a marker that was never finished.
  expect(fates(steps(["\x1b[200a", 10], ["\x1b[20~", 10], ["-x", 5_000])).at(-1)).toBe("discard");
  // One is found right behind another that was cut off, and only by its escape.
  expect(fates(steps([`\x1b[20${PASTE}one`, 10], ["-x", 5_000])).at(-1)).toBe("keep");
  expect(fates(steps(["\x1b[20x[200~one", 10], ["-x", 5_000])).at(-1)).toBe("discard");
  // Each of its bytes counts, and an escape begins it anew.
  for (const [begin, fate] of [
    ["\x1bO200~", "discard"],
    ["\x1bx[200~", "discard"],
    ["\x1b\x1b[200~", "keep"],
  ] as const)
    expect([begin, fates(steps([`${begin}one`, 10], ["-x", 5_000])).at(-1)]).toEqual([begin, fate]);
});
