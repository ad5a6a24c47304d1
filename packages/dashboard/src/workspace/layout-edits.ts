// Changes of a layout. Each returns a new one, or the same object if nothing changes or there is no room. Pure.

import type { SessionTarget } from "../connection/session-target.ts";
import {
  type Area,
  type Axis,
  allTargets,
  type Direction,
  type Dragged,
  depthOf,
  has,
  isSplit,
  type Layout,
  type LayoutTab,
  MAX_DEPTH,
  MAX_PANES,
  type PaneId,
  paneIdOf,
  panesOf,
  type Split,
  tabOf,
  targetsOf,
} from "./layout.ts";

/** Minimum share of a split. */
export const MIN_SHARE = 0.1;

/** Focuses a session if it is open, else opens it in a new tab after the current one. */
export function open(layout: Layout, target: SessionTarget): Layout {
  const id = paneIdOf(target);
  if (tabOf(layout, id) !== -1) return focus(layout, id);
  if (allTargets(layout).length >= MAX_PANES) return layout;
  return insertTab(layout, tabWith(target), layout.current + 1);
}

/** Splits a pane for a session, which is moved if it is open elsewhere. */
export function split(layout: Layout, at: PaneId, direction: Direction, target: SessionTarget): Layout {
  const id = paneIdOf(target);
  if (id === at) return layout;
  const without = close(layout, id);
  const index = tabOf(without, at);
  const tab = without.tabs[index];
  if (tab === undefined || allTargets(without).length >= MAX_PANES) return layout;
  const axis: Axis = direction === "left" || direction === "right" ? "row" : "column";
  const added: Area = { kind: "pane", target };
  const isFirst = direction === "left" || direction === "up";
  const root = replace(tab.root, at, (pane) => ({
    kind: "split",
    axis,
    share: 0.5,
    parts: isFirst ? [added, pane] : [pane, added],
  }));
  if (depthOf(root) > MAX_DEPTH) return layout;
  return { tabs: without.tabs.with(index, { root, focus: id }), current: index };
}

/** Closes a pane; its session keeps running. */
export function close(layout: Layout, id: PaneId): Layout {
  const index = tabOf(layout, id);
  const tab = layout.tabs[index];
  if (tab === undefined) return layout;
  const root = without(tab.root, id);
  if (root === undefined) {
    const tabs = layout.tabs.toSpliced(index, 1);
    const before = index < layout.current ? layout.current - 1 : layout.current;
    return { tabs, current: Math.max(0, Math.min(before, tabs.length - 1)) };
  }
  return {
    ...layout,
    tabs: layout.tabs.with(index, { root, focus: tab.focus === id ? heir(tab, root, id) : tab.focus }),
  };
}

/** Moves a pane to a new tab at `index`. */
export function moveToOwnTab(layout: Layout, id: PaneId, index: number): Layout {
  const target = allTargets(layout).find((one) => paneIdOf(one) === id);
  const from = layout.tabs[tabOf(layout, id)];
  if (target === undefined || from === undefined || from.root.kind === "pane") return layout;
  return insertTab(close(layout, id), tabWith(target), index);
}

/** Moves a tab to the index `to`. */
export function moveTab(layout: Layout, from: number, to: number): Layout {
  const moved = layout.tabs[from];
  const target = Math.max(0, Math.min(to, layout.tabs.length - 1));
  if (moved === undefined || target === from) return layout;
  const seen = layout.tabs[layout.current];
  const tabs = layout.tabs.toSpliced(from, 1).toSpliced(target, 0, moved);
  return { tabs, current: seen === undefined ? 0 : tabs.indexOf(seen) };
}

/** Closes a tab with its panes. */
export function closeTab(layout: Layout, index: number): Layout {
  return targetsOfTab(layout, index).map(paneIdOf).reduce(close, layout);
}

/** Closes all tabs but the current one. */
export function closeOthers(layout: Layout): Layout {
  const others = layout.tabs.filter((_, index) => index !== layout.current).flatMap(({ root }) => targetsOf(root));
  return others.map(paneIdOf).reduce(close, layout);
}

/** A dragged pane or tab was dropped in the tab bar, before the tab at `index`. */
export function dropInTabs(layout: Layout, dragged: Dragged, index: number): Layout {
  if (typeof dragged === "string") return moveToOwnTab(layout, dragged, index);
  return moveTab(layout, dragged, index > dragged ? index - 1 : index);
}

/** A dragged pane, or all panes of a dragged tab, were dropped on the edge of a pane. */
export function dropOnPane(layout: Layout, dragged: Dragged, at: PaneId, direction: Direction): Layout {
  const moved =
    typeof dragged === "number"
      ? targetsOfTab(layout, dragged)
      : allTargets(layout).filter((target) => paneIdOf(target) === dragged);
  return moved.reduce((before, target) => split(before, at, direction, target), layout);
}

function targetsOfTab(layout: Layout, index: number): SessionTarget[] {
  const tab = layout.tabs[index];
  return tab === undefined ? [] : targetsOf(tab.root);
}

/** Swaps two panes of a tab. */
export function swap(layout: Layout, a: PaneId, b: PaneId): Layout {
  const index = tabOf(layout, a);
  const tab = layout.tabs[index];
  if (tab === undefined || a === b || !has(tab.root, b)) return layout;
  const targets = targetsOf(tab.root);
  const targetOf = (id: PaneId) => targets.find((target) => paneIdOf(target) === id);
  const [first, second] = [targetOf(a), targetOf(b)];
  if (first === undefined || second === undefined) return layout;
  const exchanged = mapTargets(tab.root, (target) => {
    const id = paneIdOf(target);
    return id === a ? second : id === b ? first : target;
  });
  return { ...layout, tabs: layout.tabs.with(index, { ...tab, root: exchanged }) };
}

