// SECURITY.md names the tests that show what it says: each of them must exist.
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
    let file = "";
    const named: Named[] = [];
    for (const [, path, name] of shownBy.matchAll(/`([^`]+\.test\.ts)`|"([^"]+)"/g)) {
      if (path === undefined) named.push({ attack, file, name: name ?? "" });
      else file = path;
    }
    return named.length > 0 ? named : [{ attack, file, name: "" }];
  });
}

test("every test that SECURITY.md names is there, and every attack in it has one", () => {
  const named = namedTests(readFileSync(join(ROOT, "SECURITY.md"), "utf8"));
  expect(named.length).toBeGreaterThan(60);
  const missing = named.filter(({ file, name }) => {
    const path = join(ROOT, file);
    return file === "" || name === "" || !existsSync(path) || !isLiteral(readFileSync(path, "utf8"), name);
  });
  expect(missing).toEqual([]);
});

/** Whether it is a whole string of the source. */
function isLiteral(source: string, text: string): boolean {
  return ['"', "'", "`"].some((quote) => source.includes(`${quote}${text}${quote}`));
}
