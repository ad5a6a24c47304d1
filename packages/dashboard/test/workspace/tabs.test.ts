// What the tabs say of their sessions, and what their menus do. In a real browser.

import { expect, test } from "vitest";
import type { TerminalPage } from "../browser.ts";
import { useBrowser } from "../fixture.ts";
import type { PlayedProcess } from "../server.ts";

const browser = useBrowser();

const prompt = (cwd: string) => `\x1b]633;P;Cwd=${cwd}\x07\x1b]133;A\x07$ \x1b]133;B\x07`;
const ran = (exit: number, cwd: string) => `x\r\n\x1b]633;E;x\x07\x1b]133;C\x07\x1b]133;D;${exit}\x07${prompt(cwd)}`;
const tab = ({ page }: TerminalPage, name: string) => page.getByRole("tab", { name, exact: true });
const names = ({ page }: TerminalPage) => page.getByRole("tab").locator("span").allTextContents();

/** Opens a tab whose shell is in a folder. */
async function newTab(page: TerminalPage, cwd: string): Promise<PlayedProcess> {
  const before = await page.page.locator(".sbx-pane").count();
  await page.button("New tab");
  await expect.poll(() => page.page.locator('.sbx-terminal[data-state="attached"]').count()).toBe(before + 1);
  const made = browser.server.process(browser.server.attaches.at(-1)?.get("session") ?? "");
  made.print(prompt(cwd));
  return made;
}

test("what happens in a tab that nobody looks at is shown on it and counted in the title, until somebody looks, and who asks there is told here", async () => {
  const page = await browser.attached();
  const main = browser.server.process("main");
  main.print(prompt("/"));
  await newTab(page, "/srv/src");
  main.print(ran(0, "/"));
  await tab(page, "a command ended main").waitFor();
  await expect.poll(() => page.page.title()).toBe("src");
  main.print("\x07");
  await tab(page, "rang main").waitFor();
  main.print(ran(1, "/"));
  await tab(page, "a command failed main").waitFor();
  main.print(`\x07${ran(0, "/")}`);
  await expect.poll(() => page.page.title()).toBe("(1) src");
  await tab(page, "a command failed main").click();
  await tab(page, "main").waitFor();
  main.print(`\x07${ran(1, "/")}again`);
  await expect.poll(() => page.page.title()).toBe("main");
  expect(await page.page.locator(".sbx-sign").count()).toBe(0);
  // A program asks for a person in the tab that nobody looks at.
  const [connection] = main.connections;
  await tab(page, "src").click();
  const ask = { id: "1", writer: "deploy-bot", reason: "Continue the migration?", secret: false, seconds: 900 };
  connection?.send({ type: "ask", ...ask });
  await tab(page, "asks for you main").waitFor();
  await expect.poll(() => page.page.title()).toBe("(1) src");
  await page.page.getByText("main: deploy-bot asks for you: Continue the migration?").waitFor();
  await page.button("Go there");
  await tab(page, "asks for you main").and(page.page.locator('[aria-selected="true"]')).waitFor();
  await page.page.getByRole("button", { name: "Take the keyboard" }).waitFor();
  expect(await page.page.getByRole("button", { name: "Go there" }).count()).toBe(0);
  connection?.send({ type: "ask_state", id: "1", answer: "expired" });
  await tab(page, "main").waitFor();
});

test("sessions that a restart of the server has ended are marked, and all start again in their folders at once", async () => {
  const page = await browser.attached();
  browser.server.process("main").print(prompt("/srv/app"));
  await newTab(page, "/srv/src");
  await newTab(page, "/opt/lib");
  await expect.poll(() => names(page)).toEqual(["main", "src", "lib"]);
  const before = browser.server.attaches.length;
  browser.server.processes.clear();
  browser.server.cut();
  for (const name of ["main", "src", "lib"]) await tab(page, `no longer exists ${name}`).waitFor();
  await page.page.getByRole("region", { name: "3 sessions here no longer exist" }).waitFor();
  browser.server.goneFolder = "/opt/lib";
  await page.button("Start all again");
  await expect.poll(() => page.page.locator(".sbx-sign").count()).toBe(0);
  await expect.poll(() => page.page.locator('.sbx-terminal[data-state="attached"]').count()).toBe(3);
  const starts = browser.server.attaches.slice(before).filter((query) => query.get("ended") === "replace");
  // The last one's folder is gone too: it starts where it was started first.
  const folders = starts.map((query) => query.get("cwd")).sort();
  expect(folders).toEqual(["/opt/lib", "/srv/app", "/srv/src", "/srv/src"]);
});

