// The page in a real browser, against the real session core: what a person sees, through cuts, reloads and the end.

import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { buildPage, launch, TerminalPage } from "./browser.ts";
import { PageServer } from "./server.ts";

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

let browser: Browser;
let built: Awaited<ReturnType<typeof buildPage>>;
let server: PageServer;
let pages: TerminalPage[];

beforeAll(async () => {
  built = await buildPage();
  browser = await launch("--disable-gpu");
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await built?.remove();
});

beforeEach(async () => {
  pages = [];
  server = await PageServer.start(built.dist);
});

afterEach(async () => {
  for (const { page } of pages) await page.context().close();
  await server.stop();
  expect(pages.flatMap((page) => page.problems)).toEqual([]);
});

/** A browser of a person of their own. */
async function open(
  path = "/?session=main&renderer=dom",
  viewport = { width: 900, height: 500 },
): Promise<TerminalPage> {
  const context = await browser.newContext({ viewport });
  const page = new TerminalPage(await context.newPage());
  page.page.setDefaultTimeout(10_000);
  pages.push(page);
  await page.page.goto(server.url + path);
  return page;
}

async function attached(path?: string): Promise<TerminalPage> {
  const page = await open(path);
  await page.state("attached");
  return page;
}

describe("what is drawn", () => {
  test("a prompt in colour is drawn in the theme's colour", async () => {
    const page = await attached();
    server.process("main").print("\x1b[31mred\x1b[0m \x1b[1;32mgreen\x1b[0m plain\r\n");
    await page.shows("red green plain");
    const colors = await page.page
      .locator(".xterm-rows span")
      .evaluateAll((spans) => spans.map((span) => [span.textContent, getComputedStyle(span).color]));
    expect(colors.filter(([text]) => text === "red" || text === "green")).toEqual([
      ["red", "rgb(255, 122, 144)"],
      ["green", "rgb(166, 240, 198)"],
    ]);
  });
});
