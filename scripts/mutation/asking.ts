// Asks the tests of a suite about many mutants: starts the process that runs them, gathers what each test found, and goes on without a mutant
// that brought the process down. Knows no ledger.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BIN, ROOT } from "../../packages/local/src/base/paths.ts";
import type { MutationSuite, RunnerMessage, RunnerSetup } from "./rooms.ts";

export interface Outcome {
  /** `hung`: noticed too, since the tests came to no end. */
  readonly outcome: "killed" | "survived" | "hung";
  readonly by?: string;
  /** Path of the test file that noticed. */
  readonly test?: string;
}

interface Question {
  readonly suite: MutationSuite;
  /** By absolute paths. */
  readonly texts: ReadonlyMap<string, string>;
  readonly mutants: readonly number[];
  /** Test files: each stage is asked only about what those before did not notice. */
  readonly stages: readonly (readonly string[])[];
  readonly slowestMs: number;
  note(mutant: number, outcome: Outcome): void;
  stageEnded(left: readonly number[]): void;
  /** The tests for a mutant that runs only while a module is loaded. */
  testsFor(mutant: number): string[];
}

/** Processor time without a word, after which a process hangs: more than a test may take without a mutant, and with one. */
const [HANGS_SECONDS, HANGS_WITH_MUTANT_SECONDS] = [90, 30];
/** In workerd only the end of a test is a word, with all its mutants before it. */
const HANGS_IN_WORKERD_SECONDS = 900;
const LOOKED_AT_MS = 5_000;
/** Clock ticks in a second, the unit of /proc. */
const TICKS = 100;

/** The bridge's mutants may signal every process that they see: a namespace has no others. Needs root. */
const ALONE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];

/** Empty if the thread has ended since it was listed. */
function startedBy(pid: string, thread: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean);
  } catch {
    return [];
  }
}

/** Processor time of the process and of all that it has started, in seconds: tests run in its workerd, or in its namespace. */
function processorTime(pid: string): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    const started = readdirSync(`/proc/${pid}/task`).flatMap((thread) => startedBy(pid, thread));
    const ownSeconds = (Number(fields[11]) + Number(fields[12])) / TICKS;
    return started.reduce((seconds, child) => seconds + processorTime(child), ownSeconds);
  } catch {
    return 0;
  }
}

class Asking {
  readonly #question: Question;
  readonly #folder: string;
  readonly #left: Set<number>;
  readonly #asked = new Set<number>();
  readonly #outside = new Set<number>();
  readonly #broken = new Set<string>();
  /** Files of tests that were too slow, by the ids of these tests. */
  readonly #slow = new Map<string, string>();
  /** Ids of the tests that were not too slow at first. */
  readonly #quick = new Set<string>();
  /** Ids of the tests that have told what they found in this pass. */
  readonly #told = new Set<string>();
  #isFirst = true;
  #doubtful = 0;
  /** Test files in the order in which they told something: vitest runs those of one project after those of another. */
  readonly #heard = new Set<string>();

  constructor(question: Question) {
    this.#question = question;
    this.#left = new Set(question.mutants);
    mkdirSync(join(ROOT, ".local"), { recursive: true });
    this.#folder = mkdtempSync(join(ROOT, ".local/mutation-"));
  }

