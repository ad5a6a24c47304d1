// The palette's entries, and which of them match the typed text. Pure.

import { quote } from "sandbox-stdio/core";
import type { PaneId } from "../workspace/layout.ts";
import { paneIdOf } from "../workspace/layout.ts";
import type { DeskCommand } from "../workspace/layout-keys.ts";
import type { SessionNames } from "../workspace/session-names.ts";
import type { ListedSession } from "./session-list.ts";

export type PaletteEntry =
  | {
      readonly kind: "session";
      readonly id: string;
      readonly listed: ListedSession;
      readonly isOpen: boolean;
      /** The name that this person has given it. */
      readonly name: string | undefined;
    }
  | {
      readonly kind: "command";
      readonly id: string;
      readonly command: DeskCommand;
      readonly words: string;
      readonly keys: string | undefined;
    };

/** Behind it only commands are looked for. */
const COMMANDS_ALONE = ">";

export function sessionEntry(listed: ListedSession, open: ReadonlySet<PaneId>, names: SessionNames = {}): PaletteEntry {
  const id = paneIdOf(listed.place);
  return { kind: "session", id, listed, isOpen: open.has(id), name: names[id] };
}

/** Those that have each word of the query somewhere; those first in which it begins a name. In their order otherwise. */
export function found(entries: readonly PaletteEntry[], query: string): PaletteEntry[] {
  const isForCommands = query.startsWith(COMMANDS_ALONE);
  const text = (isForCommands ? query.slice(COMMANDS_ALONE.length) : query).trim().toLowerCase();
  const words = text.split(/\s+/).filter((word) => word !== "");
  const matching = entries.filter((entry) => {
    if (isForCommands && entry.kind !== "command") return false;
    const searched = searchedOf(entry).toLowerCase();
    return words.every((word) => searched.includes(word));
  });
  if (text === "") return matching;
  const rank = (entry: PaletteEntry) => (nameOf(entry).toLowerCase().startsWith(text) ? 0 : 1);
  return matching.sort((a, b) => rank(a) - rank(b));
}

/** The most characters of a command that are shown: its arguments may be whole scripts. */
const MAX_LINE = 300;

/** A command as one would type it. */
export function commandLineOf({ command }: ListedSession): string {
  const line = wholeLineOf(command);
  return line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE).replace(/[\ud800-\udbff]$/, "")}…`;
}

const wholeLineOf = (command: readonly string[]) => command.map(quote).join(" ");

/** The command that attaches to a session from a shell. Without a token: that is the caller's own. */
export function attachCommand(origin: string, { place: { sandbox, session } }: Pick<ListedSession, "place">): string {
  return `sbx-stdio ${origin} --sandbox ${sandbox} --session ${session}`;
}

/** An age in its largest unit: seconds, minutes, hours or days. */
export function ageOf(sinceMs: number, nowMs: number): { count: number; unit: "second" | "minute" | "hour" | "day" } {
  const seconds = Math.max(0, Math.floor((nowMs - sinceMs) / 1000));
  if (seconds < 60) return { count: seconds, unit: "second" };
  if (seconds < 3_600) return { count: Math.floor(seconds / 60), unit: "minute" };
  if (seconds < 86_400) return { count: Math.floor(seconds / 3_600), unit: "hour" };
  return { count: Math.floor(seconds / 86_400), unit: "day" };
}

function nameOf(entry: PaletteEntry): string {
  return entry.kind === "session" ? (entry.name ?? entry.listed.place.session) : entry.words;
}

function searchedOf(entry: PaletteEntry): string {
  if (entry.kind === "command") return entry.words;
  const { place, state, title = "", people } = entry.listed;
  return `${entry.name ?? ""} ${place.sandbox} ${place.session} ${state} ${title} ${people.join(" ")} ${wholeLineOf(entry.listed.command)}`;
}
