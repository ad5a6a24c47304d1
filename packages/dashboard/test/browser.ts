// Chromium, the built page, and what a test reads off it. Nothing here knows the page's code, only its DOM.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build as bundle } from "esbuild";
import { type Browser, chromium, type Page } from "playwright-core";
import { partsIn, sharedParts } from "../../local/src/system/installed.ts";

const CANDIDATES = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** @throws {Error} Naming what is missing: these tests are never skipped. */
export function chromiumPath(): string {
  const given = process.env.CHROMIUM_PATH;
  if (given !== undefined) return given;
  const bundled = chromium.executablePath();
  const found = [...CANDIDATES, bundled].find((path) => existsSync(path));
  if (found === undefined) {
    throw new Error(
      `Cannot find Chromium: not at ${CANDIDATES.join(", ")} nor ${bundled}; set CHROMIUM_PATH, or install Debian's package "chromium"`,
    );
  }
  return found;
}

const COMPONENT_HTML = `<!doctype html>
<title>Somebody's page</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/component.css">
<div id="root"></div>
<script type="module" src="/component.js"></script>
`;

/** The usual options of a profile. A cursor that blinks has the browser draw 50 frames a second: a seventh of a core for each page. */
export const STILL = { colorScheme: "dark", reducedMotion: "reduce" } as const;

/** How a page is asked until something is so. Playwright would ask at each frame, for which the browser draws 60 a second. */
export const NOW_AND_THEN = { polling: 50 } as const;

/** Starts a browser of its own, with nothing in it that calls home. */
export function launch(...more: string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath(),
    args: [
      "--no-sandbox",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // A process of its own that draws with the processor would take a third of a test's work. WebGL is there all the same.
      "--disable-gpu",
      ...more,
    ],
  });
}

/** Builds the page into a directory of its own, as `npm run build` does, and a host page for the component beside it. */
export async function buildPage(): Promise<{ dist: string; remove: () => Promise<void> }> {
  const dist = await mkdtemp(join(tmpdir(), "sbx-page-"));
  const parts = sharedParts();
  if (parts === undefined) await buildPageInto(dist);
  else await cp(partsIn(parts).page, dist, { recursive: true });
  await bundle({
    entryPoints: [fileURLToPath(new URL("component.tsx", import.meta.url))],
    outfile: join(dist, "component.js"),
    bundle: true,
    format: "esm",
    jsx: "automatic",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "error",
  });
  await writeFile(join(dist, "component.html"), COMPONENT_HTML);
  return { dist, remove: () => rm(dist, { recursive: true, force: true }) };
}

async function buildPageInto(dist: string): Promise<void> {
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  const vite = join(dirname(createRequire(import.meta.url).resolve("vite/package.json")), "bin/vite.js");
  const args = [vite, "build", "--logLevel", "error", "--outDir", dist, "--emptyOutDir"];
  // Under vitest NODE_ENV is "test", which would build React's development version.
  await promisify(execFile)(process.execPath, args, { cwd, env: { ...process.env, NODE_ENV: "production" } });
}

/** A browser's own reports: a connection that fails or that its page leaves, a network that goes or changes, an icon that is missing. */
const ITS_OWN =
  /WebSocket|ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED|^(Firefox can’t establish a|The) connection to (the server at )?wss?:\/\/|\/favicon\.ico /;

const isConflict = (text: string) => text.includes("409");
const isLayout = (url: string) => url.endsWith("/api/layout");

/** The page under test. */
export class TerminalPage {
  readonly page: Page;
  readonly problems: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.on("pageerror", ({ message }) => {
      if (!ITS_OWN.test(message)) this.problems.push(`error: ${message}`);
    });
    page.on("console", (message) => {
      // The browser also reports that another page was faster with a layout.
      const isUsual = ITS_OWN.test(message.text()) || (isConflict(message.text()) && isLayout(message.location().url));
      if (message.type() === "error" && !isUsual) this.problems.push(message.text());
    });
  }

  /** Waits until the terminal's state, as the page names it, is this one. */
  async state(name: string): Promise<void> {
    await this.page.locator(`.sbx-terminal[data-state="${name}"]`).waitFor();
  }

  async data(name: string): Promise<string | null> {
    return this.page.locator(".sbx-terminal").getAttribute(`data-${name}`);
  }

  async waitForData(name: string, value: string | number): Promise<void> {
    await this.page.locator(`.sbx-terminal[data-${name}="${value}"]`).waitFor();
  }

  /** The words of the status line. */
  async words(): Promise<string> {
    return (await this.page.locator(".sbx-words").textContent()) ?? "";
  }

  /** Waits until the status line says this. */
  async says(words: string | RegExp): Promise<void> {
    await this.page.locator(".sbx-words").filter({ hasText: words }).waitFor();
  }

  async button(name: string): Promise<void> {
    await this.page.getByRole("button", { name }).click();
  }

  /** Has what was closed be told until it is undone: a busy machine is slower than a person. */
  async keepUndo(): Promise<void> {
    await this.page.evaluate(() => {
      const { setTimeout } = window;
      const isUndo = (ms: unknown) => ms === 8_000;
      window.setTimeout = ((act: () => void, ms?: number) =>
        isUndo(ms) ? 0 : setTimeout(act, ms)) as typeof setTimeout;
    });
  }

  /** Ends the login, by the person's menu. */
  async logOut(): Promise<void> {
    await this.page.locator(".sbx-user").click();
    await this.page.getByRole("menuitem", { name: "Log out" }).click();
  }

  /** The rows of the screen, as the DOM renderer draws them, without what is blank at their ends. */
  async rows(): Promise<string[]> {
    const rows = await this.page.locator(".xterm-rows > div").allTextContents();
    return rows.map((row) => row.replaceAll("\u00a0", " ").trimEnd());
  }

  /** Waits until a row of the screen reads just this. */
  async shows(row: string): Promise<void> {
    await this.page.waitForFunction(
      (wanted) => {
        const rows = [...document.querySelectorAll(".xterm-rows > div")];
        return rows.some((each) => each.textContent.replaceAll("\u00a0", " ").trimEnd() === wanted);
      },
      row,
      NOW_AND_THEN,
    );
  }

  async type(text: string): Promise<void> {
    await this.page.locator(".xterm-helper-textarea").focus();
    await this.page.keyboard.type(text);
  }
}

/** Lets go of files over the terminal. @param files Their texts, by name. */
export async function dropFiles({ page }: TerminalPage, files: Readonly<Record<string, string>>): Promise<void> {
  await page.locator(".xterm-screen").evaluate((screen, files) => {
    const dataTransfer = new DataTransfer();
    for (const [name, text] of Object.entries(files)) dataTransfer.items.add(new File([text], name));
    for (const type of ["dragover", "drop"]) {
      screen.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    }
  }, files);
}

/** Pastes as the browser does it: with an event at the terminal's field. */
export async function pasteInto({ page }: TerminalPage, text: string): Promise<void> {
  const field = page.locator(".xterm-helper-textarea");
  await field.focus();
  await field.evaluate((area, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    area.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}
