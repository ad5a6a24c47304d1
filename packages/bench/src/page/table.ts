// The page's own table in docs/benchmark.md: other subjects than the rest, so other columns. Pure.

import { median, show } from "../base/numbers.ts";
import type { PageRow } from "./measure.ts";

/** @param rounds The rows of each round, in one order. @param where The machine and browser, in words. */
export function pageTable(rounds: readonly (readonly PageRow[])[], where: string): string {
  const [first = []] = rounds;
  const lines = [where, "", "| | xterm.js alone | the page | goal |", "|---|---:|---:|---:|"];
  for (const [at, [name, , , goal]] of first.entries()) {
    const cells = ([1, 2] as const).map((column) => shown(rounds.map((rows) => rows[at]?.[column])));
    lines.push(`| ${name} | ${cells.join(" | ")} | ${goal} |`);
  }
  return lines.join("\n");
}

function shown(values: readonly (number | string | undefined)[]): string {
  const numbers = values.filter((value) => typeof value === "number");
  if (numbers.length > 0) return show(median(numbers));
  return [...new Set(values.filter((value) => value !== undefined))].join(", ");
}
