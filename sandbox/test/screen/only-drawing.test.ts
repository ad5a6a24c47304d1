// Output that a terminal may be given long after it was written: it only draws.

import { expect, test } from "vitest";
import { isOnlyDrawing } from "../../src/screen/plain-output.ts";

test.each([
  ["nothing", ""],
  [
    "a prompt of ours",
    "\x1b]633;P;Cwd=/tmp\x07\x1b]133;A\x07\x1b]0;shell\x07\x1b[?2004h\x1b[01;32mwe\x1b[0m:~$ \x1b]133;B\x07",
  ],
  ["text in any language, with a link", "Grüße あ😀\r\n\x1b]8;;https://example.org\x1b\\there\x1b]8;;\x1b\\"],
  [
    "a screen with modes, margins and line drawing",
    "\x1b[?1049h\x1b[2J\x1b[5;9r\x1b[?1002;1006h\x1b)0\x0elq\x0f\x1b[3g\x1b[5G\x1bH",
  ],
])("%s only draws", (_, text) => {
  expect(isOnlyDrawing(Buffer.from(text))).toBe(true);
});

test.each([
  ["a bell", "done\x07"],
  ["questions: what it is, where the cursor is, how large, which version, which keys", "\x1b[c"],
  ["a question for the cursor", "\x1b[6n"],
  ["a question for the size", "\x1b[18t"],
  ["a question for the version", "\x1b[>q"],
  ["a question for the keys", "\x1b[?u"],
  ["a question for a mode", "\x1b[?2004$p"],
  ["a question for a colour", "\x1b]11;?\x07"],
  ["a copy", "\x1b]52;c;aGk=\x07"],
  ["notifications", "\x1b]9;hi\x07"],
  ["a command that has ended", "\x1b]133;D;0\x07"],
  ["a download", "\x1b]633;P;SbxDownload=aGk=\x07"],
  ["a string for the terminal", "\x1bP$qm\x1b\\"],
  ["a control of one character, which begins a question", "\u009bc"],
  ["one that ends a title, before a bell", "\x1b]0;title\u009c\x07"],
  ["a sequence that is cut off", "text\x1b[3"],
  ["a character that is cut off", "\xc3"],
])("%s: no", (_, text) => {
  expect(isOnlyDrawing(Buffer.from(text, text === "\xc3" ? "latin1" : "utf8"))).toBe(false);
});

test("no more than a few screens of it", () => {
  expect(isOnlyDrawing(Buffer.alloc(16_384, "x"))).toBe(true);
  expect(isOnlyDrawing(Buffer.alloc(16_385, "x"))).toBe(false);
});
