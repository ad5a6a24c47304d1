// A person's open sessions as tabs, each a tree of panes. Only reads a layout; layout-edits.ts changes one. Pure.

import type { SessionTarget } from "../connection/session-target.ts";

/** A session appears once in a layout, so it identifies its pane. */
export type PaneId = string;

/** A dragged pane, or the index of a dragged tab. */
export type Dragged = PaneId | number;

export type Pane = { readonly kind: "pane"; readonly target: SessionTarget };

/** Two parts side by side (`row`) or stacked (`column`). */
export type Split = {
  readonly kind: "split";
  readonly axis: Axis;
  /** Share of the first part, from 0 to 1. */
  readonly share: number;
  readonly parts: readonly [Area, Area];
};

export type Axis = "row" | "column";
export type Area = Pane | Split;

export type LayoutTab = {
  readonly root: Area;
  readonly focus: PaneId;
  /** Whether the focused pane has the room of all. */
  readonly isMaximized?: boolean;
};

export type Layout = {
  readonly tabs: readonly LayoutTab[];
  /** Index of the shown tab. */
  readonly current: number;
};

export type Direction = "left" | "right" | "up" | "down";

/** As shares of the whole. */
export type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

export type PlacedPane = { readonly id: PaneId; readonly target: SessionTarget; readonly box: Box };

export type Divider = {
  /** The split's path from the root: 0 or 1 for each part. */
  readonly path: string;
  readonly axis: Axis;
  readonly share: number;
  /** The split's area. */
  readonly box: Box;
};

export const NOTHING_OPEN: Layout = { tabs: [], current: 0 };

/** Limit of open sessions: the stored layout must fit into the server's 16 KiB. */
export const MAX_PANES = 64;
/** Limit of nested splits. */
export const MAX_DEPTH = 8;

export const WHOLE: Box = { x: 0, y: 0, width: 1, height: 1 };

export function paneIdOf({ sandbox, session }: SessionTarget): PaneId {
  return `${sandbox}/${session}`;
}

export function targetsOf(area: Area): SessionTarget[] {
  return area.kind === "pane" ? [area.target] : area.parts.flatMap(targetsOf);
}

export function allTargets(layout: Layout): SessionTarget[] {
  return layout.tabs.flatMap(({ root }) => targetsOf(root));
}

/** The tab's index; -1 for none. */
export function tabOf(layout: Layout, id: PaneId): number {
  return layout.tabs.findIndex(({ root }) => has(root, id));
}

export function has(area: Area, id: PaneId): boolean {
  return area.kind === "pane" ? paneIdOf(area.target) === id : area.parts.some((part) => has(part, id));
}

/** The focused pane; undefined if nothing is open. */
export function focusOf(layout: Layout): PaneId | undefined {
  return layout.tabs[layout.current]?.focus;
}

/** Whether the shown tab has several panes. */
export function isSplit(layout: Layout): boolean {
  return layout.tabs[layout.current]?.root.kind === "split";
}

export function focusedTarget(layout: Layout): SessionTarget | undefined {
  const focus = focusOf(layout);
  return allTargets(layout).find((target) => paneIdOf(target) === focus);
}

export function depthOf(area: Area): number {
  return area.kind === "pane" ? 0 : 1 + Math.max(...area.parts.map(depthOf));
}

/** The position of each pane. */
export function panesOf(area: Area, box: Box = WHOLE): PlacedPane[] {
  if (area.kind === "pane") return [{ id: paneIdOf(area.target), target: area.target, box }];
  const [first, second] = boxesOf(area, box);
  return [...panesOf(area.parts[0], first), ...panesOf(area.parts[1], second)];
}

/** The draggable dividers. */
export function dividersOf(area: Area, box: Box = WHOLE, path = ""): Divider[] {
  if (area.kind === "pane") return [];
  const [first, second] = boxesOf(area, box);
  return [
    { path, axis: area.axis, share: area.share, box },
    ...dividersOf(area.parts[0], first, `${path}0`),
    ...dividersOf(area.parts[1], second, `${path}1`),
  ];
}

function boxesOf({ axis, share }: Split, { x, y, width, height }: Box): [Box, Box] {
  if (axis === "row") {
    const first = width * share;
    return [
      { x, y, width: first, height },
      { x: x + first, y, width: width - first, height },
    ];
  }
  const first = height * share;
  return [
    { x, y, width, height: first },
    { x, y: y + first, width, height: height - first },
  ];
}

/** The nearest adjacent pane of the tab in a direction. */
export function neighbourOf(layout: Layout, id: PaneId, direction: Direction): PaneId | undefined {
  const tab = layout.tabs[tabOf(layout, id)];
  if (tab === undefined) return undefined;
  const panes = panesOf(tab.root);
  const from = panes.find((pane) => pane.id === id)?.box;
  if (from === undefined) return undefined;
  const touching = panes.filter(({ box }) => touches(from, box, direction));
  const middle = (box: Box) =>
    direction === "left" || direction === "right" ? box.y + box.height / 2 : box.x + box.width / 2;
  const distance = ({ box }: PlacedPane) => Math.abs(middle(box) - middle(from));
  return touching.sort((a, b) => distance(a) - distance(b))[0]?.id;
}

function touches(from: Box, to: Box, direction: Direction): boolean {
  const isSame = (a: number, b: number) => Math.abs(a - b) < 1e-6;
  const overlaps = (a: number, aSize: number, b: number, bSize: number) =>
    Math.min(a + aSize, b + bSize) - Math.max(a, b) > 1e-6;
  const isBeside = overlaps(from.y, from.height, to.y, to.height);
  const isAbove = overlaps(from.x, from.width, to.x, to.width);
  switch (direction) {
    case "left":
      return isBeside && isSame(to.x + to.width, from.x);
    case "right":
      return isBeside && isSame(from.x + from.width, to.x);
    case "up":
      return isAbove && isSame(to.y + to.height, from.y);
    case "down":
      return isAbove && isSame(from.y + from.height, to.y);
  }
}
