// The guides in plain English: sentences that one reading is enough for, as CONTRIBUTING.md asks of comments.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../packages/local/src/base/paths.ts";

const MAX_WORDS = 25;
const HARD_TO_READ = /\b(whoever|is to be|are to be|is none|are none)\b/i;

/** SECURITY.md is a table of attacks and the titles of their tests. */
const pages = execFileSync("git", ["ls-files", "*.md"], { cwd: ROOT })
  .toString()
  .trim()
  .split("\n")
  .filter((page) => !["SECURITY.md", "CHANGELOG.md"].includes(page));

/** Paragraphs, list items and cells of tables, without code, quotes and addresses of links. */
function blocksOf(text: string): string[] {
  const lines = text.replace(/^```[\s\S]*?^```/gm, "").split("\n");
  const blocks: string[] = [];
  let isOpen = false;
  for (const line of lines) {
    if (/^\s*\|/.test(line)) blocks.push(...line.split("|"));
    else if (isOpen && !/^\s*$|^\s*([-*]|\d+\.) |^#/.test(line)) blocks[blocks.length - 1] += ` ${line}`;
    else blocks.push(line);
    isOpen = !/^\s*$|^#|^\s*\|/.test(line);
  }
  return blocks.map((block) =>
    block
      .replace(/"[^"]*"/g, "")
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replace(/`[^`]*`/g, ""),
  );
}

const wordsOf = (sentence: string): number => sentence.split(/\s+/).filter((word) => /\w/.test(word)).length;

test("no sentence of the guides is longer than 25 words, or uses a word that makes it hard to read", () => {
  expect(pages.length).toBeGreaterThan(10);
  const hard: string[] = [];
  for (const page of pages) {
    for (const sentence of blocksOf(readFileSync(join(ROOT, page), "utf8")).flatMap((block) =>
      block.split(/(?<=[.!?:;])\s+/),
    )) {
      const words = wordsOf(sentence);
      if (words > MAX_WORDS || HARD_TO_READ.test(sentence)) hard.push(`${page}: ${words} words: ${sentence.trim()}`);
    }
  }
  expect(hard).toEqual([]);
});
