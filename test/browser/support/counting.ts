// A shell that prints numbered lines for as long as a test breaks things: each of them is to be on the page once.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { NOW_AND_THEN } from "../../../packages/dashboard/test/browser.ts";
import type { Tab } from "./tab.ts";

/** Prints numbered lines, from 1, until the file "enough" is there, and then how many they were. */
export const COUNT = 'clear; i=0; until [ -e enough ]; do echo "line $((i+=1))"; sleep 0.01; done; echo "of $i"';

/** Waits until so many have been counted, or more: on a busy machine one line can go by between two looks. */
export async function counts({ page }: Tab, least: number): Promise<void> {
  await page.waitForFunction(
    (least) => {
      const { active } = window.sbx.terminal.buffer;
      for (let y = active.length - 1; y >= active.baseY; y -= 1) {
        const count = /^line (\d+)\s*$/.exec(active.getLine(y)?.translateToString() ?? "")?.[1];
        if (count !== undefined) return Number(count) >= least;
      }
      return false;
    },
    least,
    NOW_AND_THEN,
  );
}

/** Lets the count end, and expects every line of it exactly once, in order. */
export async function expectAllLines(tab: Tab, directory: string): Promise<void> {
  writeFileSync(join(directory, "enough"), "");
  const count = Number((await tab.find(/^of (\d+)$/))[1]);
  await tab.prompt();
  const numbered = Array.from({ length: count }, (_, i) => `line ${i + 1}`);
  // The scrollback's first line may be the end of what was there before.
  const lines = await tab.lines();
  expect(lines.slice(lines.indexOf("line 1"))).toEqual([...numbered, `of ${count}`, "$"]);
}
