// The palette's entries, and the search among them. Pure.

import { quote } from "sandbox-stdio/core";
import { paneIdOf } from "../workspace/layout.ts";
import type { WorkspaceCommand } from "../workspace/layout-keys.ts";
import type { ListedSession } from "./session-list.ts";

export type PaletteEntry =
  | {
      readonly kind: "session";
      readonly id: string;
      readonly listed: ListedSession;
      /** What the page calls it. */
      readonly label: string;
    }
  | {
      readonly kind: "command";
      readonly id: string;
      readonly command: WorkspaceCommand;
      readonly words: string;
      /** Other words by which people look for it. */
      readonly also: string;
      readonly keys: string | undefined;
    };

/** Prefix of a query for commands only. */
const COMMANDS_ALONE = ">";

export function sessionEntry(listed: ListedSession, label = listed.target.session): PaletteEntry {
  return { kind: "session", id: paneIdOf(listed.target), listed, label };
}

/** Entries that have each word of the query, the best first: sessions and commands apart, those of the best before the others. */
export function found(entries: readonly PaletteEntry[], query: string): PaletteEntry[] {
  const isForCommands = query.startsWith(COMMANDS_ALONE);
  const text = (isForCommands ? query.slice(COMMANDS_ALONE.length) : query).trim().toLowerCase();
  const words = text.split(/\s+/).filter((word) => word !== "");
  const sorted = entries
    .filter(({ kind }) => !isForCommands || kind === "command")
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ entry }) => entry);
  const first = sorted[0]?.kind;
  return [...sorted.filter(({ kind }) => kind === first), ...sorted.filter(({ kind }) => kind !== first)];
}

/** 0 if a word is not there. Entries without a query keep their order. */
function scoreOf(entry: PaletteEntry, words: readonly string[]): number {
  const name = nameOf(entry).toLowerCase();
  const rest = searchedOf(entry).toLowerCase();
  const scores = words.map((word, i) => {
    const at = name.indexOf(word);
    if (at === 0) return i === 0 ? 8 : 6;
    if (at > 0) return /\W/.test(name.charAt(at - 1)) ? 6 : 4;
    if (rest.includes(word)) return 3;
    return isScattered(name, word) ? 1 : 0;
  });
  return scores.includes(0) ? 0 : 1 + scores.reduce((sum: number, one) => sum + one, 0);
}

/** Whether one word of a text begins with the first of these letters, and has the others in their order. */
function isScattered(text: string, letters: string): boolean {
  if (/[^\p{L}\d]/u.test(letters)) return false;
  return new RegExp(`(?<![\\p{L}\\d])${[...letters].join("[\\p{L}\\d]*")}`, "u").test(text);
}

/** Shown length of a command, whose arguments may be whole scripts. */
const MAX_LINE = 300;

/** The command line as one would type it. */
export function commandLineOf({ command }: ListedSession): string {
  const line = wholeLineOf(command);
  return line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE).replace(/[\ud800-\udbff]$/, "")}…`;
}

const wholeLineOf = (command: readonly string[]) => command.map(quote).join(" ");

/** The command that attaches from a shell, with the caller's own credentials. */
export function attachCommand(origin: string, { target: { sandbox, session } }: Pick<ListedSession, "target">): string {
  return `sbx-stdio ${origin} --sandbox ${sandbox} --session ${session}`;
}

/** An age in its largest unit. */
export function ageOf(sinceMs: number, nowMs: number): { count: number; unit: "second" | "minute" | "hour" | "day" } {
  const seconds = Math.max(0, Math.floor((nowMs - sinceMs) / 1000));
  if (seconds < 60) return { count: seconds, unit: "second" };
  if (seconds < 3_600) return { count: Math.floor(seconds / 60), unit: "minute" };
  if (seconds < 86_400) return { count: Math.floor(seconds / 3_600), unit: "hour" };
  return { count: Math.floor(seconds / 86_400), unit: "day" };
}

function nameOf(entry: PaletteEntry): string {
  return entry.kind === "session" ? entry.label : entry.words;
}

function searchedOf(entry: PaletteEntry): string {
  if (entry.kind === "command") return entry.also;
  const { target, state, title = "", people } = entry.listed;
  return `${entry.label} ${target.sandbox} ${target.session} ${state} ${title} ${people.join(" ")} ${wholeLineOf(entry.listed.command)}`;
}
