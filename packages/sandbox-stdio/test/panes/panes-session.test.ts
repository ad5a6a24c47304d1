// What a session with panes says to tmux, against a tmux of lines written here: its order, its losses, its lies.

import { describe, expect, test } from "vitest";
import { type PanesPorts, PanesSession } from "../../src/panes/panes-session.ts";
import { bytes, text } from "../support/fixtures.ts";

const ONE = "$0 %0 @0 1 1 80 24 0 0 80 24 0 0 b25d,80x24,0,0,0 :shell";
const TWO = "$0 %1 @0 1 0 80 24 0 0 80 24 0 0 b25d,80x24,0,0,0 :shell";
const STATE = "80 24 3 0 0 23 0 0 0 0 :1:0:0:0:1:0 :0:0:0:0:";

class FakeTmux {
  readonly said: string[] = [];
  readonly told: string[] = [];
  readonly session: PanesSession;
  #number = 0;

  constructor() {
    const ports: PanesPorts = {
      send: (line) => this.said.push(line),
      changed: ({ panes }) => this.told.push(`panes ${panes.map(({ id }) => id).join()}`),
      output: (pane, output, isRedraw) => this.told.push(`${isRedraw ? "redraw" : "output"} ${pane} ${text(output)}`),
      taken: (pane, count) => this.told.push(`taken ${pane} ${count}`),
      closed: (pane) => this.told.push(`closed ${pane}`),
      lost: (why) => this.told.push(`lost ${why}`),
    };
    this.session = new PanesSession(ports);
    this.session.opened();
  }

  /** What has been asked since the last time, by its first word. */
  asked(): string[] {
    return this.said
      .splice(0)
      .flatMap((line) => line.trimEnd().split(" ; "))
      .map((command) => command.split(" ")[0] ?? "");
  }

  news(): string[] {
    return this.told.splice(0);
  }

  say(...lines: readonly string[]): void {
    this.session.receive(bytes(`${lines.join("\n")}\n`));
  }

  answer(...lines: readonly string[]): void {
    const stamp = `17 ${this.#number++} 1`;
    this.say(`%begin ${stamp}`, ...lines, `%end ${stamp}`);
  }

  fail(why: string): void {
    const stamp = `17 ${this.#number++} 1`;
    this.say(`%begin ${stamp}`, why, `%error ${stamp}`);
  }

  /** Its session begins, and `rows` are its panes. */
  begin(...rows: readonly string[]): void {
    this.say("%session-changed $0 main");
    this.answer();
    if (rows.length > 0) this.answer(...rows);
  }

  draw(state = STATE, shown = "hi"): void {
    this.answer(state);
    this.answer();
    this.answer(shown);
    this.answer();
  }
}

/** One whose first pane is drawn, and all of that heard. */
function drawn(): FakeTmux {
  const tmux = new FakeTmux();
  tmux.begin(ONE);
  tmux.draw();
  tmux.asked();
  tmux.news();
  return tmux;
}

describe("B1: the control client", () => {
  test("is told nothing before tmux has attached it, since it would run commands without a session", () => {
    const tmux = new FakeTmux();
    tmux.say("%begin 1 1 0", "%end 1 1 0");
    expect(tmux.asked()).toEqual([]);
    tmux.say("%session-changed $0 main");
    expect(tmux.asked()).toEqual(["refresh-client", "list-panes"]);
  });

  test.each([
    ["unexpected answer from tmux", (tmux: FakeTmux) => tmux.answer("x")],
    ["detached", (tmux: FakeTmux) => tmux.say("%exit")],
    ["not a line of control mode: hello", (tmux: FakeTmux) => tmux.say("hello")],
  ])("is given up: %s; nothing that comes behind counts", (why, happen) => {
    const tmux = drawn();
    happen(tmux);
    tmux.say("%output %0 late");
    tmux.session.ended("again");
    expect(tmux.news()).toEqual([`lost ${why}`]);
  });

  test("is given up where tmux does not tell its panes", () => {
    const tmux = new FakeTmux();
    tmux.begin("no list");
    expect(tmux.news()).toEqual(["lost can't read tmux's list of panes"]);
  });
});

describe("B4: panes", () => {
  test("are asked for once, however much changes until the answer, and once more after it", () => {
    const tmux = drawn();
    tmux.say("%window-add @1", "%window-renamed @1 x", "%layout-change @0 b25d,80x24,0,0,0 b25d,80x24,0,0,0 *");
    expect(tmux.asked()).toEqual(["list-panes"]);
    tmux.answer(ONE);
    expect(tmux.asked()).toEqual(["list-panes"]);
    tmux.answer(ONE);
    expect(tmux.asked()).toEqual([]);
  });

  test("that have gone are told once, and none is left at the end", () => {
    const tmux = drawn();
    tmux.session.finished();
    expect(tmux.news()).toEqual(["closed %0", "panes "]);
    expect(tmux.session.write("%0", bytes("dropped"))).toBe(7);
  });
});

