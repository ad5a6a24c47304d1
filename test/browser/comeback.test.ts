// A page that goes and comes back: reload, back and forward.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setUpBrowser } from "./support/fixture.ts";
import type { Tab } from "./support/tab.ts";

const browser = setUpBrowser();

async function pidOf(tab: Tab): Promise<string | undefined> {
  await tab.run("clear; echo pid $$");
  const pid = (await tab.find(/^pid (\d+)$/))[1];
  await tab.prompt();
  return pid;
}

test("a reload after more than 64 KiB of output brings back the screen, and all the scrollback that the log holds", async () => {
  const { tab } = await browser.sameShell();
  await tab.run("clear; seq 9000 22000");
  await tab.shows("22000");
  await tab.prompt();
  const lines = await tab.lines();
  // As many as the scrollback holds.
  expect(lines.length).toBe(10_000 + Number(await tab.data("rows")));
  await tab.page.reload();
  await tab.state("attached");
  await tab.shows("22000");
  await tab.prompt();
  expect(await tab.lines()).toEqual(lines);
  // And it is live.
  await tab.run("tput cols; echo $((6 * 7))");
  await tab.shows("42");
});

test("a reload in the middle of vim brings back vim, where it was", async () => {
  const { tab, directory } = await browser.sameShell();
  await tab.run("vim -u NONE -N draft.txt");
  await tab.find(/^"draft.txt" \[New\]/);
  await tab.type("ihalf a ");
  await tab.shows("half a");
  await tab.page.reload();
  await tab.state("attached");
  await tab.find(/^-- INSERT --/);
  const rows = await tab.rows();
  expect([rows[0], rows[1]]).toEqual(["half a", "~"]);
  await tab.type("line");
  await tab.page.keyboard.press("Escape");
  await tab.type(":wq");
  await tab.page.keyboard.press("Enter");
  await tab.prompt();
  expect(readFileSync(join(directory, "draft.txt"), "utf8")).toBe("half a line\n");
});

test("going to another page and back, and forward and back again, comes back to the same shell", async () => {
  const { tab } = await browser.sameShell();
  const pid = await pidOf(tab);
  for (let round = 0; round < 2; round += 1) {
    if (round === 0) await tab.page.goto("about:blank");
    else await tab.page.goForward();
    expect(tab.page.url()).toBe("about:blank");
    await tab.page.goBack();
    await tab.state("attached");
    await tab.prompt();
    await tab.run(`echo round ${round} $$`);
    await tab.shows(`round ${round} ${pid}`);
    await tab.prompt();
  }
});
