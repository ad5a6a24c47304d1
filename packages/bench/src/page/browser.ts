// A Chromium as a person has it: driven, but not told to treat hidden tabs as visible, which test drivers do. And a stock page of
// xterm.js with a local echo, to compare with.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { ROOT } from "../../../local/src/base/paths.ts";
import { findChromium } from "../../../local/src/base/programs.ts";

const SOFTWARE_GL = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"];

export class RealBrowser {
  readonly version: string;
  /** The usual profile, in one window: a tab in front hides the others. */
  readonly profile: BrowserContext;
  readonly #child: ChildProcess;
  readonly #directory: string;

  private constructor(version: string, profile: BrowserContext, child: ChildProcess, directory: string) {
    this.version = version;
    this.profile = profile;
    this.#child = child;
    this.#directory = directory;
  }

  /** @throws {Error} If there is no Chromium. */
  static async start({ isSoftwareGl = false } = {}): Promise<RealBrowser> {
    const path = findChromium();
    if (path === undefined) throw new Error("Cannot find Chromium: set CHROMIUM_PATH");
    const directory = mkdtempSync(join(tmpdir(), "bench-browser-"));
    const quiet = ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
    const args = ["--headless=new", "--no-sandbox", "--remote-debugging-port=0", "--window-size=1200,800", ...quiet];
    const gl = isSoftwareGl ? SOFTWARE_GL : [];
    const child = spawn(path, [...args, ...gl, `--user-data-dir=${directory}`, "about:blank"], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    const address = await new Promise<string>((resolve, reject) => {
      let said = "";
      child.stderr?.on("data", (chunk: Buffer) => {
        said += String(chunk);
        const [url] = /ws:\/\/\S+/.exec(said) ?? [];
        if (url !== undefined) resolve(url);
      });
      child.once("exit", (code) => reject(new Error(`Chromium ended with ${code}`)));
    });
    const browser = await chromium.connectOverCDP(address, { noDefaults: true });
    const [profile] = browser.contexts();
    if (profile === undefined) throw new Error("Cannot find Chromium's profile");
    return new RealBrowser(browser.version(), profile, child, directory);
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill();
    await ended;
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

const STOCK = `<!doctype html><title>xterm.js alone</title><link rel="stylesheet" href="/xterm.css">
<style>body{margin:0;background:#000}</style><div id="stage"></div><script type="module">
import { Terminal } from "/xterm.mjs";
const terminal = new Terminal({ cols: 120, rows: 36, fontSize: 14, scrollback: 10000 });
terminal.open(document.getElementById("stage"));
terminal.onData((text) => terminal.write(text));
terminal.focus();
window.sbx = { terminal };
</script>`;

/** xterm.js as it comes, on a page of its own: what is typed is printed at once. */
export class StockPage {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  static async start(): Promise<StockPage> {
    const files: Readonly<Record<string, readonly [type: string, path: string]>> = {
      "/xterm.mjs": ["text/javascript", "lib/xterm.mjs"],
      "/xterm.css": ["text/css", "css/xterm.css"],
    };
    const server = createServer(({ url = "/" }, response) => {
      const file = files[url];
      response.setHeader("Content-Type", file?.[0] ?? "text/html; charset=utf-8");
      response.end(file === undefined ? STOCK : readFileSync(join(ROOT, "node_modules/@xterm/xterm", file[1])));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new StockPage(server);
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** Of `window.probe`, which is there after {@link watch}. */
export type Probe = { readonly keys: number[]; readonly longTasks: number[]; readonly hidden: boolean };

/** From the key's own time to the task behind the frame in which the cursor moved. Long tasks take 50 ms or more. */
const PROBE = `(() => {
  const { terminal } = window.sbx;
  const probe = (window.probe = { keys: [], longTasks: [] });
  const cursor = () => terminal.buffer.active.baseY * 1e6 + terminal.buffer.active.cursorY * 1e3 + terminal.buffer.active.cursorX;
  let pressed;
  terminal.element.addEventListener("keydown", (event) => { pressed ??= { at: event.timeStamp, cursor: cursor() }; }, true);
  terminal.onRender(() => {
    if (pressed === undefined || pressed.cursor === cursor()) return;
    const { at } = pressed;
    pressed = undefined;
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => probe.keys.push(performance.now() - at);
    port2.postMessage(0);
  });
  new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) probe.longTasks.push(duration); })
    .observe({ type: "longtask" });
})()`;

export async function watch(page: Page): Promise<void> {
  await page.evaluate(PROBE);
}

export async function probed(page: Page): Promise<Probe> {
  return page.evaluate<Probe>("({ ...window.probe, hidden: document.hidden })");
}
