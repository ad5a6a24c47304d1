// What is taken for a recording and when, what comes back of it in order, and what it hides.

import { compilePattern } from "@sbx/api/patterns";
import { OutputLog, STREAM_STDOUT } from "sandbox-stdio/core";
import { plainTextOf } from "sandbox-stdio/programs";
import {
  type Batch,
  EventReader,
  gapsWithin,
  type RecordedEvent,
  Recorder,
  Redactor,
  type Segment,
  startFor,
} from "sandbox-stdio/recording";
import { expect, test } from "vitest";
import { type CommandMark, commandMarks, NO_MARKS } from "../../src/recording/command-marks.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const textOf = (some: Uint8Array) => new TextDecoder().decode(some);
const segmentOf = (batch: Batch): Segment => ({ incarnation: "a", isTty: true, ...batch });

function redactorOf(...sources: string[]): Redactor {
  return new Redactor(
    sources.map((source) => {
      const compiled = compilePattern(source);
      if (!compiled.ok) throw new Error(compiled.message);
      return compiled.program;
    }),
  );
}

function redacted(output: string, ...sources: string[]): string {
  const written = bytes(output);
  redactorOf(...sources).redact(written);
  return textOf(written);
}

/** Feeds a recorder as a session does. */
class Feeding {
  readonly log = new OutputLog({ cols: 80, rows: 24 });
  readonly recorder: Recorder;
  readonly batches: Batch[] = [];
  nowMs = 1_000_000;

  constructor(redactor?: Redactor, from = 0) {
    this.recorder = new Recorder(from, redactor);
  }

  put(text: string): void {
    this.log.append(bytes(text), STREAM_STDOUT);
    if (this.recorder.came(this.log.endOffset, this.log, this.nowMs)) this.take(false);
  }

  take(isAll = true): void {
    const { batch } = this.recorder.take(this.log, isAll);
    if (batch !== undefined) this.batches.push(batch);
  }

  events(from = 0, to = Number.MAX_SAFE_INTEGER): RecordedEvent[] {
    const reader = new EventReader({ from, to, atMs: 1_000_000 });
    return [...this.batches.flatMap((batch) => reader.read(segmentOf(batch))), ...reader.end()];
  }
}

const wordsOf = (events: readonly RecordedEvent[]) =>
  events.map((event) => (event.kind === "output" ? `${event.atMs - 1_000_000} ${textOf(event.bytes)}` : event));

test("G1: output comes back with its times, sizes and commands, in its order, whatever was taken together", () => {
  for (const takes of [[], [3], [1, 2], [1, 2, 3, 4, 5]]) {
    const feeding = new Feeding();
    const steps = [
      () => feeding.put("$ "),
      () => feeding.put("ls\x1b]633;E;ls -l \\x3b x\x07\x1b]633;C\x07one\r\n"),
      () => feeding.log.markSize(100, 30),
      () => feeding.put("two\r\n"),
      () => feeding.put("three\r\n"),
    ];
    steps.forEach((step, i) => {
      feeding.nowMs += 100;
      step();
      if (takes.includes(i + 1)) feeding.take();
    });
    feeding.take();
    const told = wordsOf(feeding.events());
    expect(told.filter((event) => typeof event !== "string")).toEqual([
      { kind: "command", atMs: 1_000_200, line: "ls -l ; x" },
      {
        kind: "size",
        atMs: takes.length > 1 || takes.length === 0 ? expect.any(Number) : expect.any(Number),
        cols: 100,
        rows: 30,
      },
    ]);
    const outputs = told.filter((event) => typeof event === "string").join("|");
    expect(outputs).toBe(
      "100 $ |200 ls\x1b]633;E;ls -l \\x3b x\x07\x1b]633;C\x07|200 one\r\n|400 two\r\n|500 three\r\n",
    );
  }
});

test("G3: a size behind the last output has the time of the output that follows, and none is lost at the end", () => {
  const feeding = new Feeding();
  feeding.put("one");
  feeding.log.markSize(100, 30);
  feeding.take();
  feeding.nowMs += 24_000;
  feeding.put("two");
  feeding.log.markSize(90, 20);
  feeding.take();
  expect(wordsOf(feeding.events())).toEqual([
    "0 one",
    { kind: "size", atMs: 1_024_000, cols: 100, rows: 30 },
    "24000 two",
    { kind: "size", atMs: 1_024_000, cols: 90, rows: 20 },
  ]);
});

