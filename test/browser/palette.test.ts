// The list of sessions and commands: found, looked at, opened, ended and copied by keyboard.
import type { BrowserContext, Locator } from "playwright-core";
import { afterEach, expect, test } from "vitest";
import { system } from "../e2e/support/system/system.ts";
import { setUpBrowser } from "./support/fixture.ts";
import { alone, focused, forgetTabs, hasFocus, keptOf, typed } from "./support/panes.ts";
import type { Tab } from "./support/tab.ts";

const browser = setUpBrowser();

afterEach(async () => {
  await forgetTabs(await browser.member());
});

/** Starts a process under a name. */
async function start(profile: BrowserContext, sandbox: string, session: string, command: string): Promise<void> {
  const path = `${system.origin}/api/sandboxes/${sandbox}/sessions/${session}`;
  const data = { command, tty: true };
  const answer = await profile.request.put(path, { headers: { Origin: system.origin }, data });
  expect(answer.status()).toBe(201);
}

const dialog = (tab: Tab) => tab.page.getByRole("dialog", { name: "Sessions and commands" });
const option = (tab: Tab, text: string) => dialog(tab).getByRole("option").filter({ hasText: text });

async function listed(tab: Tab): Promise<void> {
  await tab.page.keyboard.press("Control+Shift+P");
  await dialog(tab).waitFor();
}

test("finds a session by what it runs, shows its screen live, and opens it; finds those of other sandboxes; copies what attaches", async () => {
  const { tab, profile, sandbox } = await alone(browser);
  for (const key of ["Escape", "Control+Shift+P"]) {
    await listed(tab);
    await tab.page.keyboard.press(key);
    await dialog(tab).waitFor({ state: "detached" });
    await hasFocus(tab, "one");
    await typed(tab, `echo after ${key.length}`, `after ${key.length}`);
  }
  await start(profile, sandbox, "counter", `awk 'BEGIN { while (1) { print "tick", ++n; system("sleep 1") } }'`);
  const elsewhere = `elsewhere-${Date.now()}`;
  await start(profile, elsewhere, "far", "exec cat");
  // What carries files for a page stands in no list.
  await start(profile, elsewhere, `upload-${crypto.randomUUID()}`, "exec cat");
  await listed(tab);
  await tab.page.keyboard.type(elsewhere);
  await option(tab, "far").waitFor();
  expect(await option(tab, "upload-").count()).toBe(0);
  await option(tab, `New session in sandbox ${elsewhere}`).waitFor();
  await tab.page.keyboard.press("Control+A");
  await tab.page.keyboard.type("one");
  const whole = option(tab, "one").filter({ hasNotText: "attached" }).first();
  await whole.waitFor();
  // None of them is cut.
  const facts = whole.locator(".sbx-palette-facts");
  expect(await facts.evaluate((line) => line.scrollWidth - line.clientWidth)).toBe(0);
  expect((await dialog(tab).boundingBox())?.width).toBeGreaterThan(700);
  await profile.grantPermissions(["clipboard-read", "clipboard-write"], { origin: system.origin });
  await tab.page.keyboard.press("Control+A");
  await tab.page.keyboard.type(`${sandbox} one`);
  await option(tab, "one").first().waitFor();
  await dialog(tab).getByRole("button", { name: "Copy attach command" }).click();
  await dialog(tab).getByText("Copied").waitFor();
  expect(await tab.page.evaluate(() => navigator.clipboard.readText())).toBe(
    `sbx-stdio ${system.origin} --sandbox ${sandbox} --session one`,
  );
  await tab.page.keyboard.press("Escape");
  await hasFocus(tab, "one");

  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await tab.page.route(/counter\/screen$/, async (route) => {
    await held;
    await route.continue();
  });
  await listed(tab);
  await tab.page.keyboard.type("awk begin");
  await option(tab, "counter")
    .and(dialog(tab).getByRole("option", { selected: true }))
    .waitFor();
  await option(tab, "counter")
    .filter({ hasText: /\d+ s ago/ })
    .filter({ hasNotText: "attached" })
    .waitFor();
  const screen = dialog(tab).getByRole("img", { name: "Screen of counter" });
  // A screen that comes later leaves the buttons where they are.
  const copy = dialog(tab).getByRole("button", { name: "Copy attach command" });
  const before = await copy.boundingBox();
  expect(await screen.count()).toBe(0);
  release();
  await screen.waitFor();
  expect(await copy.boundingBox()).toEqual(before);
  const ticks = async () => Number(/tick (\d+)\s*$/.exec((await screen.textContent()) ?? "")?.[1] ?? 0);
  await expect.poll(ticks).toBeGreaterThan(0);
  const first = await ticks();
  await expect.poll(ticks).toBeGreaterThan(first);
  await tab.page.keyboard.press("Enter");
  await hasFocus(tab, "counter");
  expect(await focused(tab, 1)).toBe("counter");
});