test("an ask that was taken is given back as done or as not done, and its warning is marked", async () => {
  const page = await browser.attached();
  const [connection] = browser.server.process("main").connections;
  const ask = { id: "1", writer: "deploy-bot", reason: "The passphrase", secret: true, seconds: 900 };
  connection?.send({ type: "ask", ...ask });
  await page.page.getByRole("button", { name: "Take the keyboard" }).waitFor();
  connection?.send({ type: "ask_state", id: "1", by: "client-1" });
  connection?.send({ type: "stdin_holder", id: "client-1" });
  const notice = page.page.getByRole("region", { name: "deploy-bot asks for you: The passphrase" });
  await notice.getByText("The terminal shows what you type, and that is kept.").waitFor();
  expect(await notice.locator(".sbx-warning svg").count()).toBe(1);
  expect(await notice.getByRole("button").allTextContents()).toEqual(["Done, give back", "Give back without doing it"]);
  expect(await page.page.getByRole("button", { name: "Release" }).count()).toBe(0);
});

test("equal names are numbered, and are the same on tab, pane, menu and list; the bar repeats none; ids are in tooltips alone", async () => {
  const page = await browser.attached("/?sandbox=default&session=web-aaaaaaaa&renderer=dom");
  browser.server.process("web-aaaaaaaa").print(prompt("/root"));
  await expect.poll(() => names(page)).toEqual(["~"]);
  for (const cwd of ["/srv/src", "/srv/src", "/opt/src"]) await newTab(page, cwd);
  await expect.poll(() => names(page)).toEqual(["~", "src", "src 2", "src 3"]);
  await page.page.locator('[data-focus="true"] .sbx-heading').getByText("default / src 3", { exact: true }).waitFor();
  expect(await page.page.locator(".sbx-place").isVisible()).toBe(false);
  expect(await page.page.title()).toBe("src 3");
  browser.server.listed = [...browser.server.processes.keys()].map((key) => ({
    ...{ session: key.split("/")[1], state: "running", tty: true, cmd: "bash", args: [], clients: 1 },
    participants: [{ name: "Ann" }, { name: "Bob" }],
  }));
  await page.button("Sessions");
  await page.page.getByRole("option").filter({ hasText: "default · bash · Ann, Bob attached" }).first().waitFor();
  const listed = page.page.getByRole("option").filter({ hasText: "bash" }).locator(".sbx-palette-name");
  await expect.poll(async () => (await listed.allTextContents()).sort()).toEqual(["src", "src 2", "src 3", "~"]);
  expect(await page.page.locator("main").innerText()).not.toMatch(/web-[a-z1-9]{8}/);
});

test("of many tabs each shows what tells it from the others, and its number; a double click names one in its place", async () => {
  const page = await browser.attached("/?sandbox=default&session=web-aaaaaaaa&renderer=dom", {
    width: 1000,
    height: 400,
  });
  /** How much of the name is cut off, and whether its end is seen. */
  const cut = (of: string) =>
    tab(page, of)
      .locator("span")
      .evaluate((name) => {
        const [start, end] = [name.querySelector("i"), name.getBoundingClientRect()];
        const edge = name.closest(".sbx-tab")?.getBoundingClientRect().right ?? 0;
        return [(start?.scrollWidth ?? 0) - (start?.clientWidth ?? 0), end.right <= edge];
      });
  // With room for it, a name is whole, beside the closing button too.
  browser.server.process("web-aaaaaaaa").print(prompt("/srv/a-rather-long-folder"));
  await tab(page, "a-rather-long-folder").waitFor();
  expect(await cut("a-rather-long-folder")).toEqual([0, true]);
  browser.server.process("web-aaaaaaaa").print(prompt("/srv/project"));
  for (let i = 2; i <= 10; i += 1) await newTab(page, "/srv/project");
  await expect.poll(async () => (await names(page)).at(-1)).toBe("project 10");
  expect(await cut("project 3")).toEqual([0, true]);
  await tab(page, "project 3").dblclick();
  const field = page.page.locator(".sbx-tab .sbx-name-field");
  await field.press("Control+A");
  await field.fill("x".repeat(41));
  await field.press("Enter");
  expect(await field.evaluate((input: HTMLInputElement) => [input.validity.valid, input.value.length])).toEqual([
    false,
    41,
  ]);
  await field.fill("the build of the last release 3");
  await field.press("Delete");
  await field.press("Enter");
  const long = "the build of the last release 3";
  await tab(page, long).waitFor();
  await tab(page, "project 2").click();
  await expect.poll(() => cut(long)).toEqual([expect.any(Number), true]);
  expect((await cut(long))[0]).toBeGreaterThan(40);
  await tab(page, long).dblclick();
  expect(await field.inputValue()).toBe(long);
  await field.press("Escape");
  await field.waitFor({ state: "detached" });
  expect((await names(page)).length).toBe(10);
});

