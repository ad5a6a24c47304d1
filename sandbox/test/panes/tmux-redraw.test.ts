// A real tmux: a pane drawn anew, after a lost control client, is the pane that was there.

import { execFileSync } from "node:child_process";
import { afterEach, expect, test } from "vitest";
import { seen, terminalOf } from "./seen.ts";
import { Tmux } from "./tmux-harness.ts";

let tmux: Tmux | undefined;
afterEach(() => tmux?.close());

const SIZE = { cols: 160, rows: 48 };

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
  expect(seen(await terminalOf(redrawn, SIZE))).toEqual(seen(await terminalOf(written, SIZE)));

  const more = "\r\u001b[35mmore\u001b[B and more";
  pane.panes.session.write("%0", Buffer.from(more));
  await pane.until(() => pane.text("%0").length === redrawn.length + more.length);
  expect(seen(await terminalOf(pane.text("%0"), SIZE))).toEqual(seen(await terminalOf(written + more, SIZE)));
});

/** What a redraw brings that comes after a control client was killed. */
async function drawnAgain(tmux: Tmux): Promise<string> {
  await tmux.until(() => tmux.panes.session.isAttached);
  const before = tmux.redraws;
  process.kill(tmux.panes.pid, "SIGKILL");
  await tmux.until(() => tmux.redraws > before);
  return tmux.text("%0");
}
