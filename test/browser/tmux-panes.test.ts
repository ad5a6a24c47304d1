// A session that runs under tmux, on the page: its windows are tabs, its panes stand where tmux has them, from either side.
// `PANES_STEPS=N` (test:long) takes so many steps at random besides, `PANES_SEED=S` others.
import { expect, test } from "vitest";
import { Random } from "../../packages/local/src/base/random.ts";
import { cutInnerHop } from "../e2e/support/system/system.ts";
import { setUpBrowser } from "./support/fixture.ts";
import { liveTerminals } from "./support/memory.ts";
import { agree, goTo, inPane, pane, paned, rowsOf, seenPanes, shows } from "./support/tmux-panes.ts";
import { nextStep } from "./support/tmux-steps.ts";

const browser = setUpBrowser();

const STEPS = Number(process.env.PANES_STEPS ?? 0);
const SEED = Number(process.env.PANES_SEED ?? 1);
const MS_PER_STEP = 3_000;

test("panes that others split, resize, zoom and close in tmux are drawn where tmux has them, over cuts too; a guest has none", async () => {
  const { tab, tmux } = await paned(browser);
  await agree(tab, tmux);
  tmux.run("split-window", "-h", "-t", "%0", "sh");
  await agree(tab, tmux);
  tmux.run("split-window", "-v", "-t", "%1", "sh");
  await agree(tab, tmux);
  expect((await seenPanes(tab)).length).toBe(3);
  const tools = tab.page.locator(".sbx-tmux-tools > button");
  expect(
    await tools.evaluateAll((all) => all.map((one) => [one.querySelector("svg") !== null, one.textContent])),
  ).toEqual(Array.from({ length: await tools.count() }, () => [true, ""]));
  await inPane(tab, "%2", "echo in-$((40+2))");
  await shows(tab, "%2", /^in-42$/);
  expect((await rowsOf(tab, "%0")).join("\n")).not.toContain("in-42");
  tmux.run("resize-pane", "-t", "%0", "-x", "30");
  await agree(tab, tmux);
  tmux.run("select-pane", "-t", "%0");
  // tmux tells the program its size a moment later.
  await inPane(tab, "%0", "until stty size | grep ' 30$'; do sleep 0.1; done");
  await shows(tab, "%0", /^\d+ 30$/);
  tmux.run("resize-pane", "-Z", "-t", "%1");
  // Before the step has been taken, both agree on what was.
  await expect.poll(async () => (await seenPanes(tab)).length).toBe(1);
  await agree(tab, tmux);
  tmux.run("kill-pane", "-t", "%1");
  await agree(tab, tmux);
  await pane(tab, "%1").waitFor({ state: "detached" });
  tmux.run("new-window", "sh");
  await agree(tab, tmux);
  await expect
    .poll(() => tab.page.locator(".sbx-tmux-windows").getByRole("tab", { selected: true }).getAttribute("data-window"))
    .toBe("@1");
  await inPane(tab, "%3", "echo at-$((40+3)); exit");
  await agree(tab, tmux);
  await inPane(tab, "%0", "echo back-$((40+4))");
  await shows(tab, "%0", /^back-44$/);
  // Of four panes two are closed: what is left is the session's own terminal, those of the others, and at most the newest closed one.
  await expect.poll(() => liveTerminals(tab)).toBeLessThanOrEqual(4);

  expect((await tab.page.reload())?.status()).toBe(200);
  tmux.run("split-window", "-h", "-t", "%0", "sh");
  await agree(tab, tmux, "after a reload");
  expect(await cutInnerHop()).toBeNull();
  tmux.run("resize-pane", "-t", "%0", "-x", "30");
  await agree(tab, tmux, "over a cut of the inner hop");
  browser.link.cut();
  tmux.run("split-window", "-v", "-t", "%0", "sh");
  await tab.page.locator('.sbx-terminal:not([data-state="attached"])').first().waitFor({ state: "attached" });
  browser.link.mend();
  // As a browser says when the network is back: nothing waits any longer.
  await tab.page.evaluate(() => window.dispatchEvent(new Event("online")));
  await agree(tab, tmux, "over a cut of the page's connections");
  tmux.run("select-pane", "-t", "%0");
  await agree(tab, tmux);
  await inPane(tab, "%0", "echo over-$((40+5))");
  await shows(tab, "%0", /^over-45$/);

  // A guest of a link sees the session as every other client does.
  await tab.button("Share");
  await tab.page.getByLabel("Who may use the link").selectOption("with the link");
  await tab.button("Copy link");
  const link = await tab.page.getByLabel(/^Link, valid/).inputValue();
  const guest = await browser.open(await browser.profile(), link.replace("#", "&debug=1&renderer=dom#"));
  await guest.state("attached");
  await guest.find(/\[main\]/);
  expect(await guest.page.locator(".sbx-tmux").count()).toBe(0);
  // What was typed into a pane is asked about before the page closes, as in any session.
  await tab.page.keyboard.press("Escape");
  await inPane(tab, "%0", "echo typed");
  await shows(tab, "%0", /^typed$/);
  const asked = tab.page.waitForEvent("dialog");
  await tab.page.close({ runBeforeUnload: true });
  const dialog = await asked;
  expect(dialog.type()).toBe("beforeunload");
  await dialog.dismiss();
});

