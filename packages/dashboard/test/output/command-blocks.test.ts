// The commands in the scrollback, without a terminal.

import { expect, test } from "vitest";
import {
  CommandBlocks,
  copyableAt,
  type Position,
  promptFrom,
  type TextLine,
  textBetween,
} from "../../src/output/command-blocks.ts";

type Marker = { line: number };
const at = (line: number, column = 0): Position & { marker: Marker } => ({ marker: { line }, column });

/** Tells the blocks each mark at its line. */
function told(...marks: [text: string, line: number, column?: number][]) {
  const blocks = new CommandBlocks();
  const outcomes = marks.map(
    ([text, line, column], index) => blocks.take(text, () => at(line, column), index * 1000)?.kind,
  );
  return { blocks, outcomes };
}

test("a command is its prompt, its output and its exit status", () => {
  const { blocks, outcomes } = told(["A", 0], ["B", 0, 2], ["C", 1], ["D;3", 4, 7]);
  expect(outcomes).toEqual(["prompt", undefined, "started", "ended"]);
  expect(blocks.list).toEqual([
    { prompt: at(0), line: at(0, 2), output: at(1), end: at(4, 7), exit: 3, startedAtMs: 2000, endedAtMs: 3000 },
  ]);
});

test("an end without a command, and a second end, are nothing", () => {
  expect(told(["D;0", 0], ["A", 1], ["D;0", 1], ["C", 2], ["D", 3], ["D;1", 4]).outcomes).toEqual([
    undefined,
    "prompt",
    undefined,
    "started",
    "ended",
    undefined,
  ]);
});

test("a status that is no number is not known", () => {
  expect(told(["A", 0], ["C", 1], ["D;aid=7", 2]).blocks.list[0]).not.toHaveProperty("exit");
});

test("a prompt after a line that was given up replaces it", () => {
  const { blocks } = told(["A", 0], ["A", 1], ["C", 2], ["D;0", 3], ["A", 3]);
  expect(blocks.list.map(({ prompt }) => prompt.marker.line)).toEqual([1, 3]);
});

test("a command whose prompt has left the scrollback is forgotten", () => {
  const { blocks } = told(["A", 0], ["C", 1], ["D;0", 2], ["A", 2], ["C", 3], ["D;0", 4]);
  (blocks.list[0]?.prompt.marker as Marker).line = -1;
  expect(blocks.list.map(({ prompt }) => prompt.marker.line)).toEqual([2]);
});

test("a thousand commands are kept, the newest", () => {
  const blocks = new CommandBlocks();
  for (let line = 0; line < 1_010; line += 1) {
    blocks.take("A", () => at(line), 0);
    blocks.take("C", () => at(line), 0);
    blocks.take("D;0", () => at(line), 0);
  }
  expect([blocks.list.length, blocks.list[0]?.prompt.marker.line]).toEqual([1_000, 10]);
});

test("the command before and after a line, of those that ran", () => {
  const { list } = told(["A", 0], ["C", 1], ["D;0", 5], ["A", 5], ["C", 6], ["D;0", 9], ["A", 9]).blocks;
  const from = (top: number) =>
    (["before", "after"] as const).map((way) => promptFrom(list, top, way)?.prompt.marker.line);
  expect([from(0), from(5), from(6), from(Number.POSITIVE_INFINITY)]).toEqual([
    [undefined, 5],
    [0, undefined],
    [5, undefined],
    [5, undefined],
  ]);
});

test("what is copied is the newest output at or above a line", () => {
  const { list } = told(["A", 0], ["C", 1], ["D;0", 5], ["A", 5], ["C", 6], ["D;0", 9], ["A", 9]).blocks;
  const line = (at: number) => copyableAt(list, at)?.prompt.marker.line;
  expect([line(4), line(5), line(100)]).toEqual([0, 5, 5]);
});

function screen(...rows: (string | { wrapped: string })[]): (line: number) => TextLine | undefined {
  const lines = rows.map((row) => {
    const text = typeof row === "string" ? row : row.wrapped;
    return {
      isWrapped: typeof row !== "string",
      translateToString: (trim?: boolean, start = 0, stop = text.length) => {
        const part = text.slice(start, stop);
        return trim === true ? part.trimEnd() : part;
      },
    };
  });
  return (line) => lines[line];
}

test("copied text joins what only the width has broken, and has no blanks at its ends", () => {
  const lineAt = screen("$ ls    ", "a b     ", "12345678", { wrapped: "9 0     " }, "", "$ ");
  expect(textBetween(lineAt, 6, at(1), at(5))).toBe("a b\n123456789 0");
});

test("copied text begins and ends at its columns", () => {
  expect(textBetween(screen("$ x", "no end$ "), 2, at(1), at(1, 6))).toBe("no end");
  expect(textBetween(screen("ab", "cd", ""), 3, at(0, 1), undefined)).toBe("b\ncd");
});
