// The page's shell around its terminals: names, menus, what was closed, and where new shells begin. In a real browser.

import { describe, expect, test } from "vitest";
import type { TerminalPage } from "../browser.ts";
import { useBrowser, useOnePage } from "../fixture.ts";

const browser = useBrowser();

const prompt = (cwd: string) => `\x1b]633;P;Cwd=${cwd}\x07\x1b]133;A\x07$ \x1b]133;B\x07`;
const tabs = ({ page }: TerminalPage) => page.getByRole("tab").allTextContents();
const terminals = ({ page }: TerminalPage) => page.locator('.sbx-terminal[data-state="attached"]').count();

test("a new shell begins in the folder of the focused one, and both are called by what runs and where", async () => {
  const page = await browser.attached();
  const main = browser.server.process("main");
  main.print(`${prompt("/srv/my project")}vim\r\n\x1b]633;E;vim a.txt\x07\x1b]133;C\x07`);
  await expect.poll(() => tabs(page)).toEqual(["vim a.txt · main"]);
  await page.button("New tab");
  await expect.poll(() => terminals(page)).toBe(2);
  expect(browser.server.attaches.at(-1)?.get("cwd")).toBe("/srv/my project");
  const made = browser.server.attaches.at(-1)?.get("session") ?? "";
  browser.server.process(made).print(prompt("/srv/my project"));
  await expect.poll(() => tabs(page)).toEqual(["vim a.txt · main", "my project"]);
  expect(await page.page.getByRole("tab").last().getAttribute("title")).toBe(`my project\ndefault / ${made}`);
  await page.page.locator('[data-focus="true"] .sbx-heading').dblclick();
  const field = page.page.locator(".sbx-name-field");
  expect([await field.inputValue(), await field.getAttribute("placeholder")]).toEqual(["", "Name (only you see it)"]);
  await page.page.keyboard.type("my shell\n");
  await expect.poll(() => tabs(page)).toEqual(["vim a.txt · main", "my shell"]);
  // The keyboard is the shell's again.
  await page.page.keyboard.type("k");
  await expect.poll(() => browser.server.process(made).typed).toBe("k");
});

test("the first shell tells keys until somebody types; later shells and visits don't", async () => {
  const page = await browser.attached();
  const told = page.page.getByText("In the shell, Ctrl+Shift+P lists sessions and commands");
  await told.waitFor();
  await page.type("l");
  await told.waitFor({ state: "detached" });
  await page.button("New tab");
  await expect.poll(() => terminals(page)).toBe(2);
  await page.page.reload();
  await page.state("attached");
  expect(await told.count()).toBe(0);
});

test("hints name a person's own keys, and no command without any", async () => {
  browser.server.preferences = {
    keys: { palette: "Alt+Shift+P", "divide right": "", "terminal to-bottom": "Alt+Shift+B" },
  };
  const page = await browser.attached();
  await page.page
    .getByText("In the shell, Alt+Shift+P lists sessions and commands, Ctrl+Shift+/ shows all keys.")
    .waitFor();
  browser.server.process("main").print(`${"line\r\n".repeat(200)}end`);
  await page.shows("end");
  await page.type("");
  await page.page.keyboard.press("Shift+PageUp");
  await page.page.getByTitle("Scroll to the newest line (Alt+Shift+B)").waitFor();
});

test("a closed pane is opened again by a button or a key, where it was", async () => {
  const page = await browser.attached();
  await page.keepUndo();
  await page.type("");
  await page.page.keyboard.press("Control+Shift+D");
  await expect.poll(() => terminals(page)).toBe(2);
  await page.page.keyboard.press("Control+Shift+X");
  await expect.poll(() => page.page.locator(".sbx-pane").count()).toBe(1);
  await page.button("Undo");
  await expect.poll(() => terminals(page)).toBe(2);
  expect(await page.page.getByRole("separator").count()).toBe(1);
  await page.page.locator('[data-focus="true"] .xterm-helper-textarea').press("Control+Shift+X");
  await expect.poll(() => page.page.locator(".sbx-pane").count()).toBe(1);
  await page.page.locator('[data-focus="true"] .xterm-helper-textarea').press("Control+Shift+Z");
  await expect.poll(() => terminals(page)).toBe(2);
});

