// The frame of every browser test: one browser for all files of a vitest worker, one server a test, and nothing may go wrong unseen.

import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterEach, beforeEach, expect, inject } from "vitest";
import { launch, STILL, TerminalPage } from "./browser.ts";
import { PageServer } from "./server.ts";

/** The page on session "main", drawn so that a test can read its rows. */
export const MAIN = "/?session=main&renderer=dom";

/** Playwright's own limit, which ends what hangs. A busy machine is no failure. */
const HANG_MS = 120_000;

export type Fixture = {
  readonly server: PageServer;
  /** A page in a browser profile of its own. */
  open(
    path?: string,
    viewport?: { width: number; height: number },
    options?: BrowserContextOptions,
  ): Promise<TerminalPage>;
  /** Such a page, once it is attached. */
  attached(path?: string, viewport?: { width: number; height: number }): Promise<TerminalPage>;
  /** Takes on a page that the browser opened by itself. */
  adopt(page: TerminalPage["page"]): TerminalPage;
};

/** This worker's browsers, by their flags: its modules stay loaded from file to file, and Playwright ends them when it ends. */
const browsers = new Map<string, Promise<Browser>>();

function browserWith(flags: readonly string[]): Promise<Browser> {
  const key = flags.join(" ");
  const browser = browsers.get(key) ?? launch(...flags);
  browsers.set(key, browser);
  return browser;
}

/** @param flags More for Chromium. */
export function useBrowser(...flags: string[]): Fixture {
  let server: PageServer | undefined;
  let pages: TerminalPage[] = [];

  beforeEach(async () => {
    server = await PageServer.start(inject("dist"));
  });
  afterEach(async () => {
    const problems = pages.flatMap((page) => page.problems);
    for (const context of new Set(pages.map(({ page }) => page.context()))) await context.close();
    pages = [];
    await server?.stop();
    expect(problems).toEqual([]);
  });

  const fixture: Fixture = {
    get server() {
      if (server === undefined) throw new Error("Cannot use the server outside a test");
      return server;
    },
    async open(path = MAIN, viewport = { width: 900, height: 500 }, options = {}) {
      const browser = await browserWith(flags);
      const context = await browser.newContext({ viewport, ...STILL, ...options });
      const page = fixture.adopt(await context.newPage());
      await page.page.goto(fixture.server.url + path);
      return page;
    },
    async attached(path, viewport) {
      const page = await fixture.open(path, viewport);
      await page.state("attached");
      return page;
    },
    adopt(page) {
      page.setDefaultTimeout(HANG_MS);
      const adopted = new TerminalPage(page);
      pages.push(adopted);
      return adopted;
    },
  };
  return fixture;
}
