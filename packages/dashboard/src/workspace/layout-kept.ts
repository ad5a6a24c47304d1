// The stored form of a layout: versioned JSON, validated, and merged if two devices changed it. It names sessions only, so stored data can
// run no command. Pure.

import { isName, isRecord } from "sandbox-stdio/core";
import type { SessionTarget } from "../connection/session-target.ts";
import {
  type Area,
  allTargets,
  type Layout,
  type LayoutTab,
  MAX_DEPTH,
  MAX_PANES,
  paneIdOf,
  targetsOf,
} from "./layout.ts";
import { close, MIN_SHARE } from "./layout-edits.ts";
import { mergeNames, readNames, type SessionNames } from "./session-names.ts";

export const LAYOUT_VERSION = 1;

/** Below the server's 16 KiB, with what is sent around it. */
const MAX_BYTES = 16_000;

/** Limit of stored sandboxes. */
const MAX_SANDBOXES = 32;

/** What is stored for a person. */
export type Kept = {
  readonly layout: Layout;
  /** Sandboxes, latest first. */
  readonly sandboxes: readonly string[];
  readonly names: SessionNames;
  /** The folders in which open sessions were last seen, which name them until they are connected. */
  readonly places: SessionNames;
};

type KeptArea = readonly [sandbox: string, session: string] | KeptSplit;
type KeptSplit = { readonly axis: string; readonly share: number; readonly parts: readonly [KeptArea, KeptArea] };

/** As JSON. */
type KeptValue = {
  readonly version: typeof LAYOUT_VERSION;
  readonly current: number;
  /** `focus`: index of the focused pane, from the top left. */
  readonly tabs: readonly { readonly focus: number; readonly root: KeptArea; readonly max?: true }[];
  readonly sandboxes: readonly string[];
  readonly names: SessionNames;
  readonly places: SessionNames;
};

export function keep({ layout, sandboxes, names, places }: Kept): KeptValue {
  const open = new Set(allTargets(layout).map(paneIdOf));
  const value: Omit<KeptValue, "places"> = {
    version: LAYOUT_VERSION,
    current: layout.current,
    tabs: layout.tabs.map(({ focus, root, isMaximized }) => ({
      focus: targetsOf(root).findIndex((target) => paneIdOf(target) === focus),
      root: keepArea(root),
      ...(isMaximized === true && { max: true }),
    })),
    sandboxes: sandboxes.slice(0, MAX_SANDBOXES),
    names,
  };
  // What has no room is named again once it is connected.
  const entries = Object.entries(places).filter(([id]) => open.has(id));
  const bytes = () => new TextEncoder().encode(JSON.stringify([value, entries])).length;
  while (entries.length > 0 && bytes() > MAX_BYTES) entries.shift();
  return { ...value, places: Object.fromEntries(entries) };
}

/** @returns undefined for another version or invalid data. */
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
  const ids = allTargets(layout).map(paneIdOf);
  if (ids.length > MAX_PANES || new Set(ids).size !== ids.length) return undefined;
  const sandboxes = Array.isArray(value.sandboxes) ? value.sandboxes.filter(isNameText) : [];
  return {
    layout,
    sandboxes: [...new Set(sandboxes)].slice(0, MAX_SANDBOXES),
    names: readNames(value.names),
    places: readNames(value.places),
  };
}

/** Merges with another device's version: mine, with the tabs that it opened, without those that it closed. @param base The common base. */
export function merge(base: Kept, mine: Kept, theirs: Kept): Kept {
  const ids = (kept: Kept) => new Set(allTargets(kept.layout).map(paneIdOf));
  const [before, here, there] = [ids(base), ids(mine), ids(theirs)];
  let { layout } = mine;
  for (const id of here) if (before.has(id) && !there.has(id)) layout = close(layout, id);
  const isNew = (target: SessionTarget) => !before.has(paneIdOf(target)) && !here.has(paneIdOf(target));
  const added = theirs.layout.tabs.flatMap(({ root }): LayoutTab[] => {
    const targets = targetsOf(root);
    if (targets.every(isNew)) return [{ root, focus: paneIdOf(firstOf(root)) }];
    // A pane beside a known one goes into its own tab.
    return targets.filter(isNew).map((target) => ({ root: { kind: "pane", target }, focus: paneIdOf(target) }));
  });
  let room = MAX_PANES - allTargets(layout).length;
  const fitting = added.filter(({ root }) => {
    room -= targetsOf(root).length;
    return room >= 0;
  });
  const sandboxes = [...new Set([...mine.sandboxes, ...theirs.sandboxes])].slice(0, MAX_SANDBOXES);
  const names = mergeNames(base.names, mine.names, theirs.names);
  const places = { ...theirs.places, ...mine.places };
  return { layout: { ...layout, tabs: [...layout.tabs, ...fitting] }, sandboxes, names, places };
}

/** Moves a sandbox to the front. */
export function withSandbox(sandboxes: readonly string[], sandbox: string): readonly string[] {
  if (sandboxes[0] === sandbox) return sandboxes;
  return [sandbox, ...sandboxes.filter((other) => other !== sandbox)].slice(0, MAX_SANDBOXES);
}

function keepArea(area: Area): KeptArea {
  if (area.kind === "pane") return [area.target.sandbox, area.target.session];
  // Four digits are finer than any screen.
  const share = Math.round(area.share * 1e4) / 1e4;
  return { axis: area.axis, share, parts: [keepArea(area.parts[0]), keepArea(area.parts[1])] };
}

function readTab(value: unknown): LayoutTab | undefined {
  if (!isRecord(value)) return undefined;
  const root = readArea(value.root, 0);
  if (root === undefined) return undefined;
  const ids = targetsOf(root).map(paneIdOf);
  const focus = (typeof value.focus === "number" ? ids[value.focus] : undefined) ?? ids[0];
  if (focus === undefined) return undefined;
  return value.max === true && root.kind === "split" ? { root, focus, isMaximized: true } : { root, focus };
}

function readArea(value: unknown, depth: number): Area | undefined {
  if (depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) {
    const [sandbox, session] = value;
    if (value.length !== 2 || !isNameText(sandbox) || !isNameText(session)) return undefined;
    return { kind: "pane", target: { sandbox, session } };
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

function firstOf(area: Area): SessionTarget {
  return area.kind === "pane" ? area.target : firstOf(area.parts[0]);
}

function isNameText(value: unknown): value is string {
  return typeof value === "string" && isName(value);
}