describe("B7: a pane is drawn", () => {
  test("before anything is told of it, and what came meanwhile is in the drawing", () => {
    const tmux = new FakeTmux();
    tmux.begin();
    tmux.say("%output %0 early");
    tmux.answer(ONE);
    tmux.say("%output %0 while asked");
    expect(tmux.news()).toEqual(["panes %0"]);
    tmux.draw();
    tmux.say("%output %0 after");
    const [redraw, after] = tmux.news();
    expect(redraw).toContain("redraw %0 \u0018");
    expect(redraw).toContain("\u001b[2J\u001b[3J\u001b[1;1Hhi");
    expect(after).toBe("output %0 after");
  });

  test("by its own output if it begins later: tmux is not asked, and no byte is missing", () => {
    const tmux = drawn();
    tmux.say("%output %1 \\033[?2004h");
    expect(tmux.asked()).toEqual(["list-panes"]);
    tmux.say("%output %1 $ ");
    tmux.answer(ONE, TWO);
    tmux.say("%output %1 x");
    expect(tmux.news()).toEqual(["panes %0,%1", "output %1 \u001b[?2004h$ ", "output %1 x"]);
    expect(tmux.asked()).toEqual(["list-panes"]);
  });

  test.each([
    ["it comes from another session, with what it shows", [TWO.replace("$0", "$1")], "moved"],
    ["it has put out more than is kept before the list says its size", [], "x".repeat(70_000)],
  ])("by what tmux says where %s", (_, before, output) => {
    const tmux = drawn();
    tmux.say("%unlinked-window-add @1");
    tmux.answer(ONE, ...before);
    tmux.news();
    tmux.asked();
    tmux.say(`%output %1 ${output}`);
    tmux.answer(ONE, TWO);
    tmux.say("%output %1 before the redraw");
    expect(tmux.news()).toEqual(["panes %0,%1"]);
    expect(tmux.asked()).toEqual(["list-panes", "display-message", "capture-pane", "capture-pane", "capture-pane"]);
  });

  test("without what was known before being undone, where tmux does not tell it", () => {
    const tmux = new FakeTmux();
    tmux.begin(ONE);
    tmux.draw();
    const [, redraw = ""] = tmux.news();
    // Bracketed paste (of a tmux before 3.6), reports of the focus, and a full reset.
    for (const text of ["2004", "1004", "\u001bc"]) expect(redraw).not.toContain(text);
  });

  test("with a character that waits at the end of its row, the stops of its tabs, and line drawing in SO", () => {
    const tmux = new FakeTmux();
    tmux.begin(ONE);
    tmux.draw("4 2 4 0 0 1 0 0 0 0 :1:0:0:0:1:0 :0:0:0:0:0:2,3", "a\u000eqq\u000fb");
    const [, redraw = ""] = tmux.news();
    expect(redraw).toContain("\u001b)0");
    expect(redraw).toContain("\u001b[3g\u001b[3G\u001bH\u001b[4G\u001bH");
    expect(redraw).toContain("\u001b[1;1Ha\u000eqq\u000fb\u001b[m\u001b[4l");
  });

  test("anew after a pause, of which tmux keeps nothing", () => {
    const tmux = drawn();
    tmux.say("%pause %0");
    expect(tmux.asked().slice(0, 2)).toEqual(["refresh-client", "display-message"]);
    tmux.say("%output %0 told before the redraw");
    expect(tmux.news()).toEqual([]);
  });
});

describe("B6: input", () => {
  test("is typed in pieces of 512 bytes, 8 on their way, and told as taken when tmux has run them", () => {
    const tmux = drawn();
    expect(tmux.session.write("%0", new Uint8Array(70_000))).toBe(65_536);
    expect(tmux.asked()).toEqual(Array.from({ length: 8 }, () => ["send-keys", "set-option"]).flat());
    tmux.answer();
    expect(tmux.news()).toEqual([]);
    tmux.answer();
    expect(tmux.news()).toEqual(["taken %0 512"]);
    expect(tmux.asked()).toEqual(["send-keys", "set-option"]);
  });

  test("that tmux has taken before its client was lost is not typed again; the rest is", () => {
    const tmux = drawn();
    tmux.session.write("%0", new Uint8Array(1_200).fill(0x61));
    tmux.asked();
    tmux.news();
    tmux.session.ended("killed");
    tmux.session.opened();
    tmux.begin(ONE.replace(" 0 b25d", " 1024 b25d"));
    expect(tmux.news()).toEqual(["lost killed", "taken %0 1024"]);
    const typed = tmux.said.filter((line) => line.startsWith("send-keys"));
    expect(typed).toEqual([`send-keys -t %0 -H${" 61".repeat(176)} ; set-option -p -t %0 @sbx_taken 1200\n`]);
  });

  test("for a pane that has gone is dropped, and the list asked for", () => {
    const tmux = drawn();
    tmux.session.write("%0", bytes("x"));
    tmux.asked();
    tmux.fail("can't find pane: %0");
    expect(tmux.asked()).toEqual(["list-panes"]);
  });
});

describe("B8: an action", () => {
  test("is answered with what tmux says, and is not repeated when its client is lost", () => {
    const tmux = drawn();
    const results: unknown[] = [];
    const split = () =>
      tmux.session.act({ action: "split", pane: "%0", across: "right" }, (result) => results.push(result));
    split();
    tmux.fail("no space for new pane");
    split();
    tmux.session.ended("killed");
    tmux.session.opened();
    split();
    tmux.asked();
    tmux.say("%session-changed $0 main");
    expect(tmux.asked()).toEqual(["refresh-client", "list-panes"]);
    expect(results).toEqual([
      { ok: false, error: "no space for new pane" },
      { ok: false, error: "unknown" },
      { ok: false, error: "unknown" },
    ]);
  });

  test("can't say more than it is: a name is quoted", () => {
    const tmux = drawn();
    tmux.said.length = 0;
    tmux.session.act({ action: "name", pane: "%0", name: "a'; kill-server; '#{x}" }, () => undefined);
    expect(tmux.said[0]).toBe("set-option -p -t %0 @name 'a'\\''; kill-server; '\\''#{x}'\n");
  });
});
