// A process of `npm run mutate`: runs given test files over sources that hold mutants, whose texts never reach the disk. Tells of each
// test what it found, and at the end which files did not come to theirs.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestProjectInlineConfiguration, ViteUserConfig } from "vitest/config";
import { startVitest, type TestCase, type TestSpecification } from "vitest/node";
import type { RunnerMessage, RunnerSetup, SwitchSetup } from "./rooms.ts";

// At the end of a run, or without a parent: SIGKILL to the group, which is this process's, also ends workerd and the tests' servers.
process.on("disconnect", () => process.kill(0, "SIGKILL"));
const setup = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as RunnerSetup;
const { root, config, texts, tests, mutants, from, slowestMs, only, except, now } = setup;
const told: SwitchSetup = { mutants, from, slowestMs, only, except, now };
const tell = (message: RunnerMessage): void => void process.send?.(message);
const runner = join(import.meta.dirname, "switch.ts");

const mutantsInSources = {
  ...{ name: "mutants", enforce: "pre" as const },
  load: (id: string) => texts[id.split("?")[0] ?? ""],
};
const howTested = { runner, provide: { mutation: told }, testTimeout: 60_000 };

/** For a package whose tests need nothing. */
const PLAIN = { root, include: ["test/**/*.test.ts"], pool: "threads", isolate: false };

/** A configuration with projects: vitest gives these neither its own plugins nor its own runner. */
async function readConfig(path: string): Promise<NonNullable<ViteUserConfig["test"]>> {
  const { test } = ((await import(path)) as { default: ViteUserConfig }).default;
  const projects = (test?.projects ?? []) as TestProjectInlineConfiguration[];
  return {
    ...test,
    projects: projects.map((project) => ({
      ...project,
      plugins: [mutantsInSources, ...(project.plugins ?? [])],
      test: { ...project.test, ...howTested },
    })),
  };
}

const vitest = await startVitest(
  "test",
  [...tests],
  {
    ...(config === undefined ? PLAIN : { root }),
    ...{
      config: false,
      watch: false,
      update: "none",
      maxWorkers: 1,
      cache: false,
      fsModuleCache: false,
      bail: from === undefined ? 0 : 1,
    },
    ...howTested,
    reporters: [
      {
        onTestCaseResult(test: TestCase) {
          const findings = test.meta().mutants;
          const result = test.result();
          if (result.state === "failed" && test.meta().isSpoilt === true) {
            tell({ type: "spoilt" });
            if (process.connected) process.disconnect();
          } else if (result.state === "failed")
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
    plugins: [mutantsInSources],
    server: { watch: null },
    ...(config === undefined ? {} : { test: await readConfig(config) }),
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
