// Tabs and panes: what can be done to them, what of them is kept, and what holds whatever is done.

import fc from "fast-check";
import { expect, test } from "vitest";
import {
  allTargets,
  type Direction,
  dividersOf,
  focusOf,
  type Layout,
  MAX_PANES,
  NOTHING_OPEN,
  neighbourOf,
  type PlacedPane,
  paneIdOf,
  panesOf,
  tabOf,
} from "../../src/workspace/layout.ts";
import {
  close,
  equalize,
  focus,
  MIN_SHARE,
  maximize,
  moveTab,
  moveToOwnTab,
  open,
  resize,
  resizeBy,
  showTab,
  split,
  swap,
} from "../../src/workspace/layout-edits.ts";
import { type Kept, keep, LAYOUT_VERSION, merge, readKept, withSandbox } from "../../src/workspace/layout-kept.ts";
import { type SessionNames, withName } from "../../src/workspace/session-names.ts";

const at = (session: string, sandbox = "dev") => ({ sandbox, session });
const id = (session: string) => paneIdOf(at(session));
const opened = (...sessions: string[]) => sessions.reduce((layout, name) => open(layout, at(name)), NOTHING_OPEN);
/** Tabs by a bar, panes of one from its top left on. */
const drawn = ({ tabs }: Layout) =>
  tabs
    .map(({ root }) =>
      panesOf(root)
        .map(({ target }) => target.session)
        .join("+"),
    )
    .join(" | ");
const boxes = (layout: Layout) => {
  const tab = layout.tabs[layout.current];
  return Object.fromEntries(
    (tab === undefined ? [] : panesOf(tab.root)).map(({ target, box: { x, y, width, height } }) => [
      target.session,
      [x, y, width, height],
    ]),
  );
};
const size = ({ box }: PlacedPane) => box.width * box.height;
const kept = (layout: Layout, sandboxes: string[] = [], names: SessionNames = {}): Kept => ({
  layout,
  sandboxes,
  names,
  places: names,
});

test("a session stands once: what is open already is shown where it is", () => {
  const layout = opened("a", "b", "c");
  expect(drawn(layout)).toBe("a | b | c");
  const again = open(layout, at("a"));
  expect([drawn(again), focusOf(again)]).toEqual(["a | b | c", id("a")]);
  expect(drawn(open(again, at("d")))).toBe("a | d | b | c");
  expect(drawn(open(layout, at("a", "other")))).toBe("a | b | c | a");
});

test("a pane is divided in four directions, and the new one has the focus", () => {
  const one = opened("a");
  expect(boxes(split(one, id("a"), "right", at("b")))).toEqual({ a: [0, 0, 0.5, 1], b: [0.5, 0, 0.5, 1] });
  expect(boxes(split(one, id("a"), "left", at("b")))).toEqual({ b: [0, 0, 0.5, 1], a: [0.5, 0, 0.5, 1] });
  expect(boxes(split(one, id("a"), "down", at("b")))).toEqual({ a: [0, 0, 1, 0.5], b: [0, 0.5, 1, 0.5] });
  expect(boxes(split(one, id("a"), "up", at("b")))).toEqual({ b: [0, 0, 1, 0.5], a: [0, 0.5, 1, 0.5] });
  expect(focusOf(split(one, id("a"), "up", at("b")))).toBe(id("b"));
  expect(split(one, id("a"), "up", at("a"))).toBe(one);
  expect(split(one, id("gone"), "up", at("b"))).toBe(one);
});

test("a pane moves beside another, into a tab of its own, and back", () => {
  const layout = opened("a", "b", "c");
  const beside = split(layout, id("a"), "right", at("c"));
  expect([drawn(beside), beside.current]).toEqual(["a+c | b", 0]);
  const back = moveToOwnTab(beside, id("c"), 2);
  expect([drawn(back), focusOf(back)]).toEqual(["a | b | c", id("c")]);
  expect(moveToOwnTab(layout, id("a"), 2)).toBe(layout);
  expect(drawn(swap(beside, id("a"), id("c")))).toBe("c+a | b");
  expect(swap(beside, id("a"), id("b"))).toBe(beside);
});

test("tabs change their order, and the one that is seen stays it", () => {
  const layout = opened("a", "b", "c");
  const moved = moveTab(layout, 2, 0);
  expect([drawn(moved), moved.current]).toEqual(["c | a | b", 0]);
  const other = moveTab(showTab(layout, 1), 0, 9);
  expect([drawn(other), focusOf(other)]).toEqual(["b | c | a", id("b")]);
  expect(showTab(layout, 3).current).toBe(0);
  expect(showTab(opened("a", "b"), -1).current).toBe(1);
  expect(showTab(NOTHING_OPEN, 1)).toBe(NOTHING_OPEN);
});

