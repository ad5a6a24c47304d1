// A process of `npm run mutate`: runs given test files over sources that hold mutants, whose texts never reach the disk. Tells of each
// test what it found, and at the end which files did not come to theirs.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startVitest, type TestCase, type TestSpecification } from "vitest/node";
import type { RunnerMessage, RunnerSetup, SwitchSetup } from "./rooms.ts";

// Whoever started it is gone.
process.on("disconnect", () => process.exit(0));
const setup = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as RunnerSetup;
const { root, config, texts, tests, mutants, from, slowestMs, only, now } = setup;
const told: SwitchSetup = { mutants, from, slowestMs, only, now };
const tell = (message: RunnerMessage): void => void process.send?.(message);
const runner = join(import.meta.dirname, "switch.ts");

/** For a package whose tests need nothing. */
const PLAIN = {
  config: false as const,
  root,
  include: ["test/**/*.test.ts"],
  pool: "threads",
  isolate: false,
};
const vitest = await startVitest(
  "test",
  [...tests],
  {
    ...(config === undefined ? PLAIN : { config }),
    ...{
      watch: false,
      update: "none",
      maxWorkers: 1,
      cache: false,
      fsModuleCache: false,
      bail: from === undefined ? 0 : 1,
    },
    runner,
    provide: { mutation: told },
    testTimeout: 60_000,
    reporters: [
      {
        onTestCaseResult(test: TestCase) {
          const findings = test.meta().mutants;
          const result = test.result();
          if (result.state === "failed")
            tell({ type: "failed", name: test.fullName, why: result.errors[0]?.message ?? "" });
          else if (findings !== undefined)
            tell({ type: "test", file: test.module.moduleId, id: test.id, name: test.fullName, findings });
        },
      },
    ],
    sequence: {
      sequencer: class {
        shard = (files: TestSpecification[]) => files;
        sort = (files: TestSpecification[]) =>
          files.toSorted((one, other) => tests.indexOf(one.moduleId) - tests.indexOf(other.moduleId));
      },
    },
  },
  {
    plugins: [{ name: "mutants", enforce: "pre", load: (id) => texts[id.split("?")[0] ?? ""] }],
    server: { watch: null },
  },
);
const modules = vitest.state.getTestModules();
for (const module of modules)
  for (const error of module.errors()) tell({ type: "failed", name: module.moduleId, why: error.message });
const finished = new Set(
  modules.filter((module) => ["passed", "failed", "skipped"].includes(module.state())).map((module) => module.moduleId),
);
tell({ type: "end", unfinished: tests.filter((test) => !finished.has(test)) });
await vitest.close();
process.disconnect();
