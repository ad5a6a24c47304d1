// What a terminal shows, and what it keeps beside that: for comparing a pane drawn anew with the pane that was there.

import headless from "@xterm/headless";

type Size = { readonly cols: number; readonly rows: number };

/** Output, and the sizes that the terminal has had: each from its place in the output on. */
export async function terminalOf(
  text: string,
  { cols, rows }: Size,
  sizes: readonly (Size & { readonly at: number })[] = [],
): Promise<headless.Terminal> {
  const terminal = new headless.Terminal({ cols, rows, allowProposedApi: true, scrollback: 3_000 });
  let from = 0;
  for (const { at, ...size } of sizes) {
    await written(terminal, text.slice(from, at));
    terminal.resize(size.cols, size.rows);
    from = at;
  }
  await written(terminal, text.slice(from));
  return terminal;
}

function written(terminal: headless.Terminal, text: string): Promise<void> {
  return new Promise((resolve) => terminal.write(Buffer.from(text, "latin1"), resolve));
}

/** Text and colour of each cell, history first; cursor and modes. */
export function seen(terminal: headless.Terminal, withHistory = true): unknown {
  const buffer = terminal.buffer.active;
  const lines: string[] = [];
  for (let y = withHistory ? 0 : buffer.baseY; y < buffer.length; y++) {
    const line = buffer.getLine(y);
    let text = "";
    for (let x = 0; x < terminal.cols; x++) {
      const cell = line?.getCell(x);
      const colours = cell?.isFgDefault() && cell.isBgDefault() ? "" : `<${cell?.getFgColor()},${cell?.getBgColor()}>`;
      text += colours + (cell?.getChars() || (cell?.getWidth() === 0 ? "" : " "));
    }
    lines.push(text.trimEnd());
  }
  const { synchronizedOutputMode: _, ...modes } = terminal.modes;
  return { lines, x: buffer.cursorX, y: buffer.cursorY, type: buffer.type, modes };
}
