// Sequences that ask for more than a screen can show, in the emulator itself: they cost what they can show.

import headless from "@xterm/headless";
import fc from "fast-check";
import { expect, test } from "vitest";
import { limitWork } from "../../src/index.ts";

const FINALS = Array.from({ length: 0x7f - 0x40 }, (_, i) => String.fromCharCode(0x40 + i));
const INTERMEDIATES = ["", " ", "!", '"', "$", "'", "*"];
const MARKERS = ["", "?", ">", "="];
const MOST = "2147483647";
const HUGE = [MOST, "99999999999", `${MOST};${MOST}`, `1000000:${MOST}`, Array(40).fill(MOST).join(";")];

type Internals = {
  readonly _core: {
    readonly _inputHandler: { parse(bytes: Uint8Array): void; readonly _windowTitle: string };
    readonly _oscLinkService: { readonly _dataByLinkId: ReadonlyMap<number, unknown> };
    readonly buffers: {
      readonly active: { readonly lines: { get(row: number): { getString(column: number): string } } };
    };
  };
};

function open(cols: number, rows: number, isLimited = true) {
  const terminal = new headless.Terminal({ cols, rows, scrollback: 50, allowProposedApi: true, logLevel: "off" });
  if (isLimited) limitWork(terminal);
  const { _core: core } = terminal as unknown as Internals;
  const parse = (text: string) => core._inputHandler.parse(new TextEncoder().encode(text));
  const screen = () =>
    JSON.stringify([
      terminal.buffer.active.cursorX,
      terminal.buffer.active.cursorY,
      Array.from({ length: terminal.buffer.active.length }, (_, row) =>
        terminal.buffer.active.getLine(row)?.translateToString(),
      ),
    ]);
  return { terminal, core, parse, screen };
}

const FILL = Array.from({ length: 8 }, (_, n) => `line ${n}\x1b[3${n}m`).join("\r\n");

test("35: no CSI of any final byte, intermediate and marker counts beyond what the screen shows", () => {
  const { terminal, parse } = open(20, 6);
  // Without the limit a single one of these takes minutes, or reserves gigabytes.
  for (const introducer of ["\x1b[", "\x9b"])
    for (const marker of MARKERS)
      for (const intermediate of INTERMEDIATES)
        for (const final of FINALS)
          for (const parameters of HUGE)
            parse(`${FILL}\x1b[3;5Hé${introducer}${marker}${parameters}${intermediate}${final}`);
  parse("\x1bcafter");
  expect(terminal.buffer.active.getLine(0)?.translateToString(true)).toBe("after");
});

test("35: a count beyond the screen does what the highest count that the screen can tell does", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...FINALS),
      fc.constantFrom(...INTERMEDIATES),
      fc.integer({ min: 0, max: 400 }),
      fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 6 })),
      (final, intermediate, count, [column, row]) => {
        const before = `${FILL}\x1b[${row};${column}Hx`;
        const [limited, stock] = [open(20, 6), open(20, 6, false)];
        // 120 cells: up to there nothing is changed, and of what is repeated more often nothing but the last is seen.
        const most = final === "b" && intermediate === "" ? Math.min(count, 120) : count;
        limited.parse(`${before}\x1b[${count}${intermediate}${final}y`);
        stock.parse(`${before}\x1b[${most}${intermediate}${final}y`);
        expect(limited.screen()).toBe(stock.screen());
      },
    ),
    { numRuns: 200 },
  );
});

test("35: an OSC or DCS without an end is forgotten beyond its limit, and what follows its end is drawn", () => {
  const { terminal, core, parse } = open(20, 6);
  const titles: string[] = [];
  terminal.onTitleChange((title) => titles.push(title));
  for (const [start, end] of [
    ["\x1b]2;", "\x07"],
    ["\x1b]4;", "\x1b\\"],
    ["\x1b]104;", "\x07"],
    ["\x1b]52;c;", "\x07"],
    ["\x1bP$q", "\x1b\\"],
    ["\x1bPq", "\x1b\\"],
    ["\x1b_", "\x1b\\"],
    ["\x1b]2;", "\x18"],
  ] as const) {
    parse(start);
    for (let i = 0; i < 20; i += 1) parse(";".repeat(100_000));
    parse(`${end}\x1b[2J\x1b[Hafter`);
    expect([start, terminal.buffer.active.getLine(0)?.translateToString(true)]).toEqual([start, "after"]);
    parse("\x1b]2;short\x07");
    expect([start, core._inputHandler._windowTitle]).toEqual([start, "short"]);
  }
  expect(new Set(titles)).toEqual(new Set(["short"]));
});

test("35: an image's sequence may be longer where images are drawn, and no other", () => {
  const lengths = (imageLength?: number) => {
    const terminal = new headless.Terminal({ allowProposedApi: true, logLevel: "off" });
    limitWork(terminal, imageLength);
    const { _core: core } = terminal as unknown as Internals;
    const taken: string[] = [];
    const take = (name: string) => (data: string) => {
      taken.push(`${name} ${data.length}`);
      return true;
    };
    terminal.parser.registerDcsHandler({ final: "q" }, take("sixel"));
    terminal.parser.registerDcsHandler({ intermediates: "$", final: "q" }, take("request"));
    terminal.parser.registerOscHandler(1337, take("iterm"));
    terminal.parser.registerOscHandler(1338, take("other"));
    const pieces = "~".repeat(20_000);
    for (const start of ["\x1bPq", "\x1bP$q", "\x1b]1337;", "\x1b]1338;"]) {
      for (const length of [1, 5, 6]) {
        for (const text of [start, ...Array.from({ length }, () => pieces), "\x1b\\"]) {
          core._inputHandler.parse(new TextEncoder().encode(text));
        }
      }
    }
    return taken;
  };
  const short = ["sixel 20000", "request 20000", "iterm 20000", "other 20000"];
  expect(lengths()).toEqual(short);
  expect(lengths(100_010)).toEqual([
    ...["sixel 20000", "sixel 100000", "request 20000"],
    ...["iterm 20000", "iterm 100000", "other 20000"],
  ]);
});

test("35: a cell keeps 32 units of combining characters, and repeating it repeats those", () => {
  const { core, parse } = open(20, 6);
  parse(`e${"\u0301".repeat(100_000)}\x1b[2147483647b`);
  expect(core.buffers.active.lines.get(0).getString(0)).toHaveLength(32);
  parse("\x1bc👩‍👩‍👧‍👦");
  expect(core.buffers.active.lines.get(0).getString(0)).toMatch(/^👩/u);
});

test("35: beyond ten thousand hyperlinks text is drawn without one, and new ones come when lines are gone", () => {
  const { terminal, core, parse } = open(200, 60);
  let most = 0;
  for (let n = 0; n < 110; n += 1) {
    let line = "";
    for (let i = 0; i < 100; i += 1) line += `\x1b]8;;http://localhost/${n}/${i}\x07a\x1b]8;;\x07`;
    parse(`${line}\r\n`);
    most = Math.max(most, core._oscLinkService._dataByLinkId.size);
  }
  expect(most).toBe(10_000);
  // The last line, beyond the ten thousand.
  expect(terminal.buffer.active.getLine(terminal.buffer.active.length - 2)?.translateToString(true)).toBe(
    "a".repeat(100),
  );
  parse(`${"\r\n".repeat(200)}\x1b]8;;http://localhost/new\x07a`);
  expect(core._oscLinkService._dataByLinkId.size).toBe(1);
});
