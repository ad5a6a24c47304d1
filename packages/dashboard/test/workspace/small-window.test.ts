// Panes on a phone, more tabs than a window has room for, and the way round the page by keyboard.

import { expect, test } from "vitest";
import { anybody } from "../../../local/src/issuer/anybody.ts";
import { signInPage } from "../../../local/src/issuer/pages.ts";
import type { TerminalPage } from "../browser.ts";
import { useBrowser } from "../fixture.ts";

const browser = useBrowser();
const PHONE = { isMobile: true, hasTouch: true };

/** Splits the window, and waits until so many sessions are open. */
async function press({ page }: TerminalPage, key: string, terminals: number): Promise<void> {
  await page.keyboard.press(key);
  await expect.poll(() => page.locator('.sbx-terminal[data-state="attached"]').count()).toBe(terminals);
}

const seen = ({ page }: TerminalPage) =>
  page.locator('.sbx-pane[data-seen="true"]').evaluateAll((panes) =>
    panes.map((pane) => ({
      id: pane.getAttribute("data-pane"),
      width: pane.getBoundingClientRect().width,
      rows: Number(pane.querySelector(".sbx-terminal")?.getAttribute("data-rows")),
    })),
  );

test("a phone shows one pane, upright and lying, with one row of keys; a list leads to the others", async () => {
  const page = await browser.open("/?session=main&renderer=dom", { width: 360, height: 740 }, PHONE);
  await page.state("attached");
  await page.type("");
  await press(page, "Control+Shift+D", 2);
  await press(page, "Control+Shift+E", 3);
  const list = page.page.getByRole("combobox", { name: "Open sessions" });
  expect(await list.locator("option").count()).toBe(3);
  await list.selectOption("default/main");
  await expect.poll(async () => (await seen(page)).map(({ id }) => id)).toEqual(["default/main"]);
  expect((await seen(page))[0]?.width).toBe(360);
  const bars = page.page.locator('.sbx-pane[data-seen="true"] .sbx-touch-keys, .sbx-divider');
  expect(await bars.count()).toBe(1);
  await page.page.setViewportSize({ width: 740, height: 360 });
  await expect.poll(async () => (await seen(page))[0]?.width).toBe(740);
  expect((await seen(page))[0]?.rows).toBeGreaterThan(7);
  await page.page.setViewportSize({ width: 1000, height: 740 });
  await expect.poll(async () => (await seen(page)).length).toBe(3);
});

test("the files panel leaves twenty columns of a narrow pane, and covers a phone's only one", async () => {
  const page = await browser.attached(undefined, { width: 800, height: 500 });
  await page.type("");
  await press(page, "Control+Shift+D", 2);
  const pane = page.page.locator('.sbx-pane[data-focus="true"]');
  const columns = async () => Number(await pane.locator(".sbx-terminal").getAttribute("data-cols"));
  const before = await columns();
  await page.page.getByRole("button", { name: "Files" }).click();
  const panel = pane.getByRole("complementary", { name: "Files" });
  // The server of these tests lists no folders, and the browser says so.
  await panel.getByText("Cannot read").waitFor();
  await expect.poll(() => page.problems.length).toBeGreaterThan(0);
  page.problems.length = 0;
  await expect.poll(columns).toBeLessThan(before);
  expect(await columns()).toBeGreaterThanOrEqual(20);
  await page.page.setViewportSize({ width: 390, height: 740 });
  await expect.poll(async () => (await panel.boundingBox())?.width).toBe(390);
});

test("the files panel has the focus when it opens, Escape leads back, and an open file stays as the window gets small", async () => {
  const page = await browser.attached();
  await page.page.route("**/run", async (route) => {
    const stdout =
      (route.request().postDataJSON() as { cmd: string }).cmd === "pwd" ? "/srv\n" : "//\0d/srv/a\0f/srv/b\0";
    await route.fulfill({ json: { stdout, stderr: "", exit: { code: 0 } } });
  });
  await page.type("");
  const panel = page.page.getByRole("complementary", { name: "Files" });
  const files = page.page.getByRole("button", { name: "Files" });
  const openings = [
    () => files.press("Enter"),
    async () => {
      await page.page.keyboard.press("Control+Shift+P");
      await page.page.getByRole("dialog").waitFor();
      await page.page.keyboard.type(">show or hide files");
      await page.page.keyboard.press("Enter");
    },
  ];
  for (const open of openings) {
    await open();
    await panel.locator('[data-path="/srv/a"]:focus').waitFor();
    await page.page.keyboard.press("ArrowDown");
    await panel.locator('[data-path="/srv/b"]:focus').waitFor();
    await page.page.keyboard.press("Escape");
    await panel.waitFor({ state: "detached" });
    await page.page.locator(".xterm-helper-textarea:focus").waitFor({ state: "attached" });
  }
  await files.press("Enter");
  await panel.getByRole("treeitem", { name: "b" }).click();
  const file = page.page.getByRole("dialog", { name: "b" });
  await file.waitFor();
  for (const width of [360, 900]) {
    await page.page.setViewportSize({ width, height: 500 });
    await expect.poll(() => page.page.locator(`main[data-small="${width === 360}"]`).count()).toBe(1);
    expect(await file.isVisible()).toBe(true);
  }
  await file.getByRole("button", { name: "Close" }).click();
});

