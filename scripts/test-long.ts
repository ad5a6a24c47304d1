// `npm run test:long`: what takes too long for `npm test`, or needs what few machines have. Without arguments all parts run, one
// after the other; arguments choose parts by the beginnings of their names. Says beforehand how long each takes. `--ledger` notes the runs
// in docs/proof/long.jsonl, of which pieces add up: variables of the environment win over those below, and make larger pieces.

import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { engineVersion, NoEngineError } from "../packages/local/src/base/docker.ts";
import { readTextIfPresent } from "../packages/local/src/base/files.ts";
import { ROOT } from "../packages/local/src/base/paths.ts";
import { findProgram } from "../packages/local/src/base/programs.ts";
import { stopSignal } from "../packages/local/src/base/stop-signals.ts";
import { ChildKeeper, ending } from "../packages/local/src/processes/children.ts";
import { writeProofPage } from "./pages/proof-page.ts";
import { type LongLine, parseLedger, sumCounts } from "./suites/ledger.ts";
import { partsNamed, readWords, WrongWordsError } from "./suites/task-words.ts";
import { fingerprint, isDirty, readTree, revision } from "./tree/tree.ts";

interface Part {
  readonly name: string;
  readonly about: string;
  /** Roughly, on a machine with two cores and nothing else to do. */
  readonly minutes: number;
  /** A program for Node, and its arguments. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** If its runs may be noted: folders of tests and programs whose every file it depends on. */
  readonly dependsOn?: readonly string[];
  /** Why it can't run here; undefined where it can. */
  readonly problem?: () => Promise<string | undefined>;
}

const unitFile = (project: string, file: string): readonly string[] => [
  "node_modules/vitest/vitest.mjs",
  ...["run", `--project=${project}`, file],
];

const e2eFiles = (...files: string[]): readonly string[] => [
  "node_modules/vitest/vitest.mjs",
  ...["run", "--config", "test/e2e/vitest.config.ts", ...files.map((file) => `${file}.test.ts`)],
];

/** Of the parts with chance. */
const SEED = process.env.TEST_SEED ?? String(Math.floor(Math.random() * 2 ** 31));
const CORE_TESTS = "packages/sandbox-stdio/test";
const CUTS = process.env.CHAOS_CUTS;