test("panes are split, resized, moved, zoomed and closed by the page's buttons, borders and keys", async () => {
  const { tab, tmux, sandbox } = await paned(browser);
  const { page } = tab;
  const windows = page.locator(".sbx-tmux-windows");
  const press = (name: string | RegExp) => page.getByRole("button", { name }).click();
  const widths = () => tmux.run("list-panes", "-F", "#{pane_id}:#{pane_width}").trimEnd().split("\n");
  const order = () => tmux.run("list-panes", "-s", "-F", "#{pane_id}").trimEnd().split("\n");

  await press(/^Split right/);
  await expect.poll(order).toEqual(["%0", "%1"]);
  await agree(tab, tmux);
  // A button that was pressed keeps no keyboard: what it has made is typed into.
  await inPane(tab, "%1", "");
  await press(/^Split down/);
  await expect.poll(order).toEqual(["%0", "%1", "%2"]);
  await agree(tab, tmux);
  const notices = await page
    .locator(":has(> .sbx-tmux) > .sbx-toasts")
    .evaluate((toasts) => toasts.getBoundingClientRect().top);
  const tools = await page.locator(".sbx-tmux-tools").evaluate((line) => line.getBoundingClientRect().bottom);
  expect(notices).toBeGreaterThan(tools);

  const border = page.getByRole("separator").first();
  const before = Number(widths()[0]?.split(":")[1]);
  const box = await border.boundingBox();
  const width = (await pane(tab, "%0").boundingBox())?.width;
  if (box === null || width === undefined) throw new Error("The border is not drawn");
  await page.mouse.move(box.x + box.width / 2, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 - (10 * width) / before, box.y + 50, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => widths()[0]).toBe(`%0:${before - 10}`);
  await agree(tab, tmux);
  await border.press("ArrowRight");
  await expect.poll(() => widths()[0]).toBe(`%0:${before - 9}`);
  await agree(tab, tmux);
  await page.keyboard.press("Escape");
  await inPane(tab, "%2", "");

  await page.keyboard.press("Alt+Shift+ArrowLeft");
  await inPane(tab, "%0", "echo went-$((40+2))");
  await shows(tab, "%0", /^went-42$/);
  await expect.poll(() => tmux.run("display-message", "-p", "#{pane_id}").trim()).toBe("%0");
  await press(/^Swap with/);
  await expect.poll(order).toEqual(["%1", "%0", "%2"]);
  await agree(tab, tmux);
  await page.getByRole("button", { name: /^Swap with/ }).dragTo(pane(tab, "%2"));
  await expect.poll(order).toEqual(["%1", "%2", "%0"]);
  await agree(tab, tmux);

  await press("Zoom pane");
  // Before the step has been taken, both agree on what was.
  await expect.poll(async () => (await seenPanes(tab)).length).toBe(1);
  await agree(tab, tmux);
  await press("Zoom pane");
  await agree(tab, tmux);
  await press(/^Move pane to a new window/);
  await expect.poll(() => windows.getByRole("tab").count()).toBe(2);
  // Before the step has been taken, both agree on what was.
  await expect.poll(async () => (await seenPanes(tab)).length).toBe(1);
  await agree(tab, tmux);
  await windows.getByRole("tab").first().click();
  // Before the step has been taken, both agree on what was.
  await expect.poll(async () => (await seenPanes(tab)).length).toBe(2);
  await agree(tab, tmux);
  const chosen = tmux.run("display-message", "-p", "#{pane_id}").trim();
  await inPane(tab, chosen, "");
  await press(/^New window/);
  await expect.poll(() => windows.getByRole("tab").count()).toBe(3);
  await agree(tab, tmux);
  await press(/^Close pane/);
  expect(order().length).toBe(4);
  // The question is about its pane, wherever the focus goes meanwhile.
  const closing = tmux.run("display-message", "-p", "#{pane_id}").trim();
  await pane(tab, closing).locator("textarea").focus();
  await windows.getByRole("tab").first().click();
  await agree(tab, tmux);
  await press("End program");
  await expect.poll(order).not.toContain(closing);
  await expect.poll(() => windows.getByRole("tab").count()).toBe(2);
  await agree(tab, tmux);

  // Windows are named and moved, and a pane goes into another window, and back by the mouse.
  const tabs = windows.getByRole("tab");
  await press(/^Rename window/);
  await page.getByLabel("Window name").fill("my logs");
  await page.keyboard.press("Enter");
  await expect.poll(() => tmux.run("list-windows", "-F", "#{window_name}")).toContain("my-logs\n");
  await inPane(tab, tmux.run("display-message", "-p", "#{pane_id}").trim(), "");
  await agree(tab, tmux);
  const ids = () => tmux.run("list-windows", "-F", "#{window_id}").trimEnd().split("\n");
  const [one, other] = ids();
  await tabs.first().focus();
  await page.keyboard.press("Shift+ArrowRight");
  await expect.poll(ids).toEqual([other, one]);
  await agree(tab, tmux);
  await tabs.last().dragTo(tabs.first());
  await expect.poll(ids).toEqual([one, other]);
  await agree(tab, tmux);
  await tabs.last().click();
  await agree(tab, tmux);
  const [alone = ""] = await seenPanes(tab);
  await press(/^Move pane to the next window/);
  await expect.poll(() => tabs.count()).toBe(1);
  await agree(tab, tmux);
  expect(await seenPanes(tab)).toContain(alone);
  await press(/^New window/);
  await expect.poll(() => tabs.count()).toBe(2);
  await agree(tab, tmux);
  await page.getByRole("button", { name: /^Swap with/ }).dragTo(windows.getByRole("tab", { selected: false }));
  await expect.poll(() => tabs.count()).toBe(1);
  await agree(tab, tmux);

  // The panes' own sessions stand in no list: the session that they are panes of does.
  await page.keyboard.press("Control+Shift+P");
  const options = page.getByRole("option").filter({ hasText: sandbox });
  await expect.poll(() => options.filter({ hasText: "main" }).count()).toBe(1);
  expect(await options.filter({ hasText: ".pane." }).count()).toBe(0);
});

