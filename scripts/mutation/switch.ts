// Runs each test once as it is, and then once over each mutant that it has run over and nothing has noticed yet. A runner of vitest, in the
// process of the tests: Node, Bun or workerd. The sources hold all mutants at once, and ask here which of them is on.
import { inject, type RunnerTestCase, type RunnerTestSuite, TestRunner } from "vitest";
import type { SwitchSetup, TestFindings } from "./rooms.ts";

/** A mutant has made a test endless if it computes so many times as long as without it, and this. */
const [ENDLESS, ENDLESS_MS] = [8, 500];
/** As has one by which it waits so many times as long, and this. */
const [TOO_LONG, TOO_LONG_MS] = [20, 3_000];
/** Between two looks at the clock. */
const ASKED_OFTEN = 4_096;
/** Tests put other clocks in their place. */
const { setTimeout: later, clearTimeout: never } = globalThis;
const now = performance.now.bind(performance);
/** The thread's own clock; undefined in workerd, whose method of that name throws. */
function threadTime(): typeof process.threadCpuUsage | undefined {
  try {
    process.threadCpuUsage();
    return process.threadCpuUsage;
  } catch {
    return undefined;
  }
}
const threadUsage = threadTime();
/** Milliseconds that this thread has computed, so that a busy machine makes no mutant endless; in workerd, that have passed. */
const computed = (): number => {
  if (threadUsage === undefined) return now();
  const { user, system } = threadUsage();
  return (user + system) / 1_000;
};

interface Switch {
  is(mutant: number): boolean;
}

/** What all files of a process have in common. */
interface Shared extends Switch {
  on: number | undefined;
  untilMs: number;
  readonly hit: Uint8Array;
  readonly dead: Set<number>;
  /** Whether a mutant has been on in this process. */
  hasTried: boolean;
}

declare global {
  var mutants: Shared | undefined;
}

function makeShared({ mutants, from: on }: SwitchSetup): Shared {
  const hit = new Uint8Array(Math.max(0, ...mutants) + 1);
  let asked = 0;
  const shared: Shared = {
    ...{ on, untilMs: Number.POSITIVE_INFINITY, hit, dead: new Set(), hasTried: false },
    is: (mutant) => {
      if (shared.on === undefined) hit[mutant] = 1;
      else if (++asked % ASKED_OFTEN === 0 && computed() > shared.untilMs) throw new Error("endless");
      return shared.on === mutant;
    },
  };
  return shared;
}

declare module "vitest" {
  interface ProvidedContext {
    mutation: SwitchSetup;
  }
  interface TaskMeta {
    mutants?: TestFindings;
    /** The test failed without a mutant, after some had been on in this process. */
    isSpoilt?: boolean;
  }
}

interface TestRun {
  waitMs: number;
  computeMs: number;
  /** What is tried, from its end; undefined: the test has not run without a mutant. */
  queue: number[] | undefined;
  isOver: boolean;
  readonly killed: number[];
  readonly passed: number[];
  skipped: number[];
  doubtful: number;
  /** Run over since the test before: by modules when they were loaded, or by hooks. */
  readonly outside: readonly number[];
}

export default class SwitchRunner extends TestRunner {
  readonly #setup = inject("mutation");
  readonly #shared: Shared;
  #run: TestRun | undefined;
  #startedMs = 0;
  #computedMs = 0;
  #fs: typeof import("node:fs") | undefined;

  constructor(config: ConstructorParameters<typeof TestRunner>[0]) {
    super(config);
    globalThis.mutants ??= makeShared(this.#setup);
    this.#shared = globalThis.mutants;
  }

  override async onBeforeRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onBeforeRunSuite(suite);
    // The same samples for each mutant: else a test that fails now and then would notice whatever is on.
    (await import("fast-check")).default.configureGlobal({ seed: 1 });
    if (this.#setup.now === undefined || this.#fs !== undefined) return;
    this.#fs = await import("node:fs");
    // Noticed in other processes, and told by the one that gathers.
    const told = this.#fs.readFileSync(`${this.#setup.now}.dead`, "utf8");
    for (const mutant of told.split(" ")) if (mutant !== "") this.#shared.dead.add(Number(mutant));
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test);
    const { only, except, from } = this.#setup;
    if (except?.includes(test.id) || (only !== undefined && !only.includes(test.id))) test.mode = "skip";
    if (from !== undefined || test.mode === "skip") return;
    const run: TestRun = {
      ...{ waitMs: 0, computeMs: 0, queue: undefined, isOver: false, killed: [], passed: [], skipped: [], doubtful: 0 },
      outside: this.#setup.mutants.filter((each) => this.#shared.hit[each] === 1),
    };
    this.#run = run;
    // vitest asks before each turn whether it is the last one, and only the first one shows how many there are.
    test.repeats = { valueOf: () => (run.isOver ? -1 : Number.POSITIVE_INFINITY) } as unknown as number;
  }

