// The list of panes: what tmux tells, which pane is meant by a word, and what a name may be.

import { describe, expect, test } from "vitest";
import { findPane, NO_PANES, type PaneList, readPaneList, withLayout } from "../../src/panes/pane-list.ts";
import { bytes } from "../support/fixtures.ts";

function list(...rows: readonly string[]): PaneList {
  return readPaneList(rows.map(bytes), "$0") ?? NO_PANES;
}

const SIDE_BY_SIDE = [
  "$0 %0 @0 1 0 40 24 0 0 80 24 0 0 8205,80x24,0,0{40x24,0,0,0,39x24,41,0,1} :first: window",
  "$0 %1 @0 1 1 39 24 41 0 80 24 0 7 8205,80x24,0,0{40x24,0,0,0,39x24,41,0,1} :first: window",
];
const ELSEWHERE = "$0 %4 @2 0 1 80 24 0 0 80 24 0 0 b25d,80x24,0,0,4 logs:second";

describe("B4: the list of panes", () => {
  test("is what list-panes says, with names by place in the window that is seen", () => {
    const { windows, panes, taken } = list(...SIDE_BY_SIDE, ELSEWHERE);
    expect(panes).toEqual([
      { id: "%0", name: "left", window: "@0", active: false, cols: 40, rows: 24, left: 0, top: 0 },
      { id: "%1", name: "right", window: "@0", active: true, cols: 39, rows: 24, left: 41, top: 0 },
      { id: "%4", name: "logs", window: "@2", active: true, cols: 80, rows: 24, left: 0, top: 0 },
    ]);
    expect(windows.map(({ id, name, active }) => [id, name, active])).toEqual([
      ["@0", "first: window", true],
      ["@2", "second", false],
    ]);
    expect(taken.get("%1")).toBe(7);
  });

  test("has the panes of this session alone, and knows those of others on the same server", () => {
    const { panes, elsewhere } = list(...SIDE_BY_SIDE, ELSEWHERE.replace("$0", "$3"));
    expect(panes.map(({ id }) => id)).toEqual(["%0", "%1"]);
    expect([...elsewhere]).toEqual(["%4"]);
  });

  test("follows a layout at once, and leaves one alone that is about other panes", () => {
    const before = list(...SIDE_BY_SIDE);
    const after = withLayout(before, "@0", "6b8b,100x30,0,0{50x30,0,0,0,49x30,51,0,1}");
    expect(after.panes.map(({ cols, rows, left }) => [cols, rows, left])).toEqual([
      [50, 30, 0],
      [49, 30, 51],
    ]);
    expect(withLayout(before, "@0", "b25d,80x24,0,0,0")).toBe(before);
    expect(withLayout(before, "@0", "6b8b,100x30")).toBe(before);
  });

  test.each([
    "",
    "$0 %0",
    "%0 @0 1 1 80 24 0 0 80 24 0 0 b25d,80x24,0,0,0 a:x",
    "$0 %0 @0 1 0 40 24 0 0 80 24 0 0 8205 a b:x",
    "no such session",
  ])("is not read from “%s”", (row) => {
    expect(readPaneList([bytes(row)], "$0")).toBeUndefined();
  });
});

describe("B5: a pane is meant", () => {
  const panes = list(...SIDE_BY_SIDE, ELSEWHERE);

  test.each([
    ["by its id", "%4", "%4"],
    ["by its name, in any window", "logs", "%4"],
    ["by its side", "left", "%0"],
    ["by its side", "right", "%1"],
    ["by a corner, as tmux finds it", "bottom-right", "%1"],
    ["not by the id of another server", "%9", undefined],
    ["not by nothing", "", undefined],
    ["not by a word of JavaScript", "constructor", undefined],
    ["not by a window", "@0", undefined],
  ])("%s: “%s”", (_, word, id) => {
    expect(findPane(panes, word)?.id).toBe(id);
  });

  test("not by a name that two have, unless one of them is seen", () => {
    const twice = list(
      "$0 %0 @0 1 1 80 24 0 0 80 24 0 0 b25d,80x24,0,0,0 a:x",
      "$0 %1 @1 0 1 80 24 0 0 80 24 0 0 b25d,80x24,0,0,0 a:y",
      "$0 %2 @1 0 1 80 24 0 0 80 24 0 0 b25d,80x24,0,0,0 b:y",
      "$0 %3 @2 0 1 80 24 0 0 80 24 0 0 b25d,80x24,0,0,0 b:z",
    );
    expect(findPane(twice, "a")?.id).toBe("%0");
    expect(findPane(twice, "b")).toBeUndefined();
  });

  test("never by a place that somebody has taken for a name", () => {
    const posing = list(...SIDE_BY_SIDE, ELSEWHERE.replace("logs", "left"));
    expect(findPane(posing, "left")?.id).toBe("%0");
  });
});
