// K5, H13: the bridge answers terminal queries while no attached client does: only those, each once.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { OutputLog, STREAM_STDOUT } from "sandbox-stdio/core";
import { expect, test, vi } from "vitest";
import { COLOURS, PALETTE } from "../../src/screen/appearance.ts";
import { SessionScreen } from "../../src/screen/session-screen.ts";
import { Answers } from "../../src/session/answers.ts";

/** A session's output, and its announcements and answers in order. */
function harness(logBytes?: number) {
  const log = new OutputLog({ cols: 80, rows: 24 }, logBytes);
  const screen = new SessionScreen(log);
  const told: string[] = [];
  const asked: number[] = [];
  let wake: () => void = () => undefined;
  const parseTo = (offset: number) => {
    asked.push(offset);
    screen.parseTo(offset);
  };
  const pushOwn = (answer: Uint8Array) => {
    told.push(new TextDecoder().decode(answer));
    wake();
  };
  const answers = new Answers(log, { parseTo }, { pushOwn }, (offset) => void told.push(`before ${offset}`));
  screen.onParsed = (given, offset) => answers.parsed(given, offset);
  return {
    log,
    screen,
    answers,
    told,
    asked,
    print: (text: string) => {
      log.append(new TextEncoder().encode(text), STREAM_STDOUT);
      answers.appended();
      screen.appended();
    },
    /** Waits until so much has been told. */
    hears: async (count: number) => {
      while (told.length < count) await new Promise<void>((resolve) => (wake = resolve));
    },
    close: () => {
      answers.close();
      screen.close();
    },
  };
}

test("no query, no emulator; a query is announced, however it is cut, and then answered", async () => {
  const at = harness();
  at.print("\x1b[1mbold\x1b[m\r\n".repeat(1000));
  at.print("\x1b[2J\x1b[Hab\x1b[");
  expect(at.asked).toEqual([]);
  at.print("6");
  at.print("n");
  await at.hears(2);
  expect(at.told).toEqual([`before ${at.log.endOffset}`, "\x1b[1;3R"]);
  at.close();
});

test("what is asked after somebody else was chosen is theirs; what was asked before is still answered", async () => {
  const at = harness();
  at.print("\x1b[5n");
  at.answers.answererIs({ id: "a", offset: 4 });
  at.print("\x1b[c");
  await at.hears(2);
  at.answers.answererIs({ id: "", offset: at.log.endOffset });
  at.print("\x1b[6n");
  await at.hears(4);
  expect(at.told).toEqual(["before 4", "\x1b[0n", "before 11", "\x1b[1;1R"]);
  at.close();
});

test("told late that nobody answers, it answers what has come since then, also what had begun before", async () => {
  const at = harness();
  at.answers.answererIs({ id: "a", offset: 0 });
  at.print("\x1b[c\x1b[5n\x1b[6n");
  at.answers.answererIs({ id: "", offset: 5 });
  await at.hears(4);
  expect(at.told).toEqual(["before 7", "before 11", "\x1b[0n", "\x1b[1;1R"]);
  at.close();
});

test("told late, it also answers what the emulator has got over by then, and of that only what ends since", async () => {
  const at = harness();
  at.answers.answererIs({ id: "a", offset: 0 });
  at.print("text\r\n".repeat(20_000));
  const start = at.log.endOffset;
  at.print("\x1b[c\x1b[5n\x1b]10;?;?\x1b\\\x1b[6n");
  await at.screen.snapshot();
  at.answers.answererIs({ id: "", offset: start + 5 });
  const colours = "\x1b]10;rgb:e3e3/e4e4/e9e9\x1b\\\x1b]11;rgb:1717/1818/1c1c\x1b\\";
  const expected = [
    `before ${start + 7}`,
    "\x1b[0n",
    `before ${start + 16}`,
    colours,
    `before ${start + 21}`,
    "\x1b[24;1R",
  ];
  expect(at.told).toEqual(expected);
  // Nothing is answered twice.
  at.print("\x1b[5n");
  await at.hears(8);
  expect(at.told.slice(6)).toEqual([`before ${start + 25}`, "\x1b[0n"]);
  at.close();
});

test("waits for an emulator that takes its time, however long", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const at = harness();
  at.print("\x1b[5n");
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();
  await at.hears(2);
  expect(at.told).toEqual(["before 4", "\x1b[0n"]);
  at.close();
});

test("its colours are the page's, and it has a name", async () => {
  const theme = readFileSync(join(import.meta.dirname, "../../../packages/dashboard/src/terminal/theme.ts"), "utf8");
  const page = (name: string) => new RegExp(`\\b${name}: "(#[0-9a-f]{6})"`).exec(theme)?.[1];
  expect([COLOURS[10], COLOURS[11], COLOURS[12]]).toEqual(["foreground", "background", "cursor"].map(page));
  const colours = ["Black", "Red", "Green", "Yellow", "Blue", "Magenta", "Cyan", "White"];
  const names = [...colours.map((colour) => colour.toLowerCase()), ...colours.map((colour) => `bright${colour}`)];
  expect([...PALETTE]).toEqual(names.map(page));

  const at = harness();
  at.print("\x1b]10;?;?\x07\x1b]4;1;?;16;?;231;?;255;?\x1b\\\x1b[>0q");
  await at.hears(10);
  expect(at.told.filter((told) => !told.startsWith("before"))).toEqual([
    "\x1b]10;rgb:e3e3/e4e4/e9e9\x1b\\",
    "\x1b]11;rgb:1717/1818/1c1c\x1b\\",
    "\x1b]4;1;rgb:ffff/7a7a/9090\x1b\\",
    "\x1b]4;16;rgb:0000/0000/0000\x1b\\",
    "\x1b]4;231;rgb:ffff/ffff/ffff\x1b\\",
    "\x1b]4;255;rgb:eeee/eeee/eeee\x1b\\",
    "\x1bP>|sbx-stdio(1)\x1b\\",
  ]);
  at.close();
});
