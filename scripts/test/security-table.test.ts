// SECURITY.md and docs/ssh.md name the tests that show what they say: each of them must exist.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../packages/local/src/base/paths.ts";

/** The end of a path without `.test.ts`, and a title, or how one begins before "…". */
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

const testFiles = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.test.ts"], {
  cwd: ROOT,
})
  .toString()
  .trim()
  .split("\n")
  .filter((file) => existsSync(join(ROOT, file)));

/** The test files whose path ends so. */
const filesOf = (end: string): readonly string[] => testFiles.filter((file) => `/${file}`.endsWith(`/${end}.test.ts`));

/** Tests that are not there, or that fit several files. */
const missingOf = (named: readonly Named[]): readonly Named[] =>
  named.filter(({ file, title }) => {
    const [path = "", ...others] = filesOf(file);
    return title === "" || path === "" || others.length > 0 || countOf(read(path), title) === 0;
  });

/** Of a title that is cut there must be one alone. */
const ambiguousOf = (named: readonly Named[]): readonly Named[] =>
  named.filter(
    ({ file, title }) => title.endsWith("…") && filesOf(file).some((path) => countOf(read(path), title) > 1),
  );

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

test("each of sixty behaviours beside ssh has a test that is there", () => {
  const rows = rowsOf(read("docs/ssh.md"), 5).filter(([behaviour]) => behaviour !== "behaviour");
  expect(rows.length).toBeGreaterThanOrEqual(60);
  // What is said of docker exec was not measured here: it names a page of the reference, or claims nothing.
  const unfounded = rows.filter(([, , docker = ""]) => !/ \[[a-zA-Z ]+\]$|^-$/.test(docker));
  expect(unfounded).toEqual([]);
  const named = rows.flatMap(([behaviour = "", , , , shownBy = ""]) => testsOf(behaviour, shownBy));
  expect([missingOf(named), ambiguousOf(named)]).toEqual([[], []]);
});
