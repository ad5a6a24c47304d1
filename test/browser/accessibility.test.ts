// Each view of the page: nothing that axe finds wrong, everything that can be pressed large enough for a finger, within the window, and
// reached by keyboard alone.
import { afterEach, describe, expect, test } from "vitest";
import { releaseInnerHop } from "../e2e/support/system/system.ts";
import { findings } from "./support/axe.ts";
import { beyond, endByKeyboard, reach, small } from "./support/controls.ts";
import { setUpBrowser } from "./support/fixture.ts";
import { keepPicture, LOOKS, settled } from "./support/looks.ts";
import { forgetTabs } from "./support/panes.ts";
import type { Tab } from "./support/tab.ts";
import { viewsOf } from "./support/views.ts";

const browser = setUpBrowser();

afterEach(async () => {
  await releaseInnerHop();
  browser.link.mend();
  await forgetTabs(await browser.member());
});

/**
 * A view is the same elements on a desk and on a phone, and the same page in other colours: each is tried by all rules in one of the
 * first two, and by that of colours in one of the others. `npm run test:long -- looks` has all rules in both, and all colours.
 */
const HAS_ALL = process.env.ALL_LOOKS === "1";
const VIEWS = Object.entries(viewsOf(browser)).map(([view, show], at) => {
  const whole = at % 2 === 0 ? "dark" : "phone";
  const colours = at % 4 < 2 ? "light" : "contrast";
  return [view, show, whole, colours] as const;
});

describe.each(VIEWS)("%s", (view, show, whole, colours) => {
  test("nothing is wrong with it in any look, and all of it is reached by keyboard, which is back in the terminal then", async () => {
    const tab = await show({ colorScheme: "dark" });
    const wrong: string[] = [];
    for (const [look, take] of Object.entries(LOOKS)) {
      await take(tab);
      const isLayout = look === "dark" || look === "phone";
      if (process.env.SBX_SCREENSHOTS === "1") {
        await settled(tab);
        await keepPicture(tab, view, look);
      }
      if (!isLayout && look !== colours && !HAS_ALL) continue;
      await settled(tab);
      const isWhole = look === whole || (isLayout && HAS_ALL);
      const found = isWhole || !isLayout ? await findings(tab, isWhole) : [];
      if (isLayout) found.push(...(await beyond(tab)));
      if (look === "phone") found.push(...(await small(tab)));
      wrong.push(...found.map((one) => `${look}: ${one}`));
    }
    expect(wrong).toEqual([]);
    await settled(tab);
    const { controls, reached } = await reach(tab);
    expect([...controls].filter((one) => !reached.has(one))).toEqual([]);
    const isDialog = await leaveDialogs(tab);
    if (isDialog || (await endByKeyboard(tab))) {
      // The next key is the process's.
      await tab.page.locator(".xterm-helper-textarea:focus").waitFor({ state: "attached" });
    }
  });
});

/** By Escape alone. @returns Whether there were any. */
async function leaveDialogs(tab: Tab): Promise<boolean> {
  const dialogs = tab.page.locator("dialog[open]");
  if ((await dialogs.count()) === 0) return false;
  for (let tries = 0; tries < 3 && (await dialogs.count()) > 0; tries += 1) await tab.page.keyboard.press("Escape");
  expect(await dialogs.count()).toBe(0);
  return true;
}
