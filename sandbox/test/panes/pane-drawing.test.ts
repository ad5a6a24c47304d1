// A real tmux: a reader that comes later, or back after a flood, gets the pane as it is.

import { OutputLog, STREAM_STDOUT } from "sandbox-stdio/core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { SessionScreen } from "../../src/screen/session-screen.ts";
import { FollowedPane, type Reader } from "./followed-pane.ts";
import { seen, terminalOf } from "./seen.ts";
import { SESSION } from "./tmux-harness.ts";

const SIZE = { cols: 80, rows: 24 };
/** Prints its input. */
const ECHO = ["sh", "-c", "stty raw -echo; printf ready; exec cat"];
/** More than a log holds. */
const FLOOD_LINES = 20_000;
const LINE_BYTES = 60;

// The worker that keeps the screens ends with the last of them: this one outlives all tests.
const other = new OutputLog(SIZE);
const screen = new SessionScreen(other);
beforeAll(async () => {
  other.append(new Uint8Array(100_000), STREAM_STDOUT);
  await screen.read({ scrollback: 0, runs: false, ansi: false });
});
afterAll(() => screen.close());

let pane: FollowedPane | undefined;
afterEach(() => pane?.close());

const TABS = "\u001b[3g\u001b[6G\u001bH\u001b[31G\u001bH\r";
const MODES = "\u001b[?2004h\u001b[?1004h\u001b[?1002h\u001b[?1006h\u001b=";
const BLUE = "\u001b[44m\u001b[2J\u001b[3;3Hblue\u001b[5;9H\u001b[42m\u001b[K\u001b[m\r\n";
const PEN = "\u001b[1;3;31;44m";

/** What a program does with a pane, and what it prints afterwards. */
const PROGRAMS: readonly (readonly [what: string, first: string, later: string])[] = [
  ["line drawing", "\u001b)0\u000elqqk\u000f lqqk \u000e", "lqqk\u000flqqk"],
  ["bracketed paste, reports of the focus and of the mouse", `${MODES}$ `, "x"],
  ["a character that is about to wrap", `\r\n${"=".repeat(SIZE.cols)}`, "on the next row\r\nand the one behind it"],
  ["the pen", `plain ${PEN}red`, "still red"],
  ["tab stops", TABS, "\ta\tb"],
  ["the background of erased cells", BLUE, "x"],
  [
    "a hidden cursor, a scroll region and a saved cursor",
    "\u001b[5;9r\u001b[7;7H\u001b7\u001b[?25l\u001b[9;1H",
    "\n\n\u001b8x",
  ],
  ["an alternate screen", "below\u001b[?1049h\u001b[2J\u001b[5;5Habove\u001b[?2004h", "\u001b[?1049lback"],
];

async function started(command: readonly string[]): Promise<{ tmux: FollowedPane; reader: Reader }> {
  const tmux = new FollowedPane(command, SIZE);
  pane = tmux;
  const reader = await tmux.reader();
  await tmux.until(() => reader.tail.includes("ready"));
  return { tmux, reader };
}

/** The reader's terminal is as one that was given `text`. */
async function shows(reader: Reader, text: string, withHistory = true): Promise<void> {
  const shown = seen(await terminalOf(reader.text, SIZE, reader.sizes), withHistory);
  expect(shown).toEqual(seen(await terminalOf(text, SIZE), withHistory));
}

describe("B7: a pane is drawn with all that its program has set", () => {
  // The bell makes it no longer replayable: a bell that rang is not rung again.
  test.each(["", "\u0007"].flatMap((bell) => PROGRAMS.map((program) => [...program, bell] as const)))(
    "for a reader that comes later: %s",
    async (_, first, later, bell) => {
      const { tmux, reader } = await started(ECHO);
      tmux.type(bell + first);
      await tmux.until(() => reader.tail.endsWith(first));
      const late = await tmux.reader();
      await tmux.until(() => late.tail !== "");
      tmux.type(later);
      await tmux.until(() => late.tail.endsWith(later) && reader.tail.endsWith(later));
      await shows(late, `ready${first}${later}`);
      await shows(reader, `ready${first}${later}`);
      expect(late.text).not.toContain("\u0007");
    },
  );

  test("by what tmux says where output was missed, and what tmux does not say stays as it was known", async () => {
    const { tmux, reader } = await started(ECHO);
    // tmux tells the program that it has the focus again, before or after the drawing. Printed, that is a tab: none in the last column.
    const first = `${TABS}${MODES}\u001b)0line: \u000eq\u000f\u001b[10;${SIZE.cols}H`;
    tmux.type(first);
    await tmux.until(() => reader.tail.endsWith(first));
    const before = reader.text.length;
    tmux.run("detach-client", "-s", SESSION);
    await tmux.until(() => reader.text.slice(before).includes("\u0018"));
    const later = "$ \r\t$ \u000eq";
    tmux.type(later);
    await tmux.until(() => reader.tail.endsWith(later));
    await shows(reader, `ready${first}${later}`);
    expect(tmux.losses).toBe(1);
  });

  test("B2d: without the name that it gives its window, which is text to every terminal but tmux", async () => {
    const { tmux, reader } = await started(ECHO);
    tmux.type("\u001b");
    await tmux.until(() => reader.tail.endsWith("\u001b"));
    tmux.type("kone\u001b\\\u001bktwo\u001b\\$ ");
    await tmux.until(() => reader.tail.endsWith("$ "));
    await shows(reader, "ready$ ");
    // The length stays, so that no offset changes.
    expect(reader.text.endsWith("\u001bXone\u001b\\\u001bXtwo\u001b\\$ ")).toBe(true);
  });

  test("for a reader that a flood has left behind: all of these", async () => {
    const flood = `seq -f %0${LINE_BYTES}.0f 1 ${FLOOD_LINES}; stty raw; printf '\\033]2;over\\007'`;
    const { tmux, reader } = await started(["sh", "-c", `stty -echo; printf ready; read go; ${flood}; exec cat`]);
    const watcher = await tmux.reader();
    reader.process.hold();
    tmux.type("\r");
    await tmux.until(() => watcher.tail.includes("over"));
    const first = [TABS, MODES, BLUE, `\u001b)0\u000e${PEN}`, `\r\n${"q".repeat(SIZE.cols)}`].join("");
    const mark = "\u001b]2;set\u0007";
    tmux.type(first + mark);
    await tmux.until(() => watcher.tail.includes("set"));
    const before = reader.text.length;
    reader.process.release();
    await tmux.until(() => reader.text.slice(before).includes("set"));
    const later = "x\u000fx\r\n\tx";
    tmux.type(later);
    await tmux.until(() => reader.tail.endsWith(later));
    // Not each line came.
    expect(reader.text.length).toBeLessThan(FLOOD_LINES * LINE_BYTES);
    const end = Array.from(
      { length: 100 },
      (_, i) => `${String(FLOOD_LINES - 99 + i).padStart(LINE_BYTES, "0")}\r\n`,
    ).join("");
    await shows(reader, `${end}${first}${later}`, false);
  });
});

