// The looks that a view is tried in, one after the other on the same page, and its picture in each.
import { mkdir, writeFile } from "node:fs/promises";
import type { CDPSession, Page } from "playwright-core";
import { withFewColours } from "./small-png.ts";
import type { Tab } from "./tab.ts";

const DESK = { width: 900, height: 560 };
const PHONE = { width: 320, height: 640 };

export type Look = {
  readonly name: string;
  readonly scheme: "dark" | "light" | "contrast";
  readonly isPhone: boolean;
  readonly size?: { readonly width: number; readonly height: number };
  /** Whether the system chooses the colours. */
  readonly isForced?: boolean;
};

/** Each view has all rules in one of them. */
export const LOOKS: readonly Look[] = [
  { name: "dark", scheme: "dark", isPhone: false },
  { name: "light-phone", scheme: "light", isPhone: true },
  { name: "contrast", scheme: "contrast", isPhone: false },
  { name: "phone", scheme: "dark", isPhone: true },
  { name: "light", scheme: "light", isPhone: false },
];

const phone = (width: number, height: number): Look => ({
  name: `phone-${width}x${height}`,
  scheme: width < height ? "light" : "dark",
  isPhone: true,
  size: { width, height },
});

/** A window of 1280 by 800 has that much room, whatever its pixels. */
const zoom = (percent: number, scheme: "dark" | "light"): Look => ({
  name: `zoom-${percent}`,
  scheme,
  isPhone: false,
  size: { width: 128_000 / percent, height: 80_000 / percent },
});

const forced = (scheme: "dark" | "light"): Look => ({
  name: `forced-${scheme}`,
  scheme,
  isPhone: false,
  isForced: true,
});

/** For pictures, and `test:long -- looks`. */
export const MORE_LOOKS: readonly Look[] = [
  ...[phone(360, 740), phone(430, 932), phone(640, 320), phone(740, 360)],
  ...[zoom(200, "light"), zoom(400, "dark"), forced("dark"), forced("light")],
];

/** What emulates fingers, as long as it is there. */
const touches = new WeakMap<Page, CDPSession>();

async function withFingers({ page }: Tab, isOn: boolean): Promise<void> {
  const devTools = touches.get(page) ?? (await page.context().newCDPSession(page));
  touches.set(page, devTools);
  await devTools.send(
    "Emulation.setTouchEmulationEnabled",
    isOn ? { enabled: true, maxTouchPoints: 2 } : { enabled: false },
  );
}

/** Another page of the same browser has chosen high contrast, or what is kept: this one follows at once. */
const followsContrast = (tab: Tab, isOn: boolean) =>
  tab.page.evaluate((isOn) => {
    const key = "sbx.preferences";
    const kept = localStorage.getItem(key) ?? "{}";
    const newValue = isOn ? JSON.stringify({ ...JSON.parse(kept), scheme: "contrast" }) : kept;
    window.dispatchEvent(new StorageEvent("storage", { key, newValue }));
  }, isOn);

/** Changes a page from one look to another; it begins in the first. */
export async function take(tab: Tab, before: Look, look: Look): Promise<void> {
  if (look.scheme !== before.scheme) {
    await tab.page.emulateMedia({ colorScheme: look.scheme === "light" ? "light" : "dark" });
    if ([look, before].some(({ scheme }) => scheme === "contrast"))
      await followsContrast(tab, look.scheme === "contrast");
  }
  if (look.isForced !== before.isForced)
    await tab.page.emulateMedia({ forcedColors: look.isForced === true ? "active" : "none" });
  if (look.isPhone !== before.isPhone) await withFingers(tab, look.isPhone);
  if (look !== before) await tab.page.setViewportSize(look.size ?? (look.isPhone ? PHONE : DESK));
  await settled(tab);
}

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

export async function keepPicture(tab: Tab, view: string, look: Look): Promise<void> {
  const png = await tab.page.screenshot({ caret: "initial" });
  await mkdir(PICTURES, { recursive: true });
  await writeFile(new URL(`${view.replaceAll(/[^a-z0-9]+/g, "-")}-${look.name}.png`, PICTURES), withFewColours(png));
}