test("G1: what a large log holds is taken in parts that can be stored", () => {
  const log = new OutputLog({ cols: 80, rows: 24 }, 8 * 1024 * 1024);
  const recorder = new Recorder(0);
  log.append(new Uint8Array(3_000_000), STREAM_STDOUT);
  expect(recorder.came(log.endOffset, log, 1)).toBe(true);
  const taken = [1, 2, 3, 4].map(() => recorder.take(log, true).batch?.bytes.length);
  expect(taken).toEqual([1_048_576, 1_048_576, 902_848, undefined]);
});

test("G3: a command's mark is found wherever the output is cut", () => {
  const output = bytes(
    "$ \x1b]633;E;caf\\xc3\\xa9 \\\\;x\x07\x1b]633;C\x1b\\out\x1b]133;C;cmdline_url=ls%20-l\x07\x1b]8;;u\x07",
  );
  for (let size = 1; size <= output.length; size += 1) {
    let state = NO_MARKS;
    const found: CommandMark[] = [];
    for (let at = 0; at < output.length; at += size) {
      const step = commandMarks(state, output.subarray(at, at + size), at);
      state = step.state;
      found.push(...step.marks);
    }
    expect(found, `pieces of ${size}`).toEqual([
      { offset: textOf(output).indexOf("out"), line: "café \\" },
      { offset: textOf(output).indexOf("\x1b]8"), line: "ls -l" },
    ]);
  }
});

test("G3: events from an offset on begin with all that draws the screen there, in one piece", () => {
  const feeding = new Feeding();
  for (const text of ["one", "two", "three"]) {
    feeding.nowMs += 100;
    feeding.put(text);
    feeding.take();
  }
  expect(wordsOf(feeding.events(4, 8))).toEqual(["0 onet", "200 wo", "300 th"]);
});

test("G1: what a full log drops before it is taken is a gap, and nothing else is", () => {
  const feeding = new Feeding();
  const line = "x".repeat(1023);
  for (let i = 0; i < 3000; i += 1) feeding.put(`${line}\n`);
  feeding.take();
  expect(
    gapsWithin(
      feeding.batches.map((batch) => ({ ...batch, fromMs: 0, toMs: 0, frames: [] })),
      0,
      3000 * 1024,
    ),
  ).toEqual([]);
  // Nobody takes anything while two logs' worth come.
  for (let i = 0; i < 2048; i += 1) feeding.log.append(bytes(`${line}\n`), STREAM_STDOUT);
  feeding.recorder.came(feeding.log.endOffset, feeding.log, feeding.nowMs);
  const { gap, batch } = feeding.recorder.take(feeding.log, true);
  expect(gap).toEqual({ from: 3000 * 1024, to: 4024 * 1024 });
  expect([batch?.from, batch?.to]).toEqual([4024 * 1024, 5048 * 1024]);
});

test("G4: the screen is wanted now and then, and drawn on from the newest one before an offset", () => {
  const feeding = new Feeding();
  for (let i = 0; i < 700; i += 1) feeding.put("y".repeat(1024));
  feeding.take();
  expect(feeding.recorder.wantsFrame).toBe(true);
  feeding.recorder.frame({ offset: 700 * 1024, cols: 80, rows: 24, ansi: bytes("drawn") });
  expect(feeding.recorder.wantsFrame).toBe(false);
  feeding.put("z");
  feeding.take();
  const facts = feeding.batches.map((batch) => ({
    ...batch,
    fromMs: 0,
    toMs: 0,
    frames: batch.frames.map(({ offset }) => offset),
  }));
  expect(startFor(facts, 700 * 1024 - 1)).toEqual({ index: 0, isExact: true });
  expect(startFor(facts, 700 * 1024)).toEqual({ index: facts.length - 1, frame: 700 * 1024, isExact: true });
  expect(startFor(facts.slice(1, 2), 600 * 1024).isExact).toBe(false);
});

