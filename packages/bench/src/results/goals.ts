// The rows that have goals: what is measured for them, of whom, how much of it, and the table that holds each against its goal.

import { median, show } from "../base/numbers.ts";
import * as amounts from "../measures/amounts.ts";
import { runTrue } from "../measures/calls.ts";
import { carried } from "../measures/carrying.ts";
import { shortCommand } from "../measures/command-line.ts";
import * as latencies from "../measures/latencies.ts";
import type { SubjectName } from "../subjects/subjects.ts";
import type { Planned, Results } from "./rounds.ts";

/** Five rounds fit in it on a quiet machine; a slow one needs more (`--minutes`). No measurement begins later, and one that hangs ends. */
export const GOAL_MINUTES = 38;
const LIMIT_MS = 60_000;

const OURS: readonly SubjectName[] = ["bridge", "path"];
const OURS_AND_FLOORS: readonly SubjectName[] = ["bridge", "bridge floor", "path", "path floor"];
/** With those that the bridge and the path are held against. */
const RIVALS: readonly SubjectName[] = ["ttyd", "node-pty", "ssh"];
const FAST: readonly SubjectName[] = [...OURS_AND_FLOORS, "ttyd", "node-pty"];
const ALL: readonly SubjectName[] = [...OURS_AND_FLOORS, ...RIVALS];

/** A third of a second for each connection of ssh: a quarter of them says enough. */
const FEW = 0.25;
/** Share of the output's bytes: two seconds of output. */
const HALF = 0.5;

const PLAN: readonly Planned[] = [
  { measure: latencies.connectToPrompt, subjects: FAST, share: 1 },
  { measure: latencies.connectToPrompt, subjects: ["ssh"], share: FEW },
  { measure: latencies.connectAtOnce, subjects: FAST, share: 1 },
  { measure: runTrue, subjects: ["path", "path floor"], share: 1 },
  { measure: latencies.echoIdle, subjects: ALL, share: 1 },
  { measure: latencies.echoUnderFlood, subjects: ALL, share: 1 },
  { measure: amounts.outputRaw, subjects: ALL, share: HALF },
  { measure: amounts.outputCooked, subjects: ALL, share: HALF },
  { measure: amounts.inputRaw, subjects: ALL, share: 1 },
  { measure: latencies.interrupt, subjects: FAST, share: 1 },
  { measure: latencies.interrupt, subjects: ["ssh"], share: FEW },
  { measure: amounts.stalledReader, subjects: OURS, share: 1 },
  { measure: amounts.idleSessions, subjects: OURS_AND_FLOORS, share: 1 },
  // The path's figure includes the bridge's.
  { measure: amounts.idleCpu, subjects: ["path"], share: 1 },
  { measure: amounts.fanOut, subjects: ["path", "path floor"], share: 1 },
  { measure: shortCommand, subjects: ["path", "ssh"], share: HALF },
  { measure: carried, subjects: ["path", "path floor", "ssh"], share: FEW },
];
export const GOAL_PLAN: readonly Planned[] = PLAN.map((planned) => ({ ...planned, limitMs: LIMIT_MS }));

type Goal = {
  readonly row: string;
  /** `best`: x of the best rival; `floor`: x of the floor; `value`: the number itself. */
  readonly of: "best" | "floor" | "value";
  readonly better: "less" | "more";
  readonly bridge?: number;
  readonly path?: number;
};

export const GOALS: readonly Goal[] = [
  { row: "first prompt p50, ms", of: "floor", better: "less", path: 1.3 },
  { row: "first prompt p95, ms", of: "floor", better: "less", path: 1.3 },
  { row: "first echoes p50, ms", of: "floor", better: "less", path: 1.25 },
  { row: "first echoes p99, ms", of: "floor", better: "less", path: 1.25 },
  { row: "connect to prompt, ms", of: "best", better: "less", bridge: 1.1, path: 2.2 },
  { row: "connect to prompt, ms", of: "floor", better: "less", path: 1.3 },
  { row: "connect to prompt, 200 at once, ms each", of: "value", better: "less", bridge: 5, path: 5 },
  { row: "echo idle p50, ms", of: "best", better: "less", bridge: 1.1, path: 2.2 },
  { row: "echo idle p50, ms", of: "floor", better: "less", path: 1.25 },
  { row: "echo idle p99, ms", of: "best", better: "less", bridge: 1.3, path: 2.5 },
  { row: "echo under flood p99, ms", of: "best", better: "less", bridge: 1.5, path: 4 },
  { row: "echo under flood p99, ms", of: "value", better: "less", path: 5 },
  { row: "output raw, MB/s", of: "best", better: "more", bridge: 1, path: 0.9 },
  { row: "... server CPU, ms/MB", of: "value", better: "less", path: 7 },
  { row: "output cooked, MB/s", of: "best", better: "more", bridge: 0.95, path: 0.9 },
  { row: "... cooked: server CPU, ms/MB", of: "value", better: "less", path: 9 },
  { row: "input, MB/s", of: "best", better: "more", bridge: 1, path: 0.8 },
  { row: "^C in a flood p50, ms", of: "best", better: "less", bridge: 1.1, path: 2 },
  { row: "^C in a flood p50, ms", of: "value", better: "less", path: 1.5 },
  { row: "stalled reader, growth in 10 s, MB", of: "value", better: "less", bridge: 8, path: 16 },
  { row: "memory for each of 100 idle sessions, KB", of: "value", better: "less", path: 350 },
  { row: "memory for each of the next 100, KB", of: "value", better: "less", bridge: 50, path: 240 },
  { row: "CPU of 100 idle sessions, % of a core", of: "value", better: "less", path: 0.5 },
  { row: "`true` by HTTP *run*, ms", of: "floor", better: "less", path: 1.5 },
  { row: "one session to 64, MB/s in all", of: "floor", better: "more", path: 0.9 },
  { row: "... skipped for those behind, of 64, %", of: "value", better: "less", path: 0 },
  { row: "a command that does nothing, ms", of: "value", better: "less", path: 100 },
  { row: "... memory, MB", of: "value", better: "less", path: 50 },
  { row: "... compiled, ms", of: "value", better: "less", path: 40 },
  { row: "... compiled, memory, MB", of: "value", better: "less", path: 50 },
  { row: "pipes in, MB/s", of: "best", better: "more", path: 0.67 },
  { row: "pipes out, MB/s", of: "best", better: "more", path: 0.67 },
];