test("the bar of keys on a touch screen is for the pane with the focus: keys, Ctrl that stays, and what is selected there", async () => {
  const { tab, tmux } = await paned(browser, { viewport: { width: 420, height: 700 }, hasTouch: true, isMobile: true });
  tmux.run("split-window", "-v", "-t", "%0", "sh");
  await agree(tab, tmux);
  await inPane(tab, "%1", "stty raw -echo; echo reads; cat -v");
  await shows(tab, "%1", /^reads/);
  await tab.button("Ctrl, for the next key");
  await tab.page.keyboard.type("a");
  await tab.button("PgUp, page up");
  await shows(tab, "%1", /\^A\^\[\[5~$/);
  await tab.page.getByRole("button", { name: "Ctrl, for the next key", pressed: false }).waitFor();
  expect((await rowsOf(tab, "%0")).join("\n")).not.toContain("^A");
  await pane(tab, "%1")
    .locator(".xterm-screen")
    .dblclick({ position: { x: 12, y: 8 } });
  await tab.page.getByRole("button", { name: "Copy the selection" }).waitFor();
});

const atRandom = `${STEPS} steps of splitting, resizing, closing and reconnecting, from either side, leave page and list-panes in agreement`;
const walk = async (): Promise<void> => {
  const random = new Random(SEED, "page panes");
  const page = await paned(browser);
  const { tab, tmux } = page;
  tmux.run("set-option", "-g", "default-command", "echo this is $TMUX_PANE; exec cat");
  tmux.run("respawn-pane", "-k", "-t", "%0");
  let cuts = 0;
  const steps: string[] = [];
  const asSteps = (cause: unknown) => {
    const last = steps.slice(-5).join(", then ");
    const why = cause instanceof Error ? cause.message : String(cause);
    return new Error(`Failed at step ${steps.length} of seed ${SEED}: ${last}\n${why}`, { cause });
  };
  for (let step = 0; step < STEPS; step += 1) {
    const { words, isCut, do: carryOut } = await nextStep(page, random, browser.link);
    steps.push(words);
    try {
      await carryOut();
      await agree(tab, tmux, words);
    } catch (error) {
      throw asSteps(error);
    }
    if (isCut === true) cuts += 1;
  }
  expect(cuts).toBeGreaterThan(0);
  // And each pane that is seen is typed into as the one that it says it is.
  // An order to close one of them may be followed only now.
  const isThere = (id: string) => tmux.list().some((line) => line.startsWith(`${id} `));
  let typed = 0;
  for (const id of await seenPanes(tab)) {
    if (!(await goTo(tab, id))) continue;
    await tab.page.keyboard.type(`for ${id}.`);
    const text = () => {
      if (!isThere(id)) return "gone";
      return tmux.run("capture-pane", "-p", "-J", "-S", "-", "-t", id).replace(/\s/g, "");
    };
    await expect.poll(text).toMatch(new RegExp(`for${id}\\.|^gone$`));
    if (isThere(id)) typed += 1;
  }
  expect(typed).toBeGreaterThan(0);
};
if (STEPS > 0) test(atRandom, { timeout: 300_000 + STEPS * MS_PER_STEP }, walk);