export function focus(layout: Layout, id: PaneId): Layout {
  const index = tabOf(layout, id);
  const tab = layout.tabs[index];
  if (tab === undefined || (index === layout.current && tab.focus === id)) return layout;
  return { tabs: layout.tabs.with(index, { ...tab, focus: id }), current: index };
}

/** Shows a tab, cyclically. */
export function showTab(layout: Layout, index: number): Layout {
  const count = layout.tabs.length;
  if (count === 0) return layout;
  const current = ((index % count) + count) % count;
  return current === layout.current ? layout : { ...layout, current };
}

/** Gives the focused pane the room of all in its tab, or the panes their own again. */
export function maximize(layout: Layout): Layout {
  const tab = layout.tabs[layout.current];
  if (tab === undefined || !isSplit(layout)) return layout;
  const { isMaximized = false, ...rest } = tab;
  return { ...layout, tabs: layout.tabs.with(layout.current, isMaximized ? rest : { ...rest, isMaximized: true }) };
}

/** Gives panes beside each other in the current tab the same size. @param path Of the split, as `Divider.path`. */
export function equalize(layout: Layout, path = ""): Layout {
  return editSplit(layout, path, equalized);
}

function equalized(split: Split): Split {
  const [first, second] = split.parts.map((part) => (part.kind === "pane" ? part : equalized(part))) as [Area, Area];
  const before = countAlong(first, split.axis);
  return { ...split, parts: [first, second], share: before / (before + countAlong(second, split.axis)) };
}

/** How many areas stand beside each other on an axis. */
function countAlong(area: Area, axis: Axis): number {
  if (area.kind === "pane" || area.axis !== axis) return 1;
  return countAlong(area.parts[0], axis) + countAlong(area.parts[1], axis);
}

/** Moves a divider of the current tab. @param path As `Divider.path`. */
export function resize(layout: Layout, path: string, share: number): Layout {
  if (!Number.isFinite(share)) return layout;
  const kept = Math.max(MIN_SHARE, Math.min(share, 1 - MIN_SHARE));
  return editSplit(layout, path, (split) => (split.share === kept ? split : { ...split, share: kept }));
}

function editSplit(layout: Layout, path: string, edit: (split: Split) => Split): Layout {
  const tab = layout.tabs[layout.current];
  if (tab === undefined) return layout;
  const root = edited(tab.root, path, edit);
  return root === tab.root ? layout : { ...layout, tabs: layout.tabs.with(layout.current, { ...tab, root }) };
}

/** Moves the nearest divider on the direction's axis by a share of the whole. */
export function resizeBy(layout: Layout, id: PaneId, direction: Direction, step: number): Layout {
  const tab = layout.tabs[layout.current];
  if (tab === undefined || !has(tab.root, id)) return layout;
  const axis: Axis = direction === "left" || direction === "right" ? "row" : "column";
  const change = direction === "right" || direction === "down" ? step : -step;
  let nearest: { path: string; share: number } | undefined;
  for (let area = tab.root, path = ""; area.kind === "split"; ) {
    if (area.axis === axis) nearest = { path, share: area.share };
    const part: 0 | 1 = has(area.parts[0], id) ? 0 : 1;
    path += part;
    area = area.parts[part];
  }
  return nearest === undefined ? layout : resize(layout, nearest.path, nearest.share + change);
}

function tabWith(target: SessionTarget): LayoutTab {
  return { root: { kind: "pane", target }, focus: paneIdOf(target) };
}

function insertTab(layout: Layout, tab: LayoutTab, index: number): Layout {
  const at = Math.max(0, Math.min(index, layout.tabs.length));
  return { tabs: layout.tabs.toSpliced(at, 0, tab), current: at };
}

/** The pane that gets a removed pane's focus: the one that takes its area. */
function heir(tab: LayoutTab, root: Area, id: PaneId): PaneId {
  const gone = panesOf(tab.root).find((pane) => pane.id === id)?.box ?? { x: 0, y: 0, width: 0, height: 0 };
  const [x, y] = [gone.x + gone.width / 2, gone.y + gone.height / 2];
  const panes = panesOf(root);
  const there = panes.find(({ box }) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height);
  return (there ?? panes[0])?.id ?? id;
}

function without(area: Area, id: PaneId): Area | undefined {
  if (area.kind === "pane") return paneIdOf(area.target) === id ? undefined : area;
  const first = without(area.parts[0], id);
  const second = without(area.parts[1], id);
  if (first === undefined) return second;
  if (second === undefined) return first;
  return first === area.parts[0] && second === area.parts[1] ? area : { ...area, parts: [first, second] };
}

function replace(area: Area, id: PaneId, by: (pane: Area) => Area): Area {
  if (area.kind === "pane") return paneIdOf(area.target) === id ? by(area) : area;
  return { ...area, parts: [replace(area.parts[0], id, by), replace(area.parts[1], id, by)] };
}

function mapTargets(area: Area, to: (target: SessionTarget) => SessionTarget): Area {
  if (area.kind === "pane") return { kind: "pane", target: to(area.target) };
  return { ...area, parts: [mapTargets(area.parts[0], to), mapTargets(area.parts[1], to)] };
}

function edited(area: Area, path: string, edit: (split: Split) => Split): Area {
  if (area.kind === "pane") return area;
  if (path === "") return edit(area);
  const part = path.startsWith("0") ? 0 : 1;
  const changed = edited(area.parts[part], path.slice(1), edit);
  if (changed === area.parts[part]) return area;
  return { ...area, parts: part === 0 ? [changed, area.parts[1]] : [area.parts[0], changed] };
}
