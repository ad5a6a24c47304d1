// `npm run test:container`: the tests that run over real containers, where a Docker engine can be reached; without one it
// fails and says what is missing. Arguments go to vitest. Takes the engine from DOCKER_HOST and WRANGLER_DOCKER_BIN, as
// wrangler does.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engineVersion, NoEngineError } from "../packages/local/src/base/docker.ts";
import { readTextIfPresent } from "../packages/local/src/base/files.ts";
import { BIN, ROOT } from "../packages/local/src/base/paths.ts";
import { stopSignal } from "../packages/local/src/base/stop-signals.ts";
import { buildBridge, buildCli, buildPage } from "../packages/local/src/build/builds.ts";
import { BuildError } from "../packages/local/src/build/tool.ts";
import { ChildKeeper, ending } from "../packages/local/src/processes/children.ts";
import { vitestOutcome } from "./suites/counts.ts";
import { LEFT_OUT_TESTS } from "./suites/left-out.ts";

const signal = stopSignal();
const scratch = mkdtempSync(join(tmpdir(), "sbx-test-container-"));
const keeper = new ChildKeeper();

/** @returns How many tests failed, and everything else that is wrong. */
async function run(): Promise<number> {
  console.log(`Docker engine ${await engineVersion()}`);
  await Promise.all([buildPage(signal), buildCli(), buildBridge()]);
  signal.throwIfAborted();
  const report = join(scratch, "report.json");
  const vitest = await keeper.start({
    name: "vitest",
    command: process.execPath,
    args: [
      ...[join(BIN, "vitest"), "run", "--config", "test/container/vitest.config.ts"],
      ...["--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
      ...process.argv.slice(2),
    ],
    cwd: ROOT,
    env: process.env,
    remembersStderr: true,
  });
  // It stops its system, which removes the containers.
  const stop = (): void => void vitest.stop(60_000);
  signal.addEventListener("abort", stop);
  const result = await ending(vitest);
  signal.throwIfAborted();
  const outcome = vitestOutcome(readTextIfPresent(report), result);
  const { passed } = outcome;
  // The configuration leaves tests out by their titles, which vitest calls skipped.
  const problems = outcome.problems.filter((problem) => !problem.startsWith("skipped: "));
  for (const problem of problems) console.log(`- ${problem}`);
  const leftOut = outcome.problems.length - problems.length;
  console.log(`${passed} passed, ${problems.length} failed, ${leftOut} left out`);
  return problems.length;
}

try {
  process.exitCode = (await run()) === 0 ? 0 : 1;
} catch (error) {
  const isExpected = error instanceof NoEngineError || error instanceof BuildError;
  console.error(signal.aborted ? "Stopped" : isExpected ? error.message : error);
  process.exitCode = 1;
} finally {
  keeper.close();
  rmSync(scratch, { recursive: true, force: true });
}
