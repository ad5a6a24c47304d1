// A layout as the server keeps it: JSON with a version, read with suspicion, and brought together where two devices have changed it.
// It names sessions and nothing else: no command, no credential, so nothing that was stored can run anything. Pure.

import { isName, isRecord } from "sandbox-stdio/core";
import type { Place } from "../connection/place.ts";
import {
  type Area,
  allPlaces,
  type Layout,
  type LayoutTab,
  MAX_DEPTH,
  MAX_PANES,
  paneIdOf,
  placesOf,
} from "./layout.ts";
import { close, MIN_SHARE } from "./layout-edits.ts";
import { mergeNames, readNames, type SessionNames } from "./session-names.ts";

export const LAYOUT_VERSION = 1;

/** How many sandboxes that this person had sessions in are kept. */
const MAX_SANDBOXES = 32;

/** The layout and sandboxes that are kept for a person. */
export type Kept = {
  readonly layout: Layout;
  /** Those that were opened, the last one first. */
  readonly sandboxes: readonly string[];
  readonly names: SessionNames;
};

type KeptArea = readonly [sandbox: string, session: string] | KeptSplit;
type KeptSplit = { readonly axis: string; readonly share: number; readonly parts: readonly [KeptArea, KeptArea] };

/** As JSON would have it. */
type KeptValue = {
  readonly version: typeof LAYOUT_VERSION;
  readonly current: number;
  /** The focus: which of its panes, from the top left on. */
  readonly tabs: readonly { readonly focus: number; readonly root: KeptArea }[];
  readonly sandboxes: readonly string[];
  readonly names: SessionNames;
};

export function keep({ layout, sandboxes, names }: Kept): KeptValue {
  return {
    version: LAYOUT_VERSION,
    current: layout.current,
    tabs: layout.tabs.map(({ focus, root }) => ({
      focus: placesOf(root).findIndex((place) => paneIdOf(place) === focus),
      root: keepArea(root),
    })),
    sandboxes: sandboxes.slice(0, MAX_SANDBOXES),
    names,
  };
}

/** @returns undefined for a value that is of another version, or can't be read whole. */
export function readKept(value: unknown): Kept | undefined {
  if (!isRecord(value) || value.version !== LAYOUT_VERSION || !Array.isArray(value.tabs)) return undefined;
  const tabs: LayoutTab[] = [];
  for (const entry of value.tabs) {
    const tab = readTab(entry);
    if (tab === undefined) return undefined;
    tabs.push(tab);
  }
  const current = typeof value.current === "number" && Number.isInteger(value.current) ? value.current : 0;
  const layout = { tabs, current: Math.max(0, Math.min(current, tabs.length - 1)) };
  const ids = allPlaces(layout).map(paneIdOf);
  if (ids.length > MAX_PANES || new Set(ids).size !== ids.length) return undefined;
  const sandboxes = Array.isArray(value.sandboxes) ? value.sandboxes.filter(isNameText) : [];
  return { layout, sandboxes: [...new Set(sandboxes)].slice(0, MAX_SANDBOXES), names: readNames(value.names) };
}

/**
 * The layout to keep if another device has kept one meanwhile: mine, with the tabs that it has opened, without those that it has
 * closed.
 * @param base The layout that both began with.
 */
export function merge(base: Kept, mine: Kept, theirs: Kept): Kept {
  const ids = (kept: Kept) => new Set(allPlaces(kept.layout).map(paneIdOf));
  const [before, here, there] = [ids(base), ids(mine), ids(theirs)];
  let { layout } = mine;
  for (const id of here) if (before.has(id) && !there.has(id)) layout = close(layout, id);
  const isNew = (place: Place) => !before.has(paneIdOf(place)) && !here.has(paneIdOf(place));
  const added = theirs.layout.tabs.flatMap(({ root }): LayoutTab[] => {
    const places = placesOf(root);
    if (places.every(isNew)) return [{ root, focus: paneIdOf(firstOf(root)) }];
    // A pane beside one that is here too: in a tab of its own.
    return places.filter(isNew).map((place) => ({ root: { kind: "pane", place }, focus: paneIdOf(place) }));
  });
  let room = MAX_PANES - allPlaces(layout).length;
  const fitting = added.filter(({ root }) => {
    room -= placesOf(root).length;
    return room >= 0;
  });
  const sandboxes = [...new Set([...mine.sandboxes, ...theirs.sandboxes])].slice(0, MAX_SANDBOXES);
  const names = mergeNames(base.names, mine.names, theirs.names);
  return { layout: { ...layout, tabs: [...layout.tabs, ...fitting] }, sandboxes, names };
}

/** With a sandbox as the one that was opened last. */
export function withSandbox(sandboxes: readonly string[], sandbox: string): readonly string[] {
  if (sandboxes[0] === sandbox) return sandboxes;
  return [sandbox, ...sandboxes.filter((other) => other !== sandbox)].slice(0, MAX_SANDBOXES);
}

function keepArea(area: Area): KeptArea {
  if (area.kind === "pane") return [area.place.sandbox, area.place.session];
  // Four digits: finer than any screen.
  const share = Math.round(area.share * 1e4) / 1e4;
  return { axis: area.axis, share, parts: [keepArea(area.parts[0]), keepArea(area.parts[1])] };
}

function readTab(value: unknown): LayoutTab | undefined {
  if (!isRecord(value)) return undefined;
  const root = readArea(value.root, 0);
  if (root === undefined) return undefined;
  const ids = placesOf(root).map(paneIdOf);
  const focus = (typeof value.focus === "number" ? ids[value.focus] : undefined) ?? ids[0];
  return focus === undefined ? undefined : { root, focus };
}

function readArea(value: unknown, depth: number): Area | undefined {
  if (depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) {
    const [sandbox, session] = value;
    if (value.length !== 2 || !isNameText(sandbox) || !isNameText(session)) return undefined;
    return { kind: "pane", place: { sandbox, session } };
  }
  if (!isRecord(value) || !Array.isArray(value.parts) || value.parts.length !== 2) return undefined;
  const { axis, share } = value;
  if ((axis !== "row" && axis !== "column") || typeof share !== "number" || !Number.isFinite(share)) return undefined;
  const first = readArea(value.parts[0], depth + 1);
  const second = readArea(value.parts[1], depth + 1);
  if (first === undefined || second === undefined) return undefined;
  const kept = Math.max(MIN_SHARE, Math.min(share, 1 - MIN_SHARE));
  return { kind: "split", axis, share: kept, parts: [first, second] };
}

function firstOf(area: Area): Place {
  return area.kind === "pane" ? area.place : firstOf(area.parts[0]);
}

function isNameText(value: unknown): value is string {
  return typeof value === "string" && isName(value);
}
