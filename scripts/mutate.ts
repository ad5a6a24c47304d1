// `npm run mutate [-- --count 1500 --seed N ROOM…]`: changes the sources in small ways and looks which of the changes the tests notice. Keeps a ledger in
// docs/proof/mutants.jsonl, so that a run which was stopped goes on, and `--status` prints each room's score, how many
// mutants are known to be equivalent, and the other survivors.
import { appendFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { readTextIfPresent } from "../packages/local/src/base/files.ts";
import { ROOT } from "../packages/local/src/base/paths.ts";
import { Random } from "../packages/local/src/base/random.ts";
import { askTests, type Outcome } from "./mutation/asking.ts";
import { findEquivalents, mutantKey, mutantsIn } from "./mutation/equivalents.ts";
import { type Mutant, withSwitches } from "./mutation/mutants.ts";
import { MUTATION_ROOMS, type MutationRoom, type MutationSuite } from "./mutation/rooms.ts";
import { writeProofPage } from "./pages/proof-page.ts";
import { partsNamed, readWords, wholeNumber } from "./suites/task-words.ts";
import { fingerprint, readTree } from "./tree/tree.ts";

const LEDGER = join(ROOT, "docs/proof/mutants.jsonl");
/** By which a source asks whether a mutant is on. */
const IS = "globalThis.mutants.is";
/** Search at random for long, or start a workerd for each file: asked only about what the others did not notice. */
const LONG = new RegExp(
  `/(${[
    "budget|feed|fuzz|hostile-client|model|traces|mutants|exploration|two-drivers|keyboard-exploration|simulation",
    "crowd-simulation|query-filter|viewer-link|xterm-limits",
    "worker/test/audit/(gathering|refusals)|worker/test/preview/preview",
    "worker/test/objects/(own-bell|parking|recording|recording-bucket|session-object|unanswered-calls|waits)",
  ].join("|")})\\.test\\.ts$`,
);

interface LedgerLine {
  readonly room: string;
  readonly file: string;
  /** A hash of all that the test depends on which noticed; if none is named, of what all tests of the room depend on. */
  readonly inputs: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  readonly line: number;
  readonly was: string;
  readonly kind: string;
  readonly outcome: Outcome["outcome"];
  readonly by?: string;
  readonly test?: string;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "1500" },
    seed: { type: "string" },
    status: { type: "boolean" },
    slowest: { type: "string", default: "3" },
  },
});
const { seed: givenSeed = String(Math.floor(Math.random() * 2 ** 31)) } = values;
const rooms = readWords(() => partsNamed("room", MUTATION_ROOMS, positionals, (name, word) => name.startsWith(word)));
const count = readWords(() => wholeNumber("--count", values.count));
const slowest = readWords(() => wholeNumber("--slowest", values.slowest));
const seed = readWords(() => wholeNumber("--seed", givenSeed));
const tree = readTree();

interface Candidate {
  readonly room: MutationRoom;
  readonly file: string;
  readonly mutant: Mutant;
}

function candidatesOf(room: MutationRoom): Candidate[] {
  return globSync(`${room.sources}/**/*.ts`, { cwd: ROOT })
    .sort()
    .flatMap((file) => {
      const text = readFileSync(join(ROOT, file), "utf8");
      return mutantsIn(file, text).map((mutant) => ({ room, file, mutant }));
    });
}

const fingerprints = new Map<string, string>();
/** @param place A folder of tests, or a test file. */
function inputsOf(place: string): string {
  const known = fingerprints.get(place) ?? fingerprint(tree.inputsOf([place]));
  fingerprints.set(place, known);
  return known;
}
const keyOf = (line: Pick<LedgerLine, "file" | "start" | "end" | "replacement">): string => mutantKey(line.file, line);

/** The lines that still hold: nothing has changed that the tests behind them depend on. */
function readLedger(): LedgerLine[] {
  const text = readTextIfPresent(LEDGER) ?? "";
  const suites = new Map(MUTATION_ROOMS.map(({ name, suite }) => [name, suite.tests]));
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as LedgerLine)
    .filter(({ room, test = suites.get(room) ?? "", inputs }) => inputs === inputsOf(test));
}

/** A sample of all candidates, the same for the same seed. */
function sample(count: number): Candidate[] {
  const all = rooms.flatMap(candidatesOf);
  const random = new Random(seed);
  for (let left = all.length; left > 1; left--) {
    const other = random.int(0, left - 1);
    [all[left - 1], all[other]] = [all[other] as Candidate, all[left - 1] as Candidate];
  }
  console.log(`${all.length} possible mutants, ${Math.min(count, all.length)} of them tried, seed ${seed}`);
  return all.slice(0, count);
}