test("a phone lying with its keyboard up has eight rows: no bars but for what is wrong, and a key to the commands", async () => {
  const page = await browser.open("/?session=main&renderer=dom", { width: 740, height: 180 }, PHONE);
  await page.state("attached");
  await expect.poll(async () => (await seen(page))[0]?.rows).toBe(8);
  const keys = page.page.getByRole("toolbar", { name: "Keys" });
  expect((await keys.boundingBox())?.height).toBe(36);
  expect(await page.page.locator(".sbx-tabs, .sbx-status button").filter({ visible: true }).count()).toBe(0);
  await keys.getByRole("button", { name: "Sessions" }).click();
  await page.page.getByRole("option", { name: /^New session/ }).waitFor();
  await page.page.keyboard.press("Escape");
  browser.server.isReachable = false;
  browser.server.cut();
  const retry = page.page.getByRole("button", { name: "Retry now" });
  await retry.click({ trial: true });
  expect((await page.page.locator(".sbx-status").boundingBox())?.height).toBe(36);
  expect((await seen(page))[0]?.rows).toBe(8);
  // Lying without it, all bars are there.
  await page.page.setViewportSize({ width: 740, height: 360 });
  await page.page.getByRole("combobox", { name: "Open sessions" }).waitFor();
  expect(await keys.getByRole("button", { name: "Sessions" }).count()).toBe(0);
});

test("the local login breaks no button's words on a phone", async () => {
  const { page } = await browser.open("/icon.svg", { width: 360, height: 740 }, PHONE);
  await page.goto("about:blank");
  const texts = { title: "Log in", explanation: "", action: "", note: "", refusal: "Cancel" };
  await page.setContent(signInPage({ ...texts, ...(await anybody.fields()) }));
  const heights = await page
    .locator("button")
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height));
  expect(heights).toEqual(heights.map(() => 44));
});

test("the current tab of many is in view, and a list has those that are not", async () => {
  const page = await browser.attached("/?session=main&renderer=dom");
  await page.type("");
  const isInView = () =>
    page.page.locator(".sbx-tab-list").evaluate((list) => {
      const [bar, tab] = [list, list.querySelector('[data-current="true"]')].map((one) => one?.getBoundingClientRect());
      return bar !== undefined && tab !== undefined && tab.left >= bar.left - 1 && tab.right <= bar.right + 1;
    });
  await press(page, "Control+Shift+D", 2);
  for (let count = 2; count <= 12; count += 1) {
    await page.button("New tab");
    await expect.poll(() => page.page.getByRole("tab").count()).toBe(count);
  }
  await expect.poll(isInView).toBe(true);
  await page.button("Open sessions");
  await page.page.getByRole("menuitem", { name: "main", exact: true }).click();
  await expect.poll(() => page.page.getByRole("tab", { selected: true }).textContent()).toMatch(/^main, /);
  await expect.poll(isInView).toBe(true);
});

test("Ctrl+F6 goes round the bars of each pane and the tabs, Tab enters no terminal, and Escape asks for one", async () => {
  const page = await browser.attached("/?session=main&renderer=dom");
  await page.type("");
  await press(page, "Control+Shift+D", 2);
  await page.page
    .locator('.sbx-pane[data-focus="true"]:not([data-pane="default/main"]) .xterm-helper-textarea:focus')
    .waitFor({ state: "attached" });
  const place = () =>
    page.page.evaluate(() => {
      const { activeElement: at } = document;
      const pane = at?.closest("[data-pane]")?.getAttribute("data-pane");
      const bar = ["sbx-tabs", "sbx-people", "sbx-bar", "xterm"].find((name) => at?.closest(`.${name}`) !== null);
      return `${bar} ${pane === undefined ? "" : pane === "default/main" ? "first" : "second"}`.trim();
    });
  const steps: string[] = [];
  for (let step = 0; step < 6; step += 1) {
    await page.page.keyboard.press("Control+F6");
    steps.push(await place());
  }
  expect(steps).toEqual([
    "sbx-people second",
    "sbx-bar",
    "sbx-tabs",
    "sbx-people first",
    "sbx-people second",
    "sbx-bar",
  ]);
  await page.page.keyboard.press("Control+Shift+F6");
  expect(await place()).toBe("sbx-people second");
  for (let step = 0; step < 2; step += 1) await page.page.keyboard.press("Control+F6");
  expect(await place()).toBe("sbx-tabs");
  for (let step = 0; step < 12; step += 1) {
    await page.page.keyboard.press("Tab");
    expect(await place()).not.toMatch(/^xterm/);
  }
  await page.page.locator('.sbx-pane[data-pane="default/main"] .sbx-people button').first().focus();
  await page.page.keyboard.press("Escape");
  expect(await place()).toBe("xterm first");
});
