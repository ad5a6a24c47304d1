// The ledger of modes beside terminals: after any sequences and what undoes them, a terminal is as a fresh one is.

import { Terminal } from "@xterm/headless";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { QueryFilter, TerminalModes, XTERM_OPTIONS } from "../../src/index.ts";
import { KeyboardStack } from "../../src/terminal/keyboard-stacks.ts";
import { inputHandlerOf } from "../../src/terminal/xterm-fault.ts";
import { ANY_MODES } from "../support/mode-sequences.ts";

const SIZE = { cols: 45, rows: 9 };
const encoder = new TextEncoder();

/** The sequence that undoes what these do. */
function undoOf(output: string): string {
  const modes = new TerminalModes();
  const filter = new QueryFilter(() => true, { follow: (sequence) => void modes.follow(sequence) });
  const bytes = encoder.encode(output);
  const [out, back] = [output.lastIndexOf("\x0e"), output.lastIndexOf("\x0f")];
  if (out < back) modes.shift(false);
  filter.filter(bytes, 0);
  if (out > back) modes.shift(true);
  return modes.resetSequence(SIZE.cols);
}

type Internals = {
  readonly _core: {
    readonly coreService: {
      readonly modes: object;
      readonly decPrivateModes: object;
      readonly isCursorHidden: boolean;
    };
    readonly mouseStateService: { readonly activeProtocol: string; readonly activeEncoding: string };
    readonly _charsetService: { readonly charset: unknown; readonly glevel: number };
    readonly buffer: {
      readonly tabs: { readonly [column: number]: boolean | undefined };
      readonly scrollTop: number;
      readonly scrollBottom: number;
    };
    readonly _inputHandler: {
      readonly _curAttrData: {
        readonly fg: number;
        readonly bg: number;
        readonly extended: { readonly urlId: number };
      };
    };
  };
};

/** A terminal, and all that says how it draws and types what comes next. */
class Oracle {
  readonly #terminal = new Terminal({ ...SIZE, ...XTERM_OPTIONS, allowProposedApi: true, logLevel: "off" });
  readonly #input = inputHandlerOf(this.#terminal) as ReturnType<typeof inputHandlerOf> & {
    onColor(hear: (requests: readonly { type: number; index?: number }[]) => void): void;
  };
  readonly #colours = new Set<number>();

  constructor() {
    this.#input.onColor((requests) => {
      for (const { type, index } of requests) {
        if (type === 1 && index !== undefined) this.#colours.add(index);
        else if (type === 2 && index !== undefined) this.#colours.delete(index);
        else if (type === 2) for (const one of [...this.#colours]) if (one < 256) this.#colours.delete(one);
      }
    });
  }

  /** Saved cursors too. */
  forget(): void {
    this.#terminal.reset();
  }

  after(output: string): object {
    this.#input.parse(encoder.encode(output));
    const { _core: core } = this.#terminal as unknown as Internals;
    const { options, buffer } = this.#terminal;
    const { _curAttrData: pen } = core._inputHandler;
    return {
      modes: { ...core.coreService.modes, ...core.coreService.decPrivateModes },
      isCursorHidden: core.coreService.isCursorHidden,
      options: [options.convertEol, options.cursorBlink],
      mouse: [core.mouseStateService.activeProtocol, core.mouseStateService.activeEncoding],
      charset: [core._charsetService.glevel, core._charsetService.charset],
      buffer: buffer.active.type,
      margins: [core.buffer.scrollTop, core.buffer.scrollBottom],
      tabs: Array.from({ length: SIZE.cols }, (_, column) => column > 0 && core.buffer.tabs[column] === true),
      pen: [pen.fg, pen.bg & 0xfffffff, pen.extended.urlId],
      colours: [...this.#colours],
    };
  }
}

const FRESH = new Oracle().after("");

test("17: any modes, and then what undoes them: xterm.js is as a fresh one", () => {
  // One terminal for all: to make one takes longer than the rest. What it keeps over its own reset, it is to have lost before.
  let oracle = new Oracle();
  const property = fc.property(ANY_MODES, (output) => {
    oracle.forget();
    const state = oracle.after(output + undoOf(output));
    if (JSON.stringify(state) !== JSON.stringify(FRESH)) oracle = new Oracle();
    expect(state).toEqual(FRESH);
  });
  fc.assert(property, { seed: 17, numRuns: Number(process.env.FUZZ_RUNS ?? 400) });
});

