// Escapes at a line's start: what is sent, and what is asked of this program.

import { expect, test } from "vitest";
import { TildeReader } from "../../src/attach/tilde.ts";

/** What is sent, with actions in brackets. */
function read(...chunks: string[]): string {
  const reader = new TildeReader();
  return chunks
    .map((chunk) => reader.read(new TextEncoder().encode(chunk)))
    .map(({ bytes, action }) => new TextDecoder().decode(bytes) + (action === undefined ? "" : `[${action}]`))
    .join("");
}

test("~. detaches, ~? helps, ~I times and ~^Z suspends, at the beginning and after Enter", () => {
  expect(read("~", ".")).toBe("[detach]");
  expect(read("~.")).toBe("[detach]");
  expect(read("ls\r", "~", "?")).toBe("ls\r[help]");
  expect(read("ls\r", "~", "I")).toBe("ls\r[round_trip]");
  expect(read("\x03", "~", "\x1a")).toBe("\x03[suspend]");
});

test("elsewhere a tilde is a tilde, and ~~ is one", () => {
  expect(read("a", "~", ".")).toBe("a~.");
  expect(read("~", "~", ".")).toBe("~.");
  expect(read("~", "/", "b")).toBe("~/b");
  expect(read("~", "x", "~", ".")).toBe("~x~.");
});

test("text that is pasted is left alone", () => {
  expect(read("~. is detach")).toBe("~. is detach");
});

test("the releases of keys, which kitty's protocol tells, are between two keys and change nothing", () => {
  const [tilde, dot] = ["\x1b[96;2:3u", "\x1b[46;1:3u"];
  expect(read("ls\r", "~", tilde, ".", dot)).toBe(`ls\r${tilde}[detach]${dot}`);
  expect(read("\r", dot, "~", "?")).toBe(`\r${dot}[help]`);
  expect(read("a", dot, "~", ".")).toBe(`a${dot}~.`);
});