test("what is closed leaves its room to what stood beside it, and the focus", () => {
  let layout = split(opened("a"), id("a"), "right", at("b"));
  layout = split(layout, id("b"), "down", at("c"));
  layout = close(layout, id("c"));
  expect([boxes(layout), focusOf(layout)]).toEqual([{ a: [0, 0, 0.5, 1], b: [0.5, 0, 0.5, 1] }, id("b")]);
  layout = close(layout, id("b"));
  expect([boxes(layout), focusOf(layout)]).toEqual([{ a: [0, 0, 1, 1] }, id("a")]);
  expect(close(layout, id("a"))).toEqual(NOTHING_OPEN);
  const tabs = opened("a", "b", "c");
  expect([close(tabs, id("a")).current, focusOf(close(tabs, id("c")))]).toEqual([1, id("b")]);
  expect(close(tabs, id("gone"))).toBe(tabs);
});

test("dividers move within bounds, by the mouse and towards a direction by keys", () => {
  let layout = split(opened("a"), id("a"), "right", at("b"));
  layout = split(layout, id("b"), "down", at("c"));
  const tab = layout.tabs[0];
  expect(tab && dividersOf(tab.root).map(({ path, axis }) => [path, axis])).toEqual([
    ["", "row"],
    ["1", "column"],
  ]);
  expect(boxes(resize(layout, "1", 0.25)).b).toEqual([0.5, 0, 0.5, 0.25]);
  expect(boxes(resize(layout, "", -3)).a).toEqual([0, 0, MIN_SHARE, 1]);
  expect(resize(layout, "", Number.NaN)).toBe(layout);
  expect(resize(layout, "0", 0.3)).toBe(layout);
  expect(boxes(resizeBy(layout, id("c"), "up", 0.1)).c).toEqual([0.5, 0.4, 0.5, 0.6]);
  expect(boxes(resizeBy(layout, id("c"), "left", 0.1)).a).toEqual([0, 0, 0.4, 1]);
  expect(resizeBy(layout, id("a"), "down", 0.1)).toBe(layout);
});

test("a pane is maximized, over a reload too, until it is restored, or one is added, closed or moved out", () => {
  const layout = split(opened("x", "a"), id("a"), "right", at("b"));
  const big = maximize(layout);
  expect(big.tabs.map(({ isMaximized }) => isMaximized)).toEqual([undefined, true]);
  expect(readKept(JSON.parse(JSON.stringify(keep(kept(big)))))?.layout).toEqual(big);
  expect(focus(big, id("a")).tabs[1]).toMatchObject({ focus: id("a"), isMaximized: true });
  expect(maximize(big)).toEqual(layout);
  const ends = [split(big, id("b"), "down", at("c")), close(big, id("a")), moveToOwnTab(big, id("a"), 0)];
  expect(ends.flatMap(({ tabs }) => tabs).filter(({ isMaximized }) => isMaximized)).toEqual([]);
  const single = opened("a");
  expect(maximize(single)).toBe(single);
  expect(readKept({ ...keep(kept(single)), tabs: [{ focus: 0, root: ["dev", "a"], max: true }] })?.layout).toEqual(
    single,
  );
});

test("panes beside each other get the same size: all of a tab, or those around one divider", () => {
  let layout = split(opened("a"), id("a"), "right", at("b"));
  layout = split(layout, id("b"), "right", at("c"));
  layout = split(layout, id("c"), "down", at("d"));
  layout = resize(resize(layout, "11", 0.8), "", 0.2);
  const third = expect.closeTo(1 / 3, 6);
  expect(boxes(equalize(layout))).toMatchObject({
    a: [0, 0, third, 1],
    b: [third, 0, third, 1],
    d: [expect.closeTo(2 / 3, 6), 0.5, third, 0.5],
  });
  expect(boxes(equalize(layout, "11"))).toMatchObject({ a: [0, 0, 0.2, 1], d: { 1: 0.5, 3: 0.5 } });
});

test("the neighbour in a direction is the one that touches, nearest to the middle", () => {
  let layout = split(opened("a"), id("a"), "right", at("b"));
  layout = split(layout, id("b"), "down", at("c"));
  layout = resize(layout, "1", 0.7);
  expect(neighbourOf(layout, id("a"), "right")).toBe(id("b"));
  expect(neighbourOf(layout, id("c"), "up")).toBe(id("b"));
  expect(neighbourOf(layout, id("c"), "left")).toBe(id("a"));
  expect(neighbourOf(layout, id("a"), "left")).toBe(undefined);
  expect(neighbourOf(layout, id("gone"), "left")).toBe(undefined);
});

