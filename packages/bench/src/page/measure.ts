// The page beside xterm.js alone: keys, the first prompt, 50 MB of a build log in sight and out of it, and who draws.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { BrowserContext, Page } from "playwright-core";
import { ROOT } from "../../../local/src/base/paths.ts";
import { buildPage } from "../../../local/src/build/builds.ts";
import { buildAndStart } from "../../../local/src/system/parts.ts";
import type { System } from "../../../local/src/system/system.ts";
import { median, percentile, scaled } from "../base/numbers.ts";
import { probed, RealBrowser, StockPage, watch } from "./browser.ts";

/** A row: the value of xterm.js alone (undefined if not measured), the page's value, and the goal. */
export type PageRow = readonly [name: string, alone: number | string | undefined, page: number | string, goal: string];

const KEYS = 300;
const FIRST_PROMPTS = 10;
const LOG_BYTES = 50_000_000;
const SHORT_LOG_BYTES = 5_000_000;
const VARS = { LIMIT_ATTACHES_PER_MINUTE: "100000", LIMIT_SESSIONS: "100000", LIMIT_CONNECTIONS_PER_IP: "100000" };

/** @param share Share of the keys and bytes to measure, up to 1. */
export async function measurePage(share: number): Promise<{ readonly browser: string; readonly rows: PageRow[] }> {
  await buildPage();
  const dir = mkdtempSync(join(tmpdir(), "bench-page-"));
  const system = await buildAndStart({ dir, workerVars: VARS });
  const browser = await RealBrowser.start();
  try {
    await logIn(browser.profile, system);
    const log = buildLog(dir, scaled(LOG_BYTES, share, 1_000_000));
    const rows = [
      ...(await keys(browser, system, scaled(KEYS, share, 30))),
      ...(await firstPrompts(browser, system, scaled(FIRST_PROMPTS, share, 3))),
      ["the page's own code, KiB compressed", undefined, ownKibibytes(), "below 230"] as PageRow,
      ...(await floodBesideKeys(browser, system, log)),
      ...(await hiddenAndVisible(browser, system, log)),
      ...(await softwareGl(system, buildLog(dir, scaled(SHORT_LOG_BYTES, share, 500_000)))),
    ];
    return { browser: `Chromium ${browser.version}`, rows };
  } finally {
    await browser.stop();
    await system.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

type Log = { readonly path: string; readonly megabytes: number; readonly dir: string };

/** Writes lines like a compiler's, with colours; the same in each run. */
function buildLog(dir: string, bytes: number): Log {
  const lines: string[] = [];
  for (let at = 0, n = 0; at < bytes; n += 1) {
    const unit = `src/module_${n % 97}/unit_${(n * 7919) % 10_007}.c`;
    const line = `\x1b[32m[${n}/999999]\x1b[0m \x1b[1mCC\x1b[0m ${unit} -> build/\x1b[36m${unit.replace(/c$/, "o")}\x1b[0m (${(n * 31) % 997} ms)`;
    lines.push(n % 50 === 49 ? `\x1b[1;33mwarning:\x1b[0m unused variable 'count_${n % 13}' [-Wunused]` : line);
    at += (lines.at(-1)?.length ?? 0) + 1;
  }
  const path = join(dir, `build-${bytes}.log`);
  writeFileSync(path, `${lines.join("\n")}\n`);
  return { path, megabytes: bytes / 1e6, dir };
}

async function keys(browser: RealBrowser, system: System, count: number): Promise<PageRow[]> {
  const stock = await StockPage.start();
  const alone = await browser.profile.newPage();
  await alone.goto(stock.url);
  await alone.waitForFunction("window.sbx !== undefined");
  const [ofStock, ofPage] = [await typed(alone, count), await openTerminal(browser.profile, system).then(catOn)];
  const ours = await typed(ofPage, count);
  for (const page of [alone, ofPage]) await page.close();
  await stock.stop();
  return [
    ["key to paint p50, ms", percentile(ofStock, 0.5), percentile(ours, 0.5), "5 more than alone"],
    ["key to paint p99, ms", percentile(ofStock, 0.99), percentile(ours, 0.99), ""],
  ];
}

/** The kernel echoes the keys, as the stock page does itself. */
async function catOn(page: Page): Promise<Page> {
  await run(page, "clear; echo READY; exec cat > /dev/null");
  await shows(page, "^READY$");
  return page;
}

async function typed(page: Page, count: number): Promise<readonly number[]> {
  await page.bringToFront();
  await typeKeys(page, 20);
  await watch(page);
  await typeKeys(page, count);
  return (await probed(page)).keys;
}

/** Time from the start of navigation to the prompt, in tabs that each start a session. */
async function firstPrompts(browser: RealBrowser, system: System, count: number): Promise<PageRow[]> {
  const cached: number[] = [];
  const uncached: number[] = [];
  for (let round = 0; round < 2 * count + 1; round += 1) {
    const isCached = round % 2 === 0;
    const session = await browser.profile.newPage().then(async (page) => {
      const devtools = await browser.profile.newCDPSession(page);
      await devtools.send("Network.setCacheDisabled", { cacheDisabled: !isCached });
      await page.goto(`${system.origin}/?sandbox=bench&session=first-${process.pid}-${round}&debug=1`);
      await shows(page, PROMPT);
      return page;
    });
    const ms = await session.evaluate<number>("performance.now()");
    if (round > 0) (isCached ? cached : uncached).push(ms);
    await session.close();
  }
  return [
    ["first prompt of a new tab, ms", undefined, median(cached), ""],
    ["... with nothing in the browser's cache, ms", undefined, median(uncached), ""],
  ];
}

/** Counts as packages/dashboard/test/app/size.test.ts does. */
function ownKibibytes(): number {
  const dist = join(ROOT, "packages/dashboard/dist");
  const names = readdirSync(join(dist, "assets")).filter((name) => /\.(?:js|css)$/.test(name));
  const own = names.filter((name) => !/^(?:xterm|addon-[a-z]+)-/.test(name)).map((name) => join("assets", name));
  const sizes = [...own, "service-worker.js"].map((path) => gzipSync(readFileSync(join(dist, path))).length);
  return sizes.reduce((sum, size) => sum + size, 0) / 1024;
}

/** Starts a shell that prints the log once `go` creates a file, and creates another file at its end. */
async function armed(page: Page, log: Log, name: string): Promise<{ go(): void; readonly isDone: () => boolean }> {
  const [start, done] = [join(log.dir, `${name}.go`), join(log.dir, `${name}.done`)];
  await run(
    page,
    `clear; echo READY; until [ -e ${start} ]; do sleep 0.02; done; cat ${log.path}; echo END-OF-LOG; : > ${done}`,
  );
  await shows(page, "^READY$");
  return { go: () => writeFileSync(start, ""), isDone: () => existsSync(done) };
}

/** Types into one pane while another is flooded. */
async function floodBesideKeys(browser: RealBrowser, system: System, log: Log): Promise<PageRow[]> {
  const page = await openTerminal(browser.profile, system);
  await page.bringToFront();
  const flood = await armed(page, log, "panes");
  await page.keyboard.press("Control+Shift+D");
  await page.locator(".sbx-terminal[data-state=attached]").nth(1).waitFor();
  await shows(page, PROMPT);
  await catOn(page);
  await typeKeys(page, 20);
  await watch(page);
  const from = performance.now();
  flood.go();
  await typeKeys(page, 100_000, flood.isDone);
  const seconds = (performance.now() - from) / 1000;
  const { keys, longTasks } = await probed(page);
  await page.close();
  const size = `${log.megabytes} MB of a build log`;
  return [
    [`key to paint p50 beside ${size} in another pane, ms`, undefined, percentile(keys, 0.5), ""],
    ["... p99, ms", undefined, percentile(keys, 0.99), ""],
    ["... keys typed", undefined, String(keys.length), ""],
    ["... tasks of 50 ms or more", undefined, String(longTasks.length), ""],
    ["... the longest, ms", undefined, Math.max(0, ...longTasks), ""],
    ["... until all of it is printed, s", undefined, seconds, ""],
  ];
}

async function hiddenAndVisible(browser: RealBrowser, system: System, log: Log): Promise<PageRow[]> {
  const seconds = { visible: 0, hidden: 0 };
  for (const kind of ["visible", "hidden"] as const) {
    const page = await openTerminal(browser.profile, system);
    await page.bringToFront();
    const flood = await armed(page, log, kind);
    const other = await browser.profile.newPage();
    await (kind === "hidden" ? other : page).bringToFront();
    await pause(500);
    const isHidden = await page.evaluate<boolean>("document.hidden");
    if (isHidden !== (kind === "hidden")) throw new Error(`Cannot make the page ${kind}`);
    seconds[kind] = await timed(page, flood.go);
    for (const each of [page, other]) await each.close();
  }
  const size = `${log.megabytes} MB of a build log`;
  const alone = await aloneSeconds(browser, log);
  return [
    [`${size} in a visible tab, s`, alone, seconds.visible, ""],
    ["... in a hidden tab, s", undefined, seconds.hidden, ""],
    ["... hidden to visible, x", undefined, seconds.hidden / seconds.visible, "1.5"],
  ];
}

async function timed(page: Page, go: () => void): Promise<number> {
  const from = performance.now();
  go();
  await shows(page, "^END-OF-LOG");
  return (performance.now() - from) / 1000;
}

/** xterm.js alone parses the same bytes from memory: no process, no network. */
async function aloneSeconds(browser: RealBrowser, log: Log): Promise<number> {
  const stock = await StockPage.start();
  const page = await browser.profile.newPage();
  await page.goto(stock.url);
  await page.waitForFunction("window.sbx !== undefined");
  await page.bringToFront();
  const text = readFileSync(log.path, "latin1").slice(0, 1_000_000);
  const ms = await page.evaluate<number>(`(async () => {
    const text = ${JSON.stringify(text)}.replaceAll("\\n", "\\r\\n");
    const from = performance.now();
    for (let round = 0; round < ${log.megabytes}; round += 1)
      for (let at = 0; at < text.length; at += 65536)
        await new Promise((resolve) => window.sbx.terminal.write(text.slice(at, at + 65536), resolve));
    return performance.now() - from;
  })()`);
  await page.close();
  await stock.stop();
  return ms / 1000;
}

/** With WebGL emulated by the processor: the renderer that the page chooses, and how long WebGL takes. */
async function softwareGl(system: System, log: Log): Promise<PageRow[]> {
  const browser = await RealBrowser.start({ isSoftwareGl: true });
  try {
    await logIn(browser.profile, system);
    const seconds: number[] = [];
    const renderers: string[] = [];
    for (const query of ["", "&renderer=webgl"]) {
      const page = await openTerminal(browser.profile, system, query);
      await page.bringToFront();
      const flood = await armed(page, log, `gl-${renderers.length}`);
      renderers.push((await page.locator(".sbx-terminal").getAttribute("data-renderer")) ?? "none");
      seconds.push(await timed(page, flood.go));
      await page.close();
    }
    const [chosen = Number.NaN, forced = Number.NaN] = seconds;
    return [
      ["renderer where the processor draws WebGL", undefined, renderers[0] ?? "none", "dom"],
      [`... ${log.megabytes} MB of a build log there, s`, undefined, chosen, ""],
      [`... the same with ?renderer=${renderers[1]}, s`, undefined, forced, ""],
    ];
  } finally {
    await browser.stop();
  }
}

const PATIENCE_MS = 600_000;
const LOOK_MS = 15;

async function logIn(profile: BrowserContext, { origin }: System): Promise<void> {
  const page = await profile.newPage();
  await page.goto(`${origin}/?sandbox=bench`);
  await page.getByRole("link", { name: "Log in" }).click();
  await page.getByRole("button", { name: "Continue as alice" }).click();
  await page.locator('.sbx-terminal[data-state="attached"]').waitFor();
  await page.close();
}

let names = 0;

/** Opens a tab with a new session, at its shell's prompt. */
async function openTerminal(profile: BrowserContext, { origin }: System, query = ""): Promise<Page> {
  const page = await profile.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  names += 1;
  await page.goto(`${origin}/?sandbox=bench&session=page-${process.pid}-${names}&debug=1${query}`);
  await shows(page, PROMPT);
  return page;
}

/** A prompt alone on its line. */
const PROMPT = "[$#>%] ?$";

/** Waits for a line on the screen. Asks from here: browsers slow down the timers of a hidden page. */
async function shows(page: Page, line: string): Promise<void> {
  const look = `(() => {
    const terminal = window.sbx?.terminal;
    if (terminal === undefined) return false;
    const { active } = terminal.buffer;
    for (let y = active.baseY; y < active.baseY + terminal.rows; y += 1)
      if (new RegExp(${JSON.stringify(line)}).test(active.getLine(y)?.translateToString(true) ?? "")) return true;
    return false;
  })()`;
  const end = performance.now() + PATIENCE_MS;
  while (!(await page.evaluate<boolean>(look))) {
    if (performance.now() > end) throw new Error(`Waited for ${line} on the page`);
    await pause(LOOK_MS);
  }
}

async function run(page: Page, command: string): Promise<void> {
  await page.keyboard.type(command);
  await page.keyboard.press("Enter");
}

/** Types up to `count` keys at a person's pace, until `isOver`. */
async function typeKeys(page: Page, count: number, isOver = () => false): Promise<void> {
  for (let key = 0; key < count && !isOver(); key += 1) {
    await page.keyboard.press("x");
    await pause(25 + (key % 4) * 5);
    // A line of a terminal takes 4,095 bytes.
    if (key % 100 === 99) await page.keyboard.press("Enter");
  }
}
