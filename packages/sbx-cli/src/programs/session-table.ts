// A server's list of sessions, as lines of text for a person. Pure.

import { isRecord, quote } from "sandbox-stdio/core";
import { table, cellText as text } from "../base/table.ts";
import { entriesOf, runningOf } from "./sessions.ts";

const AGE_UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
  [1, "s"],
] as const;

/** How many of those who are there are named. */
const NAMED = 3;

/** How long ago a time was, in the largest unit of which there are two; empty where it is no time. */
export function age(time: string, nowMs = Date.now()): string {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(time)) / 1_000));
  if (Number.isNaN(seconds)) return "";
  const [length, unit] = AGE_UNITS.find(([one]) => seconds >= 2 * one) ?? [1, "s"];
  return `${Math.floor(seconds / length)}${unit}`;
}

export type TableOptions = {
  /** Not only running ones. */
  readonly hasAll: boolean;
  /** Whether the sessions are of several sandboxes. */
  readonly isEverywhere: boolean;
  readonly nowMs?: number;
  /** The terminal's width, to which commands are cut. Absent: they are whole. */
  readonly columns?: number;
};

type Entry = Record<string, unknown>;
type Column = readonly [heading: string, cell: (entry: Entry, nowMs: number) => string];

const COLUMNS: readonly Column[] = [
  ["SESSION", ({ session }) => text(session)],
  ["STATE", stateOf],
  ["KIND", ({ tty }) => (tty === true ? "pty" : "pipes")],
  ["WHO", whoOf],
  ["OUTPUT", ({ offset }) => text(offset)],
  ["LAST", ({ lastOutputAt }, nowMs) => age(text(lastOutputAt), nowMs)],
  ["AGE", ({ createdAt }, nowMs) => age(text(createdAt), nowMs)],
  ["COMMAND", commandOf],
];

/** The list as lines of text. Fields that the server left out are empty. */
export function sessionTable(answer: unknown, options: TableOptions): string {
  const { hasAll, isEverywhere, nowMs = Date.now() } = options;
  const shown = hasAll ? entriesOf(answer) : runningOf(answer);
  const shownColumns: readonly Column[] = isEverywhere
    ? [["SANDBOX", ({ sandbox }) => text(sandbox)], ...COLUMNS]
    : COLUMNS;
  const rows = shown.map((entry) => shownColumns.map(([, cell]) => cell(entry, nowMs)));
  return table([shownColumns.map(([heading]) => heading), ...rows], options.columns);
}

function stateOf({ state, exit }: Entry): string {
  return `${text(state)}${isRecord(exit) ? ` ${text(exit.signal ?? exit.code)}` : ""}`;
}

/** The names of those who are there; of a server that tells none, how many they are. */
function whoOf({ participants, clients }: Entry): string {
  const here = Array.isArray(participants) ? participants.filter(isRecord) : [];
  if (here.length === 0) return clients === 0 ? "" : text(clients);
  const names = here.slice(0, NAMED).map(({ name, role }) => `${text(name)}${role === "viewer" ? " (viewer)" : ""}`);
  return [...names, ...(here.length > NAMED ? [`${here.length - NAMED} more`] : [])].join(", ");
}

function commandOf({ cmd, args }: Entry): string {
  const words = [cmd, args].flat().filter((word) => word !== undefined);
  return words.map(text).map(quote).join(" ");
}