test("no more is opened than there is room for", () => {
  const full = opened(...Array.from({ length: MAX_PANES }, (_, i) => `s${i}`));
  expect(open(full, at("more"))).toBe(full);
  expect(split(full, id("s0"), "right", at("more"))).toBe(full);
  expect(allTargets(split(full, id("s0"), "right", at("s1"))).length).toBe(MAX_PANES);
});

test("the largest layout that can be kept fits into what the server takes", () => {
  const long = (i: number) => ({ sandbox: `${"x".repeat(60)}${1000 + i}`, session: `${"y".repeat(60)}${1000 + i}` });
  const sandboxes = Array.from({ length: 40 }, (_, i) => long(i).sandbox);
  for (const panesOfTab of [1, 2, 8, MAX_PANES]) {
    let layout = NOTHING_OPEN;
    for (let i = 0; i < MAX_PANES; i += 1) {
      const before = layout.tabs[layout.current];
      const isNewTab = before === undefined || i % panesOfTab === 0;
      // The first pane of those that are least deep.
      const target = before === undefined ? undefined : panesOf(before.root).sort((a, b) => size(b) - size(a))[0]?.id;
      layout = isNewTab || target === undefined ? open(layout, long(i)) : split(layout, target, "right", long(i));
      layout = resize(layout, "", 0.123456789);
    }
    expect([panesOfTab, allTargets(layout).length]).toEqual([panesOfTab, MAX_PANES]);
    let names: SessionNames = {};
    for (let i = 0; i < MAX_PANES; i += 1) names = withName(names, paneIdOf(long(i)), "日".repeat(50));
    const text = JSON.stringify({ revision: 2 ** 50, layout: keep(kept(layout, sandboxes, names)) });
    expect(new TextEncoder().encode(text).length).toBeLessThan(16 * 1024);
  }
});

test("what is kept is read back; anything else, or of another version, is not", () => {
  const layout = resize(split(opened("a", "b"), id("b"), "down", at("c")), "", 0.31);
  const value: unknown = JSON.parse(JSON.stringify(keep(kept(layout, ["dev", "other"]))));
  expect(readKept(value)).toEqual(kept(layout, ["dev", "other"]));
  const good = keep(kept(layout));
  const bad: unknown[] = [
    null,
    "",
    [],
    {},
    { ...good, version: LAYOUT_VERSION + 1 },
    { ...good, tabs: {} },
    { ...good, tabs: [{ root: ["dev"] }] },
    { ...good, tabs: [{ root: ["dev", "../x"] }] },
    { ...good, tabs: [{ root: ["dev", "a"] }, { root: ["dev", "a"] }] },
    {
      ...good,
      tabs: [
        {
          root: {
            axis: "diagonal",
            share: 0.5,
            parts: [
              ["dev", "a"],
              ["dev", "b"],
            ],
          },
        },
      ],
    },
    {
      ...good,
      tabs: [
        {
          root: {
            axis: "row",
            share: "0.5",
            parts: [
              ["dev", "a"],
              ["dev", "b"],
            ],
          },
        },
      ],
    },
    { ...good, tabs: [{ root: { axis: "row", share: 0.5, parts: [["dev", "a"]] } }] },
    { ...good, tabs: Array.from({ length: MAX_PANES + 1 }, (_, i) => ({ root: ["dev", `s${i}`] })) },
  ];
  for (const one of bad) expect([one, readKept(one)]).toEqual([one, undefined]);
  let deep: unknown = ["dev", "s"];
  for (let i = 0; i < 12; i += 1) deep = { axis: "row", share: 0.5, parts: [["dev", `d${i}`], deep] };
  expect(readKept({ ...good, tabs: [{ root: deep }] })).toBe(undefined);
  // What can be put right is.
  expect(readKept({ ...good, current: 99, tabs: [{ focus: 7, root: ["dev", "a"] }] })).toEqual(
    kept({ tabs: [{ root: { kind: "pane", target: at("a") }, focus: id("a") }], current: 0 }),
  );
});

test("two devices: what the other opened is added, what it closed is gone, the rest is as it is here", () => {
  const base = opened("a", "b", "c");
  const mine = split(base, id("c"), "right", at("mine"));
  let theirs = close(base, id("a"));
  theirs = split(theirs, id("b"), "right", at("theirs"));
  theirs = open(theirs, at("tab"));
  const merged = merge(kept(base, ["dev"]), kept(mine, ["dev"]), kept(theirs, ["dev", "far"]));
  expect(drawn(merged.layout)).toBe("b | c+mine | theirs | tab");
  expect([focusOf(merged.layout), merged.sandboxes]).toEqual([id("mine"), ["dev", "far"]]);
  expect(merge(kept(base), kept(base), kept(base)).layout).toEqual(base);
});