  async run(): Promise<void> {
    try {
      for (const stage of this.#question.stages) {
        await this.#askQuickFirst(stage);
        this.#question.stageEnded([...this.#left]);
      }
      await this.#askOfLoading();
      for (const mutant of this.#left)
        this.#note(mutant, { outcome: "survived", ...(this.#asked.has(mutant) ? {} : { by: "no test runs over it" }) });
      if (this.#broken.size > 0)
        console.log(`Fail without a mutant, and were not asked:\n  ${[...this.#broken].join("\n  ")}`);
      if (this.#doubtful > 0)
        console.log(`${this.#doubtful} times a test failed also after a mutant, and was not believed`);
    } finally {
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  async #askQuickFirst(stage: readonly string[]): Promise<void> {
    const { slowestMs, suite } = this.#question;
    let [tests, only]: [readonly string[], readonly string[] | undefined] = [stage, undefined];
    for (const limitMs of [...suite.quickMs.filter((quickMs) => quickMs < slowestMs), slowestMs]) {
      this.#slow.clear();
      this.#isFirst = only === undefined;
      await this.#askAll(tests, limitMs, only);
      const files = new Set(this.#slow.values());
      [tests, only] = [tests.filter((test) => files.has(test)), [...this.#slow.keys()]];
    }
  }

  async #askAll(stage: readonly string[], slowestMs: number, only: RunnerSetup["only"]): Promise<void> {
    let tests = stage;
    this.#told.clear();
    while (tests.length > 0 && this.#left.size > 0) {
      const before = this.#progress;
      const unfinished = await this.#runOnce({ tests, slowestMs, only, except: [...this.#told] });
      const isDone = (test: string): boolean => this.#heard.has(test) && test !== [...this.#heard].at(-1);
      const next = tests.filter((test) => (unfinished === undefined ? !isDone(test) : unfinished.includes(test)));
      const isStuck = next.length === tests.length && this.#progress === before;
      // The process named no test before it ended: without the first file, or this goes on for ever.
      if (isStuck) this.#broken.add(`${next[0]}: the process ended before a test told anything`);
      tests = isStuck ? next.slice(1) : next;
    }
  }

  /** Grows with each mutant that is settled and each test that has told what it found. */
  get #progress(): number {
    return this.#question.mutants.length - this.#left.size + this.#told.size;
  }

  get #now(): string {
    return join(this.#folder, "now");
  }

  /** @returns The test files that did not come to an end; undefined: the process did not. */
  async #runOnce(
    some: Pick<RunnerSetup, "tests" | "slowestMs" | "only" | "except">,
  ): Promise<readonly string[] | undefined> {
    let unfinished: readonly string[] | undefined;
    let isSpoilt = false;
    this.#heard.clear();
    await this.#runProcess({ ...some, mutants: [...this.#left] }, (message) => {
      if (message.type === "end") unfinished = message.unfinished;
      else if (message.type === "spoilt") isSpoilt = true;
      else if (message.type === "failed") this.#broken.add(`${message.name}: ${message.why.split("\n")[0]}`);
      else this.#take(message);
    });
    if (unfinished === undefined && !isSpoilt) this.#dropCurrent();
    return unfinished;
  }

  #take({ file, id, name, findings }: RunnerMessage & { type: "test" }): void {
    this.#heard.add(file);
    this.#told.add(id);
    const isSlow = findings.skipped.length > 0;
    if (isSlow) this.#slow.set(id, file);
    if (this.#isFirst && !isSlow) this.#quick.add(id);
    this.#doubtful += findings.doubtful;
    for (const mutant of [...findings.passed, ...findings.skipped]) this.#asked.add(mutant);
    for (const mutant of findings.outside) this.#outside.add(mutant);
    for (const mutant of findings.killed) this.#note(mutant, { outcome: "killed", by: name, test: file });
  }

  #note(mutant: number, outcome: Outcome): void {
    if (!this.#left.delete(mutant)) return;
    this.#question.note(mutant, outcome);
    writeFileSync(`${this.#now}.dead`, this.#question.mutants.filter((each) => !this.#left.has(each)).join(" "));
  }

  /** The mutant that was on when the process ended. */
  #dropCurrent(): void {
    const current = readFileSync(this.#now, "utf8");
    if (current !== "") this.#note(Number(current), { outcome: "hung" });
  }

  /** Tries the mutants that only loading a module runs over. Each needs a new process, since a module is loaded once. */
  async #askOfLoading(): Promise<void> {
    for (const mutant of this.#left) {
      if (this.#asked.has(mutant) || !this.#outside.has(mutant)) continue;
      let by: string | undefined;
      let hasEnded = false;
      const { testsFor, slowestMs } = this.#question;
      const setup = { tests: testsFor(mutant), mutants: [mutant], from: mutant, slowestMs, only: [...this.#quick] };
      await this.#runProcess(setup, (message) => {
        if (message.type === "failed") by ??= message.name;
        hasEnded ||= message.type === "end";
      });
      this.#asked.add(mutant);
      if (by !== undefined || !hasEnded) this.#note(mutant, { outcome: "killed", by: by ?? "the process ended" });
    }
  }

  async #runProcess(
    some: Pick<RunnerSetup, "tests" | "mutants" | "from" | "slowestMs" | "only" | "except">,
    receive: (message: RunnerMessage) => void,
  ): Promise<void> {
    const { suite, texts } = this.#question;
    const setup: RunnerSetup = {
      ...some,
      root: join(ROOT, suite.tests),
      config: suite.config === undefined ? undefined : join(ROOT, suite.config),
      texts: Object.fromEntries(texts),
      // workerd's programs have no files.
      now: suite.tests === "worker" ? undefined : this.#now,
    };
    const file = join(this.#folder, "setup.json");
    writeFileSync(file, JSON.stringify(setup));
    writeFileSync(this.#now, "");
    if (some.from !== undefined || this.#left.size === this.#question.mutants.length)
      writeFileSync(`${this.#now}.dead`, "");
    const isBun = suite.runtime === "bun";
    if (isBun && process.getuid?.() !== 0) throw new Error("Cannot ask the bridge's mutants: a namespace needs root");
    const runtime = isBun ? [...ALONE, join(BIN, "bun"), "--bun"] : [process.execPath];
    const [program = "", ...args] = [...runtime, join(ROOT, "scripts/mutation/runner.ts"), file];
    const child = spawn(program, args, {
      cwd: ROOT,
      // The runner leads a process group: a signal to a whole group also leaves a namespace, and would end this process.
      detached: true,
      // The same runs for each mutant.
      env: { ...process.env, CI: "1", SIM_SEED: "1", SIM_RUNS: "20" },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    await this.#waitFor(child, receive);
  }

  async #waitFor(child: ChildProcess, receive: (message: RunnerMessage) => void): Promise<void> {
    // undefined, which is no file's text: a message restarts the count at the next look.
    let [word, since]: [string | undefined, number] = ["", 0];
    const silentSeconds = this.#question.suite.tests === "worker" ? HANGS_IN_WORKERD_SECONDS : HANGS_SECONDS;
    const look = setInterval(() => {
      const used = processorTime(String(child.pid));
      const current = readFileSync(this.#now, "utf8");
      if (current !== word) [word, since] = [current, used];
      since = Math.min(since, used);
      if (used - since > (current === "" ? silentSeconds : HANGS_WITH_MUTANT_SECONDS))
        // The whole group: workerd would go on without its parent.
        process.kill(-(child.pid as number), "SIGKILL");
    }, LOOKED_AT_MS);
    child.on("message", (message: RunnerMessage) => {
      word = undefined;
      receive(message);
    });
    try {
      await once(child, "exit");
    } finally {
      clearInterval(look);
    }
  }
}

export const askTests = (question: Question): Promise<void> => new Asking(question).run();
