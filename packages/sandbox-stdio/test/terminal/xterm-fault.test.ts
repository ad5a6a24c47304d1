// The emulator's fault, in the emulator itself.

import { SerializeAddon } from "@xterm/addon-serialize";
import headless from "@xterm/headless";
import { expect, test } from "vitest";
import { limitWork, mendFaults, parseOnAfterFaults } from "../../src/index.ts";
import { inputHandlerOf } from "../../src/terminal/xterm-fault.ts";

/** What a mended terminal of 10x3 shows after these writes. */
async function draw(...writes: string[]): Promise<string> {
  const terminal = new headless.Terminal({ cols: 10, rows: 3, scrollback: 5, allowProposedApi: true });
  const serialize = new SerializeAddon();
  terminal.loadAddon(serialize);
  mendFaults(terminal);
  for (const text of writes) await new Promise<void>((resolve) => terminal.write(text, resolve));
  const { cursorX, cursorY } = terminal.buffer.active;
  const shown = `${serialize.serialize()} ${cursorX},${cursorY}`;
  terminal.dispose();
  return shown;
}

test.each([
  ["at the last cell", "a\r\nb\x1b[3;10H"],
  ["behind the last cell, about to wrap", "a\r\nb\x1b[3;10Hz"],
  ["where lines have scrolled off", "1\r\n2\r\n3\r\n4\x1b[3;10H"],
])("erasing up to a cursor %s erases the screen, and what is written next is drawn", async (_where, before) => {
  for (const erase of ["\x1b[1J", "\x1b[?1J"]) {
    // ED 2 leaves the cursor where it is, as ED 1 does.
    expect(await draw(before, erase, "\rafter")).toBe(await draw(before, "\x1b[2J", "\rafter"));
    expect(await draw(before, erase, "\rafter")).toMatch(/after.* 5,2$/);
  }
});

test("erasing up to a cursor that stands elsewhere leaves what is behind it", async () => {
  expect(await draw("ab\r\ncd\r\nef\x1b[2;1H\x1b[1J")).toContain("d");
  expect(await draw("ab\r\ncd\r\nef\x1b[2;1H\x1b[1J")).toBe(await draw("\r\n\x1b[Cd\r\nef\x1b[2;1H"));
});

test("what is no terminal of the version that this was written for is refused at once", () => {
  const buffer = { active: { cursorX: 0, cursorY: 0 } };
  const other = { cols: 1, rows: 1, markers: [], buffer, parser: { registerCsiHandler: () => 0 } };
  expect(() => mendFaults(other)).toThrow("Cannot mend the terminal: need xterm.js 6.1.0-beta.303");
  expect(() => limitWork(other)).toThrow("Cannot limit the terminal: need xterm.js 6.1.0-beta.303");
});

test("an exception in the emulator is told, and what is written next is drawn", async () => {
  const terminal = new headless.Terminal({ cols: 10, rows: 3, scrollback: 5, allowProposedApi: true });
  const faults: unknown[] = [];
  parseOnAfterFaults(terminal, (error) => faults.push(error));
  const write = (text: string) => new Promise<void>((resolve) => terminal.write(text, resolve));
  terminal.parser.registerCsiHandler({ final: "y" }, () => {
    throw new TypeError("a fault");
  });
  await write("\x1b[ylost");
  await write("\x1b[Hafter");
  expect(faults).toEqual([expect.any(TypeError)]);
  expect(terminal.buffer.active.getLine(0)?.translateToString(true)).toBe("after");
  terminal.dispose();
});

test.each(["\x1b7", "\x1b[?1048h"])(
  "a cursor saved by %j before any character set is chosen ends line drawing",
  (save) => {
    const terminal = new headless.Terminal({ cols: 10, rows: 3, scrollback: 5, allowProposedApi: true });
    mendFaults(terminal);
    inputHandlerOf(terminal).parse(new TextEncoder().encode(`${save}\x1b(0q\x1b8q`));
    expect(terminal.buffer.active.getLine(0)?.translateToString(true)).toBe("q");
    terminal.dispose();
  },
);

test("a size that changes once a write is parsed does not parse it again", async () => {
  const terminal = new headless.Terminal({ cols: 10, rows: 3, scrollback: 5, allowProposedApi: true });
  mendFaults(terminal);
  await new Promise<void>((resolve) => {
    terminal.write("once", () => terminal.resize(20, 3));
    terminal.write(" more", resolve);
  });
  expect(terminal.buffer.active.getLine(0)?.translateToString(true)).toBe("once more");
  terminal.dispose();
});
