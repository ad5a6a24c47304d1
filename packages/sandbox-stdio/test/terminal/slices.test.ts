// Parsing in pieces: nothing is lost between them, and the terminal stops when a turn is over.

import headless from "@xterm/headless";
import { expect, test } from "vitest";
import { parseInSlices, Slices } from "../../src/index.ts";

const encoder = new TextEncoder();

type Internals = { readonly _core: { readonly _inputHandler: { parse(bytes: Uint8Array): unknown } } };

test("35: a write is parsed in pieces with pauses in between, and gives the screen that it gives in one", async () => {
  const text = "… wide 漢字 e\u0301 👩‍👩‍👧 \x1b[31mred\x1b[m\x1b[2;5Hé\r\n".repeat(5_000);
  const [sliced, whole] = [0, 1].map(() => new headless.Terminal({ cols: 80, rows: 24, allowProposedApi: true }));
  if (sliced === undefined || whole === undefined) throw new Error("No terminals");
  // Each look at the clock is 20 ms later: a piece, and the turn is over.
  let now = 0;
  parseInSlices(sliced, () => {
    now += 20;
    return now;
  });
  const { parse } = (sliced as unknown as Internals)._core._inputHandler;
  const bytes = encoder.encode(text);
  let pauses = 0;
  while (parse(bytes) !== undefined) pauses += 1;
  expect(pauses).toBeGreaterThan(10);
  await new Promise<void>((resolve) => sliced.write(bytes, resolve));
  await new Promise<void>((resolve) => whole.write(text + text, resolve));
  const shown = (terminal: typeof whole) =>
    Array.from({ length: terminal.buffer.active.length }, (_, y) =>
      terminal.buffer.active.getLine(y)?.translateToString(),
    );
  expect(shown(sliced)).toEqual(shown(whole));
  expect(now).toBeGreaterThan(100);
});

test("35: a handler that has to wait holds what comes behind it, and it alone, wherever the pieces end", async () => {
  const terminal = new headless.Terminal({ cols: 80, rows: 24, allowProposedApi: true });
  let now = 0;
  parseInSlices(terminal, () => {
    now += 5;
    return now;
  });
  const order: string[] = [];
  const seen = () => terminal.buffer.active.getLine(0)?.translateToString(true) ?? "";
  // The headless build's types leave out that a handler may wait, as those of the page's build say.
  const parser = terminal.parser as { registerOscHandler(id: number, handler: (data: string) => unknown): unknown };
  parser.registerOscHandler(1337, async (data) => {
    order.push(`${data} begins behind ${seen()}`);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`${data} ends behind ${seen()}`);
    return true;
  });
  const filler = "\x1b[m".repeat(20_000);
  const written = new Promise<void>((resolve) =>
    terminal.write(encoder.encode(`x${filler}\x1b]1337;a\x07y${filler}\x1b]1337;b\x07z`), resolve),
  );
  terminal.write(encoder.encode("!"));
  await written;
  await new Promise<void>((resolve) => terminal.write("", resolve));
  expect(order).toEqual(["a begins behind x", "a ends behind x", "b begins behind xy", "b ends behind xy"]);
  expect(seen()).toBe("xyz!");
});

test("35: pieces shrink to what takes a few milliseconds, grow again, and never exceed what the costliest bytes allow", () => {
  const slices = new Slices();
  const bytes = new Uint8Array(1_000_000).fill(0x61);
  const cheap = 1;
  expect(slices.endOf(bytes, 0, cheap)).toBe(16_384);
  slices.took(16_384, 20);
  expect(slices.endOf(bytes, 1_000, cheap)).toBe(1_000 + 6_554);
  slices.took(6_554, 40_000);
  expect(slices.endOf(bytes, 0, cheap)).toBe(4_096);
  for (let i = 0; i < 10; i += 1) slices.took(slices.endOf(bytes, 0, cheap), 0.01);
  expect(slices.endOf(bytes, 0, cheap)).toBe(65_536);
  // The last few bytes of a batch say nothing about 64 KiB.
  slices.took(10, 0.1);
  expect(slices.endOf(bytes, 0, cheap)).toBe(65_536);
  expect(slices.endOf(bytes, 0, 250_000)).toBe(1_000);
  expect(slices.endOf(bytes, 0, 1e9)).toBe(64);
  expect(slices.endOf(bytes, 999_990, cheap)).toBe(1_000_000);
});

test("35: a piece does not end within a character", () => {
  const slices = new Slices();
  const bytes = encoder.encode(`${"a".repeat(16_382)}…b`);
  expect(slices.endOf(bytes, 0, 1)).toBe(16_382);
});
