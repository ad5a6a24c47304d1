// The looks that a view is tried in, one after the other on the same page, and its picture in each.
import { mkdir, writeFile } from "node:fs/promises";
import { withFewColours } from "./small-png.ts";
import type { Tab } from "./tab.ts";

const DESK = { width: 900, height: 560 };
const PHONE = { width: 320, height: 640 };

async function withFingers(tab: Tab, isOn: boolean): Promise<void> {
  const browser = await tab.page.context().newCDPSession(tab.page);
  await browser.send(
    "Emulation.setTouchEmulationEnabled",
    isOn ? { enabled: true, maxTouchPoints: 2 } : { enabled: false },
  );
}

/** Another page of the same browser has chosen it: this one follows at once. */
const choosesContrast = (tab: Tab) =>
  tab.page.evaluate(() => {
    const event = new StorageEvent("storage", { key: "sbx.preferences", newValue: '{"scheme":"contrast"}' });
    window.dispatchEvent(event);
  });

/** Each with how it comes to be, after the one before. */
export const LOOKS = {
  dark: async () => undefined,
  light: (tab: Tab) => tab.page.emulateMedia({ colorScheme: "light" }),
  phone: async (tab: Tab) => {
    await tab.page.emulateMedia({ colorScheme: "dark" });
    await withFingers(tab, true);
    await tab.page.setViewportSize(PHONE);
  },
  contrast: async (tab: Tab) => {
    await withFingers(tab, false);
    await tab.page.setViewportSize(DESK);
    await choosesContrast(tab);
  },
} as const satisfies Readonly<Record<string, (tab: Tab) => Promise<unknown>>>;

/** The panes of a session follow the window's size a moment later. */
const panesFollow = (tab: Tab) =>
  tab.page.waitForFunction(() =>
    [...document.querySelectorAll(".sbx-tmux-ground")].every((one) => one.scrollWidth <= one.clientWidth),
  );

/** As it is once nothing moves any more; what passes is as it begins. */
export const settled = async (tab: Tab) => {
  await panesFollow(tab);
  await tab.page.evaluate(async () => {
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    for (const animation of document.getAnimations()) {
      if (animation instanceof CSSTransition) animation.finish();
      else {
        animation.pause();
        animation.currentTime = 0;
      }
    }
  });
};

/** Where a run with SBX_SCREENSHOTS=1 leaves them. Git ignores the directory. */
const PICTURES = new URL("../../../.local/states/", import.meta.url);

/** One of a view in one look. High contrast is a view of its own, so that look has none. */
export async function keepPicture(tab: Tab, view: string, look: string): Promise<void> {
  if (look === "contrast") return;
  const png = await tab.page.screenshot({ caret: "initial" });
  await mkdir(PICTURES, { recursive: true });
  await writeFile(new URL(`${view.replaceAll(/[^a-z0-9]+/g, "-")}-${look}.png`, PICTURES), withFewColours(png));
}
