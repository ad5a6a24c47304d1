// X8: the machine of a process goes away, and people are told how long there is.
import { expect, test } from "vitest";
import { stoppingWords } from "../../src/index.ts";
import { parseServerMessage } from "../../src/wire/control.ts";
import { parseInnerMessage } from "../../src/wire/inner-messages.ts";

test.each([
  [840, "14 min"],
  [125, "2 min"],
  [119, "119 s"],
  [3, "3 s"],
])("X8: %i s are said as %s", (seconds, left) => {
  expect(stoppingWords(seconds)).toContain(`stops in ${left}:`);
});

test("X8: both hops have the message, and its seconds must be a number", () => {
  const text = '{"type":"stopping","seconds":840}';
  const message = { type: "stopping", seconds: 840 };
  expect([parseServerMessage(text), parseInnerMessage(text)]).toEqual([
    { ok: true, message },
    { ok: true, message },
  ]);
  for (const wrong of ['{"type":"stopping"}', '{"type":"stopping","seconds":"soon"}']) {
    expect([parseServerMessage(wrong).ok, parseInnerMessage(wrong).ok]).toEqual([false, false]);
  }
  expect(parseInnerMessage('{"type":"stopping","seconds":-1}').ok).toBe(false);
});
