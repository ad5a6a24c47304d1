// SECURITY.md, the reports of other tools, and the table of behaviours beside ssh name the tests that show what they say: each of them must exist.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../packages/local/src/paths.ts";

type Named = { readonly attack: string; readonly file: string; readonly name: string };

/** `file.test.ts`, and the names in quotes after it, of every row of a table with three columns. */
function namedTests(markdown: string): Named[] {
  return markdown.split("\n").flatMap((line) => {
    const [, attack, how, shownBy] = /^\| (.*) \| (.*) \| (.*) \|$/.exec(line) ?? [];
    if (attack === undefined || shownBy === undefined || how === "what stops it") return [];
    return testsOf(attack, shownBy);
  });
}

function testsOf(attack: string, shownBy: string): Named[] {
  let file = "";
  const named: Named[] = [];
  for (const [, path, name] of shownBy.matchAll(/`([^`]+\.test\.ts)`|"([^"]+)"/g)) {
    if (path === undefined) named.push({ attack, file, name: (name ?? "").replaceAll("\\|", "|") });
    else file = path;
  }
  return named.length > 0 ? named : [{ attack, file, name: "" }];
}

function missingOf(named: readonly Named[]): readonly Named[] {
  return named.filter(({ file, name }) => {
    const path = join(ROOT, file);
    return file === "" || name === "" || !existsSync(path) || !isLiteral(readFileSync(path, "utf8"), name);
  });
}

test("every test that SECURITY.md names is there, and every attack in it has one", () => {
  const named = namedTests(readFileSync(join(ROOT, "SECURITY.md"), "utf8"));
  expect(named.length).toBeGreaterThan(60);
  expect(missingOf(named)).toEqual([]);
});

test("each report of another tool has a number, and tests that are there", () => {
  const rows = readFileSync(join(ROOT, "docs/public-reports.md"), "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, reports, number, shownBy] = /^\| (.+?) \| .+ \| (\d+) \| (.+) \|$/.exec(line) ?? [];
      return reports === undefined ? [] : [{ reports: reports.split(", "), number, shownBy: shownBy ?? "" }];
    });
  const reports = rows.flatMap((row) => row.reports);
  expect(reports.filter((report) => !/^[\w.-]+\/[\w.-]+#\d+$/.test(report))).toEqual([]);
  expect(new Set(reports).size).toBe(reports.length);
  expect(reports.length).toBeGreaterThan(100);
  expect(missingOf(rows.flatMap((row) => testsOf(row.reports.join(), row.shownBy)))).toEqual([]);
});

test("each of forty behaviours beside ssh has a test that is there, and each difference a reason or a gain", () => {
  const rows = readFileSync(join(ROOT, "docs/ssh-table.md"), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| behaviour "))
    // A bar within a cell is written with a backslash.
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
  expect(rows.length).toBeGreaterThanOrEqual(40);
  expect(rows.filter((cells) => cells.length !== 6)).toEqual([]);
  // What is said of docker exec was not measured here: it names a page of the reference, or claims nothing.
  const unfounded = rows.filter(([, , docker = ""]) => !/ \[[a-zA-Z ]+\]$|^not documented$/.test(docker));
  expect(unfounded).toEqual([]);
  expect(missingOf(rows.flatMap(([behaviour = "", , , , , shownBy = ""]) => testsOf(behaviour, shownBy)))).toEqual([]);
});

/** Whether it is a whole string of the source. */
function isLiteral(source: string, text: string): boolean {
  return ['"', "'", "`"].some((quote) => source.includes(`${quote}${text}${quote}`));
}
