// The list of sessions as a table. Pure.

import { isRecord, quote } from "sandbox-stdio/core";
import { table, cellText as text } from "../base/table.ts";
import { entriesOf, runningOf } from "./sessions.ts";

const AGE_UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
  [1, "s"],
] as const;

/** Participants named per session. */
const NAMED = 3;

/** Age in the largest unit with a value of at least two; empty if `time` is invalid. */
export function age(time: string, nowMs = Date.now()): string {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(time)) / 1_000));
  if (Number.isNaN(seconds)) return "";
  const [length, unit] = AGE_UNITS.find(([one]) => seconds >= 2 * one) ?? [1, "s"];
  return `${Math.floor(seconds / length)}${unit}`;
}

export type TableOptions = {
  /** Includes ended sessions. */
  readonly hasAll: boolean;
  /** Whether there are several sandboxes. */
  readonly isEverywhere: boolean;
  readonly nowMs?: number;
  /** Terminal width, to which commands are cut. Absent: no limit. */
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

/** The table. Fields that the server left out are empty. */
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

/** The participants' names, or their number if an older server does not name them. */
function whoOf({ participants, clients }: Entry): string {
  const here = Array.isArray(participants) ? participants.filter(isRecord) : [];
  if (here.length === 0) return clients === 0 ? "" : text(clients);
  const drivers = new Map<string, boolean>();
  for (const { name, person = name, role } of here) {
    const who = text(person);
    drivers.set(who, drivers.get(who) === true || role !== "viewer");
  }
  const names = [...drivers].map(([name, isDriver]) => `${name}${isDriver ? "" : " (viewer)"}`);
  return [...names.slice(0, NAMED), ...(names.length > NAMED ? [`${names.length - NAMED} more`] : [])].join(", ");
}

function commandOf({ cmd, args }: Entry): string {
  const words = [cmd, args].flat().filter((word) => word !== undefined);
  return words.map(text).map(quote).join(" ");
}