const COLUMNS = [
  ...["", "", "bridge", "x", "goal", "whole path", "x", "goal"],
  ...["bridge floor", "path floor", "ttyd", "node-pty + ws", "OpenSSH"],
];

/** How many rounds ran. The last one may have been cut short. */
export function roundsIn(results: Results): string {
  const counts = [...results.values()].flatMap((bySubject) => [...bySubject.values()].map(({ length }) => length));
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? `${most}` : `${least} to ${most}`;
}

/** What misses its goal is bold. */
export function goalsTable(results: Results, heading: string): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = COLUMNS.map((_name, i) => (i < 2 ? "---" : "---:"));
  const rows = GOALS.filter(({ row }) => results.has(row)).map((goal) => line(cellsOf(goal, results)));
  return [heading, "", line(COLUMNS), `|${rule.join("|")}|`, ...rows].join("\n");
}

/** Each with what is compared in it. */
const SPEED_ROWS: readonly (readonly [row: string, compared: string])[] = [
  ["connect to prompt, ms", "a new connection until the shell's prompt; OpenSSH exchanges keys first"],
  ["echo idle p50, ms", "a key to `cat` on a raw PTY and back: the median"],
  ["echo idle p99, ms", "the same: one key in a hundred takes longer"],
  ["output raw, MB/s", "a program's bytes on a raw PTY, each checked by the client"],
  ["output cooked, MB/s", "the same, where the kernel makes CR LF of LF"],
  ["input, MB/s", "bytes to a program on a raw PTY, their SHA-256 checked"],
];
const SPEED_COLUMNS: readonly SubjectName[] = ["bridge", "path", ...RIVALS];

/** The rows that people know, as short as the README wants them. @param when The rounds and the day, for the corner. */
export function speedTable(results: Results, when: string): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const value = (row: string, name: SubjectName) => show(median(results.get(row)?.get(name) ?? []));
  return [
    line([when, "what is compared", "bridge", "whole path", "ttyd", "node-pty + ws", "OpenSSH"]),
    `|---|---|${"---:|".repeat(SPEED_COLUMNS.length)}`,
    ...SPEED_ROWS.map(([row, compared]) => line([row, compared, ...SPEED_COLUMNS.map((name) => value(row, name))])),
  ].join("\n");
}

function cellsOf(goal: Goal, results: Results): string[] {
  const { row, of, better } = goal;
  const value = (name: SubjectName) => median(results.get(row)?.get(name) ?? []);
  const known = RIVALS.map(value).filter(Number.isFinite);
  const best = better === "less" ? Math.min(...known) : Math.max(...known);
  const held = (name: "bridge" | "path", limit: number | undefined): string[] => {
    const ours = value(name);
    if (limit === undefined) return [show(ours), "", ""];
    const reached = of === "value" ? ours : ours / (of === "best" ? best : value(`${name} floor`));
    const isMet = better === "less" ? reached <= limit : reached >= limit;
    const shown = isMet || Number.isNaN(reached) ? show(reached) : `**${show(reached)}**`;
    return [show(ours), of === "value" && isMet ? "" : shown, `${better === "less" ? "≤" : "≥"} ${limit}`];
  };
  const words = { best: "to the best rival", floor: "to its floor", value: "itself" };
  return [
    ...[row, words[of], ...held("bridge", goal.bridge), ...held("path", goal.path)],
    ...(["bridge floor", "path floor", ...RIVALS] as const).map((name) => show(value(name))),
  ];
}