describe("B7: what a reader has missed", () => {
  test("is read later if it is less than a log holds: nothing is drawn anew, and the end comes behind it", async () => {
    const { tmux, reader } = await started(ECHO);
    // The last pane would take tmux along.
    tmux.run("new-window", "-d", "cat");
    const before = reader.text.length;
    reader.process.hold();
    const missed = "\u0007\u001b[31mmissed\u001b]2;t\u0007".repeat(2_000);
    tmux.type(missed);
    const watcher = await tmux.reader();
    tmux.type("end of it");
    await tmux.until(() => watcher.tail.endsWith("end of it"));
    tmux.run("kill-pane", "-t", "%0");
    await tmux.until(() => watcher.hasEnded);
    expect(reader.hasEnded).toBe(false);
    reader.process.release();
    await tmux.until(() => reader.hasEnded);
    expect(reader.text.slice(before)).toBe(`${missed}end of it`);
  });

  test("is drawn in the sizes that it had", async () => {
    const { tmux, reader } = await started(ECHO);
    const wrapped = "\u0007wrapped ".repeat(40);
    tmux.type(`${wrapped}\r\n`);
    for (const [cols, rows] of [
      [50, 12],
      [120, 30],
      [63, 17],
    ] as const) {
      tmux.panes.act({ action: "resize_window", window: "@0", cols, rows }, tmux, () => undefined);
      await tmux.until(() => reader.sizes.at(-1)?.cols === cols);
      const text = `at ${cols}: ${wrapped}\r\n`;
      tmux.type(text);
      await tmux.until(() => reader.tail.endsWith(text));
    }
    const late = await tmux.reader();
    await tmux.until(() => late.tail !== "");
    tmux.type("later");
    await tmux.until(() => late.tail.endsWith("later") && reader.tail.endsWith("later"));
    const shown = seen(await terminalOf(late.text, { cols: 63, rows: 17 }, late.sizes));
    expect(shown).toEqual(seen(await terminalOf(reader.text, SIZE, reader.sizes)));
  });
});

describe("B7c: a pane that nobody reads is left to tmux, and drawn by what tmux says when a reader comes", () => {
  const SHELL = ["sh", "-c"];
  const LARGE = "printf ready; read go; seq 1 15000; printf 'the end'; exec cat";
  const isByTmux = (reader: Reader): boolean => reader.text.startsWith("\u0018");

  async function drawn(tmux: FollowedPane, id: string, word = "the end"): Promise<Reader> {
    const reader = await tmux.reader(id);
    await tmux.until(() => reader.tail.includes(word));
    return reader;
  }

  test("if more screens are kept already than are kept of such panes: the first ones", async () => {
    const tmux = new FollowedPane([...SHELL, LARGE], SIZE, { unreadScreens: 1, unreadBytes: 1e9 });
    pane = tmux;
    tmux.run("new-window", "-d", LARGE);
    tmux.run("new-window", "-d", LARGE);
    const panes = ["%0", "%1", "%2"];
    for (const id of panes) {
      const reader = await drawn(tmux, id, "ready");
      tmux.type("\r", id);
      await tmux.until(() => reader.tail.includes("the end"));
      reader.process.signalAll("SIGHUP");
      await tmux.until(() => reader.hasEnded);
    }
    const again = await Promise.all(panes.map((id) => drawn(tmux, id)));
    expect(again.map(isByTmux)).toEqual([true, true, false]);
  });

  test("if it floods", async () => {
    const tmux = new FollowedPane([...SHELL, LARGE], SIZE, {
      unreadScreens: 9,
      unreadBytes: 20_000,
    });
    pane = tmux;
    const reader = await drawn(tmux, "%0", "ready");
    reader.process.hold();
    tmux.type("\r");
    await expect.poll(() => tmux.run("capture-pane", "-p", "-t", "%0").includes("the end")).toBe(true);
    // What tmux told before this has come by now.
    await new Promise((resolve) => tmux.panes.act({ action: "select", pane: "%0" }, tmux, resolve));
    const before = reader.text.length;
    reader.process.release();
    await tmux.until(() => reader.text.slice(before).includes("the end"));
    tmux.type("more\r");
    await tmux.until(() => reader.tail.includes("more"));
    expect(reader.text.slice(before)).toContain("\u0018");
    expect(reader.text.slice(before)).toContain("14999");
  });
});