  override onBeforeTryTask(test: RunnerTestCase, options: { retry: number; repeats: number }): void {
    super.onBeforeTryTask(test, options);
    const [run, shared] = [this.#run, this.#shared];
    if (run === undefined) return;
    if (run.queue === undefined) shared.hit.fill(0);
    shared.on = run.queue?.at(-1);
    shared.hasTried ||= shared.on !== undefined;
    this.#tell(shared.on);
    [this.#startedMs, this.#computedMs] = [now(), computed()];
    shared.untilMs = this.#computedMs + run.computeMs;
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const own = TestRunner.getTestFn(test);
    const run = this.#run;
    if (run?.queue === undefined) return own();
    let timer: ReturnType<typeof later> | undefined;
    const tooLong = new Promise<never>((_, reject) => {
      timer = later(() => {
        // A later test may wait for the same thing: the parent starts a new process, without this mutant.
        // After the last mutant none is on: then the test fails, and its findings are doubtful.
        if (this.#setup.now !== undefined && this.#shared.on !== undefined) process.kill(0, "SIGKILL");
        reject(new Error("too long"));
      }, run.waitMs);
    });
    try {
      await Promise.race([own(), tooLong]);
    } finally {
      never(timer);
    }
  }

  override async onAfterRetryTask(test: RunnerTestCase, options: { retry: number; repeats: number }): Promise<void> {
    await super.onAfterRetryTask(test, options);
    const [run, shared] = [this.#run, this.#shared];
    const { result } = test;
    if (run === undefined || result === undefined) return;
    const hasPassed = result.state === "pass";
    const mutant = run.queue?.pop();
    shared.on = undefined;
    if (run.queue === undefined) {
      const ownMs = computed() - this.#computedMs;
      run.waitMs = TOO_LONG_MS + TOO_LONG * (now() - this.#startedMs);
      // Time that passes says less than time computed.
      run.computeMs = threadUsage === undefined ? run.waitMs : ENDLESS_MS + ENDLESS * ownMs;
      run.queue = this.#setup.mutants.filter((each) => shared.hit[each] === 1 && !shared.dead.has(each));
      if (!hasPassed) {
        run.isOver = true;
        test.meta.isSpoilt = shared.hasTried;
      } else if (ownMs > this.#setup.slowestMs) run.skipped = run.queue.splice(0);
      if (run.queue.length === 0) run.isOver = true;
    } else if (mutant !== undefined) {
      (hasPassed ? run.passed : run.killed).push(mutant);
    } else {
      run.isOver = true;
      // Something of a mutant has stayed: what was noticed after it may have been that.
      if (!hasPassed) run.doubtful = run.killed.splice(0).length;
    }
    if (mutant !== undefined || run.doubtful > 0) {
      result.state = "pass";
      delete result.errors;
    }
    if (run.isOver) this.#finish(test, run);
  }

  #finish(test: RunnerTestCase, { killed, passed, skipped, doubtful, outside }: TestRun): void {
    for (const mutant of killed) this.#shared.dead.add(mutant);
    test.repeats = 0;
    this.#shared.hit.fill(0);
    if (test.result !== undefined) test.result.attempts = [];
    test.meta.mutants = { killed, passed, skipped, doubtful, outside };
  }

  #tell(mutant: number | undefined): void {
    if (this.#setup.now !== undefined) this.#fs?.writeFileSync(this.#setup.now, String(mutant ?? ""));
  }
}
