// CONTRIBUTING.md: a file has at most 350 lines, so that it can hold one idea.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../packages/local/src/paths.ts";

const MAX_LINES = 350;
/** They carry out what the core decides, and have grown before. */
const SHELLS = ["worker/src/session/session-object.ts", "sandbox/src/host.ts"];
const MAX_SHELL_LINES = 280;
const SOURCE = /\.tsx?$/;

/** `src` of the Worker, the bridge and every package. */
function sourceFolders(): string[] {
  const packages = readdirSync(join(ROOT, "packages"), { withFileTypes: true }).filter((one) => one.isDirectory());
  return ["worker", "sandbox", ...packages.map(({ name }) => join("packages", name))].map((part) => join(part, "src"));
}

/** Paths from the top of the tree. @throws if a folder is not there. */
function sourceFiles(folder: string): string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" });
  return names.filter((name) => SOURCE.test(name)).map((name) => join(folder, name));
}

function lineCount(path: string): number {
  const text = readFileSync(join(ROOT, path), "utf8");
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

test("no source file is longer than 350 lines", () => {
  const files = sourceFolders().flatMap(sourceFiles);
  expect(files.length).toBeGreaterThan(400);
  const long = files.map((path) => ({ path, lines: lineCount(path) })).filter(({ lines }) => lines > MAX_LINES);
  expect(long).toEqual([]);
});

test("the shells of a session stay thin: at most 280 lines each", () => {
  const thick = SHELLS.map((path) => ({ path, lines: lineCount(path) })).filter(({ lines }) => lines > MAX_SHELL_LINES);
  expect(thick).toEqual([]);
});