test.each([
  ["a word", "token=abc123 next\r\n", "token=\\w+", "************ next\r\n"],
  ["between colours", "key \x1b[31mse\x1b[0mcret\n", "secret", "key \x1b[31m**\x1b[0m****\n"],
  ["of several bytes", "pass: größe!\n", "größe", "pass: *******!\n"],
  ["that was overwritten", "hunter2\rhidden \n", "hunter2", "*******\rhidden \n"],
  ["that overwrites", "xunter2\rh\n", "hunter2", "x******\r*\n"],
  ["in a title", "\x1b]0;run --key=k1\x07ok\n", "--key=\\S+", "\x1b]0;run ********\x07ok\n"],
  ["in a command's line", "\x1b]633;E;curl -u me:pw\x07", "me:\\w+", "\x1b]633;E;curl -u *****\x07"],
  [
    "escaped in a command's line",
    "\x1b]633;E;echo sk-abc\\x3bdef\x07",
    "sk-[a-z;]{6,}",
    `\x1b]633;E;${"*".repeat(18)}\x07`,
  ],
  ["in the line that fish tells", "\x1b]133;C;cmdline_url=a%20b\x07", "a b", "\x1b]133;C;cmdline_url=*****\x07"],
  ["that is copied, whatever it is", "\x1b]52;c;c2VjcmV0\x07", "never there", "\x1b]52;c;********\x07"],
  [
    "that a longer title cuts",
    `\x1b]0;${"x".repeat(40_000)} k1\x07ok`,
    "k1|0;x",
    `\x1b]***${"x".repeat(39_999)} **\x07ok`,
  ],
  ["typed behind a wrapped line in fish", "\nsk-\x1b[A\r\r\n\x1b[3Cabc", "sk-abc", "\n***\x1b[A\r\r\n\x1b[3C***"],
  ["that is repeated", "sk-a\x1b[5b", "sk-a{6}", "****\x1b[5b"],
  ["from right to left", "\x1b[1;4Habc\x1b[Hsk-", "sk-abc", "\x1b[1;4H***\x1b[H***"],
  ["that the cursor went back in", "sk-xbc\x1b[3Da", "sk-abc", "***x**\x1b[3D*"],
  ["behind what is deleted", "sk-xxabc\x1b[5D\x1b[2P", "sk-abc", "***xx***\x1b[5D\x1b[2P"],
  ["that is pushed together again", "skabc\x1b[3D\x1b[1@-", "sk-abc", "*****\x1b[3D\x1b[1@*"],
  ["before it is erased", "\x1b[1;4Habc\x1b[Hsk-\x1b[2J", "sk-abc", "\x1b[1;4H***\x1b[H***\x1b[2J"],
  [
    "on the alternate screen, before it goes",
    "\x1b[?1049h\x1b[Hc\x1b[Hb\r\x1b[?1049l",
    "c|b",
    "\x1b[?1049h\x1b[H*\x1b[H*\r\x1b[?1049l",
  ],
  ["at a line's start and end", "ab\nab ab\n", "^ab$", "**\nab ab\n"],
  ["twice", "aXbX\n", "X", "a*b*\n"],
])("G1: a pattern hides %s", (_, output, pattern, hidden) => {
  expect(redacted(output, pattern)).toBe(hidden);
});

test("G1: redaction waits for the end of a line, but not for ever", () => {
  const feeding = new Feeding(redactorOf("secret"));
  feeding.put("one\nsec");
  feeding.take(false);
  feeding.put("ret two\n");
  feeding.take(false);
  expect(feeding.batches.map((batch) => textOf(batch.bytes))).toEqual(["one\n", "****** two\n".replace("*", "*")]);
  feeding.put("sec");
  feeding.take(true);
  expect(textOf(feeding.batches.at(-1)?.bytes ?? bytes(""))).toBe("sec");
  expect(feeding.recorder.wantsFrame).toBe(false);
});

