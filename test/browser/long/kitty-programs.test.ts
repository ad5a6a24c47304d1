// 39: real programs that speak kitty's keyboard protocol, and some that don't, with keys pressed on the page.
import { expect, test } from "vitest";
import { setUpBrowser } from "../support/fixture.ts";

const browser = setUpBrowser();

test("39: vim with kitty's keys tells Shift+Enter and Ctrl+I from Enter and Tab; the shell after it gets what it always did", async () => {
  const { tab } = await browser.shell();
  const { keyboard } = tab.page;
  // Vim 9.0 chooses the protocol by the terminal's name, when that is set.
  await tab.run("vim -u NONE -N -c 'set keyprotocol=xterm:kitty | set term=xterm-256color number' empty.txt");
  await tab.find(/^\s*1 *$/);
  for (const [map, text] of [
    ["<S-CR>", "shift-enter"],
    ["<C-I>", "ctrl-i"],
    ["<C-CR>", "ctrl-enter"],
  ])
    await keyboard.type(`:inoremap ${map} ${text}<Space>\n`);
  await keyboard.type("i");
  await keyboard.press("Shift+Enter");
  await keyboard.press("Control+KeyI");
  await keyboard.press("Control+Enter");
  await keyboard.press("Tab");
  await keyboard.press("Enter");
  await keyboard.type("end");
  await tab.find(/^\s*2 end/);
  await tab.find(/^\s*1 shift-enter ctrl-i ctrl-enter/);
  await keyboard.press("Escape");
  await keyboard.type(":q!\n");
  await tab.prompt();
  await tab.run("clear; cat -A");
  await keyboard.type("x");
  await keyboard.press("Control+KeyI");
  await keyboard.press("Shift+Enter");
  await tab.shows("x^I$");
  await keyboard.press("Control+KeyC");
});

test("39: fish and readline, which ask for nothing here, get the keys that they always had", async () => {
  const { tab } = await browser.shell();
  await tab.run("clear; fish --no-config --private");
  await tab.find(/[>#]\s*$/);
  await tab.page.keyboard.type("echo fish");
  await tab.page.keyboard.press("Shift+Enter");
  await tab.shows("fish");
  await tab.page.keyboard.press("Control+KeyD");
  await tab.prompt();
  expect((await tab.lines()).filter((line) => line.includes("[13;2u"))).toEqual([]);
});
