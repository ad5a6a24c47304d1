// The bootstrap, in a checkout made for the test: a lock file of one package, a task, and an npm that only pretends.
import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../packages/local/test/temporary.ts";

const RUN = fileURLToPath(new URL("../run.mjs", import.meta.url));

const TASK = `
const [what] = process.argv.slice(2);
if (what === "wait") {
  process.on("SIGTERM", () => process.exit(9));
  process.on("disconnect", () => process.exit(0));
  setInterval(() => undefined, 1000);
}
console.log("task " + process.argv.slice(2).join(" "));
if (what === "fail") process.exitCode = 7;
if (what === "die") process.kill(process.pid, "SIGKILL");
`;

// Does what \`npm ci\` would, writes to stdout as npm does, and keeps count.
const FAKE_NPM = `#!/bin/sh
echo "$@" >> npm-calls
echo "added 1 package"
mkdir -p node_modules/.bin
ln -sf "${process.execPath}" node_modules/.bin/node
cp package-lock.json node_modules/.package-lock.json
`;

type Started = ChildProcessByStdio<null, Readable, Readable>;

interface Checkout {
  dir: string;
  /** Arguments of each call of npm. */
  npmCalls(): string[];
  start(task: string, args?: string[]): Started;
  run(...args: string[]): Promise<{ status: number | string | null; stdout: string; stderr: string }>;
}

function checkout(npm = FAKE_NPM): Checkout {
  const dir = temporaryDirectory();
  mkdirSync(join(dir, "scripts"));
  mkdirSync(join(dir, "bin"));
  cpSync(RUN, join(dir, "scripts/run.mjs"));
  writeFileSync(join(dir, "scripts/task.ts"), TASK);
  writeFileSync(join(dir, "bin/npm"), npm);
  chmodSync(join(dir, "bin/npm"), 0o755);
  lock(dir, process.version.slice(1));
  const start = (task: string, args: string[] = []): Started => {
    const env = { ...process.env, PATH: `${join(dir, "bin")}:${process.env.PATH}` };
    const child = spawn(process.execPath, ["scripts/run.mjs", task, ...args], {
      cwd: dir,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => {
      child.kill("SIGKILL");
    });
    return child;
  };
  return {
    dir,
    npmCalls: () =>
      existsSync(join(dir, "npm-calls")) ? readFileSync(join(dir, "npm-calls"), "utf8").trim().split("\n") : [],
    start,
    run: async (...args) => {
      const child = start("task", args);
      const ended = exit(child);
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
      return { stdout, stderr, status: await ended };
    },
  };
}

function lock(dir: string, nodeVersion: string, extra: Record<string, object> = {}): void {
  const packages = { "": { name: "x" }, "node_modules/node": { version: nodeVersion }, ...extra };
  writeFileSync(join(dir, "package-lock.json"), JSON.stringify({ packages }));
}

const exit = (child: ChildProcess): Promise<number | string | null> =>
  new Promise((resolve) => child.once("exit", (code, signal) => resolve(signal ?? code)));

test("the first run installs, says why on stderr, and leaves stdout to the task", async () => {
  const { run, npmCalls } = checkout();
  const first = await run("a", "b c");
  expect(first).toMatchObject({ status: 0, stdout: "task a b c\n" });
  expect(first.stderr).toContain("Installing the dependencies: node_modules is missing or incomplete");
  expect(first.stderr).toContain("added 1 package");
  expect(npmCalls()).toEqual(["ci --include=dev --include=optional --no-audit --no-fund --loglevel=error"]);

  expect(await run("again")).toEqual({ status: 0, stdout: "task again\n", stderr: "" });
  expect(npmCalls()).toHaveLength(1);
});

test.each([
  ["has another version", { version: "1.0.1" }, { version: "1.0.0" }],
  ["is not installed", { version: "1.0.0" }, undefined],
])("a package that %s is a reason to install", async (_name, locked, installed) => {
  const { dir, run, npmCalls } = checkout();
  if (installed !== undefined) lock(dir, process.version.slice(1), { "node_modules/dep": installed });
  await run();
  lock(dir, process.version.slice(1), { "node_modules/dep": locked });
  expect((await run()).stderr).toContain("node_modules does not match package-lock.json (dep)");
  expect(npmCalls()).toHaveLength(2);
});

test("an optional package that is not installed, and one too many, are no reason to install", async () => {
  const { dir, run, npmCalls } = checkout();
  lock(dir, process.version.slice(1), { "node_modules/extra": { version: "1.0.0" } });
  await run();
  lock(dir, process.version.slice(1), { "node_modules/for-another-platform": { version: "1.0.0", optional: true } });
  expect(await run()).toMatchObject({ status: 0, stderr: "" });
  expect(npmCalls()).toHaveLength(1);
});

test("an npm ci that fails ends the run with its status and nothing on stdout", async () => {
  const { run } = checkout("#!/bin/sh\necho 'no network'\nexit 3\n");
  const result = await run();
  expect(result).toMatchObject({ status: 3, stdout: "" });
  expect(result.stderr).toContain("no network");
  expect(result.stderr).toContain("npm ci failed (3)");
});

test("an install that leaves something missing is an error, not a loop", async () => {
  const { dir, run } = checkout();
  lock(dir, "1.2.3");
  const result = await run();
  expect(result.status).toBe(3);
  expect(result.stderr).toContain("npm ci has run, and still the project's own Node is missing");
});

test("the lock of an install that was killed is taken over", async () => {
  const { dir, run } = checkout();
  mkdirSync(join(dir, ".local"));
  writeFileSync(join(dir, ".local/installing.pid"), "999999999");
  expect((await run("x")).stdout).toBe("task x\n");
  expect(existsSync(join(dir, ".local/installing.pid"))).toBe(false);
});

test("two first runs at once install once", async () => {
  const { run, npmCalls } = checkout(FAKE_NPM.replace("mkdir", "sleep 1; mkdir"));
  const [one, two] = await Promise.all([run("one"), run("two")]);
  expect([one.stdout, two.stdout]).toEqual(["task one\n", "task two\n"]);
  expect(npmCalls()).toHaveLength(1);
});

test("the task's exit code and the signal it dies of are the bootstrap's", async () => {
  const { run } = checkout();
  expect((await run("fail")).status).toBe(7);
  expect((await run("die")).status).toBe("SIGKILL");
});

test("a signal is passed on to the task, which decides how it ends; a bootstrap that is killed takes it along", async () => {
  const { run, start } = checkout();
  await run();
  const child = start("task", ["wait"]);
  await once(child.stdout, "data");
  child.kill("SIGTERM");
  expect(await exit(child)).toBe(9);
  const killed = start("task", ["wait"]);
  await once(killed.stdout, "data");
  // The task holds the other end of this pipe, so its end is the task's end.
  const closed = once(killed.stdout, "end");
  killed.stdout.resume();
  killed.kill("SIGKILL");
  await closed;
});

test.each(["nothing", "../scripts/task"])("a task that doesn't exist (%s) is an error", async (task) => {
  const { start } = checkout();
  const child = start(task);
  expect(await text(child.stderr ?? [])).toContain(`Cannot run task "${task}"`);
  expect(child.exitCode ?? (await exit(child))).toBe(1);
});
