// `npm run mutate [-- --count 1500 --seed N ROOM…]`: changes the sources in small ways and looks which of the changes the tests notice. Keeps a ledger in
// docs/proof/mutants.jsonl, so that a run which was stopped goes on, and `--status` prints each room's score and the survivors.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { parseSync } from "vite";
import { readTextIfPresent } from "../packages/local/src/base/files.ts";
import { BIN, ROOT } from "../packages/local/src/base/paths.ts";
import { Random } from "../packages/local/src/base/random.ts";
import { applyMutant, type Mutant, mutantsOf, type SyntaxNode } from "./mutation/mutants.ts";
import { MUTATION_ROOMS, type MutationRoom, type RunnerAnswer, type RunnerSetup } from "./mutation/rooms.ts";
import { writeProofPage } from "./pages/proof-page.ts";
import { partsNamed, readWords, wholeNumber } from "./suites/task-words.ts";
import { fingerprint, readTree } from "./tree/tree.ts";

const LEDGER = join(ROOT, "docs/proof/mutants.jsonl");
/** What the tests of a text as it is may take, at the most. */
const MOST_MS = 1_800_000;
/** After so many mutants the tests must still pass without one: nothing of a mutant may stay. */
const CHECKED_EVERY = 25;
/** A mutant has made its tests endless if they take so many times as long as without it, and a minute. */
const ENDLESS = 10;
/** Search at random for long: asked only about what the others did not notice. */
const LONG =
  /\/(budget|feed|fuzz|hostile-client|simulation|crowd-simulation|query-filter|viewer-link|xterm-limits)\.test\.ts$/;

interface LedgerLine {
  readonly room: string;
  readonly file: string;
  /** A hash of the file and of all that its tests depend on. */
  readonly inputs: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  readonly line: number;
  readonly was: string;
  readonly kind: string;
  readonly outcome: "killed" | "survived" | "hung";
  readonly by?: string;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: "string", default: "1500" }, seed: { type: "string" }, status: { type: "boolean" } },
});
const { seed: givenSeed = String(Math.floor(Math.random() * 2 ** 31)) } = values;
const rooms = readWords(() => partsNamed("room", MUTATION_ROOMS, positionals, (name, word) => name.startsWith(word)));
const count = readWords(() => wholeNumber("--count", values.count));
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
      const { program } = parseSync(file, text);
      return mutantsOf(text, program as unknown as SyntaxNode).map((mutant) => ({ room, file, mutant }));
    });
}

const inputsOfRoom = new Map(rooms.map((room) => [room.name, fingerprint(tree.inputsOf([room.tests]))]));
const keyOf = (line: Pick<LedgerLine, "file" | "inputs" | "start" | "end" | "replacement">): string =>
  [line.file, line.inputs, line.start, line.end, line.replacement].join(" ");

function readLedger(): LedgerLine[] {
  const text = readTextIfPresent(LEDGER) ?? "";
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as LedgerLine);
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

class Runner {
  readonly #room: MutationRoom;
  #child: ChildProcess | undefined;

  constructor(room: MutationRoom) {
    this.#room = room;
  }

  /** @returns `hung` if the mutant's tests came to no end, and the process had to be ended. */
  async run(
    path: string,
    text: string,
    tests: readonly string[],
    limitMs: number,
  ): Promise<RunnerAnswer | { outcome: "hung" }> {
    this.#child ??= await this.#start();
    const child = this.#child;
    const answer = once(child, "message", { signal: AbortSignal.timeout(limitMs) });
    child.setMaxListeners(0);
    child.send({ path, text, tests });
    try {
      const [message] = await Promise.race([answer, once(child, "exit").then(() => [{ outcome: "hung" }])]);
      return message as RunnerAnswer;
    } catch {
      this.stop();
      return { outcome: "hung" };
    }
  }

