// The rooms whose tests `npm run mutate` tries, and what it says to the processes that run them. A table and types.

export interface MutationRoom {
  readonly name: string;
  /** Folder of the sources, from the top of the checkout. */
  readonly sources: string;
  /** Folder of the tests that may notice. */
  readonly tests: string;
  /** vitest's configuration; absent: that of a package which needs nothing. */
  readonly config?: string;
  readonly runtime: "node" | "bun";
  /** Percent of the mutants that must be noticed. */
  readonly goal: number;
}

const CORE = "packages/sandbox-stdio";
const core = (room: string): MutationRoom => ({
  name: `core/${room}`,
  sources: `${CORE}/src/${room}`,
  tests: CORE,
  runtime: "node",
  goal: 90,
});
const worker = (room: string): MutationRoom => ({
  name: `worker/${room}`,
  sources: `worker/src/${room}`,
  tests: "worker",
  config: "worker/vitest.config.ts",
  runtime: "node",
  goal: 0,
});

export const MUTATION_ROOMS: readonly MutationRoom[] = [
  ...["session", "output", "input", "hop", "client", "server"].map(core),
  {
    name: "bridge/process",
    sources: "sandbox/src/process",
    tests: "sandbox",
    config: "sandbox/vitest.config.ts",
    runtime: "bun",
    goal: 0,
  },
  ...["session", "sockets", "records", "auth", "tickets", "limits"].map(worker),
];

export interface RunnerSetup {
  /** Absolute paths. */
  readonly root: string;
  readonly config?: string | undefined;
}

export interface RunnerRequest {
  /** Absolute path of the source. */
  readonly path: string;
  /** Its text meanwhile; absent: its own. */
  readonly text?: string;
  /** Absolute paths of test files, in the order in which they run: the first failure ends the run. */
  readonly tests: readonly string[];
}

export type RunnerAnswer = { readonly outcome: "killed"; readonly by: string } | { readonly outcome: "survived" };
