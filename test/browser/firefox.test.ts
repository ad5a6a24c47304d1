// The main flows in Debian's Firefox, over WebDriver BiDi: another engine has another focus, clipboard, and other keys of its own.
import { readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dropFiles } from "../../packages/dashboard/test/browser.ts";
import { fresh } from "../e2e/support/system/system.ts";
import { COUNT, counts, expectAllLines } from "./support/counting.ts";
import { launchFirefox } from "./support/firefox.ts";
import { setUpBrowser } from "./support/fixture.ts";
import { alone, focused, forgetTabs, hasFocus, typed } from "./support/panes.ts";
import { addressOf, keyboardSays, tells } from "./support/party.ts";
import type { Tab } from "./support/tab.ts";

const browser = setUpBrowser(launchFirefox);

/** One page for most tests: in Firefox a page costs several seconds of a processor. Its person logs in as people do. */
const shell = () => browser.sameShell({ login: "page" });

const FOREST = JSON.stringify({ colors: { "terminal.background": "#663300", "editor.background": "#663300" } });

/** The tests of what engines differ least in: `FIREFOX=whole` (test:long). */
function atLength(title: string, run: () => Promise<void>): void {
  if (process.env.FIREFOX === "whole") test(title, run);
}

const hasKeyboard = (tab: Tab) => tab.page.locator(".xterm-helper-textarea:focus").waitFor({ state: "attached" });

/** Puts a text on the clipboard as a person does: from a field, by keys. */
async function copyFromField(tab: Tab, text: string): Promise<void> {
  await tab.page.evaluate((value) => {
    const field = document.createElement("textarea");
    document.body.append(field);
    field.value = value;
    field.select();
  }, text);
  await tab.page.keyboard.press("Control+C");
  await tab.page.evaluate(() => document.querySelector("body > textarea")?.remove());
  await tab.page.locator(".xterm-helper-textarea").focus();
}

test("a shell is typed into, follows the window's size, and comes back with its screen after a reload", async () => {
  const { tab } = await shell();
  await tab.run("echo pid $$");
  const pid = (await tab.find(/^pid (\d+)$/))[1];
  await tab.page.setViewportSize({ width: 640, height: 400 });
  await tab.waitForData("framed", "false");
  await tab.run("clear; until stty size | grep -q '^1'; do sleep 0.1; done; echo size $(stty size)");
  const [, rows, cols] = await tab.find(/^size (\d+) (\d+)$/);
  expect([rows, cols]).toEqual([await tab.data("rows"), await tab.data("cols")]);
  await tab.prompt();
  await tab.run("seq 1 300");
  await tab.shows("300");
  await tab.prompt();
  const lines = await tab.lines();
  expect(lines).toContain("1");
  await tab.page.reload();
  await tab.state("attached");
  await tab.shows("300");
  await tab.prompt();
  expect(await tab.lines()).toEqual(lines);
  await tab.run("echo still $$");
  await tab.shows(`still ${pid}`);
  await tab.page.setViewportSize({ width: 900, height: 560 });
});

test("over a cut, and while offline, what is typed is counted and not sent, and each line of output comes once", async () => {
  const { tab, directory } = await shell();
  await tab.run(COUNT);
  await counts(tab, 30);
  browser.link.cut();
  await tab.says(/^Connection lost: retrying in \d+ s$/);
  await tab.type("rm x\n");
  await tab.page.getByText("5 keys typed while disconnected: not sent").waitFor();
  browser.link.mend();
  await tab.says("Resumed, nothing was lost");
  await tab.page.context().setOffline(true);
  await tab.says("Offline: reconnects when the network is back");
  await tab.page.context().setOffline(false);
  await tab.waitForData("resumes", 2);
  expect(await tab.data("missed-bytes")).toBe("0");
  await expectAllLines(tab, directory);
  await tab.run("echo back $((40 + 2))");
  await tab.shows("back 42");
  expect(await tab.data("unsent-keys")).toBe("0");
});

