// Other products' clients in a real browser, unchanged: SandboxAddon of @cloudflare/sandbox/xterm, and the example that
// PandaStack's page has for browsers.
import { expect, test } from "vitest";
import { NOW_AND_THEN } from "../../packages/dashboard/test/browser.ts";
import { fresh, person } from "../e2e/support/system/system.ts";
import { setUpBrowser } from "./support/fixture.ts";
import { openAddon, openPtyExample } from "./support/other-clients.ts";
import type { Tab } from "./support/tab.ts";

const browser = setUpBrowser();

/** A tab with the addon in it, logged in and connected, with a plain prompt on an empty screen. */
async function addonTab(sandbox: string): Promise<Tab> {
  const profile = await browser.member();
  const tab = await openAddon(browser, profile, sandbox);
  await connected(tab, 1);
  return tab;
}

/** What its onStateChange was called with. */
const statesOf = (tab: Tab): Promise<string[]> =>
  tab.page.evaluate(() => (window as unknown as { sbx: { states: string[] } }).sbx.states);

/** Waits until it has been connected so many times. */
async function connected(tab: Tab, times: number): Promise<void> {
  await tab.page.waitForFunction(
    (count) => {
      const { states } = (window as unknown as { sbx?: { states: string[] } }).sbx ?? { states: [] };
      return states.filter((state) => state === "connected").length >= count;
    },
    times,
    NOW_AND_THEN,
  );
}

async function plainPrompt(tab: Tab): Promise<void> {
  await tab.find(/[$#]$/);
  await tab.run("PS1='$ '; clear");
  await tab.prompt();
}

/** Cuts the connection, and waits until the addon has made another. */
async function cutAndBack(tab: Tab, times: number): Promise<void> {
  browser.link.cut();
  await tab.page.waitForFunction(
    (count) =>
      (window as unknown as { sbx: { states: string[] } }).sbx.states.filter((state) => state === "disconnected")
        .length >= count,
    times,
    NOW_AND_THEN,
  );
  browser.link.mend();
  await connected(tab, times + 1);
}

test("SandboxAddon types, resizes, comes back after cuts, and shares the session with our own page", async () => {
  const sandbox = fresh("addon");
  const tab = await addonTab(sandbox);
  await plainPrompt(tab);
  await tab.run("echo é日👩 $((6 * 7)); stty size");
  await tab.shows("é日👩 42");
  await tab.shows("24 80");
  await tab.page.evaluate(() => window.sbx.terminal.resize(100, 30));
  await tab.prompt();
  await tab.run("stty size");
  await tab.shows("30 100");
  expect(await statesOf(tab)).toEqual(["connecting", "connected"]);

  await tab.run("clear; kept=still; seq 20; printf '\\e[31mred\\e[0m\\n'");
  await tab.shows("red");
  await tab.prompt();
  const rows = await tab.rows();
  await cutAndBack(tab, 1);
  await tab.shows("red");
  await tab.prompt();
  expect(await tab.rows()).toEqual(rows);
  await tab.run("echo $kept here");
  await tab.shows("still here");

  await tab.run("vim -u NONE -N draft.txt");
  await tab.find(/^"draft.txt" \[New\]/);
  await tab.type("ihalf a ");
  await tab.shows("half a");
  await cutAndBack(tab, 2);
  await tab.shows("half a");
  await tab.type("line");
  await tab.shows("half a line");
  await tab.page.keyboard.press("Escape");
  await tab.run(":q!");
  await tab.prompt();

  // It shares the session with our own page.
  const ours = await browser.open(tab.page.context(), `/?sandbox=${sandbox}&session=main&debug=1&renderer=dom`);
  await ours.state("attached");
  await ours.prompt();
  await ours.run("echo from ours $((1 + 1))");
  await tab.shows("from ours 2");
  await tab.run("echo from theirs $((2 + 2))");
  await ours.shows("from theirs 4");
  await ours.page.close();
});

test("SandboxAddon gets the exit with its code, and then a new shell", async () => {
  const tab = await addonTab(fresh("addon"));
  await plainPrompt(tab);
  await tab.run("exit 7");
  await connected(tab, 2);
  expect(await statesOf(tab)).toEqual([
    "connecting",
    "connected",
    "connected: Session exited with code 7",
    "disconnected",
    "connecting",
    "connected",
  ]);
  await plainPrompt(tab);
  await tab.run("echo new $((5 * 5))");
  await tab.shows("new 25");
});

test("PandaStack's browser example works as it stands: types, resizes, gets the exit", async () => {
  const profile = await browser.profile();
  const { token } = await person();
  const tab = await openPtyExample(browser, profile, fresh("panda"), token);
  await plainPrompt(tab);
  await tab.run("echo é日👩 $((6 * 7)); stty size");
  await tab.shows("é日👩 42");
  await tab.shows("40 120");
  await tab.page.evaluate(() => window.sbx.terminal.resize(90, 20));
  await tab.run("clear; stty size");
  await tab.shows("20 90");
  await tab.run("exit 3");
  await tab.shows("[process exited 3]");
});