test("a pane is maximized by its menu, a key or its head, says so, keeps that over a reload, and is restored", async () => {
  const page = await browser.attached(undefined, { width: 1000, height: 500 });
  await page.type("");
  for (const key of ["D", "E"]) {
    const before = await terminals(page);
    await page.page.keyboard.press(`Control+Shift+${key}`);
    await expect.poll(() => terminals(page)).toBe(before + 1);
  }
  const seen = page.page.locator('.sbx-pane[data-seen="true"]');
  const focusedCols = async () =>
    Number(await page.page.locator('[data-focus="true"] .sbx-terminal').getAttribute("data-cols"));
  const cols = await focusedCols();
  const restore = page.page.getByRole("button", { name: "Maximized: show all panes" });
  const isKept = (request: { postData(): string | null }) => request.postData()?.includes('"max":true') ?? false;
  const kept = page.page.waitForRequest(isKept);
  await page.page.keyboard.press("Control+Shift+M");
  await expect.poll(() => seen.count()).toBe(1);
  await expect.poll(focusedCols).toBeGreaterThan(cols * 1.8);
  expect([await restore.getAttribute("title"), await page.page.getByRole("separator").count()]).toEqual([
    "Ctrl+Shift+M",
    0,
  ]);
  browser.server.layout = (await kept).postDataJSON().layout;
  await page.page.reload();
  await restore.click();
  await expect.poll(() => seen.count()).toBe(3);
  await expect.poll(focusedCols).toBe(cols);
  const head = page.page.locator('[data-focus="true"] .sbx-heading');
  await head.dblclick();
  await restore.waitFor();
  await head.dblclick();
  await expect.poll(() => seen.count()).toBe(3);
  await page.page.locator('[data-focus="true"]').getByRole("button", { name: "Pane menu" }).click();
  await page.page.getByRole("menuitem", { name: /^Maximize pane/ }).click();
  await restore.waitFor();
  // The keyboard is the pane's: what is typed goes to its process.
  await page.page.keyboard.press("Control+Shift+M");
  await expect.poll(() => seen.count()).toBe(3);
  const divider = page.page.getByRole("separator").first();
  await divider.press("ArrowLeft");
  await expect.poll(() => divider.getAttribute("aria-valuenow")).toBe("45");
  await divider.dblclick({ position: { x: 4, y: 60 } });
  await expect.poll(() => divider.getAttribute("aria-valuenow")).toBe("50");
});

