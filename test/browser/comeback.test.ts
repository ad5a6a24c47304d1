// A page that goes and comes back: reload, back and forward, and two tabs on one session.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../e2e/support/system/wait.ts";
import { type ShellTab, setUpBrowser } from "./support/fixture.ts";
import type { Tab } from "./support/tab.ts";

const browser = setUpBrowser();

async function pidOf(tab: Tab): Promise<string | undefined> {
  await tab.run("clear; echo pid $$");
  const pid = (await tab.find(/^pid (\d+)$/))[1];
  await tab.prompt();
  return pid;
}

test("a reload brings back the same screen, colours and all, and the same process", async () => {
  const { tab } = await browser.shell();
  const pid = await pidOf(tab);
  await tab.run(String.raw`printf '\e[32mgreen\e[0m plain\n'; cd /tmp; seq 60`);
  await tab.shows("60");
  await tab.prompt();
  const [rows, lines] = [await tab.rows(), await tab.lines()];
  await tab.page.reload();
  await tab.state("attached");
  await tab.prompt();
  expect(await tab.rows()).toEqual(rows);
  expect(await tab.lines()).toEqual(lines);
  await tab.run("echo $$ in $PWD");
  await tab.shows(`${pid} in /tmp`);
});

test("a reload after more than 64 KiB of output brings back the screen, and all the scrollback that the log holds", async () => {
  const { tab } = await browser.shell();
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
  const { tab, directory } = await browser.shell();
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
  const { tab } = await browser.shell();
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

test("two tabs on one session see the same and type into the same shell", async () => {
  const { tab } = await browser.shell();
  const pid = await pidOf(tab);
  const other = await browser.again(tab);
  await other.prompt();
  await other.run("echo from two $$");
  await tab.shows(`from two ${pid}`);
  await tab.prompt();
  await tab.run("echo from one $$");
  await other.shows(`from one ${pid}`);
  await other.prompt();
  await tab.shows(`from one ${pid}`);
  await tab.prompt();
  expect(await other.lines()).toEqual(await tab.lines());
  await tab.type("echo half");
  await other.shows("$ echo half");
  await other.run(" and half");
  await tab.shows("half and half");
  await other.run("exit 3");
  await Promise.all([tab, other].map((each) => each.says("Process exited with code 3")));
});

// What xterm.js answers to each, so that one that is answered twice, late or not at all shows.
const QUERIES = String.raw`\e[c\e[>c\e[5n\e[6n\e]10;?\a\e]11;?\a\e[?25$p`;
const ANSWERS =
  "\x1b[?62;4;9;22c\x1b[>0;276;0c\x1b[0n\x1b[1;1R\x1b]10;rgb:eaea/eaea/eaea\x1b\\\x1b]11;rgb:1a1a/1a1a/2e2e\x1b\\\x1b[?25;1$y";

/** Starts a program that asks the terminal everything at once and writes down every byte that is typed into it. */
async function ask({ tab, directory }: ShellTab): Promise<() => string> {
  writeFileSync(join(directory, "ask"), `stty raw -echo; clear; printf '${QUERIES}'; printf asked; exec cat > typed\n`);
  // There before anybody reads it: "asked" is shown before the program makes it.
  writeFileSync(join(directory, "typed"), "");
  await tab.run("sh ask");
  await tab.shows("asked");
  return () => readFileSync(join(directory, "typed"), "latin1");
}

test("a program that asks the terminal gets each answer once", async () => {
  const shell = await browser.shell();
  const typed = await ask(shell);
  await until("the last answer", () => typed().endsWith("$y"));
  await shell.tab.type("k");
  await until("the key", () => typed().endsWith("k"));
  expect(typed()).toBe(`${ANSWERS}k`);
});

test("with two tabs attached, one of them answers", async () => {
  const shell = await browser.shell();
  const other = await browser.again(shell.tab);
  await other.prompt();
  const typed = await ask(shell);
  await other.shows("asked");
  await until("the last answer", () => typed().endsWith("$y"));
  await shell.tab.type("k");
  await other.type("l");
  await until("both keys", () => typed().includes("k") && typed().includes("l"));
  expect(typed().replace(/kl|lk/, "")).toBe(ANSWERS);
});

test("a replay that is full of queries types nothing into the shell", async () => {
  const shell = await browser.shell();
  const typed = await ask(shell);
  await until("the last answer", () => typed().endsWith("$y"));
  await shell.tab.page.reload();
  await shell.tab.state("attached");
  await shell.tab.shows("asked");
  // A second client, which has no place from before, replays it too.
  const other = await browser.again(shell.tab);
  await other.shows("asked");
  await shell.tab.type("k");
  await other.type("l");
  await until("both keys", () => typed().includes("k") && typed().includes("l"));
  expect(typed().replace(/kl|lk/, "")).toBe(ANSWERS);
});
