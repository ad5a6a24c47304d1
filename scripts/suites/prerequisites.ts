// The tests' needs beyond npm: finds each, or installs it, or fails with its name and the way to get it. Nothing
// is ever skipped. `node scripts/run.mjs prerequisites` runs it alone.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { BIN } from "../../packages/local/src/base/paths.ts";
import {
  findFirefox,
  findHeadlessChromium,
  findPexpectPython,
  findProgram,
} from "../../packages/local/src/base/programs.ts";

interface Prerequisite {
  readonly name: string;
  /** Its use, for the message. */
  readonly purpose: string;
  /** Why it can't be used; undefined when it can. */
  readonly problem: () => string | undefined;
  /** Debian packages that bring it. */
  readonly packages: readonly string[];
}

const program = (name: string, purpose: string, packages: readonly string[] = [name]): Prerequisite => ({
  name,
  purpose,
  packages,
  problem: () => (findProgram(name) === undefined ? "not in PATH" : undefined),
});

const HEADLESS = "chromium-headless-shell";
/** CHROMIUM_PATH names the one to use. */
const isHeadless = (): boolean => Boolean(process.env.CHROMIUM_PATH) || findProgram(HEADLESS) !== undefined;

function browserProblem(path: string | undefined): string | undefined {
  if (path === undefined) return "not found";
  // A download without the system's libraries is there and yet does not start.
  const { status, stderr, error } = spawnSync(path, ["--version"], { encoding: "utf8", timeout: 30_000 });
  return status === 0 ? undefined : `${path} does not start: ${(error?.message ?? stderr).trim().split("\n")[0]}`;
}

/** WebDriver BiDi as Playwright speaks it; the ESR before knows half of its commands. */
const FIREFOX_VERSION = 153;

function firefoxProblem(): string | undefined {
  const path = findFirefox();
  const problem = browserProblem(path);
  if (problem !== undefined || path === undefined) return problem;
  const version = spawnSync(path, ["--version"], { encoding: "utf8", timeout: 30_000 }).stdout.trim();
  const major = Number(/(\d+)\./.exec(version)?.[1]);
  return major >= FIREFOX_VERSION ? undefined : `${version} is older than ${FIREFOX_VERSION}`;
}

const PREREQUISITES: readonly Prerequisite[] = [
  {
    name: "chromium",
    purpose: "the browser tests",
    problem: () => browserProblem(findHeadlessChromium()),
    // The fonts are for the screenshots: without any, Chromium draws boxes.
    packages: [`${HEADLESS}|chromium`, "fonts-dejavu-core", "fonts-noto-color-emoji"],
  },
  {
    name: "firefox-esr",
    purpose: "the browser tests",
    problem: firefoxProblem,
    packages: ["firefox-esr"],
  },
  program("vim", "the terminal tests"),
  program("less", "the terminal tests"),
  program("tmux", "the terminal tests"),
  program("zsh", "the tests of the shells' marks and of completion"),
  program("fish", "the tests of the shells' marks and of completion"),
  program("curl", "the recipes of the command line"),
  program("rsync", "the recipes of the command line"),
  program("git", "the recipes of the command line"),
  program("ssh", "the recipes of the command line", ["openssh-client"]),
  {
    name: "sshd",
    purpose: "the recipes of the command line and the tests of the shells' marks",
    problem: () => (existsSync("/usr/sbin/sshd") ? undefined : "not at /usr/sbin/sshd"),
    packages: ["openssh-server"],
  },
  {
    name: "pexpect",
    purpose: "the recipes of the command line",
    problem: () => (findPexpectPython() === undefined ? "python3 can't import it" : undefined),
    packages: ["python3-pexpect"],
  },
  program("top", "the terminal tests", ["procps"]),
  program("rz", "the tests of file transfers", ["lrzsz"]),
];

const missing = (): Prerequisite[] => PREREQUISITES.filter(({ problem }) => problem() !== undefined);

/** What to install: what is missing, and the headless Chromium, in which a page takes half the processor time of one with windows. */
const wanted = (): Prerequisite[] =>
  PREREQUISITES.filter(({ name, problem }) => problem() !== undefined || (name === "chromium" && !isHeadless()));

function run(command: string, args: readonly string[], env: Record<string, string> = {}): boolean {
  console.log(`+ ${command} ${args.join(" ")}`);
  const options = { stdio: ["ignore", "inherit", "inherit"] as const, env: { ...process.env, ...env } };
  return spawnSync(command, args, { ...options, stdio: [...options.stdio] }).status === 0;
}

function installWithApt(these: readonly Prerequisite[]): void {
  const quiet = { DEBIAN_FRONTEND: "noninteractive" };
  // The lists may be missing, or name versions that are gone, or too old. Where no server answers, what they name may do.
  run("apt-get", ["update", "-q"], quiet);
  const isKnown = (name: string): boolean => spawnSync("apt-cache", ["show", name]).status === 0;
  const packages = these.flatMap((one) => one.packages.map((names) => names.split("|").find(isKnown) ?? names));
  run("apt-get", ["install", "-y", "-q", "--no-install-recommends", ...packages], quiet);
}

/** A prerequisite is missing and can't be installed; the message says which, and how to get it. */
export class PrerequisiteError extends Error {
  override readonly name = "PrerequisiteError";
}

/**
 * Makes sure that everything is there.
 *
 * @throws {PrerequisiteError} If it is not, and can't be installed from here.
 */
export function ensurePrerequisites(): void {
  const isRoot = process.getuid?.() === 0;
  const hasApt = existsSync("/usr/bin/apt-get");
  if (isRoot && hasApt && wanted().length > 0) installWithApt(wanted());
  if (missing().some(({ name }) => name === "chromium")) {
    run(process.execPath, [join(BIN, "playwright-core"), "install", "chromium"]);
  }
  const left = missing();
  if (left.length === 0) return;
  const lines = left.map(({ name, purpose, problem }) => `  ${name}, for ${purpose}: ${problem()}`);
  const packages = left.flatMap((one) => one.packages.map((names) => names.split("|").at(-1) ?? names)).join(" ");
  const how = hasApt
    ? `sudo apt-get install ${packages}`
    : `with your package manager: ${left.map(({ name }) => name).join(", ")} (CHROMIUM_PATH=/path and FIREFOX_PATH=/path name browsers elsewhere)`;
  throw new PrerequisiteError(`Cannot run the tests, these are missing:\n${lines.join("\n")}\nInstall: ${how}`);
}

if (import.meta.main) {
  try {
    ensurePrerequisites();
    console.log("Everything that the tests need is there");
  } catch (error) {
    if (!(error instanceof PrerequisiteError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