test("after each dialog, after Reader, and after a paste that asks, the keyboard is the terminal's again", async () => {
  const { tab } = await shell();
  const dialog = tab.page.getByRole("dialog");
  for (const name of ["Share", "Sessions", "Settings"]) {
    await tab.button(name);
    await dialog.waitFor();
    await tab.page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await hasKeyboard(tab);
    await tab.page.keyboard.type(`echo after-${name}-$((40 + 2))\n`);
    await tab.shows(`after-${name}-42`);
  }
  await tab.button("Screen reader");
  await hasKeyboard(tab);
  await tab.page.keyboard.type("echo read-$((40 + 2))\n");
  await tab.shows("read-42");
  const question = tab.page.getByRole("dialog", { name: "Paste 2 lines?" });
  // The shell asks to be told of pastes; a plain program does not.
  await tab.run("clear; stty -echo; echo ready; cat");
  await tab.shows("ready");
  await copyFromField(tab, "one\ntwo\n");
  await tab.page.keyboard.press("Control+Shift+V");
  await question.waitFor();
  await tab.page.keyboard.press("Escape");
  await question.waitFor({ state: "detached" });
  await hasKeyboard(tab);
  await tab.page.keyboard.type("typed\n");
  await tab.shows("typed");
  await tab.page.keyboard.press("Control+Shift+V");
  await question.getByRole("button", { name: "Paste 2 lines" }).click();
  await tab.shows("two");
  await hasKeyboard(tab);
  await copyFromField(tab, "é日本");
  await tab.page.keyboard.press("Control+Shift+V");
  await tab.page.keyboard.press("Enter");
  await tab.shows("é日本");
  expect((await tab.rows()).filter((row) => /^(one|two|typed)$/.test(row))).toEqual(["typed", "one", "two"]);
  await tab.button("Screen reader");
});

atLength("a link brings a guest, who looks on, asks to type, types alone, and comes back with a reload", async () => {
  const sandbox = fresh("party");
  const ann = await browser.open(await browser.member(), addressOf(sandbox, "Ann"));
  await ann.shell();
  await ann.button("Share");
  const share = ann.page.getByRole("dialog");
  await share.getByLabel("Who may use the link").selectOption("with the link");
  await share.getByRole("button", { name: "Copy link" }).click();
  const url = await share.getByLabel(/^Link, valid/).inputValue();
  await ann.page.keyboard.press("Escape");
  await hasKeyboard(ann);
  // What the button has put on the clipboard is the link.
  await ann.page.keyboard.type("echo 'copied ");
  await ann.page.keyboard.press("Control+Shift+V");
  await ann.page.keyboard.type("'");
  await ann.page.keyboard.press("Enter");
  await expect.poll(() => ann.lines()).toContain(`copied ${url}`);
  const guest = await browser.open(await browser.profile(), url.replace("/?", "/?debug=1&renderer=dom&"));
  await guest.state("attached");
  expect(guest.page.url()).not.toContain("#");
  await tells(ann, "joined as a viewer");
  await guest.type("no");
  await tells(guest, "Read only: You are a viewer");
  await guest.page.reload();
  await guest.state("attached");
  await ann.run("clear; echo for the guest");
  await guest.shows("for the guest");

  await guest.button("Ask to type");
  await ann.button("Give it");
  await keyboardSays(guest, "You have the keyboard");
  await guest.run("echo typed by a guest");
  await ann.shows("typed by a guest");
  await ann.type("x");
  await tells(ann, "Read only: ");
  await ann.page.keyboard.press("F2");
  await keyboardSays(guest, "You are a viewer");
  await ann.run("echo mine again");
  await guest.shows("mine again");
  const prompts = (await ann.lines()).filter((line) => line.startsWith("$ "));
  expect(prompts).toEqual(["$ echo typed by a guest", "$ echo mine again"]);
  await ann.button("Share");
  await share.getByRole("button", { name: /^Revoke/ }).click();
  await guest.page.getByRole("alert").getByText("This link is no longer valid").waitFor();
});

