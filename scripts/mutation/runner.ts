// A process of `npm run mutate`: holds one vitest, and runs given test files over a source file with another text, which never reaches the
// disk. Told by messages what to run; answers each with the outcome. Its parent ends it if it hangs.
import { createVitest, type TestSpecification, type Vitest } from "vitest/node";
import type { RunnerAnswer, RunnerRequest, RunnerSetup } from "./rooms.ts";

/** Absolute paths of the test files, in the order in which they run. */
let order: readonly string[] = [];
let mutated: { readonly path: string; readonly text: string } | undefined;

const setup = JSON.parse(process.argv[2] ?? "") as RunnerSetup;
/** For a package whose tests need nothing. */
const PLAIN = {
  config: false as const,
  root: setup.root,
  include: ["test/**/*.test.ts"],
  pool: "threads",
  isolate: false,
};
const vitest: Vitest = await createVitest(
  {
    ...(setup.config === undefined ? PLAIN : { config: setup.config }),
    watch: true,
    bail: 1,
    reporters: [{}],
    testTimeout: 60_000,
    maxWorkers: 1,
    cache: false,
    // What was transformed for a run before would stand for the mutant.
    fsModuleCache: false,
    sequence: {
      sequencer: class {
        shard = (files: TestSpecification[]) => files;
        sort = (files: TestSpecification[]) =>
          files.toSorted((one, other) => order.indexOf(one.moduleId) - order.indexOf(other.moduleId));
      },
    },
  },
  {
    plugins: [
      {
        name: "mutant",
        load: (id) => (mutated !== undefined && id.split("?")[0] === mutated.path ? mutated.text : undefined),
      },
    ],
    server: { watch: null },
  },
);
await vitest.standalone();
const known = new Map<string, TestSpecification>();
for (const specification of await vitest.globTestSpecifications()) known.set(specification.moduleId, specification);

async function run({ path, text, tests }: RunnerRequest): Promise<RunnerAnswer> {
  // Else the mutant before would stay beside this one.
  if (mutated !== undefined) vitest.invalidateFile(mutated.path);
  mutated = text === undefined ? undefined : { path, text };
  vitest.invalidateFile(path);
  order = tests;
  const specifications = tests.flatMap((file) => known.get(file) ?? []);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  // It tells of all files that it knows, also of those that failed in an earlier run and are not of this one.
  const failed = testModules.find((module) => tests.includes(module.moduleId) && module.state() === "failed");
  if (failed === undefined && unhandledErrors.length === 0) return { outcome: "survived" };
  const [test] = failed === undefined ? [] : [...failed.children.allTests("failed")];
  const result = test?.result();
  const why = result?.state === "failed" ? (result.errors[0]?.message.split("\n")[0] ?? "") : "";
  return { outcome: "killed", by: `${test?.fullName ?? failed?.moduleId ?? "an error outside of the tests"}: ${why}` };
}

// One after the other: the next text must not take this one's place before its tests have ended.
let last: Promise<unknown> = Promise.resolve();
process.on("message", (request: RunnerRequest) => {
  last = last.then(async () => process.send?.(await run(request)));
});
process.on("disconnect", () => process.exit(0));
process.send?.({ outcome: "ready" });
