// Reads and writes the benchmark's tables, each between two markers in docs/benchmark.md or the README.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../local/src/base/paths.ts";

export const TABLE_FILE = join(ROOT, "docs", "benchmark.md");
const README = join(ROOT, "README.md");

/** `bench`: the whole table. `goals`: the rows with goals. `page`: the page in the browser. `typing`: predicted echo. `outages`: until a key is answered. `speed`: the README's. */
export type TableName = "bench" | "goals" | "page" | "typing" | "outages" | "speed";

/**
 * Replaces the table of a page.
 * @throws {Error} If it has no markers, or more than one pair: a run must not lose its table, nor the page its text.
 */
export function withTable(page: string, table: string, name: string = "bench"): string {
  const blocks = page.match(new RegExp(`<!-- ${name} -->[\\s\\S]*?<!-- /${name} -->`, "g")) ?? [];
  if (blocks.length !== 1) throw new Error(`Cannot place the table: the page has ${blocks.length} places for it`);
  // A function, since a table may hold `$`.
  return page.replace(blocks[0] ?? "", () => `<!-- ${name} -->\n${table}\n<!-- /${name} -->`);
}

export function readPage(): string {
  return readFileSync(TABLE_FILE, "utf8");
}

export function writeTable(table: string, name?: TableName): void {
  const file = name === "speed" ? README : TABLE_FILE;
  writeFileSync(file, withTable(readFileSync(file, "utf8"), table, name));
}
