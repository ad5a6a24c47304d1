// The frame of every browser test: one browser for all files of a vitest worker, one server a test or a `describe`, and nothing may go wrong unseen.

import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject } from "vitest";
import { launch, STILL, TerminalPage } from "./browser.ts";
import { PageServer } from "./server.ts";

/** The page on session "main", drawn so that a test can read its rows. */
export const MAIN = "/?session=main&renderer=dom";

/** A service worker would store the page in each new profile: a sixth of a test's work. Those of test/browser have it. */
const FRESH = { ...STILL, serviceWorkers: "block" } as const;

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

/** Also with a page that all tests have in turn, as each leaves it: for those that can go on from there. */
export type OnePage = Fixture & {
  /** That page, on an empty screen, its process as if nothing had been typed. @param sandbox Of its session "main". */
  blank(sandbox?: string): Promise<TerminalPage>;
};

/** This worker's browsers, by their flags: its modules stay loaded from file to file, and Playwright ends them when it ends. */
const browsers = new Map<string, Promise<Browser>>();

function browserWith(flags: readonly string[]): Promise<Browser> {
  const key = flags.join(" ");
  const browser = browsers.get(key) ?? launch(...flags);
  browsers.set(key, browser);
  return browser;
}

/** A server, and the pages on it. */
class Frame implements Fixture {
  readonly #flags: readonly string[];
  #server: PageServer | undefined;
  #pages: TerminalPage[] = [];

  constructor(flags: readonly string[]) {
    this.#flags = flags;
  }

  get server(): PageServer {
    if (this.#server === undefined) throw new Error("Cannot use the server outside a test");
    return this.#server;
  }

  async start(): Promise<void> {
    this.#server = await PageServer.start(inject("dist"));
  }

  async end(): Promise<void> {
    const pages = this.#pages;
    this.#pages = [];
    for (const context of new Set(pages.map(({ page }) => page.context()))) await context.close();
    await this.#server?.stop();
    expect(pages.flatMap((page) => page.problems)).toEqual([]);
  }

  expectNoProblem(): void {
    expect(this.#pages.flatMap((page) => page.problems.splice(0))).toEqual([]);
  }

  async open(path = MAIN, viewport = { width: 900, height: 500 }, options = {}): Promise<TerminalPage> {
    const browser = await browserWith(this.#flags);
    const context = await browser.newContext({ viewport, ...FRESH, ...options });
    const page = this.adopt(await context.newPage());
    await page.page.goto(this.server.url + path);
    return page;
  }

  async attached(path?: string, viewport?: { width: number; height: number }): Promise<TerminalPage> {
    const page = await this.open(path, viewport);
    await page.state("attached");
    return page;
  }

  adopt(page: TerminalPage["page"]): TerminalPage {
    page.setDefaultTimeout(HANG_MS);
    const adopted = new TerminalPage(page);
    this.#pages.push(adopted);
    return adopted;
  }
}

/** Each test has its own server and pages. @param flags More for Chromium. */
export function useBrowser(...flags: string[]): Fixture {
  const frame = new Frame(flags);
  beforeEach(() => frame.start());
  afterEach(() => frame.end());
  return frame;
}

/** All tests of the file or `describe` have one server, and can share a page. @param given How that is opened, as in `open`. */
export function useOnePage(...given: Parameters<Fixture["open"]>): OnePage {
  const frame = new Frame([]);
  let page: TerminalPage | undefined;
  beforeAll(() => frame.start());
  afterEach(() => frame.expectNoProblem());
  afterAll(() => frame.end());
  return Object.assign(frame, {
    async blank(sandbox?: string) {
      page ??= await frame.open(...given);
      await page.state("attached");
      const process = frame.server.process("main", sandbox);
      process.forget();
      process.print("\x1bc");
      await expect.poll(async () => (await page?.rows())?.join("")).toBe("");
      return page;
    },
  });
}
