// A link of a real development server, followed as a person does: what it shows, in which origin, and what it can't see there.
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { anyFreePort } from "../../packages/local/src/ports.ts";
import { system } from "../e2e/support/system.ts";
import { setUpBrowser } from "./support/fixture.ts";
import type { Tab } from "./support/tab.ts";

const browser = setUpBrowser();
const VITE = join(dirname(createRequire(import.meta.url).resolve("vite/package.json")), "bin/vite.js");

/** Clicks with Ctrl on a text of the screen. @returns The window that is opened. */
async function follow(tab: Tab, text: string): Promise<Page> {
  const box = await tab.page.evaluate((wanted) => {
    const { buffer, rows, cols } = window.sbx.terminal;
    const { active } = buffer;
    const screen = document.querySelector(".xterm-screen")?.getBoundingClientRect() ?? new DOMRect();
    for (let y = 0; y < rows; y += 1) {
      const column =
        active
          .getLine(active.baseY + y)
          ?.translateToString()
          .indexOf(wanted) ?? -1;
      const [width, height] = [screen.width / cols, screen.height / rows];
      if (column >= 0) return { x: screen.left + (column + 2.5) * width, y: screen.top + (y + 0.5) * height };
    }
    throw new Error(`Cannot find ${wanted}`);
  }, text);
  const opened = tab.page.context().waitForEvent("page");
  await tab.page.keyboard.down("Control");
  // The terminal looks for links where the pointer moves, once it has drawn what is there.
  const link = tab.page.locator(".xterm-cursor-pointer, .xterm-underline-1");
  let moves = 0;
  const moved = async () => {
    moves += 1;
    await tab.page.mouse.move(box.x + (moves % 2) * 20, box.y);
    return link.count();
  };
  await expect.poll(moved, { timeout: 30_000 }).toBeGreaterThan(0);
  await tab.page.mouse.click(box.x, box.y);
  await tab.page.keyboard.up("Control");
  return opened;
}

test("vite's link opens its page in an origin of its own, which has its socket, and sees nothing of ours", async () => {
  const { tab, directory } = await browser.shell();
  const app = join(directory, "app");
  mkdirSync(app);
  writeFileSync(join(app, "index.html"), '<h1 id="out"></h1><script type="module" src="/main.js"></script>');
  const main = (text: string) =>
    `document.querySelector("#out").textContent = ${JSON.stringify(text)};\nimport.meta.hot?.accept();\n`;
  writeFileSync(join(app, "main.js"), main("first"));
  const port = await anyFreePort();
  // Its own address alone, as it is by default.
  await tab.run(
    `clear; cd app; NO_COLOR=1 ${process.execPath} ${VITE} --port ${port} --strictPort --clearScreen false`,
  );
  await tab.find(/Network: use --host/);

  const page = await follow(tab, `http://localhost:${port}/`);
  const sockets: string[] = [];
  page.on("websocket", (socket) => sockets.push(socket.url()));
  // Of the page that is there now: the one before a reload may be connected just before it goes.
  let isConnected = false;
  page.on("framenavigated", () => {
    isConnected = false;
  });
  page.on("console", (message) => {
    isConnected ||= message.text().includes("[vite] connected");
  });
  await page.locator("#out", { hasText: "first" }).waitFor();
  await page.reload();
  await expect.poll(() => isConnected, { timeout: 30_000 }).toBe(true);
  const { origin } = new URL(page.url());
  expect(origin).toMatch(/^http:\/\/[0-9a-f]{40}\.localhost:\d+$/);
  expect(page.url()).toBe(`${origin}/`);
  expect(sockets.map((url) => new URL(url).host)).toContain(new URL(origin).host);

  // What is edited in the sandbox is seen without a reload.
  await page.evaluate(() => Object.assign(window, { isSamePage: true }));
  writeFileSync(join(app, "main.js"), main("second"));
  await page.locator("#out", { hasText: "second" }).waitFor();
  expect(await page.evaluate(() => "isSamePage" in window)).toBe(true);

  // Neither our login, nor our page, nor our API.
  expect(await page.evaluate(() => document.cookie)).toBe("");
  expect(await page.evaluate(() => window.opener)).toBeNull();
  const names = (await page.context().cookies(origin)).map(({ name }) => name);
  expect(names).toEqual([`sbx_preview_${new URL(origin).port}`]);
  const reached = await page.evaluate(async (product) => {
    const asked = (path: string, init: RequestInit) =>
      fetch(product + path, { credentials: "include", ...init }).then(
        ({ type }) => type,
        () => "failed",
      );
    const socket = new WebSocket(`${product.replace("http", "ws")}/attach?sandbox=x`, "stdio.v1");
    const closed = new Promise<number>((resolve) => {
      socket.onclose = ({ code }) => resolve(code);
    });
    return [await asked("/api/me", {}), await asked("/logout", { method: "POST", mode: "no-cors" }), await closed];
  }, system.origin);
  expect(reached).toEqual(["failed", "opaque", 4401]);
  await tab.page.reload();
  await tab.state("attached");
  await page.close();
});
