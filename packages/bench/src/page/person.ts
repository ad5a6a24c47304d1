// A person at the page: logs in, opens terminals, types, and sees when something is on the screen.

import { setTimeout as pause } from "node:timers/promises";
import type { BrowserContext, Page } from "playwright-core";
import type { System } from "../../../local/src/system/system.ts";

const PATIENCE_MS = 600_000;
const LOOK_MS = 15;

export async function logIn(profile: BrowserContext, { origin }: System): Promise<void> {
  const page = await profile.newPage();
  await page.goto(`${origin}/?sandbox=bench`);
  await page.getByRole("link", { name: "Log in" }).click();
  await page.getByRole("button", { name: "Continue as alice" }).click();
  await page.locator('.sbx-terminal[data-state="attached"]').waitFor();
  await page.close();
}

let names = 0;

/** A tab with a terminal of its own, at its shell's prompt. */
export async function openTerminal(profile: BrowserContext, { origin }: System, query = ""): Promise<Page> {
  const page = await profile.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  names += 1;
  await page.goto(`${origin}/?sandbox=bench&session=page-${process.pid}-${names}&debug=1${query}`);
  await shows(page, PROMPT);
  return page;
}

/** On a line of its own, but for a prompt's blank. */
export const PROMPT = "[$#>%] ?$";

/** Waits for a line on the screen; a hidden page's own timers would be too slow for that. */
export async function shows(page: Page, line: string): Promise<void> {
  const look = `(() => {
    const terminal = window.sbx?.terminal;
    if (terminal === undefined) return false;
    const { active } = terminal.buffer;
    for (let y = active.baseY; y < active.baseY + terminal.rows; y += 1)
      if (new RegExp(${JSON.stringify(line)}).test(active.getLine(y)?.translateToString(true) ?? "")) return true;
    return false;
  })()`;
  const end = performance.now() + PATIENCE_MS;
  while (!(await page.evaluate<boolean>(look))) {
    if (performance.now() > end) throw new Error(`Waited for ${line} on the page`);
    await pause(LOOK_MS);
  }
}

export async function run(page: Page, command: string): Promise<void> {
  await page.keyboard.type(command);
  await page.keyboard.press("Enter");
}

/** Types keys at a person's pace, until so many are typed or `isOver`. */
export async function typeKeys(page: Page, count: number, isOver = () => false): Promise<void> {
  for (let key = 0; key < count && !isOver(); key += 1) {
    await page.keyboard.press("x");
    await pause(25 + (key % 4) * 5);
    // A line of a terminal takes 4,095 bytes.
    if (key % 100 === 99) await page.keyboard.press("Enter");
  }
}
