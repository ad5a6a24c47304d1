// The bootstrap of every npm script: `node scripts/run.mjs TASK [args]` runs scripts/TASK.ts with the project's own
// Node, installing the dependencies first where they are missing. Plain JS for any Node from 18 on; it imports nothing
// from node_modules and writes nothing to stdout, which belongs to the task.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const binDir = join(root, "node_modules", ".bin");
const projectNode = join(binDir, "node");
const installLock = join(root, ".local", "installing.pid");

/** The benchmark's clients collect their garbage once in 100 keys or so, which must not be measured as a server's delay. */
const NODE_FLAGS = { bench: ["--min-semi-space-size=64", "--max-semi-space-size=64"] };

const say = (line) => process.stderr.write(`${line}\n`);
const fail = (line, code = 1) => {
  say(line);
  process.exit(code);
};
/** The task has not begun: a failed download, say. Nothing is known of the project then. */
const NOT_BEGUN = 3;

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch (error) {
    if (error.code === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Why `npm ci` has to run, in words; undefined when node_modules holds what package-lock.json says. */
function installReason() {
  const locked = readPackages(join(root, "package-lock.json"));
  if (locked === undefined) fail("Cannot read package-lock.json: is this a complete checkout?");
  // npm writes this file last, so a half-finished install has none.
  const installed = readPackages(join(root, "node_modules", ".package-lock.json"));
  if (installed === undefined) return "node_modules is missing or incomplete";
  for (const [path, want] of Object.entries(locked)) {
    if (!path.includes("node_modules/")) continue;
    const have = installed[path];
    // Optional packages are for other platforms, or failed to build, as npm allows.
    if (have === undefined && want.optional) continue;
    const matches =
      have?.version === want.version && have?.integrity === want.integrity && have?.resolved === want.resolved;
    if (!matches) return `node_modules does not match package-lock.json (${path.replace(/^node_modules\//, "")})`;
  }
  const answer = spawnSync(projectNode, ["--version"], { encoding: "utf8" });
  if (answer.stdout?.trim() !== `v${locked["node_modules/node"].version}`) {
    return "the project's own Node is missing or is another platform's";
  }
  return undefined;
}

/** The environment without our own .bin: `npm ci` removes it while it runs, and npm needs a Node that stays. */
function outsideEnv() {
  const path = (process.env.PATH ?? "").split(delimiter).filter((entry) => entry !== binDir);
  return { ...process.env, PATH: path.join(delimiter) };
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Takes the lock that keeps two first runs from installing over each other. Returns false when another one holds it. */
function takeInstallLock() {
  mkdirSync(dirname(installLock), { recursive: true, mode: 0o700 });
  // Linked into place, so that nobody sees the lock without its owner's pid.
  const own = `${installLock}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, installLock);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  } finally {
    unlinkSync(own);
  }
  const holder = Number(readFileSync(installLock, "utf8"));
  if (holder > 0 && isAlive(holder)) return false;
  unlinkSync(installLock);
  return takeInstallLock();
}

async function install(reason) {
  if (!takeInstallLock()) {
    say("Another run is installing the dependencies; waiting for it");
    while (existsSync(installLock) && !takeInstallLock()) await new Promise((resolve) => setTimeout(resolve, 500));
    reason = installReason();
  }
  try {
    if (reason === undefined) return;
    say(`Installing the dependencies: ${reason}. Runs npm ci; about a minute, 750 MB on disk`);
    // What `npm run --silent` or NODE_ENV=production pass down would hide npm's errors or leave out the tools.
    const args = ["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"];
    const npm = spawn("npm", args, { cwd: root, env: outsideEnv(), stdio: ["ignore", 2, 2] });
    const status = await finished(npm);
    if (status !== 0) fail(`npm ci failed (${status}); its messages are above`, NOT_BEGUN);
    const still = installReason();
    if (still !== undefined) fail(`npm ci has run, and still ${still}`, NOT_BEGUN);
  } finally {
    if (existsSync(installLock)) unlinkSync(installLock);
  }
}

/** Exit code of `child`, or the name of the signal that ended it. Signals that reach us meanwhile are passed on. */
function finished(child) {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  const forward = (signal) => child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      for (const name of signals) process.off(name, forward);
      resolve(signal ?? code);
    });
  });
}

/** Under npm (whose scripts `exec` us) the parent is npm itself: once it is gone, nobody else can stop the task. */
function stopWithNpm(child) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(timer);
    child.kill("SIGTERM");
  }, 500);
  timer.unref();
}

async function main() {
  const [task = "", ...args] = process.argv.slice(2);
  const script = join(root, "scripts", `${task}.ts`);
  if (process.platform === "win32") fail("Windows is not supported: run this in WSL, on Linux or on macOS");
  if (!/^[a-z-]+$/.test(task) || !existsSync(script)) fail(`Cannot run task "${task}": no scripts/${task}.ts`);

  const reason = installReason();
  if (reason !== undefined) await install(reason);

  const path = [binDir, ...outsideEnv().PATH.split(delimiter)].join(delimiter);
  // The channel carries no messages: its end tells the task that we are gone, however that happened.
  const child = spawn(projectNode, [...(NODE_FLAGS[task] ?? []), script, ...args], {
    env: { ...process.env, PATH: path },
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  stopWithNpm(child);
  const status = await finished(child);
  if (typeof status === "string") process.kill(process.pid, status);
  else process.exitCode = status;
}

main().catch((error) => fail(`Cannot run the task: ${error.message}`));
