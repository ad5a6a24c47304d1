// The echo that is predicted, against terminals that echo late, or not at all. No browser, no clock.

import fc from "fast-check";
import { expect, test } from "vitest";
import { EchoPrediction, type EchoScreen, type PredictionMode } from "../../src/terminal/echo-prediction.ts";

/** A screen of lines, as a terminal's driver and programs print to it. */
class Paper implements EchoScreen {
  readonly cols = 30;
  readonly #lines: string[] = [""];
  #column = 0;

  get cursor() {
    return { row: this.#lines.length - 1, column: this.#column };
  }

  at(row: number, column: number): string {
    return this.#lines[row]?.charAt(column) ?? "";
  }

  print(text: string): void {
    for (const character of text) {
      if (character === "\n") {
        this.#lines.push("");
        this.#column = 0;
      } else if (character === "\b") {
        this.#column = Math.max(0, this.#column - 1);
      } else {
        const line = (this.#lines.pop() ?? "").padEnd(this.#column);
        this.#lines.push(line.slice(0, this.#column) + character + line.slice(this.#column + 1));
        this.#column = Math.min(this.cols - 1, this.#column + 1);
      }
    }
  }
}

/** A page and a tty with a delay between. What is typed at a time is echoed on the page a round trip later. */
class Link {
  readonly paper = new Paper();
  readonly prediction = new EchoPrediction();
  isEchoOn = true;
  nowMs = 0;
  readonly #roundTripMs: number;
  #unanswered: { atMs: number; bytes: number }[] = [];
  #coming: { atMs: number; text: string }[] = [];

  constructor(roundTripMs: number) {
    this.#roundTripMs = roundTripMs;
    this.prediction.measured(roundTripMs);
  }

  type(text: string): void {
    for (const key of text) {
      const isEchoed = this.isEchoOn || key === "\r";
      this.send(key, !isEchoed ? "" : key === "\r" ? "\n" : key === "\x7f" ? "\b \b" : key);
    }
  }

  send(key: string, echo: string): void {
    this.prediction.typed(key, this.paper, this.nowMs);
    this.#unanswered.push({ atMs: this.nowMs + this.#roundTripMs, bytes: Buffer.byteLength(key) });
    if (echo !== "") this.print(echo);
  }

  print(text: string): void {
    this.#coming.push({ atMs: this.nowMs + this.#roundTripMs, text });
  }

  wait(ms: number): void {
    this.nowMs += ms;
    const due = this.#coming.filter(({ atMs }) => atMs <= this.nowMs);
    this.#coming = this.#coming.filter(({ atMs }) => atMs > this.nowMs);
    for (const { text } of due) {
      this.paper.print(text);
      this.prediction.drawn(this.paper, this.nowMs);
    }
    this.prediction.drawn(this.paper, this.nowMs);
    this.#unanswered = this.#unanswered.filter(({ atMs }) => atMs > this.nowMs);
    const unacked = this.#unanswered.reduce((sum, { bytes }) => sum + bytes, 0);
    this.prediction.answered(this.prediction.typedBytes - unacked, this.paper);
  }

  shown(mode: PredictionMode = "auto"): string {
    return this.prediction
      .shown(mode)
      .map(({ character }) => character)
      .join("");
  }
}

test("characters are seen at once when two on the row have really been echoed", () => {
  const link = new Link(200);
  link.type("l");
  expect(link.shown()).toBe("");
  link.wait(200);
  link.type("l");
  expect(link.shown()).toBe("");
  link.wait(200);
  link.type("s -");
  expect(link.shown()).toBe("s -");
  link.wait(100);
  link.type("a");
  expect(link.shown()).toBe("s -a");
  link.wait(100);
  expect(link.shown()).toBe("a");
  link.wait(100);
  expect([link.shown(), link.prediction.hasPending]).toEqual(["", false]);
});

test("below 50 ms nothing is predicted, unless always; never is never", () => {
  const link = new Link(49);
  link.type("ll");
  link.wait(49);
  link.type("s");
  expect([link.shown("auto"), link.shown("always"), link.shown("never")]).toEqual(["", "s", ""]);
  link.prediction.measured(50);
  expect(link.shown()).toBe("s");
  link.prediction.measured(40);
  expect(link.shown()).toBe("s");
  link.prediction.measured(34);
  expect(link.shown()).toBe("");
});

test("a password is not shown, though what asked for it was predicted", () => {
  const link = new Link(200);
  link.type("s");
  link.wait(200);
  link.type("udo x\r");
  link.isEchoOn = false;
  link.print("Password: ");
  link.wait(200);
  for (const key of "secret") {
    link.type(key);
    expect(link.shown("always")).toBe("");
    link.wait(50);
    expect(link.shown("always")).toBe("");
  }
});

test("Echo: nothing is shown while the terminal does not echo, nor before two echoes after that", () => {
  const link = new Link(200);
  link.type("aa");
  link.wait(200);
  link.type("b");
  expect(link.shown()).toBe("b");
  link.prediction.echoes(false);
  link.type("c");
  expect(link.shown("always")).toBe("");
  link.prediction.echoes(true);
  link.wait(200);
  link.type("d");
  expect(link.shown()).toBe("");
  link.wait(200);
  link.type("e");
  link.wait(200);
  link.type("f");
  expect(link.shown()).toBe("f");
});

test("a program that echoes one key in a row of others is shown nothing", () => {
  const link = new Link(200);
  link.type("j");
  link.wait(200);
  link.print("\n");
  link.wait(200);
  link.type("k");
  link.wait(200);
  link.type("j");
  expect(link.shown("always")).toBe("");
});

test("a password on the line of a key that was echoed is not shown", () => {
  const link = new Link(200);
  link.type("y");
  link.wait(200);
  link.isEchoOn = false;
  link.print(" Password: ");
  link.wait(200);
  link.type("secret");
  expect(link.shown("always")).toBe("");
});

test("a prompt that prints a star for each key confirms no password that begins with one", () => {
  const link = new Link(200);
  link.isEchoOn = false;
  link.type("*");
  link.print("*");
  link.wait(200);
  link.type("secret");
  expect([link.shown("always"), link.prediction.hasPending]).toEqual(["", true]);
});

test("blanks that are typed and taken back at a prompt without echo confirm no password after them", () => {
  const link = new Link(0);
  link.isEchoOn = false;
  for (let i = 0; i < 3; i += 1) {
    link.type(" \x7f");
    link.wait(0);
  }
  link.type("secret");
  expect(link.shown("always")).toBe("");
});

test("an echo that does not come is given up, and what was shown with it", () => {
  const link = new Link(100);
  link.type("aa");
  link.wait(100);
  link.isEchoOn = false;
  link.type("b");
  expect(link.shown()).toBe("b");
  link.wait(100);
  link.wait(351);
  expect(link.shown()).toBe("");
  link.type("c");
  expect(link.shown()).toBe("");
});

test("keys in the middle of a line, of more than a byte, and at the right edge are not predicted", () => {
  const link = new Link(100);
  const confirm = () => {
    link.type("a");
    link.wait(100);
  };
  confirm();
  link.type("é");
  expect(link.shown()).toBe("");
  link.wait(100);
  confirm();
  link.print("xyz\b\b\b");
  link.wait(100);
  link.type("b");
  expect(link.shown()).toBe("");
  link.wait(100);
  link.type(`\r${"n".repeat(28)}`);
  link.wait(100);
  confirm();
  link.type("b");
  expect(link.shown()).toBe("");
});

const LEFT = "\x1b[D";
const RIGHT = "\x1b[C";
const BACKSPACE = "\x7f";

/** A shell's editor at the other end of a link. `states` are the lines and cursors after each key. */
class Editor {
  readonly link: Link;
  readonly states: string[] = [];
  #line = "";
  #at = 0;
  #lines = 0;

  constructor(roundTripMs: number) {
    this.link = new Link(roundTripMs);
    this.#note();
  }

  type(...keys: readonly string[]): void {
    for (const key of keys) {
      this.link.send(key, this.#echo(key));
      this.#note();
    }
  }

  /** What a person sees, as `states` has it. */
  get seen(): string {
    const { paper, prediction } = this.link;
    const { row, column } = prediction.cursor("always") ?? paper.cursor;
    const cells = new Map(prediction.shown("always").map((cell) => [cell.column, cell]));
    const characters = Array.from({ length: paper.cols }, (_, at) => cells.get(at)?.character ?? paper.at(row, at));
    return stateOf(row, column, characters.map((character) => character || " ").join(""));
  }

  #note(): void {
    this.states.push(stateOf(this.#lines, this.#at, this.#line));
  }

  #echo(key: string): string {
    const [before, behind] = [this.#line.slice(0, this.#at), this.#line.slice(this.#at)];
    if (key === LEFT) return this.#at === 0 ? "" : this.#move(-1, "\b");
    if (key === RIGHT) return behind === "" ? "" : this.#move(1, behind.charAt(0));
    if (key === "\r") {
      [this.#line, this.#at, this.#lines] = ["", 0, this.#lines + 1];
      return "\n";
    }
    if (key !== BACKSPACE) {
      this.#line = before + key + behind;
      return this.#move(1, key + behind + "\b".repeat(behind.length));
    }
    if (before === "") return "";
    this.#line = before.slice(0, -1) + behind;
    return this.#move(-1, `\b${behind} ${"\b".repeat(behind.length + 1)}`);
  }

  #move(by: number, echo: string): string {
    this.#at += by;
    return echo;
  }
}

function stateOf(row: number, column: number, text: string): string {
  return `${row},${column} ${text.trimEnd()}`;
}

/** One that has confirmed two letters, and has a third on its way. */
function trusted(): Editor {
  const editor = new Editor(200);
  editor.type("a", "b");
  editor.link.wait(200);
  editor.type("c");
  expect(editor.seen).toBe("0,3 abc");
  return editor;
}

test("backspace and arrows are seen at once, and letters that go into the middle of what was typed", () => {
  const editor = trusted();
  editor.type(BACKSPACE);
  expect(editor.seen).toBe("0,2 ab");
  editor.type(LEFT);
  expect(editor.seen).toBe("0,1 ab");
  editor.type("x");
  expect(editor.seen).toBe("0,2 axb");
  editor.type(BACKSPACE, RIGHT, "y");
  expect(editor.seen).toBe("0,3 aby");
  editor.link.wait(200);
  expect([editor.seen, editor.link.prediction.hasPending]).toEqual(["0,3 aby", false]);
});

test("keys that come at once are taken apart, arrows among them", () => {
  const { prediction, paper } = trusted().link;
  prediction.typed(`de${BACKSPACE}${LEFT}x`, paper, 200);
  expect(prediction.shown("always").map(({ character }) => character)).toEqual(["c", "x", "d"]);
});

test("what was there before is not taken back, and its end not passed", () => {
  const editor = new Editor(200);
  editor.link.print("$ ");
  editor.link.wait(200);
  editor.type("a", "b");
  editor.link.wait(200);
  editor.type(BACKSPACE, BACKSPACE);
  expect(editor.seen).toBe("0,2 $");
  editor.type(BACKSPACE);
  expect(editor.seen).toBe("0,2 $");
});

test("letters that follow a key with an unknown effect are seen again while earlier ones are on their way", () => {
  const editor = trusted();
  editor.link.send("\t", "def");
  expect(editor.seen).toBe("0,3 abc");
  for (const key of "ghij") {
    editor.link.wait(100);
    editor.link.type(key);
  }
  editor.link.wait(0);
  // The tab and the first two letters were echoed.
  expect(editor.seen).toBe("0,10 abcdefghij");
});

test("letters go before text that was there only once the program was seen to move it", () => {
  const typeInto = (echo: (key: string) => string): string[] => {
    const link = new Link(200);
    link.type("ab");
    link.wait(200);
    link.print("tail\b\b\b\b");
    link.wait(200);
    const seen: string[] = [];
    for (const key of "tuv") {
      link.send(key, echo(key));
      seen.push(link.shown());
      link.wait(200);
    }
    return seen;
  };
  const moves = typeInto((key) => `${key}${"tail"}\b\b\b\b`);
  expect(moves).toEqual(["", "utail", "vtail"]);
  // A shell's suggestion stays where it is.
  expect(typeInto((key) => key)).toEqual(["", "", "v"]);
});

test("a link that stalls keeps what is shown, and one that has lost a packet stays slow for a while", () => {
  const link = new Link(100);
  link.type("aa");
  link.wait(100);
  link.prediction.typed("b", link.paper, link.nowMs);
  link.prediction.drawn(link.paper, link.nowMs + 2_000);
  expect(link.shown()).toBe("b");
  link.prediction.measured(30);
  expect(link.shown()).toBe("b");
  for (let i = 0; i < 5; i += 1) link.prediction.measured(30);
  expect(link.shown()).toBe("");
});

test("whatever is edited, what is seen is a line that the editor has or will have", () => {
  const keys = fc.constantFrom("x", "x", "x", "x", LEFT, LEFT, RIGHT, BACKSPACE, "\r");
  const edits = fc.array(
    fc.record({ keys: fc.array(keys, { maxLength: 4 }), waitMs: fc.integer({ min: 0, max: 400 }) }),
  );
  fc.assert(
    fc.property(edits, roundTrips, (typed, roundTripMs) => {
      const editor = new Editor(roundTripMs);
      let letters = 0;
      for (const { keys, waitMs } of typed) {
        for (const key of keys) {
          // Each letter is another: screens of alike letters are alike, and a key may be taken for a later one.
          editor.type(key === "x" ? String.fromCharCode(0x41 + (letters++ % 60)) : key);
          expect(editor.states).toContain(editor.seen);
        }
        editor.link.wait(waitMs);
        expect(editor.states).toContain(editor.seen);
      }
      editor.link.wait(roundTripMs);
      expect(editor.seen).toBe(editor.states.at(-1));
    }),
    { numRuns: 300 },
  );
});

type Step = { readonly keys: string; readonly waitMs: number };
const steps = fc.array(
  fc.record<Step>({
    keys: fc.stringMatching(/^[a-z ]{0,4}[\r\x7f]?$/),
    waitMs: fc.integer({ min: 0, max: 500 }),
  }),
  { maxLength: 40 },
);
const roundTrips = fc.integer({ min: 0, max: 400 });

test("whatever is typed where the echo was never on, nothing is shown", () => {
  fc.assert(
    fc.property(steps, roundTrips, fc.array(fc.string({ maxLength: 5 })), (typed, roundTripMs, printed) => {
      const link = new Link(roundTripMs);
      link.isEchoOn = false;
      for (const [index, { keys, waitMs }] of typed.entries()) {
        const text = printed[index];
        if (text !== undefined) link.print(`\n${text.replaceAll(/[^ -~]/g, "")}: `);
        link.wait(roundTripMs);
        link.type(keys.replaceAll("\r", ""));
        expect(link.shown("always")).toBe("");
        link.wait(waitMs);
        expect(link.shown("always")).toBe("");
      }
    }),
  );
});

test("a program that asks by a prompt and turns the echo off is shown nothing of what is typed after it", () => {
  fc.assert(
    fc.property(
      steps,
      roundTrips,
      fc.stringMatching(/^[a-zA-Z :\n]{1,12}$/),
      steps,
      (typed, roundTripMs, prompt, secret) => {
        const link = new Link(roundTripMs);
        for (const { keys, waitMs } of typed) {
          link.type(keys);
          link.wait(waitMs);
        }
        link.isEchoOn = false;
        link.print(prompt);
        link.wait(roundTripMs);
        link.wait(roundTripMs * 2 + 251);
        for (const { keys, waitMs } of secret) {
          link.type(keys.replaceAll(/[\r\x7f]/g, ""));
          expect(link.shown("always")).toBe("");
          link.wait(waitMs);
        }
      },
    ),
  );
});

test("the echo of a key that was typed before the cursor moved confirms no later key", () => {
  const link = new Link(300);
  link.type("\r");
  link.wait(1);
  link.type("a");
  link.wait(299);
  link.type("a");
  link.wait(1);
  link.type("b");
  expect(link.shown("always")).toBe("");
});

test("what is shown is what the tty echoes, at its places, and nothing is left of it in the end", () => {
  fc.assert(
    fc.property(steps, roundTrips, (typed, roundTripMs) => {
      const link = new Link(roundTripMs);
      const promised: { row: number; column: number; character: string }[] = [];
      for (const { keys, waitMs } of typed) {
        if (link.paper.cursor.column > 20) link.type("\r");
        link.type(keys.replaceAll("\x7f", ""));
        promised.push(...link.prediction.shown("always"));
        link.wait(waitMs);
      }
      link.wait(roundTripMs);
      link.wait(0);
      expect(link.prediction.shown("always")).toEqual([]);
      for (const { row, column, character } of promised) {
        if (column < link.paper.cols - 2) expect(link.paper.at(row, column)).toBe(character);
      }
    }),
  );
});