test("a closed tab is named by what it showed, nothing in the row moves, and a menu closes, closes others, and ends a session", async () => {
  const page = await browser.attached();
  for (const cwd of ["/srv/a", "/srv/b", "/srv/c"]) await newTab(page, cwd);
  await expect.poll(() => names(page)).toEqual(["main", "a", "b", "c"]);
  const left = async () => (await tab(page, "a").boundingBox())?.x;
  const before = await left();
  await page.keepUndo();
  await tab(page, "c").press("Delete");
  await page.page.getByText("Closed “c”: still running", { exact: true }).waitFor();
  expect([await names(page), await left()]).toEqual([["main", "a", "b"], before]);
  await page.button("Undo");
  await expect.poll(() => names(page)).toEqual(["main", "a", "b", "c"]);
  const choose = async (name: string, entry: string) => {
    await tab(page, name).click({ button: "right" });
    await page.page.getByRole("menuitem", { name: entry }).click();
  };
  await choose("a", "Close tab");
  await expect.poll(() => names(page)).toEqual(["main", "b", "c"]);
  // The closed tab was not the current one, which stays.
  await tab(page, "c").and(page.page.locator('[aria-selected="true"]')).waitFor();
  await choose("main", "Close other tabs");
  await expect.poll(() => names(page)).toEqual(["main"]);
  const end = page.page.getByRole("dialog", { name: "End main?" });
  await choose("main", "End session…");
  await end.waitFor();
  await page.page.keyboard.press("Enter");
  await end.waitFor({ state: "detached" });
  expect(browser.server.ended).toEqual([]);
  await page.button("Pane menu");
  await page.page.getByRole("menuitem", { name: "End session…" }).click();
  await end.getByRole("button", { name: "End main" }).click();
  await end.waitFor({ state: "detached" });
  expect(browser.server.ended).toEqual(["main"]);
});

test("with more tabs than there is room for, the current one stays whole as its name grows, and a menu has all", async () => {
  const page = await browser.attached(undefined, { width: 760, height: 400 });
  let last: PlayedProcess | undefined;
  for (let i = 1; i <= 7; i += 1) last = await newTab(page, `/srv/folder-${i}`);
  const isWhole = () =>
    page.page.locator('.sbx-tab[data-current="true"]').evaluate((current) => {
      const [own, row] = [current.getBoundingClientRect(), current.parentElement?.getBoundingClientRect()];
      return row !== undefined && own.left >= row.left - 1 && own.right <= row.right + 1;
    });
  last?.print("make\r\n\x1b]633;E;make everything in this folder\x07\x1b]133;C\x07");
  await tab(page, "make everything in this folder · folder-7").waitFor();
  await expect.poll(isWhole).toBe(true);
  await page.button("Open sessions");
  const entries = page.page.getByRole("menuitem");
  expect(await entries.allTextContents()).toEqual(await names(page));
  await entries.filter({ hasText: "folder-1" }).click();
  await tab(page, "folder-1").and(page.page.locator('[aria-selected="true"]')).waitFor();
  await expect.poll(isWhole).toBe(true);
});

test("a window beside saved tabs keeps its own, over a reload too, until the others are brought here", async () => {
  const saved = (session: string) => ({ focus: 0, root: ["default", session] });
  browser.server.layout = {
    version: 1,
    current: 0,
    tabs: [saved("web-bbbbbbbb")],
    places: { "default/web-bbbbbbbb": "docs" },
  };
  const page = await browser.attached();
  await newTab(page, "/srv/src");
  await expect.poll(() => names(page)).toEqual(["main", "src"]);
  await page.page.getByText("1 saved session in other windows").waitFor();
  await page.page.reload();
  await expect.poll(() => names(page)).toEqual(["main", "src"]);
  await page.button("Bring them here");
  await expect.poll(() => names(page)).toEqual(["main", "src", "docs"]);
  expect(new URL(page.page.url()).searchParams.get("tabs")).toBe("1");
});
