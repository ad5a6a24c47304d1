// Marks, bells and notices on a real terminal of xterm.js, without a page: its headless build has the same parser and buffer.

import { Terminal as Headless } from "@xterm/headless";
import type { Terminal } from "@xterm/xterm";
import { describe, expect, test } from "vitest";
import { type Alerts, Attention, QUIET } from "../../src/output/attention.ts";
import type { CommandBlock } from "../../src/output/command-blocks.ts";
import { CommandMarks } from "../../src/output/command-marks.ts";
import type { ShellFacts } from "../../src/output/shell-facts.ts";
import { ENGLISH } from "../../src/texts/texts.ts";

function terminal(): { terminal: Terminal; print: (text: string) => Promise<void> } {
  const headless = new Headless({ cols: 20, rows: 5, scrollback: 20, allowProposedApi: true });
  // It draws nothing, and so has no decorations.
  const drawn = Object.assign(headless, { registerDecoration: () => undefined }) as unknown as Terminal;
  return { terminal: drawn, print: (text) => new Promise((resolve) => headless.write(text, resolve)) };
}

const command = (line: string, output: string, exit: number) =>
  `\x1b]133;A\x07$ ${line}\r\n\x1b]133;C\x07${output}\x1b]133;D;${exit}\x07`;

function marks(isReplay = false) {
  const screen = terminal();
  const ended: (number | undefined)[] = [];
  const said: string[] = [];
  const learned: ShellFacts[] = [];
  const made = new CommandMarks(screen.terminal, {
    words: ENGLISH.command,
    ended: ({ exit }: CommandBlock) => ended.push(exit),
    leftOn: () => said.push("left on"),
    isReplay: () => isReplay,
    factsChanged: (facts) => learned.push(facts),
    copied: () => undefined,
    now: () => 0,
  });
  return { ...screen, marks: made, ended, said, learned };
}

describe("marks", () => {
  test("say the shell's directory and the line that runs, until it ends; what is no path counts for nothing", async () => {
    const { print, learned } = marks();
    await print("\x1b]633;P;Cwd=/srv/a\\x3bb\x07\x1b]133;A\x07$ \x1b]133;B\x07");
    await print("\x1b]633;E;echo \\xc3\\xa4\\\\b\\x3b true\x07\x1b]133;C\x07");
    await print("\x1b]633;P;Cwd=nowhere\x07\x1b]633;P;Cwd=/a\\x0ab\x07\x1b]133;D;0\x07");
    const cwd = "/srv/a;b";
    expect(learned).toEqual([
      { cwd, running: undefined },
      { cwd, running: "echo ä\\b; true" },
      { cwd, running: undefined },
    ]);
  });

  test.each([true, false])(
    "K10: a killed program's mouse is off before the prompt, which is said (replayed: %s)",
    async (isReplay) => {
      const { terminal: screen, print, said } = marks(isReplay);
      await print("\x1b]133;C\x07\x1b[?1003;1006;1004;2004h");
      expect(screen.modes.mouseTrackingMode).toBe("any");
      await print("\x1b]133;D;137\x07\x1b]133;A\x07$ ");
      await print("");
      const { mouseTrackingMode, sendFocusMode, bracketedPasteMode } = screen.modes;
      expect([mouseTrackingMode, sendFocusMode, bracketedPasteMode]).toEqual(["none", false, true]);
      expect(said).toEqual(isReplay ? [] : ["left on"]);
    },
  );

  test("give a command its output, lines that the width broke in one", async () => {
    const { marks: made, print, ended } = marks();
    await print(`${command("one", `${"x".repeat(45)}\r\nshort\r\nno end`, 0)}\r\n${command("two", "", 4)}`);
    const [one, two] = made.list;
    expect([one, two].map((block) => block && made.outputOf(block))).toEqual([`${"x".repeat(45)}\nshort\nno end`, ""]);
    expect(ended).toEqual([0, 4]);
  });

  test("of commands that have left the scrollback are forgotten", async () => {
    const { marks: made, print } = marks();
    await print(command("one", "a\r\n", 0));
    await print(command("two", "b\r\n".repeat(40), 0));
    expect(made.list).toEqual([]);
    await print(command("three", "c\r\n", 0));
    expect(made.outputInView()).toBe("c");
  });

  test("the one at the top of the screen is told beside the chosen one, which is in view or none", async () => {
    const { marks: made, print, terminal: screen } = marks();
    await print(["one", "two", "three"].map((name) => command(name, `${name}\r\n`.repeat(4), 0)).join(""));
    const [one, two, three] = made.list;
    expect([made.blockAtTop, made.chosenInView]).toEqual([three, undefined]);
    made.scrollTo("before");
    made.scrollTo("before");
    expect([made.blockAtTop, made.chosenInView]).toEqual([undefined, two]);
    screen.scrollLines(-2);
    expect([made.blockAtTop, made.chosenInView]).toEqual([one, two]);
    screen.scrollLines(3);
    expect([made.blockAtTop, made.chosenInView]).toEqual([two, undefined]);
  });

  test("that a program prints on the alternate screen are none", async () => {
    const { marks: made, print } = marks();
    await print(`\x1b[?1049h${command("one", "a\r\n", 0)}\x1b[?1049l`);
    expect(made.list).toEqual([]);
  });

  test("of a replay tell of no end", async () => {
    const { marks: made, print, ended } = marks(true);
    await print(command("one", "a\r\n", 0));
    expect([made.list.length, ended]).toEqual([1, []]);
  });
});