  async #start(): Promise<ChildProcess> {
    const { config, runtime, tests } = this.#room;
    const setup: RunnerSetup = {
      root: join(ROOT, tests),
      config: config === undefined ? undefined : join(ROOT, config),
    };
    const child = fork(join(ROOT, "scripts/mutation/runner.ts"), [JSON.stringify(setup)], {
      cwd: ROOT,
      execPath: runtime === "bun" ? join(BIN, "bun") : process.execPath,
      execArgv: runtime === "bun" ? ["--bun"] : [],
      env: { ...process.env, SIM_RUNS: "20" },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child.once("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    await once(child, "message");
    return child;
  }

  stop(): void {
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }
}

function printScores(): void {
  const ledger = readLedger();
  for (const room of rooms) {
    // One that hung says nothing of the tests: the machine may have been slow.
    const lines = ledger.filter(
      ({ room: name, inputs, outcome }) =>
        name === room.name && inputs === inputsOfRoom.get(room.name) && outcome !== "hung",
    );
    const survivors = lines.filter(({ outcome }) => outcome === "survived");
    const score = lines.length === 0 ? "-" : (100 - (100 * survivors.length) / lines.length).toFixed(1);
    console.log(
      `${room.name.padEnd(16)} ${String(lines.length).padStart(5)} tried  ${score.padStart(5)} %  goal ${room.goal}`,
    );
    for (const { file, line, was, replacement, kind } of survivors)
      console.log(`    ${file}:${line} ${kind}: ${was.slice(0, 60)} -> ${replacement.slice(0, 60)}`);
  }
}

/** The tests that are about the file come first, then those of its room, last those that search for long: most mutants meet the first alone. */
function nearestFirst(file: string, tests: readonly string[]): string[] {
  const name = basename(file, ".ts");
  const room = `/test/${basename(dirname(file))}/`;
  const isNear = (path: string): boolean => path.includes(name) || readFileSync(path, "utf8").includes(`/${name}.ts"`);
  const stage = (path: string): number => (LONG.test(path) ? 3 : isNear(path) ? 0 : path.includes(room) ? 1 : 2);
  return tests.toSorted((one, other) => stage(one) - stage(other));
}

async function tryAll(): Promise<void> {
  const done = new Set(readLedger().map(keyOf));
  const runners = new Map(rooms.map((room) => [room, new Runner(room)]));
  mkdirSync(dirname(LEDGER), { recursive: true });
  const left = sample(count).filter(
    ({ room, file, mutant }) => !done.has(keyOf({ file, inputs: inputsOfRoom.get(room.name) ?? "", ...mutant })),
  );
  console.log(`${left.length} are not in the ledger yet`);
  /** How long the tests of a folder take, which pass without a mutant: else every one would seem to be noticed. */
  const soundMs = new Map<string, number>();
  for (const [index, { room, file, mutant }] of left.entries()) {
    const text = readFileSync(join(ROOT, file), "utf8");
    const tests = tree.affectedTests([file]).filter((path) => path.startsWith(`${room.tests}/`));
    const paths = tests.map((path) => join(ROOT, path));
    const nearest = nearestFirst(file, paths);
    const runner = runners.get(room);
    if (runner === undefined) continue;
    if (!soundMs.has(room.tests)) {
      const from = performance.now();
      const all = globSync(`${room.tests}/test/**/*.test.ts`, { cwd: ROOT }).map((path) => join(ROOT, path));
      const unchanged = await runner.run(join(ROOT, file), text, all, MOST_MS);
      if (unchanged.outcome !== "survived")
        throw new Error(`Tests of ${room.tests} fail without a mutant: ${JSON.stringify(unchanged)}`);
      soundMs.set(room.tests, performance.now() - from);
      const broken = await runner.run(join(ROOT, file), 'throw new Error("broken");', all, MOST_MS);
      if (broken.outcome !== "killed") throw new Error(`A file that throws breaks no test of ${room.tests}: ${file}`);
    }
    const limitMs = Math.ceil(60_000 + ENDLESS * (soundMs.get(room.tests) ?? 0));
    if (index % CHECKED_EVERY === CHECKED_EVERY - 1) {
      const unchanged = await runner.run(join(ROOT, file), text, nearest, MOST_MS);
      if (unchanged.outcome !== "survived")
        throw new Error(`Something of a mutant has stayed: ${JSON.stringify(unchanged)}`);
    }
    const answer = await runner.run(join(ROOT, file), applyMutant(text, mutant), nearest, limitMs);
    const line: LedgerLine = {
      room: room.name,
      file,
      inputs: inputsOfRoom.get(room.name) ?? "",
      ...mutant,
      line: text.slice(0, mutant.start).split("\n").length,
      was: text.slice(mutant.start, mutant.end).slice(0, 200),
      ...answer,
    };
    appendFileSync(LEDGER, `${JSON.stringify(line)}\n`);
    writeProofPage();
    console.log(
      `${index + 1}/${left.length} ${answer.outcome} ${file}:${line.line} ${line.was.split("\n")[0]} -> ${mutant.replacement}`,
    );
  }
  for (const runner of runners.values()) runner.stop();
}

if (!values.status) await tryAll();
printScores();