test("G1: what may still become a secret is held back for a while, for readers too; what else has come is not", () => {
  const feeding = new Feeding(redactorOf("sk-[a-z]{4,}"));
  const kept = () => textOf(feeding.batches.at(-1)?.bytes ?? bytes(""));
  const seen = () => textOf(feeding.recorder.peek(feeding.log, false).batch?.bytes ?? bytes(""));
  feeding.put("$ echo sk-a");
  expect(seen()).toBe("$ echo ");
  feeding.put("\rdrawn again\x1b]0;tit");
  expect(seen()).toBe("$ echo sk-a\rdrawn again");
  feeding.put("le\x07\r\n$ sk-ab");
  feeding.nowMs += 30_000;
  expect(feeding.recorder.isOld(feeding.nowMs)).toBe(false);
  feeding.take(false);
  expect(kept().endsWith("\n$ ")).toBe(true);
  feeding.put("c");
  feeding.nowMs += 60_000;
  feeding.put("d");
  feeding.take(false);
  expect(kept()).toBe("*******");
  feeding.put("\r\nsk-a");
  feeding.nowMs += 120_000;
  expect(feeding.recorder.isOld(feeding.nowMs)).toBe(true);
  feeding.take(true);
  feeding.put("bcd");
  feeding.take(true);
  // The first part was stored before it was one.
  expect(feeding.batches.slice(-2).map((batch) => textOf(batch.bytes))).toEqual(["\r\nsk-a", "***"]);
});

test("G1: behind a gap redaction goes on with what is there", () => {
  const feeding = new Feeding(redactorOf("secret"));
  feeding.put("one\x1b]0;never ended");
  feeding.take();
  for (let i = 0; i < 1100; i += 1) feeding.log.append(bytes(`${"x".repeat(1023)}\n`), STREAM_STDOUT);
  feeding.log.append(bytes("a secret\n"), STREAM_STDOUT);
  feeding.recorder.came(feeding.log.endOffset, feeding.log, feeding.nowMs);
  const { gap, batch } = feeding.recorder.take(feeding.log, false);
  expect(gap?.to).toBe(feeding.log.startOffset);
  expect(textOf(batch?.bytes ?? bytes("")).slice(-11)).toBe("x\na ******\n");
});

test("G1: text that is wrapped before and behind a change of size is matched at both widths", () => {
  const feeding = new Feeding(redactorOf("secret"));
  feeding.log.markSize(10, 5);
  feeding.put("\x1b[1;8Hsec\x1b[2;1Hxxx");
  feeding.put("\x1b[1;8Hsecret");
  feeding.log.markSize(4, 5);
  feeding.put("\x1b[2J\x1b[Hxsecret\x1b[2;1H\n");
  feeding.take(true);
  expect(textOf(feeding.batches.at(-1)?.bytes ?? bytes(""))).toBe(
    "\x1b[1;8Hsec\x1b[2;1Hxxx\x1b[1;8H******\x1b[2J\x1b[Hx******\x1b[2;1H\n",
  );
});

test("G4: there are key frames while nothing was hidden; none shows what is hidden, nor what may still be seen of it", () => {
  const feeding = new Feeding(redactorOf("secret"));
  const frame = () =>
    feeding.recorder.frame({ offset: feeding.log.endOffset, cols: 80, rows: 24, ansi: bytes("drawn") });
  const fill = () => {
    for (let i = 0; i < 600; i += 1) feeding.put(`${"y".repeat(1023)}\n`);
    feeding.take();
  };
  fill();
  expect(feeding.recorder.wantsFrame).toBe(true);
  frame();
  feeding.put("plain\n");
  feeding.take();
  expect(feeding.batches.at(-1)?.frames.length).toBe(1);
  feeding.put("the secret\n");
  frame();
  feeding.take();
  expect(feeding.batches.at(-1)?.frames).toEqual([]);
  expect(feeding.recorder.hasHidden).toBe(true);
  const wants = (hasHidden: boolean) => new Recorder(0, redactorOf("secret"), -1_000_000, hasHidden).wantsFrame;
  expect([wants(false), wants(true)]).toEqual([true, false]);
});

test("G1: redaction leaves everything else as it is: as many bytes, and the same text where nothing matches", () => {
  const odd = Uint8Array.from({ length: 5000 }, (_, i) => (i * 7919 + (i >> 3)) & 0xff);
  const written = odd.slice();
  redactorOf("never there", "[^\\x00-\\x{10FFFF}]").redact(written);
  expect(written).toEqual(odd);
  redactorOf(".").redact(written);
  expect(written.length).toBe(odd.length);
  expect(plainTextOf(written).replaceAll(/[*\s]/g, "")).toBe("");
});