function attention(alerts: Partial<Alerts>, { isReplay = false, isHidden = true } = {}) {
  const screen = terminal();
  const told: string[] = [];
  let nowMs = 0;
  const made = new Attention(screen.terminal, {
    words: ENGLISH.attention,
    isReplay: () => isReplay,
    isHidden: () => isHidden,
    now: () => nowMs,
    progressed: (progress) => told.push(progress?.kind ?? "no progress"),
    notify: (title, text) => told.push(`notice ${title}: ${text}`),
    sound: () => told.push("sound"),
    flash: () => told.push("flash"),
    signed: () => undefined,
  });
  made.alerts = { ...QUIET, ...alerts };
  const wait = (ms: number) => {
    nowMs += ms;
  };
  return { ...screen, attention: made, told, wait };
}

describe("attention", () => {
  test("a bell does what was chosen, and one that follows at once nothing more", async () => {
    const { print, told, wait } = attention({ bellSounds: true, bellFlashes: true, bellNotifies: true });
    await print("\x07\x07");
    expect(told).toEqual(["sound", "flash", "notice Bell: "]);
    wait(200);
    await print("\x07");
    expect(told.length).toBe(6);
  });

  test("nothing is chosen: nothing happens, and what is a program's is not printed", async () => {
    const { print, told, terminal: screen } = attention({});
    await print("\x07\x1b]9;done\x07\x1b]777;notify;a;b\x07");
    expect([told, screen.buffer.active.cursorX]).toEqual([[], 0]);
  });

  test("a program's notice comes only while nobody looks, and not of a replay", async () => {
    const shown = async (how: { isReplay?: boolean; isHidden?: boolean }) => {
      const { print, told } = attention({ programsNotify: true, bellSounds: true }, how);
      await print("\x1b]9;done\x07\x1b]777;notify;Tests;3 failed\x07");
      return told;
    };
    expect(await shown({})).toEqual(["notice Message from a program: done", "notice Tests: 3 failed"]);
    expect([await shown({ isHidden: false }), await shown({ isReplay: true })]).toEqual([[], []]);
  });

  test("the end of a long command is told, and ends its progress", async () => {
    const { attention: made, print, told } = attention({ programsNotify: true });
    await print("\x1b]9;4;3\x07");
    const prompt = { marker: { line: 0 }, column: 0 };
    made.commandEnded({ prompt, exit: 2, startedAtMs: 1_000, endedAtMs: 13_000 });
    expect(told).toEqual(["unknown", "no progress", "notice Command failed (exit code 2): Took 12 s"]);
  });
});
