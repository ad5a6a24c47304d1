// Each view of the page: nothing that axe finds wrong, and everything that can be pressed can be reached by keyboard alone.
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { releaseInnerHop } from "../e2e/support/system.ts";
import { findings } from "./support/axe.ts";
import { setUpBrowser } from "./support/fixture.ts";
import { forgetTabs } from "./support/panes.ts";
import type { Tab } from "./support/tab.ts";
import { viewsOf } from "./support/views.ts";

const browser = setUpBrowser();

afterEach(async () => {
  await releaseInnerHop();
  await forgetTabs(await browser.member());
});

declare global {
  interface Window {
    nameOf: (one: Element) => string;
  }
}

const PHONE = { width: 320, height: 640 };

/** As a person has chosen it, for what is on the page now. */
const highContrast = (tab: Tab) =>
  tab.page.evaluate(() => {
    for (const one of document.querySelectorAll("[data-scheme]")) one.setAttribute("data-scheme", "contrast");
  });

/** As docs/states.md shows it. */
const pictureOf = (view: string, look: string) =>
  fileURLToPath(new URL(`../../docs/states/${view.replaceAll(" ", "-")}-${look}.png`, import.meta.url));

describe.each(Object.entries(viewsOf(browser)))("%s", (view, show) => {
  test("axe finds nothing wrong with it, dark, light, and as wide as a phone", async () => {
    const tab = await show({ colorScheme: "dark" });
    const looks: Readonly<Record<string, () => Promise<void>>> = {
      dark: async () => undefined,
      light: () => tab.page.emulateMedia({ colorScheme: "light" }),
      phone: async () => {
        await tab.page.emulateMedia({ colorScheme: "dark" });
        await tab.page.setViewportSize(PHONE);
      },
    };
    for (const [look, take] of Object.entries(looks)) {
      await take();
      const path = pictureOf(view, look);
      if (process.env.SBX_SCREENSHOTS === "1") await tab.page.screenshot({ path, caret: "initial" });
      expect([look, await findings(tab), await beyond(tab)]).toEqual([look, [], []]);
    }
  });

  test("every control is reached by keyboard alone, and axe finds nothing wrong in high contrast", async () => {
    const tab = await show({});
    const { controls, reached } = await reach(tab);
    expect([...controls].filter((one) => !reached.has(one))).toEqual([]);
    await highContrast(tab);
    expect(await findings(tab)).toEqual([]);
  });
});

/** The controls that the window's edge cuts off. */
function beyond(tab: Tab): Promise<(string | null)[]> {
  return tab.page.evaluate(() => {
    const controls = [...document.querySelectorAll("button, a[href], select, input")];
    return controls
      .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
      .filter((one) => one.closest(".sbx-touch-keys, .sbx-tabs, .sbx-tmux-tools") === null) // Those scroll.
      .filter((one) => one.getBoundingClientRect().right > window.innerWidth + 1)
      .map((one) => one.getAttribute("aria-label") ?? one.textContent);
  });
}

/** Goes through the page by Tab, from the terminal by the key that leaves it, until it comes round. */
async function reach(tab: Tab): Promise<{ controls: Set<string>; reached: Set<string> }> {
  const { page } = tab;
  // By what it is called and where: some are drawn anew meanwhile.
  await page.evaluate(() => {
    window.nameOf = (one) => {
      const pane = one.closest("[data-pane]")?.getAttribute("data-pane") ?? "page";
      return `${pane}: ${one.tagName} ${one.getAttribute("aria-label") ?? one.textContent}`.trim();
    };
  });
  const controls = await page.evaluate(() => {
    const root = document.querySelector("dialog[open]") ?? document;
    const found = [...root.querySelectorAll("button, a[href], input, select, textarea, [role=tab], [role=option]")];
    return found
      .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
      .filter((one) => !one.matches(":disabled, .xterm-helper-textarea"))
      .filter((one) => !one.matches("[tabindex='-1'], input[type=radio]:not(:checked)")) // The arrows lead there.
      .map((one) => window.nameOf(one));
  });
  const reached = new Set<string>();
  for (let step = 0; step < controls.length * 2 + 10; step += 1) {
    const now = await page.evaluate(() => {
      const one = document.activeElement;
      return { isTerminal: one?.closest(".xterm") !== null, name: one === null ? "" : window.nameOf(one) };
    });
    reached.add(now.name);
    await page.keyboard.press(now.isTerminal ? "Control+F6" : "Tab");
  }
  return { controls: new Set(controls), reached };
}