function printScores(): void {
  const ledger = readLedger();
  const equivalents = findEquivalents();
  const settled = new Set(equivalents.flatMap(({ keys }) => keys));
  for (const room of rooms) {
    const lines = ledger.filter(({ room: name }) => name === room.name);
    const survivors = lines.filter((line) => line.outcome === "survived" && !settled.has(keyOf(line)));
    const alike = equivalents.filter(({ equivalent }) => equivalent.file.startsWith(`${room.sources}/`)).length;
    const score = lines.length === 0 ? "-" : (100 - (100 * survivors.length) / lines.length).toFixed(1);
    console.log(
      `${room.name.padEnd(16)} ${String(lines.length).padStart(5)} tried  ${score.padStart(5)} %  goal ${room.goal}  equivalent ${alike}`,
    );
    for (const { file, line, was, replacement, kind } of survivors)
      console.log(`    ${file}:${line} ${kind}: ${was.slice(0, 60)} -> ${replacement.slice(0, 60)}`);
  }
}

/** Tests of the rooms come first, in the order of the table, last those that search for long. */
function nearestFirst(of: readonly Candidate[], tests: readonly string[]): string[] {
  const names = new Set(of.map(({ file }) => basename(dirname(file))));
  const near = MUTATION_ROOMS.map(({ sources }) => basename(sources)).filter((name) => names.has(name));
  const stage = (path: string): number => {
    const room = near.indexOf(basename(dirname(path)));
    if (LONG.test(path)) return near.length + 1;
    return room < 0 ? near.length : room;
  };
  return tests.toSorted((one, other) => stage(one) - stage(other));
}

async function trySuite(suite: MutationSuite, candidates: readonly Candidate[]): Promise<void> {
  const byNumber = new Map(candidates.map((candidate, number) => [number, candidate]));
  const texts = new Map<string, string>();
  for (const file of new Set(candidates.map((candidate) => candidate.file))) {
    const mutants = new Map<number, Mutant>();
    for (const [number, candidate] of byNumber) if (candidate.file === file) mutants.set(number, candidate.mutant);
    texts.set(join(ROOT, file), withSwitches(readFileSync(join(ROOT, file), "utf8"), mutants, IS));
  }
  const testsOf = (some: readonly Candidate[]): string[] => {
    const affected = tree.affectedTests([...new Set(some.map(({ file }) => file))]);
    const tests = affected.filter((path) => path.startsWith(`${suite.tests}/`)).map((path) => join(ROOT, path));
    return nearestFirst(some, tests);
  };
  const nameOf = (number: number): string => {
    const { file, mutant } = byNumber.get(number) as Candidate;
    const text = readFileSync(join(ROOT, file), "utf8");
    const [line] = [text.slice(0, mutant.start).split("\n").length];
    return `    ${file}:${line} ${mutant.kind}: ${text.slice(mutant.start, mutant.end).slice(0, 60)} -> ${mutant.replacement}`;
  };
  let tried = 0;
  const note = (number: number, outcome: Outcome): void => {
    const { room, file, mutant } = byNumber.get(number) as Candidate;
    const text = readFileSync(join(ROOT, file), "utf8");
    const { start, end, replacement, kind } = mutant;
    const [line, was] = [text.slice(0, start).split("\n").length, text.slice(start, end).slice(0, 200)];
    const test = outcome.test === undefined ? undefined : relative(ROOT, outcome.test);
    const inputs = inputsOf(test ?? room.suite.tests);
    const about = { room: room.name, file, inputs, start, end, replacement, line, was, kind };
    const row: LedgerLine = { ...about, ...outcome, ...(test === undefined ? {} : { test }) };
    appendFileSync(LEDGER, `${JSON.stringify(row)}\n`);
    tried += 1;
    console.log(
      `${tried}/${candidates.length} ${outcome.outcome} ${file}:${line} ${was.split("\n")[0]} -> ${replacement}`,
    );
  };
  const tests = testsOf(candidates);
  const stages = [false, true].map((isLong) => tests.filter((path) => LONG.test(path) === isLong));
  await askTests({
    ...{ suite, texts, note, stages, slowestMs: 1_000 * slowest, mutants: [...byNumber.keys()] },
    stageEnded: (left) =>
      console.log(`${left.length} of ${candidates.length} are not noticed yet:\n${left.map(nameOf).join("\n")}`),
    testsFor: (number) => testsOf([byNumber.get(number) as Candidate]).filter((path) => !LONG.test(path)),
  });
}

async function tryAll(): Promise<void> {
  const ledger = readLedger();
  const done = new Set(ledger.map(keyOf));
  mkdirSync(dirname(LEDGER), { recursive: true });
  writeFileSync(LEDGER, ledger.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const left = sample(count).filter(({ file, mutant }) => !done.has(keyOf({ file, ...mutant })));
  console.log(`${left.length} are not in the ledger yet`);
  for (const suite of new Set(left.map(({ room }) => room.suite)))
    await trySuite(
      suite,
      left.filter(({ room }) => room.suite === suite),
    );
  writeProofPage();
}

if (!values.status) await tryAll();
printScores();
