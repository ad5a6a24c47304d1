// The dialog of settings, in a real browser: each choice is seen at once, and kept.

import type { BrowserContextOptions, Route } from "playwright-core";
import { expect, test } from "vitest";
import type { TerminalPage } from "../browser.ts";
import { useBrowser } from "../fixture.ts";

const browser = useBrowser();

async function settings(options: BrowserContextOptions = {}): Promise<TerminalPage> {
  const page = await browser.open(undefined, undefined, options);
  await page.state("attached");
  await page.button("Settings");
  await page.page.getByRole("dialog", { name: "Settings" }).waitFor();
  return page;
}

const paper = (page: TerminalPage) =>
  page.page.locator(".sbx-stage-area").evaluate((area) => getComputedStyle(area).backgroundColor);
const rows = (page: TerminalPage) => page.data("rows").then(Number);

test("a scheme, a size and a theme are there at once, on other pages too, and after a reload; a file that is none is refused", async () => {
  const page = await settings();
  const other = browser.adopt(await page.page.context().newPage());
  await other.page.goto(`${browser.server.url}/?session=other&renderer=dom`);
  await other.state("attached");
  const before = await rows(page);
  await page.page.getByRole("combobox", { name: "Scheme" }).selectOption("contrast");
  for (const each of [page, other]) await expect.poll(() => paper(each)).toBe("rgb(0, 0, 0)");
  await page.page.getByLabel("Size in pixels").fill("28");
  await expect.poll(() => rows(page)).toBeLessThan(before);
  await page.page.getByRole("button", { name: "Close" }).click();
  await page.page.keyboard.type("k");
  await expect.poll(() => browser.server.process("main").typed).toBe("k");
  await page.page.reload();
  await page.state("attached");
  expect([await paper(page), (await rows(page)) < before]).toEqual(["rgb(0, 0, 0)", true]);

  await page.button("Settings");
  const ground = await paper(page);
  const dict =
    "<dict><key>Blue Component</key><real>0</real><key>Green Component</key><real>0.2</real><key>Red Component</key><real>0.4</real></dict>";
  const file = (name: string, text: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
  const choose = (name: string, text: string) =>
    page.page.getByLabel("Import a theme…").setInputFiles(file(name, text));
  await choose("Forest.itermcolors", `<plist><dict><key>Background Color</key>${dict}</dict></plist>`);
  await page.page.getByText("Theme: Forest").waitFor();
  await expect.poll(() => paper(page)).toBe("rgb(102, 51, 0)");
  await choose("photo.json", "not a theme");
  await page.page.getByText("photo.json is not a theme of iTerm2 or VS Code").waitFor();
  await page.page.getByRole("button", { name: "Remove" }).click();
  await expect.poll(() => paper(page)).toBe(ground);
  const edge = page.page.getByLabel("Ligatures").evaluate((box) => getComputedStyle(box).boxShadow);
  expect(await edge).toContain("rgb(255, 255, 255)");

  await page.page.getByRole("button", { name: "Close" }).click();
  await page.page.keyboard.press("Control+Shift+P");
  await page.page.getByRole("dialog").waitFor();
  await page.page.keyboard.type("Dracula\n");
  await expect.poll(() => paper(page)).toBe("rgb(40, 42, 54)");
});

test.each([
  [360, 225],
  [900, 500],
])("at %i×%i, nothing that Tab reaches is covered by the buttons at the bottom", async (width, height) => {
  const page = await settings();
  await page.page.setViewportSize({ width, height });
  const covered: string[] = [];
  for (let step = 0; step < 34; step += 1) {
    await page.page.keyboard.press("Tab");
    const name = await page.page.evaluate(() => {
      const at = document.activeElement ?? document.body;
      const { left, right, top, bottom } = at.getBoundingClientRect();
      const hits = [top + 2, bottom - 2].map((y) => document.elementFromPoint((left + right) / 2, y));
      // A file's field is one pixel: its label is the button.
      const isSeen = at.matches("body, .sbx-file") || hits.every((hit) => hit !== null && at.contains(hit));
      return isSeen ? "" : `${at.tagName} ${at.getAttribute("aria-label") ?? at.closest("label, p")?.textContent}`;
    });
    if (name !== "") covered.push(name);
  }
  expect(covered).toEqual([]);
});

test("a chosen scheme takes the theme off, here as in the list of commands, and says so", async () => {
  const page = await settings();
  await page.page.getByRole("button", { name: "Dracula" }).click();
  await page.page.getByRole("status").getByText("Theme: Dracula").waitFor();
  await expect.poll(() => paper(page)).toBe("rgb(40, 42, 54)");
  await page.page.getByRole("combobox", { name: "Scheme" }).selectOption("contrast");
  await page.page.getByRole("status").getByText("No theme").waitFor();
  await expect.poll(() => paper(page)).toBe("rgb(0, 0, 0)");
});

test("Option on a Mac types its characters, and is Alt for programs once that is chosen", async () => {
  const page = await browser.attached();
  const devTools = await page.page.context().newCDPSession(page.page);
  const userAgent = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36";
  await devTools.send("Emulation.setUserAgentOverride", { userAgent, platform: "MacIntel" });
  await page.page.reload();
  await page.state("attached");
  /** Option+B as a Mac's browser reports it. */
  const press = async () => {
    const key = { code: "KeyB", key: "∫", windowsVirtualKeyCode: 66, modifiers: 1 };
    await devTools.send("Input.dispatchKeyEvent", { type: "keyDown", text: "∫", ...key });
    await devTools.send("Input.dispatchKeyEvent", { type: "keyUp", ...key });
  };
  await page.type("");
  await press();
  await expect.poll(() => browser.server.process("main").typed).toBe("∫");
  await page.button("Settings");
  await page.page.getByLabel("On a Mac, Option is Alt").check();
  await page.page.getByRole("button", { name: "Close" }).click();
  await press();
  await expect.poll(() => browser.server.process("main").typed).toBe("∫\x1bb");
});

test("what a person chooses is there in their other browsers; what can't be read there is as if it had never been chosen", async () => {
  const page = await settings();
  await page.page.getByRole("combobox", { name: "Cursor" }).selectOption("bar");
  await expect.poll(() => browser.server.preferences?.cursorStyle).toBe("bar");
  browser.server.preferences = { ...browser.server.preferences, fontSize: 1e9, fontFamily: "x;} body{display:none" };
  const other = await settings();
  await expect.poll(() => other.page.getByRole("combobox", { name: "Cursor" }).inputValue()).toBe("bar");
  expect(await other.page.getByLabel("Size in pixels").inputValue()).toBe("14");
  expect(await other.page.getByLabel("Font", { exact: true }).inputValue()).toBe("");
});

test("a choice is kept at once, of a browser that dies, too; the next ones within a second, or when the page goes", async () => {
  const page = await settings({ serviceWorkers: "allow" });
  const cursor = page.page.getByRole("combobox", { name: "Cursor" });
  const kept = () => browser.server.preferences?.cursorStyle;
  await cursor.selectOption("bar");
  await expect.poll(kept).toBe("bar");
  for (const style of ["block", "underline"]) await cursor.selectOption(style);
  await page.page.reload();
  await expect.poll(kept).toBe("underline");
  await page.button("Settings");
  // Nothing of the page is loaded by a service worker that is kept busy.
  await cursor.waitFor();
  // The service worker's process dies with the page's, and with it each request that still waits there.
  const isControlled = () => page.page.evaluate(() => navigator.serviceWorker.controller?.state === "activated");
  await expect.poll(isControlled).toBe(true);
  for (const worker of page.page.context().serviceWorkers())
    await worker.evaluate(() => {
      setTimeout(() => {
        for (;;);
      });
    });
  await cursor.selectOption("bar");
  await page.page.goto("chrome://crash").catch(() => undefined);
  await expect.poll(kept).toBe("bar");
});

test("a choice that did not reach the server is there after a reload, reaches it then, and no later one overtakes another", async () => {
  const page = await settings();
  const path = "**/api/preferences";
  await page.page.route(path, (route) => (route.request().method() === "PUT" ? route.abort() : route.continue()));
  const failed = page.page.waitForEvent("requestfailed");
  await page.page.getByRole("combobox", { name: "Cursor" }).selectOption("bar");
  await failed;
  await page.page.unroute(path);
  browser.server.preferences = { cursorStyle: "underline" };
  await page.page.reload();
  await page.state("attached");
  await expect.poll(() => browser.server.preferences?.cursorStyle).toBe("bar");
  await page.button("Settings");
  const cursor = page.page.getByRole("combobox", { name: "Cursor" });
  expect(await cursor.inputValue()).toBe("bar");
  page.problems.length = 0;
  await page.page.clock.install();
  const puts: Route[] = [];
  await page.page.route(path, (route) => (puts.push(route) === 1 ? undefined : route.continue()));
  for (const style of ["block", "underline"]) await cursor.selectOption(style);
  await expect.poll(() => puts.length).toBe(1);
  await page.page.clock.runFor(2_000);
  await page.page.evaluate(() => fetch("/icon.svg"));
  expect(puts.length).toBe(1);
  await puts[0]?.continue();
  await expect.poll(() => browser.server.preferences?.cursorStyle).toBe("underline");
});

test("what is exported in one browser is imported in another", async () => {
  const page = await settings();
  await page.page.getByRole("combobox", { name: "Cursor" }).selectOption("bar");
  await page.page.getByLabel("Play a sound on a bell").check();
  const [download] = await Promise.all([
    page.page.waitForEvent("download"),
    page.page.getByRole("link", { name: "Export" }).click(),
  ]);
  const other = await settings();
  await other.page.getByLabel("Import…", { exact: true }).setInputFiles(await download.path());
  await expect.poll(() => other.page.getByRole("combobox", { name: "Cursor" }).inputValue()).toBe("bar");
  expect(await other.page.getByLabel("Play a sound on a bell").isChecked()).toBe(true);
});