const PARTS: readonly Part[] = [
  {
    name: "simulation",
    about:
      "20,000 random runs of both hops in virtual time, and crowds at one session, from a fresh seed that it prints",
    minutes: 75,
    args: unitFile("sandbox-stdio", "test/simulation/"),
    env: { SIM_RUNS: "20000", SIM_SEED: SEED },
    dependsOn: [`${CORE_TESTS}/simulation`],
  },
  {
    name: "lives",
    about: "100,000 random runs of both hops in virtual time, of all kinds of sessions at once",
    minutes: 20,
    args: [...unitFile("sandbox-stdio", "test/simulation/simulation.test.ts"), "-t", "whatever breaks"],
    env: { SIM_RUNS: "100000", SIM_SEED: SEED },
    dependsOn: [`${CORE_TESTS}/simulation`],
  },
  {
    name: "exploration",
    about:
      "every placement of one fault of all kinds, and of two plain ones, in small exchanges; bugs that 20,000 seeds miss",
    minutes: 75,
    args: unitFile("sandbox-stdio", "test/exploration/"),
    env: { EXPLORE: "whole", MUTANT_SEEDS: "20000" },
    dependsOn: [`${CORE_TESTS}/exploration`, `${CORE_TESTS}/exploration/explore-one.ts`],
  },
  {
    name: "model",
    about:
      "the model of resume, acknowledgement, parking and incarnations, whole within larger bounds, and runs replayed in it",
    minutes: 10,
    args: unitFile("sandbox-stdio", "test/model/"),
    env: { MODEL: "whole" },
    dependsOn: [`${CORE_TESTS}/model`, `${CORE_TESTS}/model/trace-one.ts`],
  },
  {
    name: "fuzz",
    about: "100,000 hostile inputs for each decoder",
    minutes: 15,
    args: unitFile("sandbox-stdio", "test/fuzz/fuzz.test.ts"),
    env: { FUZZ_RUNS: "100000", FUZZ_SEED: SEED },
    dependsOn: [`${CORE_TESTS}/fuzz`],
  },
  {
    name: "texts",
    about:
      "2,000 outputs each: redacted (fresh ones), without queries, as plain text, as a ledger of modes, in tmux' control mode",
    minutes: 5,
    args: [
      ...unitFile("sandbox-stdio", "test/recording/redaction.test.ts"),
      ...["query-filter.test.ts", "plain-text.test.ts", "terminal/modes.test.ts", "control-mode.test.ts"],
    ],
    env: { FUZZ_RUNS: "2000", SIM_SEED: SEED },
  },
  {
    name: "chaos",
    about: "10,000 cuts of connections over the real system, and every byte counted",
    minutes: 90,
    args: ["scripts/run.mjs", "chaos", "--cuts", CUTS ?? "10000", "--seed", SEED],
    dependsOn: ["scripts/chaos.ts"],
  },
  {
    name: "steps",
    about: "200 cuts over the real system, and what the clients saw replayed in the model as its steps",
    minutes: 10,
    args: ["scripts/run.mjs", "chaos", "steps", "--cuts", CUTS ?? "200", "--parallel", "8", "--seed", SEED],
    dependsOn: ["scripts/chaos.ts", `${CORE_TESTS}/model/replay-steps.ts`],
  },
  {
    name: "python",
    about: "1,000 cuts as the Python client of examples/ sees them, in real time",
    minutes: 5,
    args: [
      ...["scripts/run.mjs", "chaos", "--client", "python3 examples/python-client/sbx_stdio.py"],
      ...["--cuts", CUTS ?? "1000", "--seed", SEED],
    ],
    dependsOn: ["scripts/chaos.ts", "examples/python-client/sbx_stdio.py"],
  },
  {
    name: "conformance",
    about: "the conformance kit against the local system, our client and the one in Python",
    minutes: 1,
    args: ["scripts/run.mjs", "conformance"],
    dependsOn: ["scripts/conformance.ts", "examples/python-client/sbx_stdio.py"],
  },
  {
    name: "panes",
    about: "500 steps with panes of tmux in a browser, and their agreement with tmux after each",
    minutes: 15,
    args: ["node_modules/vitest/vitest.mjs", "run", "--config", "test/browser/vitest.config.ts", "tmux-panes.test.ts"],
    env: { PANES_STEPS: "500" },
  },
  {
    name: "load",
    about: "the end-to-end tests of loads and floods at full size: 10,000 waits, 2 GB of input, 200 MB both ways",
    minutes: 15,
    args: e2eFiles(
      ...["attacks/load", "attacks/many-waits", "access/quotas", "cli/cli", "cli/system", "serve/serve"],
      ...["programs/exactly-once", "programs/ranges", "stream/big-input", "stream/quick-clock", "stream/snapshot"],
    ),
    env: { SBX_LOAD: "full", BIG_INPUT_MB: "2000", FUZZ_RUNS: "300" },
  },
  {
    name: "agents",
    about: "the clients of agents, as they are on the registry: installs them, 80 MB",
    minutes: 2,
    args: ["node_modules/vitest/vitest.mjs", "run", "--config", "test/agents/vitest.config.ts"],
  },
  {
    name: "recordings",
    about: "a day's recording of 1 GiB: its size, screens and search",
    minutes: 15,
    args: ["node_modules/vitest/vitest.mjs", "run", "--config", "test/e2e/long.config.ts", "recordings-day"],
    env: { RECORDED_MB: "1024" },
  },
  {
    name: "recordings-programs",
    about: "real programs played into sessions, and their screens at each kilobyte",
    minutes: 5,
    args: e2eFiles("programs/recordings"),
    env: { RECORDED_KB: "1" },
  },
  {
    name: "recordings-public",
    about:
      "alacritty's and xterm.js' own files, from Debian and npm, played into sessions: screens at each kilobyte, and the stock player",
    minutes: 5,
    args: [
      "node_modules/vitest/vitest.mjs",
      "run",
      "--config",
      "test/browser/long/vitest.config.ts",
      "public-recordings",
    ],
  },
  {
    name: "hostile",
    about: "the searches for what one tenant, client or request can do to others, 20 times as long",
    minutes: 20,
    args: e2eFiles("access/projects", "access/tenants", "attacks/garbage", "attacks/route-fuzz"),
    env: { FUZZ_RUNS: "2000" },
  },
  {
    name: "codex",
    about:
      "the real codex command line, which is installed into .local, over 200 cuts of both hops and outages of five minutes, and 50 MB of output; beside codex' own server",
    minutes: 25,
    args: ["node_modules/vitest/vitest.mjs", "run", "--config", "test/e2e/long.config.ts", "codex-"],
    env: { CODEX_CUTS: "200", CODEX_OUTAGE_SECONDS: "300" },
  },
  {
    name: "serve",
    about: "a week of `serve` in an hour: upgrades and crashes under ten people, 10,000 sessions, a full disk",
    minutes: 60,
    args: ["node_modules/vitest/vitest.mjs", "run", "--config", "test/e2e/long.config.ts", "serve/week"],
    env: { WEEK_SESSIONS: "10000", WEEK_ROUNDS: "120" },
  },
  {
    name: "proxies",
    about: "`serve` behind real nginx and Caddy, set up as the guide says",
    minutes: 1,
    args: ["node_modules/vitest/vitest.mjs", "run", "--config", "test/e2e/long.config.ts", "serve/proxies"],
    problem: async () => {
      const absent = ["nginx", "caddy"].filter((name) => findProgram(name) === undefined);
      return absent.length === 0 ? undefined : `not installed: ${absent.join(", ")}`;
    },
  },
  {
    name: "exec-docker",
    about: "`serve --exec 'docker exec -i NAME'` with a real engine: sizes, signals, exit codes, ends",
    minutes: 2,
    args: ["node_modules/vitest/vitest.mjs", "run", "--config", "test/e2e/long.config.ts", "serve/exec-docker"],
    problem: noEngine,
  },
  {
    name: "looks",
    about: "every view of the page in all colours",
    minutes: 3,
    args: [
      "node_modules/vitest/vitest.mjs",
      "run",
      "--config",
      "test/browser/vitest.config.ts",
      "accessibility.test.ts",
    ],
    env: { ALL_LOOKS: "1" },
  },
  {
    name: "firefox",
    about: "the page's main flows in Firefox, all of them",
    minutes: 2,
    args: ["node_modules/vitest/vitest.mjs", "run", "--config", "test/browser/vitest.config.ts", "firefox.test.ts"],
    env: { FIREFOX: "whole" },
  },
  {
    name: "compiled",
    about: "the compiled program at a terminal: all that the command line does there, and every way to die",
    minutes: 1,
    args: [
      ...unitFile("sbx-cli", "test/attach/deaths.test.ts"),
      "--project=sbx-cli-apart",
      "terminal-compiled.test.ts",
    ],
    env: { SBX_COMPILED: "whole" },
  },
  {
    name: "players",
    about:
      "recordings in a browser: the stock player over 50 cuts, to a session's end and by a login, and all of the page's timeline",
    minutes: 2,
    args: ["node_modules/vitest/vitest.mjs", "run", "--config", "test/browser/vitest.config.ts", "recording.test.ts"],
    env: { SBX_LOAD: "full" },
  },
  {
    name: "printable",
    about: "each printable character's ink, in three fonts, nine sizes and four densities of pixels, by both renderers",
    minutes: 3,
    args: unitFile("dashboard", "test/terminal/printable.test.ts"),
    env: { PRINTABLE: "whole" },
  },
  {
    name: "parked",
    about: "a page, a command line and a plain client through 100 evictions and all faults of the chaos kit",
    minutes: 25,
    args: ["node_modules/vitest/vitest.mjs", "run", "--config", "test/browser/vitest.config.ts", "parked.test.ts"],
    env: { PARKED_ROUNDS: "100" },
  },
  {
    name: "typing",
    about: "ten minutes of typing into a page while connections break, pages reload and logins run out",
    minutes: 11,
    args: ["node_modules/vitest/vitest.mjs", "run", "--config", "test/browser/vitest.config.ts", "typing.test.ts"],
    env: { TYPING_SECONDS: "600" },
  },
  {
    name: "day",
    about: "a day on two devices with four others, cuts, a program that asks, a container that dies: each line counted",
    minutes: 3,
    args: ["node_modules/vitest/vitest.mjs", "run", "--config", "test/browser/long/vitest.config.ts", "day"],
    env: { DAY_ROUNDS: "20" },
  },
  {
    name: "mutants",
    about: "1,500 small changes of the sources, which the tests must notice; goes on where it was stopped",
    minutes: 120,
    args: ["scripts/run.mjs", "mutate", "--count", "1500", "--seed", "1"],
  },
  ...(["sdk", "native"] as const).map((way) => ({
    name: `containers-${way}`,
    about: `all end-to-end tests that can run over real containers, reached by ${way}, and those of containers themselves`,
    minutes: 40,
    args: ["scripts/run.mjs", "test-container"],
    env: { SBX_CONTAINERS: way },
    problem: noEngine,
  })),
];

