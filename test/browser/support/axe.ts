// What axe finds wrong with a view: names, roles, contrast, focus and the rest of WCAG 2.2 at level AA, and its best practices.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Tab } from "./tab.ts";

declare global {
  interface Window {
    axe: { run: (context: unknown, options: unknown) => Promise<AxeResults> };
  }
}

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** The process chooses what is in there, and its colours. */
const OUTPUT = ".xterm-screen";

/**
 * @param isWhole Whether all rules are asked, or the one that only colours can break.
 * @returns A line for each place that breaks a rule.
 */
export async function findings(tab: Tab, isWhole: boolean): Promise<string[]> {
  await tab.page.evaluate(SOURCE);
  const { violations } = await tab.page.evaluate(
    ({ exclude, rules }) => window.axe.run({ exclude: [[exclude]] }, { resultTypes: ["violations"], ...rules }),
    { exclude: OUTPUT, rules: isWhole ? {} : { runOnly: ["color-contrast"] } },
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary?.replaceAll("\n", " ")}`),
  );
}
