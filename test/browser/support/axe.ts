// What axe finds wrong with a view: names, roles, contrast, focus and the rest of WCAG 2.2 at level AA, and its best practices.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Tab } from "./tab.ts";

declare global {
  interface Window {
    axe?: { run: (context: unknown, options: unknown) => Promise<AxeResults> };
  }
}

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** The process chooses what is in there, and its colours. */
const OUTPUT = ".xterm-screen";

/** @returns A line for each place that breaks a rule. */
export async function findings(tab: Tab): Promise<string[]> {
  if (!(await tab.page.evaluate(() => window.axe !== undefined))) await tab.page.evaluate(SOURCE);
  const violations = await tab.page.evaluate(async (exclude) => {
    // The page behind a dialog is inert, and looked at as another view.
    const context = document.querySelector("dialog[open]") ?? { exclude: [[exclude]] };
    return (await window.axe?.run(context, { resultTypes: ["violations"], preload: false }))?.violations;
  }, OUTPUT);
  if (violations === undefined) throw new Error("axe is not on the page");
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary?.replaceAll("\n", " ")}`),
  );
}
