// A real tmux: a pane drawn anew, after a lost control client, is the pane that was there.

import { execFileSync } from "node:child_process";
import headless from "@xterm/headless";
import { afterEach, expect, test } from "vitest";
import { Tmux } from "./tmux-harness.ts";

let tmux: Tmux | undefined;
afterEach(() => tmux?.close());

const COLS = 160;
const ROWS = 48;

async function drawn(text: string): Promise<headless.Terminal> {
  const terminal = new headless.Terminal({ cols: COLS, rows: ROWS, allowProposedApi: true, scrollback: 3_000 });
  await new Promise<void>((resolve) => terminal.write(Buffer.from(text, "latin1"), resolve));
  return terminal;
}

/** Text and colour of each cell, history first; cursor and modes. */
function seen(terminal: headless.Terminal): unknown {
  const buffer = terminal.buffer.active;
  const lines: string[] = [];
  for (let y = 0; y < buffer.length; y++) {
    const line = buffer.getLine(y);
    let text = "";
    for (let x = 0; x < COLS; x++) {
      const cell = line?.getCell(x);
      const colours = cell?.isFgDefault() && cell.isBgDefault() ? "" : `<${cell?.getFgColor()},${cell?.getBgColor()}>`;
      text += colours + (cell?.getChars() || (cell?.getWidth() === 0 ? "" : " "));
    }
    lines.push(text.trimEnd());
  }
  const {
    applicationCursorKeysMode,
    applicationKeypadMode,
    insertMode,
    originMode,
    wraparoundMode,
    mouseTrackingMode,
  } = terminal.modes;
  const modes = { applicationCursorKeysMode, applicationKeypadMode, insertMode, originMode, wraparoundMode };
  return { lines, x: buffer.cursorX, y: buffer.cursorY, type: buffer.type, modes, mouseTrackingMode };
}

test.each([
  ["a prompt below little output", "printf 'one\\ntwo\\033[31mred\\033[m'"],
  [
    "colours, a line at full width and wide characters",
    "printf '\\033[44m%160s\\033[m\\nあい漢字\\n\\033[1;7mx\\033[m' end",
  ],
  ["a history", "seq 1 300; printf '\\033[32m%s\\033[m' prompt"],
  ["an alternate screen over a history", "seq 1 90; printf 'before\\033[?1049h\\033[2J\\033[5;7Hfull screen'"],
  ["modes", "printf '\\033[?1h\\033=\\033[?1002h\\033[?1006h\\033[4h\\033[?7lx'"],
  ["a scroll region with its origin", "printf '\\033[5;20r\\033[?6h\\033[3;4Hhere'"],
])("B7: %s comes back as the program drew it, and goes on", async (_, script) => {
  const program = `${script}; printf '\\033]2;drawn\\007'`;
  const pane = new Tmux(["sh", "-c", `stty raw -echo opost onlcr; ${program}; exec cat`], false);
  tmux = pane;
  await pane.until(() => pane.output.has("%0"));
  await expect.poll(() => pane.run("display-message", "-p", "-t", "%0", "#{pane_title}").trim()).toBe("drawn");
  const written = execFileSync("sh", ["-c", program], { encoding: "latin1" }).replaceAll("\n", "\r\n");
  const redrawn = await drawnAgain(pane);
  expect(seen(await drawn(redrawn))).toEqual(seen(await drawn(written)));

  const more = "\r\u001b[35mmore\u001b[B and more";
  pane.panes.session.write("%0", Buffer.from(more));
  await pane.until(() => pane.text("%0").length === redrawn.length + more.length);
  expect(seen(await drawn(pane.text("%0")))).toEqual(seen(await drawn(written + more)));
});

/** What a redraw brings that comes after a control client was killed. */
async function drawnAgain(tmux: Tmux): Promise<string> {
  await tmux.until(() => tmux.panes.session.isAttached);
  const before = tmux.redraws;
  process.kill(tmux.panes.pid, "SIGKILL");
  await tmux.until(() => tmux.redraws > before);
  return tmux.text("%0");
}
