// `npm run bench`: measures this project and the floors beneath it in turn, and writes the table of docs/benchmark.md.

import { cpus } from "node:os";
import { Command, InvalidArgumentError } from "commander";
import { exit } from "../../sbx-cli/src/exit.ts";
import * as amounts from "./amounts.ts";
import { keepAwake } from "./awake.ts";
import * as latencies from "./latencies.ts";
import { median, show } from "./numbers.ts";
import { type SubjectName, startSubject } from "./subjects.ts";
import { writeTable } from "./table-file.ts";

const WRONG_USAGE = 2;
const SUBJECTS: readonly SubjectName[] = ["bridge", "bridge floor", "path", "path floor", "node-pty", "ssh"];
/** Other programs, measured where this machine has or can make them. */
const PEERS: readonly SubjectName[] = ["node-pty", "ssh"];
/** In the order of the table. */
const MEASURES = [
  latencies.connectToPrompt,
  latencies.echoIdle,
  latencies.echoUnderFlood,
  latencies.echoBesideStoppedViewer,
  amounts.outputRaw,
  amounts.outputCooked,
  amounts.inputRaw,
  latencies.interrupt,
  latencies.interruptOnSlowLinks,
  amounts.stalledReader,
  amounts.idleSessions,
  amounts.fanOut,
] as const;
/** Who is left out of which measurement. */
const WITHOUT = new Map<(typeof MEASURES)[number], readonly SubjectName[]>([
  [amounts.fanOut, PEERS], // They have one viewer each.
  [latencies.echoBesideStoppedViewer, [...PEERS, "bridge floor", "path floor"]], // It is compared with itself.
  [latencies.interruptOnSlowLinks, ["ssh"]], // It is no HTTP: no link in front of it.
]);

const names = MEASURES.map(({ name }) => name);
const options = new Command("bench")
  .option("--rounds <n>", "how often each measurement is made; the median counts", roundsOf, 3)
  .option("--only <names>", "measurements, comma separated", namesOf(names), names)
  .option("--subjects <names>", "what is measured, comma separated", namesOf(SUBJECTS), SUBJECTS)
  .option("--no-awake", "let a virtual machine's cores sleep when they have nothing to do")
  .option("--no-write", "leave docs/benchmark.md alone")
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : WRONG_USAGE))
  .parse()
  .opts<{ rounds: number; only: readonly string[]; subjects: readonly string[]; awake: boolean; write: boolean }>();

const subjects = SUBJECTS.filter((name) => options.subjects.includes(name));
const isAwake = options.awake && keepAwake();
const results = new Map<string, Map<SubjectName, number[]>>();

for (let round = 0; round < options.rounds; round += 1) {
  for (const measure of MEASURES) {
    if (!options.only.includes(measure.name)) continue;
    // In turn, so that a machine that slows down slows them all.
    for (const name of subjects) {
      if (WITHOUT.get(measure)?.includes(name)) continue;
      const subject = await startSubject(name).catch((error: unknown) => {
        if (!PEERS.includes(name)) throw error;
        console.error(`${name} is left out: ${error instanceof Error ? error.message : error}`);
      });
      if (subject === undefined) continue;
      try {
        const result = await measure(subject);
        for (const [row, value] of Object.entries(result)) {
          const bySubject = results.get(row) ?? new Map<SubjectName, number[]>();
          results.set(row, bySubject);
          bySubject.set(name, [...(bySubject.get(name) ?? []), value]);
          console.error(`${round + 1} ${name}: ${row} ${show(value)}`);
        }
      } finally {
        await subject.stop();
      }
    }
  }
}

const table = makeTable();
console.log(table);
if (options.write) writeTable(table);
exit(0);

function roundsOf(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 1 on.");
  return Number(text);
}

function namesOf(known: readonly string[]): (text: string) => readonly string[] {
  return (text) => {
    const names = text.split(",");
    const unknown = names.filter((name) => !known.includes(name));
    if (unknown.length === 0) return names;
    throw new InvalidArgumentError(`There is no "${unknown.join('", no "')}"; there are ${known.join(", ")}.`);
  };
}

function makeTable(): string {
  const cpu = cpus();
  const lines = [
    `${options.rounds === 1 ? "One round" : `Medians of ${options.rounds} rounds`} on ${cpu.length} cores (${cpu[0]?.model.trim()}), ${isAwake ? "kept awake" : "which may sleep"}, loopback, ${new Date().toISOString().slice(0, 10)}.`,
    "A floor is the least program that does the job, without flow control, resume or a log, measured in the same run;",
    "x is the ratio to it.",
    "",
    "| | bridge | floor | x | whole path | floor | x | node-pty + ws | OpenSSH |",
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
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
      ...PEERS.map((name) => show(value(name))),
    ];
    lines.push(`| ${row} | ${cells.join(" | ")} |`);
  }
  return lines.join("\n");
}
