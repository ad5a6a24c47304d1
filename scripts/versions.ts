// `node scripts/run.mjs versions REVISION`: this version beside an older one of the history, both ways. Packed clients of each meet
// the other's server, and the Worker of each the other's bridge, changed in place while clients are attached. Takes minutes and
// needs the history and Chromium, so it is no test of `npm test`.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
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

/** The tree as it was, with the packages that it was locked to. */
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

/** Builds, packs and installs the clients of a tree outside of it. */
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

/** A server of one version, met by the other's clients. */
async function whole(server: Version, visitor: Version): Promise<void> {
  const system = await server.start({ dir: join(top, `whole-${server.name}`), signal });
  try {
    for (const line of await meet(visitor.clients, system, () => system.restartWorker()))
      say(`${visitor.name} clients, ${server.name} server: ${line}`);
  } finally {
    await system.stop();
  }
}

/** One version's Worker is replaced by the other's while its clients are attached; the bridge stays. */
async function replaced(before: Version, after: Version): Promise<void> {
  const dir = join(top, `from-${before.name}`);
  const first = await before.start({ dir, signal });
  const port = Number(new URL(first.origin).port);
  const crossed = `${after.name} Worker, ${before.name} bridge`;
  let second: System | undefined;
  try {
    const held = await attached(before.clients, first);
    // While the Worker has its port: each version counts free ports by itself.
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
