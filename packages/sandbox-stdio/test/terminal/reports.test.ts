// What a terminal types by itself, told from what a hand types.

import { expect, test } from "vitest";
import { isReport } from "../../src/session/answerer.ts";

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

test("answers are reports, one or several", () => {
  const answers = [
    ...["\x1b[?1;2c", "\x1b[>0;276;0c", "\x1b[0n", "\x1b[3;4R", "\x1b[?3;4R", "\x1b[?2026;2$y", "\x1b[4;2$y"],
    ...["\x1b[8;24;80t", "\x1b[2;1;1;112;112;1;0x", "\x1b[?1u", "\x1b]11;rgb:1a1a/1a1a/2e2e\x1b\\"],
    ...["\x1b]4;1;rgb:0/0/0\x07", "\x1bP1$r0m\x1b\\", "\x1bP>|xterm(390)\x1b\\", "\x1b[I"],
  ];
  for (const answer of [...answers, answers.join("")])
    expect([answer, isReport(bytes(answer))]).toEqual([answer, true]);
});

test("keys, text and halves of answers are none", () => {
  const keys = [
    ...["", "a", "\r", "\x1b", "\x1b[A", "\x1bOP", "\x1b[15~", "\x1b[1;5C", "\x1b[200~ls\r\x1b[201~", "\x1b[<0;1;1M"],
    ...["\x1b[3;4Rx", "x\x1b[3;4R", "\x1b[3;4R\r", "\x1b[3;4", "\x1b]11;rgb:0/0/0", "\x1bP1$r0m", "\x1b]0;\rls\r\x07"],
  ];
  for (const input of keys) expect([input, isReport(bytes(input))]).toEqual([input, false]);
});
