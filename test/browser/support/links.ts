// A link in a terminal's output, clicked on as a person does.
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { Tab } from "./tab.ts";

/** Clicks on a text of the screen that is a link. */
export async function clickOn(tab: Tab, text: string, modifier?: "Control"): Promise<void> {
  const box = await tab.page.evaluate((wanted) => {
    const { buffer, rows, cols } = window.sbx.terminal;
    const { active } = buffer;
    const screen = document.querySelector(".xterm-screen")?.getBoundingClientRect() ?? new DOMRect();
    const [width, height] = [screen.width / cols, screen.height / rows];
    for (let y = 0; y < rows; y += 1) {
      const line = active.getLine(active.baseY + y)?.translateToString() ?? "";
      const column = line.indexOf(wanted);
      if (column >= 0) return { x: screen.left + (column + 2.5) * width, y: screen.top + (y + 0.5) * height };
    }
    throw new Error(`Cannot find ${wanted}`);
  }, text);
  if (modifier !== undefined) await tab.page.keyboard.down(modifier);
  // The terminal looks for links where the pointer moves, once it has drawn what is there.
  const link = tab.page.locator('.xterm-cursor-pointer, .xterm-underline-1, .xterm-rows [style*="underline"]');
  let moves = 0;
  const moved = async () => {
    moves += 1;
    await tab.page.mouse.move(box.x + (moves % 2) * 10, box.y);
    return link.count();
  };
  await expect.poll(moved, { timeout: 120_000 }).toBeGreaterThan(0);
  await tab.page.mouse.click(box.x, box.y);
  if (modifier !== undefined) await tab.page.keyboard.up(modifier);
}

/** Clicks with Ctrl on a text of the screen. @returns The window that is opened. */
export async function follow(tab: Tab, text: string): Promise<Page> {
  const opened = tab.page.context().waitForEvent("page");
  await clickOn(tab, text, "Control");
  return opened;
}
