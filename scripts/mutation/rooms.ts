// The rooms whose tests `npm run mutate` tries, and what it says to the processes that run them. A table and types.

export interface MutationRoom {
  readonly name: string;
  /** Folder of the sources, from the top of the checkout. */
  readonly sources: string;
  readonly suite: MutationSuite;
  /** Percent of the mutants that must be noticed. */
  readonly goal: number;
}

/** Tests that run together over all mutants of some rooms. */
export interface MutationSuite {
  /** Folder of the tests that may notice. */
  readonly tests: string;
  /** vitest's configuration; absent: that of a package which needs nothing. */
  readonly config?: string;
  readonly runtime: "node" | "bun";
  /** Limits in milliseconds, rising: quick tests are asked first, since they notice most mutants. */
  readonly quickMs: readonly number[];
}

const CORE: MutationSuite = { tests: "packages/sandbox-stdio", runtime: "node", quickMs: [15, 150] };
const BRIDGE: MutationSuite = {
  tests: "sandbox",
  config: "sandbox/vitest.config.ts",
  runtime: "bun",
  quickMs: [15, 150],
};
const WORKER: MutationSuite = { tests: "worker", config: "worker/vitest.config.ts", runtime: "node", quickMs: [150] };

const room = (name: string, sources: string, suite: MutationSuite, goal = 0): MutationRoom => ({
  ...{ name, sources, suite, goal },
});

/** From the inside out: tests of an inner room run over few mutants, and notice most of them. */
export const MUTATION_ROOMS: readonly MutationRoom[] = [
  ...["output", "input", "client", "server", "session", "hop"].map((name) =>
    room(`core/${name}`, `${CORE.tests}/src/${name}`, CORE, 90),
  ),
  room("bridge/process", "sandbox/src/process", BRIDGE),
  ...["limits", "tickets", "auth", "records", "sockets", "session"].map((name) =>
    room(`worker/${name}`, `worker/src/${name}`, WORKER),
  ),
];

/** What the process that runs tests is told when it starts. */
export interface RunnerSetup {
  /** Absolute paths, as are all others. */
  readonly root: string;
  readonly config?: string | undefined;
  /** Texts with switches, by the paths of the sources. */
  readonly texts: Readonly<Record<string, string>>;
  /** Test files, in the order in which they run. */
  readonly tests: readonly string[];
  /** The mutants that are asked about. */
  readonly mutants: readonly number[];
  /** If there is one, it is on from the start, and nothing else is tried. */
  readonly from?: number | undefined;
  /** A test that computes longer is asked about none. */
  readonly slowestMs: number;
  /** Ids of the tests that run: those that were too slow before. Absent: all. */
  readonly only?: readonly string[] | undefined;
  /** Ids of the tests to leave out: they told what they found before an earlier process ended. */
  readonly except?: readonly string[] | undefined;
  /** A file that holds the number of the active mutant, so that the parent can tell which one hangs. Absent in workerd. */
  readonly now?: string | undefined;
}

/** What the tests are told: {@link RunnerSetup} without the texts. */
export type SwitchSetup = Pick<RunnerSetup, "mutants" | "from" | "slowestMs" | "only" | "except" | "now">;

/** What a test has found, in its `meta`. */
export interface TestFindings {
  /** Mutants that it noticed. */
  readonly killed: readonly number[];
  /** Mutants that it ran over without noticing. */
  readonly passed: readonly number[];
  /** Mutants that it ran over but was not run for, as it takes too long. */
  readonly skipped: readonly number[];
  /** Noticed, but the test failed without them after it: it says nothing. */
  readonly doubtful: number;
  /** Run over outside of a test: when modules were loaded, or by hooks. */
  readonly outside: readonly number[];
}

export type RunnerMessage =
  | {
      readonly type: "test";
      readonly file: string;
      readonly id: string;
      readonly name: string;
      readonly findings: TestFindings;
    }
  | { readonly type: "failed"; readonly name: string; readonly why: string }
  /** A mutant may have spoiled the process: it ends, and the test is asked again in one without the tests before it. */
  | { readonly type: "spoilt" }
  | { readonly type: "end"; readonly unfinished: readonly string[] };
