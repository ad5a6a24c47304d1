// `node scripts/run.mjs versions REVISION`: tests this version against an older one, both ways. Packed clients of each use the other's
// server; the Worker of each replaces the other's in front of its bridge while clients are attached. Takes minutes and needs the
// history and Chromium, so `npm test` leaves it out.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { BIN, ROOT } from "../packages/local/src/base/paths.ts";
import { anyFreePort } from "../packages/local/src/base/ports.ts";
import { stopSignal } from "../packages/local/src/base/stop-signals.ts";
import { runTool } from "../packages/local/src/build/tool.ts";
import type { System, SystemOptions } from "../packages/local/src/system/system.ts";
import { attached, type Clients, meet } from "./version-clients.ts";

type Version = {
  readonly name: string;
  readonly start: (options: Omit<SystemOptions, "parts">) => Promise<System>;
  readonly clients: Clients;
};

const signal = stopSignal();
const top = mkdtempSync(join(tmpdir(), "sbx-versions-"));

/** Checks out a revision, with the packages that it was locked to. */
async function treeOf(revision: string): Promise<string> {
  const tree = join(top, "tree");
  mkdirSync(tree);
  const archive = spawnSync("git", ["archive", "--format=tar", revision], { cwd: ROOT, maxBuffer: 2 ** 30 });
  if (archive.status !== 0) throw new Error(`No such version here: ${archive.stderr}`);
  const unpacked = spawnSync("tar", ["-x"], { cwd: tree, input: archive.stdout });
  if (unpacked.status !== 0) throw new Error(`Cannot unpack it: ${unpacked.stderr}`);
  const lock = (dir: string) => readFileSync(join(dir, "package-lock.json"), "utf8");
  // Links to the packages of the workspace are relative: in a copy they lead to the old ones.
  if (lock(tree) === lock(ROOT)) {
    cpSync(join(ROOT, "node_modules"), join(tree, "node_modules"), { recursive: true, verbatimSymlinks: true });
  } else await runTool("install what it needs", "npm", ["ci", "--prefer-offline", "--no-audit"], { cwd: tree });
  return tree;
}

/** Where a tree has what starts a system, newest first. */
const STARTERS = [
  ["system/parts.ts", "buildAndStart"],
  ["system/system.ts", "startSystem"],
  ["system.ts", "startSystem"],
] as const;

async function starterOf(tree: string): Promise<Version["start"]> {
  for (const [file, name] of STARTERS) {
    const path = join(tree, "packages/local/src", file);
    if (existsSync(path)) return (await import(pathToFileURL(path).href))[name];
  }
  throw new Error("Cannot start a system of that version: none of the known files is there");
}

/** Builds and packs the clients of a tree, and installs them elsewhere. */
async function versionOf(name: string, tree: string): Promise<Version> {
  const task = (what: string) =>
    runTool(`${what} ${name}`, join(BIN, "node"), ["scripts/run.mjs", what], { cwd: tree, signal });
  await task("build");
  const packed = (await task("pack")).trim().split("\n").slice(-2);
  const home = join(top, `clients-${name}`);
  mkdirSync(home);
  const flags = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
  await runTool(`install ${name}`, "npm", ["install", "--prefix", home, ...flags, ...packed], { cwd: home, signal });
  const start = await starterOf(tree);
  return { name, start, clients: { name, home } };
}

const say = (line: string) => console.log(line);

/** Runs the clients of one version at the other's server. */
async function whole(server: Version, visitor: Version): Promise<void> {
  const system = await server.start({ dir: join(top, `whole-${server.name}`), signal });
  try {
    for (const line of await meet(visitor.clients, system, () => system.restartWorker()))
      say(`${visitor.name} clients, ${server.name} server: ${line}`);
  } finally {
    await system.stop();
  }
}

/** One folder for the objects' storage under both names that local systems have had. On Cloudflare a new Worker finds it, too. */
function oneStore(dir: string): void {
  mkdirSync(join(dir, "state/v3/do"), { recursive: true, mode: 0o700 });
  symlinkSync("v3/do", join(dir, "state/objects"));
}

/** Replaces one version's Worker by the other's while clients are attached; the bridge stays. */
async function replaced(before: Version, after: Version): Promise<void> {
  const dir = join(top, `from-${before.name}`);
  oneStore(dir);
  const first = await before.start({ dir, signal });
  const port = Number(new URL(first.origin).port);
  const crossed = `${after.name} Worker, ${before.name} bridge`;
  let second: System | undefined;
  try {
    const held = await attached(before.clients, first);
    // Taken while the Worker still has its port: each version looks for free ports by itself.
    const ports = { worker: port, bridge: await anyFreePort() };
    await first.worker.stop();
    // The bridge, the issuer and all that is stored stay as they are.
    const kept = { BRIDGE_URL: first.bridgeUrl, STDIO_TOKEN: first.bridgeToken, OAUTH_ISSUER: first.issuerUrl };
    second = await after.start({ dir, ports, workerVars: kept, signal });
    for (const line of await held.goOn()) say(`${before.name} clients attached, then ${crossed}: ${line}`);
    const now = second;
    const place = { origin: now.origin, mintToken: first.mintToken };
    for (const { clients, name } of [before, after])
      for (const line of await meet(clients, place, () => now.restartWorker()))
        say(`${name} clients, ${crossed}: ${line}`);
  } finally {
    await second?.stop();
    await first.stop();
  }
}

const [revision] = process.argv.slice(2);
if (revision === undefined || !existsSync(join(ROOT, ".git"))) {
  console.error("Usage: node scripts/run.mjs versions REVISION, in a checkout with its history");
  process.exitCode = 2;
} else {
  try {
    const before = await versionOf("old", await treeOf(revision));
    const now = await versionOf("new", ROOT);
    await whole(now, before);
    await whole(before, now);
    await replaced(before, now);
    await replaced(now, before);
    say("All of it agreed");
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}
