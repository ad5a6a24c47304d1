// SECURITY.md and docs/evidence.md name the tests that show what they say: each of them must exist.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../packages/local/src/base/paths.ts";

/** A path without `.test.ts`, and a title, or how one begins before "…". */
type Named = { readonly row: string; readonly file: string; readonly title: string };

const read = (page: string): string => readFileSync(join(ROOT, page), "utf8");

/** Cells of the tables' rows with so many columns. A bar within a cell is written with a backslash. */
const rowsOf = (text: string, columns: number): string[][] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll("\\|", "|")),
    )
    .filter((cells) => cells.length === columns);

function testsOf(row: string, cell: string): Named[] {
  let file = "";
  const named: Named[] = [];
  for (const [, path, title] of cell.matchAll(/`([\w./-]+)`|"([^"]+)"/g)) {
    if (path === undefined) named.push({ row, file, title: title ?? "" });
    else file = path;
  }
  return named.length > 0 ? named : [{ row, file, title: "" }];
}

const missingOf = (named: readonly Named[]): readonly Named[] =>
  named.filter(({ file, title }) => {
    const path = join(ROOT, `${file}.test.ts`);
    return title === "" || !existsSync(path) || countOf(readFileSync(path, "utf8"), title) === 0;
  });

/** Of a title that is cut there must be one alone. */
const ambiguousOf = (named: readonly Named[]): readonly Named[] =>
  named.filter(({ file, title }) => {
    const path = join(ROOT, `${file}.test.ts`);
    return title.endsWith("…") && existsSync(path) && countOf(readFileSync(path, "utf8"), title) > 1;
  });

/** How many texts of the source are this, or begin so. */
function countOf(source: string, title: string): number {
  const isCut = title.endsWith("…");
  const words = isCut ? title.slice(0, -1) : title;
  return ['"', "'", "`"].reduce(
    (sum, quote) => sum + source.split(`${quote}${words}${isCut ? "" : quote}`).length - 1,
    0,
  );
}

test("every test that SECURITY.md names is there, and every attack in it has one", () => {
  const rows = rowsOf(read("SECURITY.md"), 3).filter(([attack]) => attack !== "attack");
  expect(rows.length).toBeGreaterThan(150);
  const named = rows.flatMap(([attack = "", , shownBy = ""]) => testsOf(attack, shownBy));
  expect([missingOf(named), ambiguousOf(named)]).toEqual([[], []]);
});

test("each report of another tool has tests that are there", () => {
  const rows = rowsOf(read("docs/evidence.md"), 3).filter(([report]) => report !== "report");
  const reports = rows.flatMap(([about = ""]) => about.split(", "));
  expect(reports.filter((report) => !/^[\w.-]+\/[\w.-]+#\d+$/.test(report))).toEqual([]);
  expect(new Set(reports).size).toBe(reports.length);
  expect(reports.length).toBeGreaterThan(100);
  const named = rows.flatMap(([about = "", , shownBy = ""]) => testsOf(about, shownBy));
  expect([missingOf(named), ambiguousOf(named)]).toEqual([[], []]);
});

test("each of sixty behaviours beside ssh has a test that is there", () => {
  const rows = rowsOf(read("docs/evidence.md"), 6).filter(([behaviour]) => behaviour !== "behaviour");
  expect(rows.length).toBeGreaterThanOrEqual(60);
  // What is said of docker exec was not measured here: it names a page of the reference, or claims nothing.
  const unfounded = rows.filter(([, , docker = ""]) => !/ \[[a-zA-Z ]+\]$|^-$/.test(docker));
  expect(unfounded).toEqual([]);
  const named = rows.flatMap(([behaviour = "", , , , , shownBy = ""]) => testsOf(behaviour, shownBy));
  expect([missingOf(named), ambiguousOf(named)]).toEqual([[], []]);
});