test.each([
  ...["\x1b[?1h", "\x1b=", "\x1b[?1002h", "\x1b[?1006h", "\x1b[?25l", "\x1b[?12h", "\x1b[4 q", "\x1b[5;7r", "\x1b[3g"],
  ...["\x1b(0", "\x1b)0\x0e", "\x1b[1;44m", "\x1b]8;;http://a\x07", "\x1b]4;3;#f00\x07", "\x1b]11;#f00\x07"],
  ...["\x1b[?1049h", "\x1b[20h", "\x1b[4h", "\x1b[?6h", "\x1b[?7l", "\x1b[?45h", "\x1b[?1004h", "\x1b[?2004h"],
])("17: the oracle sees %j, and it is undone", (output) => {
  const oracle = new Oracle();
  expect(oracle.after(output)).not.toEqual(FRESH);
  expect(oracle.after(undoOf(output))).toEqual(FRESH);
});

test("17: a program that is stopped finds its modes on again when it goes on", () => {
  const modes = new TerminalModes();
  const filter = new QueryFilter(() => true, { follow: (sequence) => void modes.follow(sequence) });
  filter.filter(encoder.encode("\x1b[=1u\x1b[?1049h\x1b[>5u\x1b[?1002;1006;25l\x1b[?1003h\x1b="), 0);
  modes.resetSequence(SIZE.cols);
  expect(modes.resumeSequence).toBe("\x1b[=1u\x1b[?1049h\x1b[>5u\x1b[?25l\x1b[?1003h\x1b=");
});

/** Kitty's own rules, in its words: a stack of flags for each screen, of which the last are in force. */
class Kitty {
  readonly #screens = [[0], [0]];
  #screen = 0;

  take(sequence: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a sequence is made of them
    for (const [, how = "", text = "", end] of sequence.matchAll(/\x1b\[([<=>?])([\d;]*)([uhl])/g)) {
      const stack = this.#screens[this.#screen] ?? [];
      const [first = 0, kind = 1] = text === "" ? [] : text.split(";").map(Number);
      const last = stack.at(-1) ?? 0;
      if (how === "?" && first === 1049) this.#screen = end === "h" ? 1 : 0;
      else if (how === ">") stack.push(first);
      else if (how === "=") stack[stack.length - 1] = kind === 2 ? last | first : kind === 3 ? last & ~first : first;
      else if (how === "<")
        for (let left = Math.max(1, first); left > 0; left -= 1)
          if (stack.length > 1) stack.pop();
          else stack[0] = 0;
      if (stack.length > 17) stack.shift();
    }
  }

  get state(): object {
    return { screens: this.#screens, screen: this.#screen };
  }
}

describe("17: the flags of kitty's keyboard protocol", () => {
  const step = fc.oneof(
    fc.tuple(fc.nat(31), fc.integer({ min: 1, max: 3 })).map(([flags, how]) => `\x1b[=${flags};${how}u`),
    fc.nat(31).map((flags) => `\x1b[>${flags}u`),
    fc.nat(4).map((count) => `\x1b[<${count}u`),
    fc.constantFrom("\x1b[?1049h", "\x1b[?1049l"),
  );

  test("are undone on both screens, whatever was pushed, popped and changed on them", () => {
    const property = fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const kitty = new Kitty();
      kitty.take(steps.join("") + undoOf(steps.join("")));
      expect(kitty.state).toEqual(new Kitty().state);
    });
    fc.assert(property, { seed: 17, numRuns: 500 });
  });

  test("pop no more than was pushed: those that the terminal had before stay", () => {
    const stack = new KeyboardStack();
    for (const flags of [1, 2, 3]) stack.push(flags);
    stack.pop(1);
    expect([stack.undo, stack.settings]).toEqual(["\x1b[<2u", "\x1b[>1u\x1b[>2u"]);
  });
});
