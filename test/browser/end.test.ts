// The end of a process and of a page: what comes after, and what is asked before.
import type { Dialog } from "playwright-core";
import { expect, test } from "vitest";
import { fresh } from "../e2e/support/system/system.ts";
import { setUpBrowser } from "./support/fixture.ts";
import type { Tab } from "./support/tab.ts";

const browser = setUpBrowser();

const card = (tab: Tab, name: string) => tab.page.getByRole("heading", { name }).waitFor();

test("after an exit Enter starts again under the same name, Escape closes; closing a page asks while there is a process", async () => {
  const { tab } = await browser.shell();
  const address = tab.page.url();
  await tab.run("exit 3");
  await tab.says("Process exited with code 3");
  await tab.page.keyboard.press("Enter");
  await tab.shell();
  await tab.run("echo again $((40 + 2))");
  await tab.shows("again 42");
  await tab.run("exit 4");
  await tab.says("Process exited with code 4");
  await tab.page.reload();
  await tab.says("Process exited with code 4");
  await tab.page.locator(".xterm-helper-textarea").focus();
  await tab.page.keyboard.press("Escape");
  await card(tab, "Closed");
  // The keyboard is at "Reopen".
  await tab.page.keyboard.press("Enter");
  await tab.says("Process exited with code 4");
  expect(tab.page.url()).toBe(address);

  await tab.page.keyboard.press("Enter");
  await tab.shell();
  const asked: string[] = [];
  tab.page.on("dialog", (dialog: Dialog) => {
    asked.push(dialog.type());
    void dialog.dismiss();
  });
  await tab.page.close({ runBeforeUnload: true });
  await expect.poll(() => asked).toEqual(["beforeunload"]);
  // The browser tells the page's own words of it nothing: that it would not ask is seen in what it makes of the event.
  const isAsked = () => tab.page.evaluate(() => !window.dispatchEvent(new Event("beforeunload", { cancelable: true })));
  const flag = tab.page.getByLabel("Warn before closing a page with a running process");
  for (const isWanted of [false, true]) {
    await tab.button("Settings");
    await flag.setChecked(isWanted);
    await tab.page.keyboard.press("Escape");
    await expect.poll(isAsked).toBe(isWanted);
  }
  await tab.run("exit");
  await tab.state("exited");
  await tab.page.close({ runBeforeUnload: true });
  await expect.poll(() => tab.page.isClosed()).toBe(true);
  expect(asked.length).toBe(1);
});

test("a command that fails is started again only as itself: a new session is a shell", async () => {
  const command = `cmd=sh&arg=-c&arg=${encodeURIComponent("echo failing $$; exit 2")}`;
  const address = `/?sandbox=${fresh("fails")}&session=job&debug=1&renderer=dom&${command}`;
  const tab = await browser.open(await browser.member(), address);
  await tab.button("Run");
  await tab.says("Process exited with code 2");
  const pid = (await tab.find(/^failing (\d+)$/))[1];
  await tab.page.keyboard.press("Enter");
  await tab.find(new RegExp(`^failing (?!${pid}$)\\d+$`));
  await tab.says("Process exited with code 2");
  expect((await tab.rows()).filter((row) => row !== "").length).toBe(1);
  await tab.button("New session");
  await tab.shell();
  expect([...new URL(tab.page.url()).searchParams.keys()].sort()).toEqual(["debug", "renderer", "sandbox", "session"]);
});