test("the sandbox that was opened last stands first, once", () => {
  expect(withSandbox(["a", "b"], "b")).toEqual(["b", "a"]);
  const same = ["a", "b"];
  expect(withSandbox(same, "a")).toBe(same);
});

const session = fc.constantFrom(..."abcdefghij");
const direction = fc.constantFrom<Direction>("left", "right", "up", "down");
const share = fc.double({ min: -1, max: 2, noNaN: true });
const edit = fc.oneof(
  session.map((s) => (layout: Layout) => open(layout, at(s))),
  fc.tuple(session, direction, session).map(
    ([a, d, b]) =>
      (layout: Layout) =>
        split(layout, id(a), d, at(b)),
  ),
  session.map((s) => (layout: Layout) => close(layout, id(s))),
  session.map((s) => (layout: Layout) => focus(layout, id(s))),
  fc.tuple(session, session).map(
    ([a, b]) =>
      (layout: Layout) =>
        swap(layout, id(a), id(b)),
  ),
  fc.tuple(fc.nat(9), fc.nat(9)).map(
    ([a, b]) =>
      (layout: Layout) =>
        moveTab(layout, a, b),
  ),
  fc.tuple(session, fc.nat(9)).map(
    ([s, i]) =>
      (layout: Layout) =>
        moveToOwnTab(layout, id(s), i),
  ),
  fc.integer({ min: -3, max: 9 }).map((i) => (layout: Layout) => showTab(layout, i)),
  fc.tuple(fc.constantFrom("", "0", "1", "01", "111"), share).map(
    ([p, s]) =>
      (layout: Layout) =>
        resize(layout, p, s),
  ),
  fc.tuple(session, direction).map(
    ([s, d]) =>
      (layout: Layout) =>
        resizeBy(layout, id(s), d, 0.05),
  ),
  fc.constant(maximize),
  fc.constantFrom("", "0", "1", "01").map((p) => (layout: Layout) => equalize(layout, p)),
);
const edits = fc.array(edit, { maxLength: 60 });

function check(layout: Layout): void {
  const ids = allTargets(layout).map(paneIdOf);
  expect(new Set(ids).size).toBe(ids.length);
  expect(layout.current).toBeGreaterThanOrEqual(0);
  expect(layout.current).toBeLessThan(Math.max(1, layout.tabs.length));
  for (const { root, focus: focused, isMaximized } of layout.tabs) {
    const panes = panesOf(root);
    expect(panes.map((pane) => pane.id)).toContain(focused);
    expect(isMaximized === true && panes.length === 1).toBe(false);
    // They cover the whole, none is empty, and so none covers another.
    expect(panes.reduce((sum, { box }) => sum + box.width * box.height, 0)).toBeCloseTo(1, 6);
    expect(panes.every(({ box }) => box.width > 0 && box.height > 0)).toBe(true);
    expect(dividersOf(root).length).toBe(panes.length - 1);
  }
}

test("whatever is done: each session once, panes cover the whole, the focus is on one, and all of it is kept", () => {
  fc.assert(
    fc.property(edits, (all) => {
      const layout = all.reduce((before, change) => change(before), NOTHING_OPEN);
      check(layout);
      const read = readKept(JSON.parse(JSON.stringify(keep(kept(layout)))))?.layout;
      const facts = ({ tabs }: Layout) => tabs.map(({ focus, isMaximized }) => [focus, isMaximized]);
      expect(read && [drawn(read), read.current, facts(read)]).toEqual([drawn(layout), layout.current, facts(layout)]);
    }),
  );
});

test("whatever two devices do: what both have is there once, and nothing that one has closed", () => {
  fc.assert(
    fc.property(edits, edits, edits, (before, here, there) => {
      const base = before.reduce((layout, change) => change(layout), NOTHING_OPEN);
      const mine = here.reduce((layout, change) => change(layout), base);
      const theirs = there.reduce((layout, change) => change(layout), base);
      const { layout } = merge(kept(base), kept(mine), kept(theirs));
      check(layout);
      const ids = (one: Layout) => new Set(allTargets(one).map(paneIdOf));
      const wanted = new Set([...ids(mine), ...ids(theirs)]);
      for (const one of ids(base)) if (!ids(mine).has(one) || !ids(theirs).has(one)) wanted.delete(one);
      expect(ids(layout)).toEqual(wanted);
      for (const one of wanted) expect(tabOf(layout, one)).not.toBe(-1);
    }),
  );
});