atLength("an exclusive keyboard is asked for, given and taken from page to page", async () => {
  const sandbox = fresh("hand");
  const ann = await browser.open(await browser.member(), addressOf(sandbox, "Ann", "&mode=exclusive"));
  await ann.shell();
  const bob = await browser.open(await browser.member(), addressOf(sandbox, "Bob"));
  await bob.state("attached");
  await bob.type("x");
  await tells(bob, "Read only: Ann has the keyboard");
  await bob.button("Ask");
  await tells(ann, "Bob asks for the keyboard");
  await ann.button("Give it");
  await keyboardSays(bob, "You have the keyboard");
  await bob.run("echo typed by bob");
  await ann.shows("typed by bob");
  await bob.page.reload();
  await keyboardSays(bob, "You have the keyboard");
  await bob.run("echo after a reload");
  await ann.shows("after a reload");
  await bob.page.getByRole("button", { name: "Give the keyboard to Ann" }).click();
  await keyboardSays(ann, "You have the keyboard");
  await ann.run("echo typed by ann");
  await bob.shows("typed by ann");
});

atLength("emoji and dictation, which need no key, are typed once, with Reader too", async () => {
  const { tab } = await browser.shell();
  await tab.run("clear; stty -echo; echo ready; cat");
  await tab.shows("ready");
  for (const reader of ["without", "with"]) {
    if (reader === "with") await tab.button("Screen reader");
    // Playwright's own way here sets the field's value.
    await tab.page.evaluate(() => document.execCommand("insertText", false, "日本 "));
    await tab.page.keyboard.type(`aB ${reader}`);
    await tab.page.keyboard.press("Enter");
    await tab.shows(`日本 aB ${reader}`);
  }
});

