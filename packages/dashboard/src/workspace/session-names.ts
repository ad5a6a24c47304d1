// The names that a person has given to sessions: theirs alone, on each of their devices. A session's own name is its address, which
// links, logs and other people have, and stays. Pure.

import { isName, isRecord } from "sandbox-stdio/core";
import type { PaneId } from "./layout.ts";

/** By session, the one that was named last at the end. */
export type SessionNames = Readonly<Record<PaneId, string>>;

const MAX_NAMES = 64;
const MAX_LENGTH = 40;
/** What the names may take of the room that the server gives a layout: the largest layout leaves it. */
const MAX_BYTES = 2_048;

/** A name as it is kept: one line, none if it is empty. */
export function cleanName(text: string): string {
  // Of what is not seen only the joiner of emoji stays.
  const line = text.replaceAll(/(?:[\p{Cc}\s]|[^\P{Cf}\u200d])+/gu, " ").trim();
  return [...line].slice(0, MAX_LENGTH).join("").trim();
}

/** With another name for a session; "" takes the name back. Those that were named first go if there are too many. */
export function withName(names: SessionNames, id: PaneId, text: string): SessionNames {
  const { [id]: _, ...others } = names;
  const name = cleanName(text);
  return fitting(name === "" ? others : { ...others, [id]: name });
}

/** The names to keep if another device has named sessions meanwhile: theirs, and those that were changed here. */
export function mergeNames(base: SessionNames, mine: SessionNames, theirs: SessionNames): SessionNames {
  let merged = theirs;
  for (const id of new Set([...Object.keys(base), ...Object.keys(mine)])) {
    if (mine[id] !== base[id]) merged = withName(merged, id, mine[id] ?? "");
  }
  return merged;
}

/** Whatever of a value can be read. */
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