describe("with one pane", () => {
  const one = useOnePage();

  test("the right button copies a selection by a menu, unless a program asked for the mouse", async () => {
    const page = await one.blank();
    await page.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    one.server.process("main").print("take these words\r\n");
    await page.shows("take these words");
    const screen = page.page.locator(".xterm-screen");
    await screen.dblclick({ position: { x: 10, y: 8 } });
    await screen.click({ button: "right", position: { x: 10, y: 8 } });
    await page.page.getByRole("menuitem", { name: /^Copy Ctrl/ }).click();
    await expect.poll(() => page.page.evaluate(() => navigator.clipboard.readText())).toBe("take");
    await page.page.getByRole("menu").waitFor({ state: "detached" });
    one.server.process("main").print("\x1b[?1000h\x1b[?1006hmouse\r\n");
    await page.shows("mouse");
    await screen.click({ button: "right", position: { x: 10, y: 8 } });
    await expect.poll(() => one.server.process("main").typed).toContain("\x1b[<2;");
    expect(await page.page.getByRole("menu").count()).toBe(0);
  });

  test("every command is in the list with its key, and all keys are on a sheet", async () => {
    const page = await one.blank();
    await page.type("");
    await page.page.keyboard.press("Control+Shift+Slash");
    const sheet = page.page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await sheet.getByText("Ctrl+Shift+F", { exact: true }).waitFor();
    expect(await sheet.getByRole("heading", { level: 3 }).allTextContents()).toEqual([
      ...["Sessions", "Panes", "Tabs", "Terminal", "Page", "Fixed"],
    ]);
    await sheet.getByText("Press a key to change it").waitFor();
    expect(await sheet.getByText("Ctrl+Shift+K").count()).toBe(0);
    await page.page.keyboard.press("Escape");
    await page.page.locator(".xterm-helper-textarea:focus").waitFor({ state: "attached" });
    await page.page.keyboard.press("Control+Shift+P");
    await page.page.getByRole("dialog").waitFor();
    const headings = page.page.locator(".sbx-palette-heading");
    expect((await headings.allTextContents()).at(-1)).toBe("Commands");
    await page.page.keyboard.type("zzzzq");
    await page.page.getByText("No session or command is called “zzzzq”").waitFor();
    await page.page.getByRole("option", { name: "New session named zzzzq", selected: true }).waitFor();
    await page.page.keyboard.press("Control+A");
    await page.page.keyboard.type(">colors");
    await page.page.keyboard.press("Control+A");
    await page.page.keyboard.type(">clr high\n");
    await page.page.locator('main[data-scheme="contrast"]').waitFor();
    await page.page.keyboard.press("Control+Shift+P");
    await page.page.locator('[role="option"][aria-current="true"]:has(svg)').waitFor();
    expect(await page.page.locator('[role="option"][aria-current="true"]').allTextContents()).toEqual([
      "Colours: high contrast",
    ]);
    await page.page.keyboard.press("Escape");
  });

  test("a person's own keys: given on the sheet, refused with a reason, told of another command, kept, and reset", async () => {
    const page = await one.blank();
    await page.type("");
    const keyboard = page.page.keyboard;
    const sheet = page.page.getByRole("dialog", { name: "Keyboard shortcuts" });
    const change = (does: string) =>
      sheet.getByRole("button", { name: new RegExp(`^${does}: .*change$`) }).press("Enter");
    const says = (words: string) => sheet.getByRole("status").filter({ hasText: words }).waitFor();
    await page.button("Settings");
    await page.button("Change…");
    await change("Search the output");
    for (const [keys, words] of [
      ["KeyF", "F goes to programs"],
      ["Control+KeyF", "Ctrl+F goes to programs"],
      ["Control+Shift+KeyW", "The browser keeps Ctrl+Shift+W"],
      ["Control+Shift+KeyC", "Ctrl+Shift+C copies"],
      ["Control+Shift+KeyD", "Ctrl+Shift+D is “Split right”"],
    ] as const) {
      await keyboard.press(keys);
      await says(words);
    }
    await keyboard.press("Control+Shift+KeyD");
    await says("Ctrl+Shift+D: Search the output");
    await sheet.getByRole("button", { name: "Split right: no key; change" }).waitFor();
    await change("Show or hide files");
    await keyboard.press("Escape");
    await change("Rename…");
    await keyboard.press("Control+Shift+KeyO");
    await says("Ctrl+Shift+O: Rename…");
    await keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
    await page.page.reload();
    await page.state("attached");
    await page.type("");
    await keyboard.press("Control+Shift+KeyD");
    await page.page.getByRole("search").waitFor();
    expect(await terminals(page)).toBe(1);
    await keyboard.press("Escape");
    await keyboard.press("Control+Shift+KeyF");
    await keyboard.type("k");
    await expect.poll(() => one.server.process("main").typed).toBe("k");
    expect(await page.page.getByRole("search").count()).toBe(0);
    await keyboard.press("Control+Shift+KeyP");
    await page.page.getByRole("option", { name: /^Rename… Ctrl\+Shift\+O/ }).waitFor();
    await keyboard.press("Escape");
    await keyboard.press("Control+Shift+Slash");
    await sheet.getByRole("button", { name: "Search the output: use the usual keys again" }).click();
    await sheet.getByRole("button", { name: "Search the output: Ctrl+Shift+F; change" }).waitFor();
    await sheet.getByRole("button", { name: "Split right: use the usual keys again" }).click();
    await sheet.getByRole("button", { name: "Split right: Ctrl+Shift+D; change" }).waitFor();
  });
});
