// The attacks of SECURITY.md and the behaviours of docs/ssh.md are shown by tests: JSON names them, and each must exist.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { type Attack, readAttacks } from "../pages/attacks-block.ts";

type Tests = Attack["tests"];

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

/** Cells of the rows of a page's tables with so many columns. A bar within a cell is written with a backslash. */
const rowsOf = (page: string, columns: number): string[][] =>
  read(page)
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll("\\|", "|")),
    )
    .filter((cells) => cells.length === columns);

const testFiles = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.test.ts"], {
  cwd: ROOT,
})
  .toString()
  .trim()
  .split("\n")
  .filter((file) => existsSync(join(ROOT, file)));

/** How many texts of the source are this, or begin so. */
const countOf = (source: string, title: string, end: "whole" | "begin"): number =>
  ['"', "'", "`"].reduce(
    (sum, quote) => sum + source.split(`${quote}${title}${end === "whole" ? quote : ""}`).length - 1,
    0,
  );

/** What is wrong with the tests of a row: a file or title that is not there, or fits several. */
function faultsOf(tests: Tests): string[] {
  if (Object.keys(tests).length === 0) return ["no test"];
  return Object.entries(tests).flatMap(([end, titles]) => {
    const [path, ...others] = testFiles.filter((file) => `/${file}`.endsWith(`/${end}.test.ts`));
    if (path === undefined || others.length > 0) return [`${end}: ${others.length === 0 ? "no" : "several"} files`];
    const source = read(path);
    const isThere = (title: string) => countOf(source, title, "whole") > 0 || countOf(source, title, "begin") === 1;
    return titles.filter((title) => !isThere(title)).map((title) => `${end}: ${title}`);
  });
}

test("every attack in SECURITY.md is shown to be stopped by tests that exist", () => {
  const attacks = readAttacks().flatMap((section) => section.attacks);
  expect(attacks.length).toBeGreaterThan(150);
  expect(attacks.flatMap(({ attack, tests }) => faultsOf(tests).map((fault) => `${attack}: ${fault}`))).toEqual([]);
});

/** What is wrong with the tests of a table's rows, whose first cells are the names in the file. */
function faultsOfRows(file: string, rows: readonly string[][]): string[] {
  const tests = JSON.parse(read(file)) as Readonly<Record<string, Tests>>;
  expect(Object.keys(tests).sort()).toEqual(rows.map(([name = ""]) => name).sort());
  return Object.entries(tests).flatMap(([row, named]) => faultsOf(named).map((fault) => `${row}: ${fault}`));
}

test("each of 25 rows beside ttyd, sshx, tmate, and ssh with tmux has a test that is there", () => {
  const rows = rowsOf("docs/guide.md", 6).filter(([name]) => name !== "");
  expect(rows.length).toBe(25);
  expect(faultsOfRows("scripts/test/serve-tests.json", rows)).toEqual([]);
});

test("each behaviour beside ssh has a test that is there", () => {
  const rows = rowsOf("docs/ssh.md", 4).filter(([behaviour]) => behaviour !== "behaviour");
  expect(rows.length).toBeGreaterThanOrEqual(60);
  // What is said of docker exec was not measured here: it names a page of the reference, or claims nothing.
  const unfounded = rows.filter(([, , docker = ""]) => !/ \[[a-zA-Z ]+\]$|^-$/.test(docker));
  expect(unfounded).toEqual([]);
  expect(faultsOfRows("scripts/test/ssh-tests.json", rows)).toEqual([]);
});
