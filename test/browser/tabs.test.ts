// Tabs and panes, each a session: by mouse and keys, kept for the person, on every device.
import { afterEach, expect, test } from "vitest";
import { setUpBrowser } from "./support/fixture.ts";
import { liveTerminals } from "./support/memory.ts";
import {
  alone,
  drag,
  focused,
  forgetTabs,
  hasFocus,
  keptOf,
  newTab,
  pane,
  seen,
  tabSessions,
  typed,
} from "./support/panes.ts";
import { enter, type Tab } from "./support/tab.ts";

const browser = setUpBrowser();

afterEach(async () => {
  await forgetTabs(await browser.member());
});

/** Holds back each frame that the page asks for. */
async function lateFrames({ page }: Tab): Promise<{ come(): Promise<void> }> {
  const held = await page.evaluateHandle(() => {
    const ask = window.requestAnimationFrame;
    const callbacks: FrameRequestCallback[] = [];
    window.requestAnimationFrame = (callback) => callbacks.push(callback);
    return () => {
      window.requestAnimationFrame = ask;
      for (const callback of callbacks) callback(performance.now());
    };
  });
  return { come: () => held.evaluate((come) => come()) };
}

test("a page is divided by a key: shells typed into apart, dividers that move, a pane that leaves its room and holds nothing", async () => {
  const { tab, profile, sandbox } = await alone(browser);
  expect(await tabSessions(tab)).toEqual(["one"]);
  await tab.page.keyboard.press("Control+Shift+D");
  const second = await focused(tab, 2);
  expect(await seen(tab)).toEqual(["one", second]);
  await tab.find(/[$#]$/);
  await typed(tab, "PS1='$ '; clear; echo in the second $((40 + 2))", "in the second 42");
  await tab.page.keyboard.press("Alt+Shift+ArrowLeft");
  await hasFocus(tab, "one");
  await typed(tab, "echo in the first $((1 + 1))", "in the first 2");
  const address = new URL(tab.page.url()).searchParams;
  expect([address.get("session"), address.get("tabs")]).toEqual(["one", "1"]);

  // By the mouse and by keys, and the process is told its size.
  const size = async (name: "cols" | "rows") =>
    Number(await pane(tab, "one").locator(".sbx-terminal").getAttribute(`data-${name}`));
  const cols = () => size("cols");
  const before = await cols();
  const divider = tab.page.getByRole("separator");
  const box = await divider.boundingBox();
  if (box === null) throw new Error("The divider is not drawn");
  await tab.page.mouse.move(box.x + box.width / 2, box.y + 100);
  await tab.page.mouse.down();
  await tab.page.mouse.move(box.x - 150, box.y + 100, { steps: 5 });
  await tab.page.mouse.up();
  await expect.poll(cols).toBeLessThan(before - 10);
  const dragged = await cols();
  await divider.focus();
  for (let i = 0; i < 3; i += 1) await tab.page.keyboard.press("ArrowRight");
  await expect.poll(cols).toBeGreaterThan(dragged);
  expect(await divider.evaluate((element) => element === document.activeElement)).toBe(true);
  await tab.page.keyboard.press("Escape");
  await tab.page.keyboard.press("Alt+Shift+ArrowLeft");
  await hasFocus(tab, "one");
  // Each of the three keys resized it.
  await enter(tab.page, "clear; while sleep 0.1; do tput cols; done");
  await expect.poll(async () => (await tab.rows()).includes(String(await cols()))).toBe(true);
  await tab.page.keyboard.press("Control+C");

  // A closed pane leaves its session, and nothing holds its terminal any longer.
  const full = await size("rows");
  await tab.page.keyboard.press("Control+Shift+E");
  const third = await focused(tab, 3);
  await expect.poll(() => size("rows")).toBeLessThan(full);
  await tab.page.keyboard.press("Control+Shift+X");
  await expect.poll(() => seen(tab)).toEqual(["one", second]);
  await hasFocus(tab, "one");
  await expect.poll(() => size("rows")).toBe(full);
  const path = `${new URL(tab.page.url()).origin}/api/sandboxes/${sandbox}/sessions/${third}`;
  await expect
    .poll(async () => (await profile.request.get(path)).json())
    .toMatchObject({ state: "running", clients: 0 });
  await tab.page.keyboard.press("Alt+Shift+ArrowRight");
  await hasFocus(tab, second);
  await tab.page.keyboard.press("Control+Shift+X");
  await expect.poll(() => seen(tab)).toEqual(["one"]);
  await hasFocus(tab, "one");
  await expect.poll(() => liveTerminals(tab)).toBeLessThanOrEqual(2);
});

test("tabs are opened, chosen, moved and closed by keys; one that is dragged divides a pane or gets its own, and is made anew nowhere", async () => {
  const { tab } = await alone(browser);
  const mark = () =>
    pane(tab, "one")
      .locator(".xterm")
      .evaluate((element) => element.setAttribute("data-mark", "1"));
  const marks = () => tab.page.locator('.xterm[data-mark="1"]').count();
  await mark();
  const second = await newTab(tab);
  const names = () => tabSessions(tab);
  expect(await names()).toEqual(["one", second]);
  const handle = tab.page.getByRole("presentation").filter({ has: tab.page.getByRole("tab", { name: "one" }) });
  await drag(tab, handle, pane(tab, second), { x: 20, y: 200 });
  await expect.poll(() => seen(tab)).toEqual(["one", second]);
  // A hand on a head or a bar leaves the keyboard with that pane, and what is let go of with what was moved.
  await hasFocus(tab, "one");
  await pane(tab, second).locator(".sbx-heading").click();
  await hasFocus(tab, second);
  await pane(tab, "one").locator(".sbx-heading").click();
  await hasFocus(tab, "one");
  await drag(tab, pane(tab, "one").locator(".sbx-heading"), tab.page.getByRole("tablist"), { x: 10, y: 10 });
  await expect.poll(() => tab.page.getByRole("tab").count()).toBe(2);
  await hasFocus(tab, "one");
  expect([await marks(), await pane(tab, "one").locator(".sbx-terminal").getAttribute("data-resumes")]).toEqual([
    1,
    "0",
  ]);

  expect(await names()).toEqual([second, "one"]);
  await tab.page.getByRole("tab", { selected: true }).focus();
  const frames = await lateFrames(tab);
  await tab.page.keyboard.press("Shift+ArrowLeft");
  await expect.poll(names).toEqual(["one", second]);
  await tab.page.keyboard.press("ArrowRight");
  await tab.page.keyboard.press("Enter");
  await hasFocus(tab, second);
  // A frame that comes late, as on a busy machine, takes the keyboard from no pane.
  await frames.come();
  await hasFocus(tab, second);
  await tab.page.keyboard.press("Control+Shift+BracketLeft");
  await hasFocus(tab, "one");
  await tab.page.getByRole("tab", { selected: true }).focus();
  await tab.page.keyboard.press("Delete");
  await expect.poll(names).toEqual([second]);
  await tab.page.keyboard.press("Delete");
  await tab.page.getByRole("heading", { name: "No open sessions", level: 2 }).waitFor();
  await tab.page.keyboard.press("Enter");
  await hasFocus(tab, await focused(tab, 1));
});

test("what a person has open comes back with a reload and on another device; two that are open at once agree", async () => {
  const { tab, profile, sandbox } = await alone(browser);
  await tab.page.keyboard.press("Control+Shift+D");
  const second = await focused(tab, 2);
  await tab.page.keyboard.press("Alt+Shift+ArrowLeft");
  await hasFocus(tab, "one");
  await typed(tab, "echo in the first $((1 + 1))", "in the first 2");
  await expect.poll(async () => JSON.stringify(await keptOf(profile))).toContain(second);

  await tab.page.reload();
  expect(await focused(tab, 2)).toBe("one");
  await tab.shows("in the first 2");
  const other = await browser.open(await browser.freshMember(), "/?debug=1&renderer=dom");
  expect([await focused(other, 2), await seen(other)]).toEqual(["one", ["one", second]]);
  await other.shows("in the first 2");

  // They keep what each of them opens, and drop what one closes.
  const third = await newTab(other);
  await expect.poll(async () => JSON.stringify(await keptOf(profile))).toContain(third);
  await tab.page.keyboard.press("Alt+Shift+ArrowRight");
  await hasFocus(tab, second);
  await tab.page.keyboard.press("Control+Shift+X");
  await expect.poll(() => tabSessions(tab)).toEqual(["one", third]);
  await expect.poll(async () => JSON.stringify(await keptOf(profile))).not.toContain(second);
  await other.page.close();
  // An address that names a session opens that alone.
  const named = await browser.open(profile, `/?sandbox=${sandbox}&session=third&debug=1&renderer=dom`);
  await named.state("attached");
  expect([await seen(named), await tabSessions(named)]).toEqual([["third"], ["third"]]);
});
