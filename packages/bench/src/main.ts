// `npm run bench`: measures this project and the floors beneath it in turn, and writes the table of docs/benchmark.md.

import { existsSync } from "node:fs";
import { cpus } from "node:os";
import { Command, InvalidArgumentError } from "commander";
import { exit } from "../../sbx-cli/src/exit.ts";
import { keepAwake } from "./base/awake.ts";
import { median, show } from "./base/numbers.ts";
import { readPage, writeTable } from "./base/table-file.ts";
import { MEASURES, PEERS, QUICK_MEASURES, SUBJECTS } from "./measures/measures.ts";
import type { PageRow } from "./page/measure.ts";
import { pageTable } from "./page/table.ts";
import { GOAL_MINUTES, GOAL_PLAN, goalsTable, roundsIn, speedTable } from "./results/goals.ts";
import { QUICK_MS, QUICK_SHARE, QUICK_SUBJECTS, quickTable } from "./results/quick.ts";
import { type Results, runRounds } from "./results/rounds.ts";
import { useTtyd } from "./subjects/peers.ts";
import type { SubjectName } from "./subjects/subjects.ts";

const WRONG_USAGE = 2;
/** Measured apart from the rest: its subjects are pages, and its table is one of its own. */
const PAGE = "page";
/** Real clients and scripted people: half an hour and more, so only by name. */
const TYPING = "typing";
const OUTAGES = "outages";
const all = [...MEASURES.map(({ name }) => name), PAGE];
const names = [...all, TYPING, OUTAGES];
const APART = [PAGE, TYPING, OUTAGES];

type Options = {
  rounds: number;
  only: readonly string[];
  subjects: readonly SubjectName[];
  share: number;
  quick?: true;
  goals?: true;
  minutes: number;
  ttyd?: string;
  awake: boolean;
  write: boolean;
};

const options = new Command("bench")
  .option("--rounds <n>", "how often each measurement is made; the median counts", countOf, 5)
  .option("--only <names>", "measurements, comma separated", namesOf(names), all)
  .option("--subjects <names>", "what is measured, comma separated", namesOf(SUBJECTS), SUBJECTS)
  .option("--share <x>", "how much of each measurement is made, up to 1; nothing is written below 1", shareOf, 1)
  .option("--quick", "two minutes: ratios to the floors beside those of docs/benchmark.md; writes nothing")
  .option("--goals", "half an hour: the rows that have goals, beside them, with the rivals that they are held against")
  .option("--minutes <n>", "of --goals: no measurement begins later", countOf, GOAL_MINUTES)
  .option("--ttyd <path>", "a ttyd 1.7.4 or later, to be measured too", programOf)
  .option("--no-awake", "let a virtual machine's cores sleep when they have nothing to do")
  .option("--no-write", "leave docs/benchmark.md alone")
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : WRONG_USAGE))
  .parse()
  .opts<Options>();

if (options.ttyd !== undefined) useTtyd(options.ttyd);
const isAwake = options.awake && keepAwake();
if (options.quick === true) await showQuick();
else if (options.goals === true) await measureGoals();
else await measureAll();
exit(0);

async function measureAll(): Promise<void> {
  if (options.only.some((name) => !APART.includes(name))) await measureTerminals();
  if (options.only.includes(PAGE)) await measurePages();
  if (options.only.includes(TYPING)) await measureTypists();
  if (options.only.includes(OUTAGES)) await measureLinks();
}

async function measureLinks(): Promise<void> {
  const { measureOutages } = await import("./typing/outages.ts");
  const table = await measureOutages(`${machine("1")}, 2 x 20 ms.`);
  console.log(table);
  if (options.write) writeTable(table, "outages");
}

async function measureTypists(): Promise<void> {
  const { measureTyping } = await import("./typing/measure.ts");
  const table = await measureTyping(options.share, machine("1"));
  console.log(table);
  if (options.write && options.share === 1) writeTable(table, "typing");
}

async function measurePages(): Promise<void> {
  // A browser's driver is much to load: not for a wrong word.
  const { measurePage } = await import("./page/measure.ts");
  const rounds: (readonly PageRow[])[] = [];
  let browserName = "";
  for (let round = 0; round < options.rounds; round += 1) {
    const { browser, rows } = await measurePage(options.share);
    browserName = browser;
    rounds.push(rows);
  }
  const table = pageTable(rounds, `${machine()}, ${browserName} without a screen.`);
  console.log(table);
  if (options.write && options.share === 1) writeTable(table, "page");
}

