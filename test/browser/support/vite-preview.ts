// A link of a real development server, followed as a person does: what it shows, in which origin, and what it can't see there.
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { anyFreePort } from "../../../packages/local/src/base/ports.ts";
import { system } from "../../e2e/support/system/system.ts";
import type { Fixture } from "./fixture.ts";
import { follow } from "./links.ts";

declare global {
  interface Window {
    /** The addresses that the page has connected to. */
    sockets?: readonly string[];
  }
}

const VITE = join(dirname(createRequire(import.meta.url).resolve("vite/package.json")), "bin/vite.js");

/** Follows vite's link, edits what it serves, and tries to reach from there what is ours. */
export async function followVite(browser: Fixture): Promise<void> {
  const { tab, directory } = await browser.shell();
  // Whom a page connects to: not every browser tells a test.
  await tab.page.context().addInitScript(() => {
    const sockets: string[] = [];
    window.sockets = sockets;
    window.WebSocket = class extends WebSocket {
      constructor(...args: ConstructorParameters<typeof WebSocket>) {
        super(...args);
        sockets.push(this.url);
      }
    };
  });
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
  await tab.page.getByRole("button", { name: `Open ${port}` }).waitFor();

  const page = await follow(tab, `http://localhost:${port}/`);
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
  await expect.poll(() => isConnected, { timeout: 120_000 }).toBe(true);
  const { origin } = new URL(page.url());
  expect(origin).toMatch(/^http:\/\/[0-9a-f]{40}\.localhost:\d+$/);
  expect(page.url()).toBe(`${origin}/`);
  expect(await page.evaluate(() => window.sockets?.map((url) => new URL(url).host))).toEqual([new URL(origin).host]);

  // What is edited in the sandbox is seen without a reload.
  await page.evaluate(() => Object.assign(window, { isSamePage: true }));
  // Vite's client drops an update of a module that has not run yet.
  await page.locator("#out", { hasText: "first" }).waitFor();
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

  // Its address alone opens nothing, in a browser that is not logged in.
  const stranger = await (await browser.profile()).newPage();
  expect((await stranger.goto(origin))?.status()).toBe(401);
  expect(await stranger.locator("#out").count()).toBe(0);
}
