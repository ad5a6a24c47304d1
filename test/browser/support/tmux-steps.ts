// One step of a seeded run over a session with panes: done on the page, or by somebody else in tmux, or to the connection.
import type { Locator } from "playwright-core";
import { expect } from "vitest";
import type { Random } from "../../../packages/local/src/base/random.ts";
import { cutInnerHop } from "../../e2e/support/system/system.ts";
import type { Link } from "./link.ts";
import { goTo, type Paned, seenPanes } from "./tmux-panes.ts";

export type Step = {
  readonly words: string;
  /** Whether the connection was lost over it. */
  readonly isCut?: boolean;
  do(): Promise<void> | void;
};

const VIEWPORTS = [
  { width: 700, height: 420 },
  { width: 900, height: 560 },
  { width: 1_240, height: 780 },
];

/** More panes of a window would have no room to be told apart. */
const MANY = 8;

/** Presses a key at what may be gone by then: an order of an earlier step may be followed only now. */
async function press(at: Locator, key: string): Promise<void> {
  if ((await at.count()) === 0) return;
  try {
    await at.press(key, { timeout: 60_000 });
  } catch (error) {
    if ((await at.count()) > 0) throw error;
  }
}

/** @param link Between the browser and the Worker. */
export async function nextStep({ tab, tmux }: Paned, random: Random, link: Link): Promise<Step> {
  const { page } = tab;
  const seen = await seenPanes(tab);
  const all = tmux.run("list-panes", "-s", "-F", "#{pane_id}").trimEnd().split("\n");
  const windows = tmux.run("list-windows", "-F", "#{window_id}").trimEnd().split("\n");
  const here = random.pick(seen);
  const any = random.pick(all);
  const isOutside = random.chance(0.4);
  const outside = (...words: string[]): Step => ({ words: words.join(" "), do: () => tmux.try(...words) });
  /** Presses a button with the keyboard, after going to a pane: whatever stands over it. */
  const button = (name: RegExp): Step => ({
    words: `${name} at ${here}`,
    do: async () => {
      // With the last other pane some of the buttons go.
      if (await goTo(tab, here)) await press(page.getByRole("button", { name }), "Enter");
    },
  });
  const roll = random.int(0, 99);
  if (all.length < 2 || (roll < 32 && all.length < 3 * MANY && seen.length < MANY)) {
    if (isOutside) return outside("split-window", random.chance(0.5) ? "-h" : "-v", "-t", any);
    return button(random.chance(0.5) ? /^Split right/ : /^Split down/);
  }
  if (roll < 50) {
    if (isOutside) return outside("kill-pane", "-t", any);
    const sure = page.getByRole("button", { name: "End program" });
    return {
      words: `close ${here}`,
      do: async () => {
        // After a cut an answer may not have been taken, and its question is still there.
        if ((await sure.count()) === 0) {
          if (!(await goTo(tab, here))) return;
          await press(page.getByRole("button", { name: /^Close pane/ }), "Enter");
        }
        await press(sure, "Enter");
      },
    };
  }
  if (roll < 66) {
    const [cols, rows] = [2 + random.int(0, 99), 2 + random.int(0, 29)];
    if (isOutside) return outside("resize-pane", "-t", any, "-x", String(cols), "-y", String(rows));
    if (random.chance(0.3)) {
      const viewport = random.pick(VIEWPORTS);
      return { words: `viewport ${viewport.width}x${viewport.height}`, do: () => page.setViewportSize(viewport) };
    }
    const border = page.getByRole("separator").nth(random.int(0, 3));
    const [key, times] = [random.pick(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]), random.int(1, 8)];
    return {
      words: `border ${key} ${times}`,
      do: async () => {
        for (let i = 0; i < times; i += 1) await press(border, key);
      },
    };
  }
  if (roll < 72) {
    if (isOutside || seen.length < 2) return outside("swap-pane", "-d", "-s", any, "-t", random.pick(all));
    return button(/^Swap with/);
  }
  if (roll < 77) return isOutside || seen.length < 2 ? outside("resize-pane", "-Z", "-t", any) : button(/^Zoom pane/);
  if (roll < 81) {
    if (isOutside || seen.length < 2) return outside("break-pane", "-d", "-s", any);
    return button(/^Move pane to a new window/);
  }
  if (roll < 83 && windows.length > 1) {
    const window = random.pick(windows);
    const to = random.pick(windows);
    if (isOutside) {
      if (random.chance(0.5))
        return outside("move-pane", random.chance(0.5) ? "-h" : "-v", "-s", any, "-t", random.pick(all));
      return outside("swap-window", "-d", "-s", window, "-t", to);
    }
    if (random.chance(0.5)) return button(/^Move pane to the next window/);
    const key = random.chance(0.5) ? "Shift+ArrowLeft" : "Shift+ArrowRight";
    return {
      words: `${window} by ${key}`,
      do: () => press(page.locator(`.sbx-tmux-tab[data-window="${window}"]`), key),
    };
  }
  if (roll < 84) return outside("rename-window", "-t", any, `name-${roll}-${any.slice(1)}`);
  if (roll < 86) return isOutside ? outside("new-window") : button(/^New window/);
  if (roll < 91) {
    const window = random.pick(windows);
    if (isOutside) return outside("select-window", "-t", any, ";", "select-pane", "-t", any);
    return { words: `to ${window}`, do: () => press(page.locator(`.sbx-tmux-tab[data-window="${window}"]`), "Enter") };
  }
  if (roll < 94)
    return { words: "reload", isCut: true, do: async () => expect((await page.reload())?.status()).toBe(200) };
  if (roll < 96) return { words: "inner hop cut", isCut: true, do: async () => expect(await cutInnerHop()).toBeNull() };
  return {
    words: `cut, and meanwhile gone to ${here} and split of ${any}`,
    isCut: true,
    do: async () => {
      link.cut();
      await goTo(tab, here);
      tmux.try("split-window", "-d", "-t", any);
      tmux.try("resize-pane", "-t", here, "-x", String(2 + random.int(0, 60)));
      await page.locator('.sbx-terminal:not([data-state="attached"])').first().waitFor({ state: "attached" });
      link.mend();
      // As a browser says when the network is back: nothing waits any longer.
      await page.evaluate(() => window.dispatchEvent(new Event("online")));
    },
  };
}
