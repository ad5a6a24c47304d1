// What people are shown of a program's typing (K9).
import { expect, test } from "vitest";
import { typedText } from "../../src/session/calling-programs.ts";

const shown = (text: string) => typedText(new TextEncoder().encode(text));

test("K9: keys have signs, and nothing of it moves a cursor or turns text around", () => {
  expect(shown("npm test\r")).toBe("npm test⏎");
  expect(shown("\x03\x1b[A\t\x7f\u0085\u202eé漢👍")).toBe("^C⎋[A⇥⌫é漢👍");
});

test("K9: the last 80 characters, whole ones", () => {
  expect(shown("👍".repeat(5_000))).toBe("👍".repeat(80));
  expect(shown(`${"a".repeat(2_000)}end`)).toBe(`${"a".repeat(77)}end`);
});
