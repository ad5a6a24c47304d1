// A person's own names of sessions, on all of their devices. A session's real name, in links, logs and for others, stays. Pure.

import { isName, isRecord } from "sandbox-stdio/core";
import type { PaneId } from "./layout.ts";

/** By session, latest last. */
export type SessionNames = Readonly<Record<PaneId, string>>;

const MAX_NAMES = 64;
const MAX_LENGTH = 40;
/** The names' part of the server's limit for a layout. */
const MAX_BYTES = 2_048;

/** Normalizes a name to one line. */
export function cleanName(text: string): string {
  // Keep no invisible character but the emoji joiner.
  const line = text.replaceAll(/(?:[\p{Cc}\s]|[^\P{Cf}\u200d])+/gu, " ").trim();
  return [...line].slice(0, MAX_LENGTH).join("").trim();
}

/** Sets a name; "" removes it. The oldest are dropped if there are too many. */
export function withName(names: SessionNames, id: PaneId, text: string): SessionNames {
  const { [id]: _, ...others } = names;
  const name = cleanName(text);
  return fitting(name === "" ? others : { ...others, [id]: name });
}

/** Merges with another device's names: theirs, and those changed here. */
export function mergeNames(base: SessionNames, mine: SessionNames, theirs: SessionNames): SessionNames {
  let merged = theirs;
  for (const id of new Set([...Object.keys(base), ...Object.keys(mine)])) {
    if (mine[id] !== base[id]) merged = withName(merged, id, mine[id] ?? "");
  }
  return merged;
}

/** The valid entries of a value. */
export function readNames(value: unknown): SessionNames {
  if (!isRecord(value)) return {};
  let names: SessionNames = {};
  for (const [id, name] of Object.entries(value).slice(-MAX_NAMES)) {
    const parts = id.split("/");
    if (parts.length === 2 && parts.every(isName) && typeof name === "string") names = withName(names, id, name);
  }
  return names;
}

function fitting(names: SessionNames): SessionNames {
  const entries = Object.entries(names).slice(-MAX_NAMES);
  const bytes = () => new TextEncoder().encode(JSON.stringify(entries)).length;
  while (bytes() > MAX_BYTES) entries.shift();
  return Object.fromEntries(entries);
}
