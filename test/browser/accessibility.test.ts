// Each view of the page: nothing that axe finds wrong, everything that can be pressed large enough for a finger, within the window, and
// reached by keyboard alone.
import { afterEach, expect, test } from "vitest";
import { releaseInnerHop } from "../e2e/support/system/system.ts";
import { findings } from "./support/axe.ts";
import { beyond, endByKeyboard, reach, small } from "./support/controls.ts";
import { setUpBrowser } from "./support/fixture.ts";
import { keepPicture, LOOKS, type Look, MORE_LOOKS, take } from "./support/looks.ts";
import { forgetTabs } from "./support/panes.ts";
import type { Tab } from "./support/tab.ts";
import { walksOf } from "./support/views.ts";

const browser = setUpBrowser();

afterEach(async () => {
  await releaseInnerHop();
  browser.link.mend();
  await forgetTabs(await browser.member());
});

/** `npm run test:long -- looks` has each view tried in all looks. */
const HAS_ALL = process.env.ALL_LOOKS === "1";
const KEEPS_PICTURES = process.env.SBX_SCREENSHOTS === "1";
const [USUAL, , , PHONE] = LOOKS as readonly [Look, Look, Look, Look];
let seen = 0;
/** A control that the keyboard has reached in one view of a page is not asked about in the next. */
const reachedOn = new WeakMap<Tab, ReadonlySet<string>>();

/** What is wrong with a view in any look, and for who has no mouse. Leaves it in the usual look. */
async function wrongWith(view: string, tab: Tab): Promise<string[]> {
  const whole = LOOKS[seen++ % LOOKS.length] ?? USUAL;
  const wrong: string[] = [];
  let now: Look = USUAL;
  // The layout is looked at on a desk and on a phone, the rest in one of the two.
  const two = [whole, whole.isPhone ? USUAL : PHONE];
  for (const look of HAS_ALL || KEEPS_PICTURES
    ? [...LOOKS, ...MORE_LOOKS]
    : LOOKS.filter((each) => two.includes(each))) {
    await take(tab, now, look);
    now = look;
    if (KEEPS_PICTURES) await keepPicture(tab, view, look);
    const found = await beyond(tab);
    if (look.isPhone) found.push(...(await small(tab)));
    // axe does not see the system's colours, but what the page's would be.
    if ((HAS_ALL || look === whole) && look.isForced !== true) found.push(...(await findings(tab)));
    wrong.push(...found.map((one) => `${look.name}: ${one}`));
  }
  await take(tab, now, USUAL);
  const { controls, reached } = await reach(tab, (HAS_ALL ? undefined : reachedOn.get(tab)) ?? new Set());
  reachedOn.set(tab, reached);
  return [...wrong, ...[...controls].filter((one) => !reached.has(one)).map((one) => `not reached: ${one}`)];
}

/** Leaves dialogs by Escape alone, or ends what is over the terminal by its button: then the next key is the process's. */
async function leave(tab: Tab): Promise<void> {
  const dialogs = tab.page.locator("dialog[open]");
  const isDialog = (await dialogs.count()) > 0;
  for (let tries = 0; tries < 3 && (await dialogs.count()) > 0; tries += 1) await tab.page.keyboard.press("Escape");
  expect(await dialogs.count()).toBe(0);
  if (isDialog || (await endByKeyboard(tab)))
    await tab.page.locator(".xterm-helper-textarea:focus").waitFor({ state: "attached" });
}

test.each(Object.entries(walksOf(browser)))(
  "%s: nothing is wrong in any look, all is reached by keyboard, which is in the terminal again then",
  async (_name, walk) => {
    const wrong: Record<string, string[]> = {};
    await walk(async (view, tab) => {
      const found = await wrongWith(view, tab);
      if (found.length > 0) wrong[view] = found;
      await leave(tab);
    });
    expect(wrong).toEqual({});
  },
);