test("ends a session only where that is chosen; gives one a name by keys alone, which another device has, too", async () => {
  const { tab, profile, sandbox } = await alone(browser);
  await start(profile, sandbox, "doomed", "exec cat");
  await start(profile, sandbox, "worker", "exec cat");
  // A look is under way when it ends: what comes of that is no concern of the page's.
  let release = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    release = resolve;
  });
  await tab.page.route(/doomed\/screen$/, async (route) => {
    await ended;
    await route.fulfill({ status: 503, json: {} }).catch(() => undefined);
  });
  await listed(tab);
  await tab.page.keyboard.type("doomed");
  await option(tab, "doomed").waitFor();
  const end = dialog(tab).getByRole("button", { name: "End…" });
  await end.focus();
  await tab.page.keyboard.press("Enter");
  await dialog(tab).getByRole("alertdialog").getByText("exec cat").waitFor();
  await tab.page.keyboard.press("Enter");
  await end.waitFor();
  const path = (session: string) => `${system.origin}/api/sandboxes/${sandbox}/sessions/${session}`;
  expect(await (await profile.request.get(path("doomed"))).json()).toMatchObject({ state: "running" });
  await end.click();
  await dialog(tab).getByRole("button", { name: "End doomed" }).click();
  await dialog(tab).getByText("doomed has ended").waitFor();
  release();
  // Offered once nothing else is called so.
  await option(tab, "New session named doomed").waitFor();
  expect((await profile.request.get(path("doomed"))).status()).toBe(404);
  await tab.page.keyboard.press("Escape");
  await hasFocus(tab, "one");

  await listed(tab);
  await tab.page.keyboard.type("worker");
  await option(tab, "worker").waitFor();
  const rename = dialog(tab).getByRole("button", { name: "Rename…" });
  while (!(await rename.evaluate((button) => button === document.activeElement))) await tab.page.keyboard.press("Tab");
  await tab.page.keyboard.press("Enter");
  await tab.page.keyboard.type("the nightly build\n");
  await tab.page.keyboard.press("Control+A");
  await tab.page.keyboard.type("nightly");
  await option(tab, "the nightly build").filter({ hasText: "worker" }).waitFor();
  await tab.page.keyboard.press("Enter");
  await tab.page.getByRole("tab", { name: "the nightly build", selected: true }).waitFor();
  const kept = async () => JSON.stringify(await keptOf(profile));
  // Its tab, too: both may be stored at once or one after the other, and a device reads them once.
  const tabThenName = new RegExp(`\\["${sandbox}","worker"\\].*"${sandbox}/worker":"the nightly build"`);
  await expect.poll(kept).toMatch(tabThenName);
  const other = await browser.open(await browser.freshMember(), "/?debug=1&renderer=dom");
  await other.page.getByRole("tab", { name: "the nightly build" }).waitFor();
  // Its own name is its address, for everybody.
  expect(await (await profile.request.get(path("worker"))).json()).toMatchObject({ session: "worker" });
  await other.page.close();

  // In the system's colours what is chosen and pressed has a line, and at 400 % a session's actions are in sight.
  const { page } = tab;
  await page.emulateMedia({ forcedColors: "active" });
  const reader = page.getByRole("button", { name: "Screen reader" });
  await reader.click();
  const outline = (one: Locator) => one.evaluate((element) => getComputedStyle(element).outlineStyle);
  await expect.poll(() => outline(reader)).toBe("dashed");
  await page.setViewportSize({ width: 320, height: 200 });
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("one");
  const chosen = dialog(tab).getByRole("option", { selected: true });
  await chosen.filter({ hasText: "one" }).waitFor();
  expect(await outline(chosen)).toBe("solid");
  const open = dialog(tab).getByRole("button", { name: "Open", exact: true });
  await expect.poll(() => open.evaluate((button) => button.getBoundingClientRect().bottom <= innerHeight)).toBe(true);
});