async function measureTerminals(): Promise<void> {
  const measures = MEASURES.filter(({ name }) => options.only.includes(name));
  const plan = measures.map((measure) => ({ measure, subjects: SUBJECTS.filter(isAsked), share: options.share }));
  const results = await runRounds({ rounds: options.rounds, plan });
  const table = makeTable(results);
  console.log(table);
  if (options.write && options.share === 1) writeTable(table);
}

/** A ttyd only where one is given, and `serve` beside it. */
function isAsked(name: SubjectName): boolean {
  return options.subjects.includes(name) && ((name !== "ttyd" && name !== "serve") || options.ttyd !== undefined);
}

async function measureGoals(): Promise<void> {
  const untilMs = performance.now() + options.minutes * 60_000;
  const plan = GOAL_PLAN.filter(({ measure }) => options.only.includes(measure.name)).map((planned) => ({
    ...planned,
    subjects: planned.subjects.filter(isAsked),
    share: planned.share * options.share,
  }));
  const results = await runRounds({ rounds: options.rounds, plan, untilMs });
  const table = goalsTable(results, `${machine(roundsIn(results))}. What misses its goal is bold.`);
  console.log(table);
  const isWhole = options.share === 1 && plan.length === GOAL_PLAN.length;
  if (!options.write || !isWhole) return;
  writeTable(table, "goals");
  writeTable(speedTable(results, `${today()}, rounds: ${roundsIn(results)}`), "speed");
}

async function showQuick(): Promise<void> {
  const untilMs = performance.now() + QUICK_MS;
  const plan = QUICK_MEASURES.map((measure) => ({ measure, subjects: QUICK_SUBJECTS, share: QUICK_SHARE }));
  console.log(quickTable(await runRounds({ rounds: 1, plan, untilMs }), readPage()));
}

function countOf(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 1 on.");
  return Number(text);
}

function shareOf(text: string): number {
  const share = Number(text);
  if (!(share > 0 && share <= 1)) throw new InvalidArgumentError("It must be a number above 0, up to 1.");
  return share;
}

function programOf(path: string): string {
  if (!existsSync(path)) throw new InvalidArgumentError("There is no such file.");
  return path;
}

function namesOf(known: readonly string[]): (text: string) => readonly string[] {
  return (text) => {
    const names = text.split(",");
    const unknown = names.filter((name) => !known.includes(name));
    if (unknown.length === 0) return names;
    throw new InvalidArgumentError(`There is no "${unknown.join('", no "')}"; there are ${known.join(", ")}.`);
  };
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** How often, on what and when it was measured. */
function machine(count = `${options.rounds}`): string {
  const cpu = cpus();
  const rounds = count === "1" ? "One round" : `Medians of ${count} rounds`;
  const awake = isAwake ? "kept awake" : "which may sleep";
  return `${rounds} on ${cpu.length} cores (${cpu[0]?.model.trim()}), ${awake}, loopback, ${today()}`;
}

function makeTable(results: Results): string {
  const lines = [
    `${machine()}.`,
    "A floor is the least program that does the job, without flow control, resume or a log, measured in the same run;",
    "x is the ratio to it.",
    "",
    `| | bridge | floor | x | whole path | floor | x | serve | x of ttyd | ${options.ttyd === undefined ? "ttyd (none given)" : "ttyd"} | node-pty + ws | OpenSSH | mosh |`,
    `|---|${"---:|".repeat(12)}`,
  ];
  for (const [row, bySubject] of results) {
    const value = (name: SubjectName) => median(bySubject.get(name) ?? []);
    const ratio = (ours: number, floor: number) =>
      Number.isFinite(ours / floor) && ours > 0 && floor > 0 ? show(ours / floor) : "";
    const cells = [
      show(value("bridge")),
      show(value("bridge floor")),
      ratio(value("bridge"), value("bridge floor")),
      show(value("path")),
      show(value("path floor")),
      ratio(value("path"), value("path floor")),
      ...[show(value("serve")), ratio(value("serve"), value("ttyd"))],
      ...PEERS.filter((name) => name !== "serve").map((name) => show(value(name))),
    ];
    lines.push(`| ${row} | ${cells.join(" | ")} |`);
  }
  return lines.join("\n");
}
