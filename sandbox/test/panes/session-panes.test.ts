// How a session with panes begins and goes: its variables, its size, and a machine without tmux.

import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { attached, ofPane, panesOf, refusal, relayed, sizesOf, windowsOf } from "./bridge-client.ts";

test("B1: each session has its own variables in all of its panes, and none of another session's", async () => {
  const one = await relayed({ sandbox: "vars", session: "one", panes: "1", cmd: "sh", env: "FIRST=a" });
  await one.until(() => panesOf(one).length === 1);
  const two = await relayed({ sandbox: "vars", session: "two", panes: "1", cmd: "sh", env: "SECOND=b" });
  await two.until(() => panesOf(two).length === 1);
  two.say({ type: "pane", action: "split", pane: "%0" });
  await two.until(() => panesOf(two).length === 2);
  for (const number of [0, 1]) {
    const pane = await ofPane(`two:${number}`, `look-${number}`, "vars");
    pane.type('echo "[$FIRST|$SECOND|$((6*7))]"\r');
    await pane.until(() => pane.output.includes("|42]"));
    expect(pane.output).toContain("[|b|42]");
    pane.close();
  }
  for (const client of [one, two]) client.say({ type: "kill" });
  for (const client of [one, two]) await client.until(() => client.messages.some(({ type }) => type === "exit"));
});

test("B8: a window has the size that a client said until that client has gone, and then its ordinary clients' again", async () => {
  const main = await attached({ sandbox: "size", session: "main", panes: "1", cmd: "cat", cols: "90", rows: "30" });
  await main.until(() => main.output.includes("main"));
  const watcher = await relayed({ sandbox: "size", session: "main", role: "viewer" });
  await watcher.until(() => windowsOf(watcher)[0]?.cols === 90);
  const page = await relayed({ sandbox: "size", session: "main" });
  await page.until(() => windowsOf(page).length === 1);
  page.say({ type: "pane", action: "resize_window", window: windowsOf(page)[0]?.id, cols: 140, rows: 50 });
  await watcher.until(() => windowsOf(watcher)[0]?.cols === 140);
  // Somebody else goes first: that changes nothing, as the pane that is alone shows, which gives its window a size as well.
  const pane = await ofPane("main:0", "pane", "size");
  pane.say({ type: "resize", cols: 111, rows: 41 });
  await watcher.until(() => windowsOf(watcher)[0]?.cols === 111);
  page.close();
  pane.say({ type: "resize", cols: 112, rows: 41 });
  await watcher.until(() => windowsOf(watcher)[0]?.cols === 112);
  pane.say({ type: "kill" });
  await watcher.until(() => windowsOf(watcher)[0]?.cols === 90);
  main.say({ type: "kill" });
  await main.until(() => main.messages.some(({ type }) => type === "exit"));
});

test("B2c: a pane's session has the size that tmux gives the pane, and asks tmux for the size that a client gives", async () => {
  const main = await attached({ sandbox: "sizes", session: "main", panes: "1", cmd: "cat", cols: "101", rows: "31" });
  await main.until(() => main.output.includes("main"));
  const watcher = await relayed({ sandbox: "sizes", session: "main" });
  await watcher.until(() => panesOf(watcher)[0]?.cols === 101);
  const page = await relayed({ sandbox: "sizes", session: "page", pane: "main:0" });
  await page.until(() => sizesOf(page).length === 1);
  watcher.say({ type: "pane", action: "split", pane: "%0" });
  await page.until(() => sizesOf(page).length === 2);
  expect(sizesOf(page)).toEqual(["101x30", "50x30"]);
  const terminal = await attached({ sandbox: "sizes", session: "page", pane: "main:0", cols: "70", rows: "30" });
  await page.until(() => sizesOf(page).length === 3);
  // Too wide for the window: tmux has the last word.
  terminal.say({ type: "resize", cols: 500, rows: 30 });
  await page.until(() => sizesOf(page).length === 4);
  expect(sizesOf(page).slice(2)).toEqual(["70x30", "99x30"]);
  await watcher.until(
    () =>
      panesOf(watcher)
        .map(({ cols }) => cols)
        .join() === "99,1",
  );
  main.say({ type: "kill" });
  await main.until(() => main.messages.some(({ type }) => type === "exit"));
});

test("B2c: a pane that a program has made larger than a terminal may be has the largest size that can be told", async () => {
  const main = await relayed({ sandbox: "huge", session: "main", panes: "1", cmd: "sh" });
  await main.until(() => panesOf(main).length === 1);
  const pane = await ofPane("main:0", "page", "huge");
  pane.type("tmux resize-window -x 3000 -y 900\r");
  await main.until(() => panesOf(main)[0]?.cols === 3_000);
  await pane.until(() => sizesOf(pane).length === 2);
  expect(sizesOf(pane)[1]).toBe("1000x500");
  const late = await ofPane("main:0", "late", "huge");
  await late.until(() => sizesOf(late).length > 0);
  expect(sizesOf(late)).toEqual(["1000x500"]);
  main.say({ type: "kill" });
  await main.until(() => main.messages.some(({ type }) => type === "exit"));
});

test("B1: without tmux, and without the command, a session with panes is refused before anything runs, and says why", async () => {
  const bin = mkdtempSync(join(tmpdir(), "no-tmux-"));
  onTestFinished(() => rmSync(bin, { recursive: true, force: true }));
  symlinkSync("/bin/cat", join(bin, "cat"));
  const without = { sandbox: "none", session: "none", panes: "1", cmd: "cat", env: `PATH=${bin}` };
  expect(await refusal(without)).toEqual({
    status: 422,
    error: "cmd_not_found",
    message: "a session with panes runs under tmux: Cannot find tmux",
  });
  expect(await refusal({ sandbox: "none", session: "none", panes: "1", cmd: "no-such-command" })).toEqual({
    status: 422,
    error: "cmd_not_found",
    message: "Cannot find no-such-command",
  });
});
