// The main flows in Debian's Firefox, over WebDriver BiDi: another engine has another focus, clipboard, and other keys of its own.
import { expect, test } from "vitest";
import { launchFirefox } from "./support/firefox.ts";
import { setUpBrowser } from "./support/fixture.ts";
import { alone, focused, forgetTabs, hasFocus, typed } from "./support/panes.ts";
import type { Tab } from "./support/tab.ts";

const browser = setUpBrowser(launchFirefox);

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
  const { tab } = await browser.shell();
  await tab.run("echo pid $$");
  const pid = (await tab.find(/^pid (\d+)$/))[1];
  await tab.page.setViewportSize({ width: 640, height: 400 });
  await tab.waitForData("framed", "false");
  await tab.run("clear; until stty size | grep -q '^1'; do sleep 0.1; done; echo size $(stty size)");
  const [, rows, cols] = await tab.find(/^size (\d+) (\d+)$/);
  expect([rows, cols]).toEqual([await tab.data("rows"), await tab.data("cols")]);
  await tab.prompt();
  const lines = await tab.lines();
  await tab.page.reload();
  await tab.state("attached");
  await tab.prompt();
  expect(await tab.lines()).toEqual(lines);
  await tab.run("echo still $$");
  await tab.shows(`still ${pid}`);
});

test("a browser that says that it is offline gives its connection up, and comes back with every line", async () => {
  const { tab } = await browser.shell();
  await tab.run('clear; i=0; while [ $i -lt 40 ]; do i=$((i + 1)); echo "line $i"; sleep 0.05; done; echo all');
  await tab.shows("line 5");
  await tab.page.evaluate(() => window.dispatchEvent(new Event("offline")));
  await tab.waitForData("resumes", 1);
  await tab.shows("all");
  await tab.prompt();
  expect(await tab.lines()).toEqual([...Array.from({ length: 40 }, (_, i) => `line ${i + 1}`), "all", "$"]);
  await tab.run("echo back $((40 + 2))");
  await tab.shows("back 42");
});

test("a paste of several lines asks, and whatever is answered the keyboard is the terminal's again", async () => {
  const { tab } = await browser.shell();
  const question = tab.page.getByRole("dialog", { name: "Paste 2 lines?" });
  // The shell asks to be told of pastes; a plain program does not.
  await tab.run("stty -echo; echo ready; cat");
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
});

test("after each dialog, and after Reader, the keyboard is the terminal's again", async () => {
  const { tab } = await browser.shell();
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
  await tab.button("Reader");
  await hasKeyboard(tab);
  await tab.page.keyboard.type("echo read-$((40 + 2))\n");
  await tab.shows("read-42");
});

test("the list finds a session by keys; divided panes are typed into apart, and come back with a reload", async () => {
  const { tab, profile } = await alone(browser);
  try {
    await tab.page.keyboard.press("Control+Shift+D");
    const second = await focused(tab, 2);
    await tab.find(/[$#]$/);
    await typed(tab, "PS1='$ '; clear; echo second $((40 + 2))", "second 42");
    // Firefox keeps Ctrl+Shift+P to itself.
    await tab.page.getByRole("button", { name: "Sessions" }).first().click();
    await tab.page.keyboard.type("one");
    const option = tab.page.getByRole("option", { selected: true }).filter({ hasText: "/ one" });
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
});

test("after an exit Enter starts again under the same name", async () => {
  const { tab } = await browser.shell();
  await tab.run("exit 3");
  await tab.says("Process exited with code 3");
  await tab.page.keyboard.press("Enter");
  await tab.shell();
  await tab.run("echo again $((40 + 2))");
  await tab.shows("again 42");
});