atLength(
  "the list finds a session by keys; divided panes are typed into apart, and come back with a reload",
  async () => {
    const { tab, profile } = await alone(browser);
    try {
      await tab.page.keyboard.press("Control+Shift+D");
      const second = await focused(tab, 2);
      await tab.find(/[$#]$/);
      await typed(tab, "PS1='$ '; clear; echo second $((40 + 2))", "second 42");
      // Firefox keeps Ctrl+Shift+P to itself.
      await tab.page.keyboard.press("Control+Shift+K");
      await tab.page.getByRole("dialog").waitFor();
      await tab.page.keyboard.type("one");
      const option = tab.page.getByRole("option", { selected: true }).filter({ hasText: "one" });
      await option.waitFor();
      await tab.page.keyboard.press("Enter");
      await hasFocus(tab, "one");
      await typed(tab, "echo first $((1 + 1))", "first 2");
      await tab.page.reload();
      expect(await focused(tab, 2)).toBe("one");
      await tab.shows("first 2");
      await tab.page.keyboard.press("Alt+Shift+ArrowRight");
      await hasFocus(tab, second);
      await tab.shows("second 42");
    } finally {
      await forgetTabs(profile);
    }
  },
);

atLength("the scrollback is searched, a command is gone back to by its mark, and its output is copied", async () => {
  const { tab } = await browser.shell();
  const { keyboard } = tab.page;
  await tab.run("seq 1 300; echo result; false");
  await tab.shows("result");
  await tab.prompt();
  await keyboard.press("Control+Shift+F");
  await tab.page.getByRole("textbox", { name: "Find" }).waitFor();
  await keyboard.type("29");
  // 29, 129, 229, 290 to 299, and the last of them is the first that is found.
  await tab.page.locator(".sbx-found").filter({ hasText: "13 of 13" }).waitFor();
  await keyboard.press("Escape");
  await hasKeyboard(tab);
  const mark = tab.page.locator('.sbx-command-mark[data-state="bad"]');
  const title = () => mark.evaluateAll((marks) => marks.map((one) => one.getAttribute("title")));
  await keyboard.press("Control+Shift+ArrowUp");
  await expect.poll(title).toEqual(["Exit 1: click to copy output"]);
  await keyboard.press("Control+Shift+Y");
  await tab.page.getByText("Copied 301 lines of output").waitFor();
  await keyboard.press("Control+Shift+End");
  await tab.run("clear; stty -echo; echo ready; head -n 301 | tail -n 1");
  await tab.shows("ready");
  await keyboard.press("Control+Shift+V");
  await tab.page.getByRole("button", { name: "Paste 301 lines" }).click();
  await keyboard.press("Enter");
  await tab.shows("result");
});

atLength(
  "a theme, a command's key, and that keys are shown before their echo, are chosen, and kept over a reload",
  async () => {
    const { tab } = await browser.shell();
    const { page } = tab;
    const paper = () => page.locator(".sbx-stage-area").evaluate((area) => getComputedStyle(area).backgroundColor);
    await page.keyboard.press("Control+Shift+Comma");
    await page.getByRole("combobox", { name: "Scheme" }).selectOption("contrast");
    await expect.poll(paper).toBe("rgb(0, 0, 0)");
    const theme = { name: "Forest.json", mimeType: "text/plain", buffer: Buffer.from(FOREST) };
    await page.getByLabel("Import a theme…").setInputFiles(theme);
    await expect.poll(paper).toBe("rgb(102, 51, 0)");
    await page.getByRole("combobox", { name: "Show keys before" }).selectOption("always");
    await page.getByRole("button", { name: "Change…" }).click();
    const search = page.getByRole("button", { name: "Search the output: Ctrl+Shift+F; change" });
    // Escape ends the change, and not the dialog.
    await search.press("Enter");
    await page.keyboard.press("Escape");
    await search.press("Enter");
    await page.keyboard.press("Control+Shift+KeyO");
    await page.getByText("Ctrl+Shift+O: Search the output").waitFor();
    await page.keyboard.press("Escape");
    await page.reload();
    await tab.prompt();
    await page.keyboard.press("Control+Shift+KeyO");
    await page.getByRole("search").waitFor();
    await page.keyboard.press("Escape");
    expect(await paper()).toBe("rgb(102, 51, 0)");
    // What is shown too early is seen for a moment only.
    await page.locator(".sbx-echo").evaluate((layer) => {
      new MutationObserver(() => {
        if (layer.textContent !== "") layer.setAttribute("data-seen", layer.textContent);
      }).observe(layer, { childList: true, subtree: true, characterData: true });
    });
    await tab.type("ec");
    await tab.shows("$ ec");
    browser.link.hold();
    await tab.type("h");
    await page.locator('.sbx-echo[data-seen="h"]').waitFor({ state: "attached" });
    expect(await tab.rows()).toContain("$ ec");
    browser.link.mend();
    await tab.shows("$ ech");
    await expect.poll(() => page.locator(".sbx-echo").textContent()).toBe("");
  },
);

test("files that are dropped are uploaded and their paths typed; sbx-download asks, and saves", async () => {
  const { tab, directory } = await shell();
  await dropFiles(tab, { "it's.txt": "hello" });
  // The line is longer than the screen is wide.
  await expect.poll(async () => (await tab.lines()).at(-1)).toMatch(/^\$ '.*it'\\''s\.txt'$/);
  expect(readFileSync(join(directory, "it's.txt"), "utf8")).toBe("hello");
  await tab.page.keyboard.press("Control+U");
  await tab.prompt();
  const content = "0123456789abcdef".repeat(20_000);
  writeFileSync(join(directory, "big file.bin"), content);
  await tab.run("sbx-download 'big file.bin'");
  const saved = tab.page.waitForEvent("download");
  await tab.page.getByRole("region", { name: "Download" }).getByRole("button", { name: "Save" }).click();
  const download = await saved;
  expect(download.suggestedFilename()).toBe("big file.bin");
  expect((await readFile(await download.path(), "utf8")) === content).toBe(true);
});