async function noEngine(): Promise<string | undefined> {
  try {
    await engineVersion();
    return undefined;
  } catch (error) {
    if (error instanceof NoEngineError) return error.message;
    throw error;
  }
}

const signal = stopSignal();
const keeper = new ChildKeeper();

/** @returns Whether it has passed. @param counts A file for what it counts. */
async function run({ name, args, env }: Part, counts?: string): Promise<boolean> {
  console.log(`\n== ${name}`);
  const child = await keeper.start({
    name,
    command: process.execPath,
    args,
    cwd: ROOT,
    env: { ...env, ...process.env, ...(counts === undefined ? {} : { COUNTS_FILE: counts }) },
  });
  const stop = (): void => void child.stop(90_000);
  signal.addEventListener("abort", stop);
  const { succeeded } = await ending(child);
  signal.removeEventListener("abort", stop);
  return succeeded;
}

/** The same, with a line in the ledger. */
async function runNoted(part: Part, dependsOn: readonly string[]): Promise<boolean> {
  const scratch = mkdtempSync(join(tmpdir(), "sbx-long-"));
  const counted = join(scratch, "counts");
  try {
    const about = { revision: revision(), part: part.name, inputs: fingerprint(readTree().inputsOf(dependsOn)) };
    const startedAt = performance.now();
    const hasPassed = await run(part, counted);
    const line: LongLine = {
      ...{ at: new Date().toISOString(), ...about, seed: Number(SEED), hasPassed },
      seconds: Math.round((performance.now() - startedAt) / 1000),
      counts: sumCounts(parseLedger<LongLine["counts"]>(readTextIfPresent(counted) ?? "")),
    };
    // A run that was stopped says nothing.
    if (!signal.aborted) appendFileSync(join(ROOT, "docs/proof/long.jsonl"), `${JSON.stringify(line)}\n`);
    writeProofPage();
    return hasPassed;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** @returns What failed, and what could not run. */
async function runAll(chosen: readonly Part[]): Promise<string[]> {
  const problems: string[] = [];
  for (const { name, about, minutes } of chosen) console.log(`${name}: about ${minutes} minutes. ${about}`);
  for (const part of chosen) {
    signal.throwIfAborted();
    const problem = await part.problem?.();
    if (problem !== undefined) problems.push(`${part.name} did not run: ${problem}`);
    else if (!(await (hasLedger ? runNoted(part, part.dependsOn ?? []) : run(part))))
      problems.push(`${part.name} failed`);
  }
  return problems;
}

const hasLedger = process.argv.includes("--ledger");
const chosen = readWords(() => {
  const words = process.argv.slice(2).filter((word) => word !== "--ledger");
  const parts = partsNamed("part", PARTS, words, (name, word) => name.startsWith(word));
  if (!hasLedger) return parts;
  if (isDirty()) throw new WrongWordsError("Commit first: the ledger names what was tested by its revision");
  const noted = parts.filter(({ dependsOn }) => dependsOn !== undefined);
  if (noted.length === 0) throw new WrongWordsError("None of these parts is noted in the ledger");
  return noted;
});
try {
  const problems = await runAll(chosen);
  console.log(`\n${chosen.length - problems.length} of ${chosen.length} parts passed`);
  for (const problem of problems) console.log(`- ${problem}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} catch (error) {
  console.error(signal.aborted ? "Stopped" : error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  keeper.close();
}
