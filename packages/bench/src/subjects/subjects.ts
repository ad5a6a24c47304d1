// The subjects of measurements: this project's bridge and its whole path, and the floors beneath them. Each subject is started
// afresh for each measurement, so that none inherits another's memory.

import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { BIN, ROOT } from "../../../local/src/base/paths.ts";
import { anyFreePort } from "../../../local/src/base/ports.ts";
import { partsIn, programs } from "../../../local/src/system/installed.ts";
import { buildParts } from "../../../local/src/system/parts.ts";
import { startSystem } from "../../../local/src/system/system.ts";
import { workerdConfig } from "../../../local/src/system/workerd-config.ts";
import { FAR } from "./ip-link.ts";
import { findMosh, installNodePty, type Server, startSsh, startTtyd } from "./peers.ts";
import type { TerminalSpec } from "./terminal.ts";

export interface Subject {
  readonly name: SubjectName;
  /** `http://HOST:PORT`, for a link in front of it. */
  readonly url: string;
  /** The values that a client needs to open a terminal here, in this process or another. */
  spec(command: readonly string[], options?: OpenOptions): TerminalSpec;
  /** Resident memory of all its server processes, in bytes. */
  memory(): number;
  /** CPU time of all its server processes, in ms. */
  cpuMs(): number;
  /** The Worker's main module, in bytes, where there is one. */
  readonly bundleBytes?: number;
  stop(): Promise<void>;
}

export type OpenOptions = {
  /** Another address for the same server: a slow link. */
  readonly url?: string;
  readonly session?: string;
  readonly role?: "driver" | "viewer";
  readonly delivery?: "live";
  readonly tty?: boolean;
  readonly isRecorded?: boolean;
  /** The output that our own servers keep. Default: theirs. */
  readonly logBytes?: number;
};

export type SubjectName =
  | ("bridge" | "bridge floor" | "path" | "path floor")
  | ("serve" | "ttyd" | "node-pty" | "ssh" | "mosh");

export async function startSubject(name: SubjectName): Promise<Subject> {
  switch (name) {
    case "bridge":
      return ourBridge();
    case "bridge floor":
      return floorBridge();
    case "path":
      return ourPath();
    case "path floor":
      return floorPath();
    case "serve":
      return served();
    case "node-pty":
      return nodePty();
    case "ssh":
      return ssh();
    case "ttyd": {
      const server = await startTtyd();
      return subjectOf("ttyd", server.url, [server], { kind: "ttyd", headers: {} });
    }
    case "mosh":
      findMosh();
      return subjectOf("mosh", "mosh://127.0.0.1", [], { kind: "mosh", headers: {} });
  }
}

async function ourBridge(): Promise<Subject> {
  const token = randomBytes(24).toString("hex");
  const server = await startBridge(token);
  const headers = { Authorization: `Bearer ${token}` };
  return subjectOf("bridge", server.url, [server], { kind: "bridge", headers });
}

async function floorBridge(): Promise<Subject> {
  const server = await startListening(join(BIN, "bun"), [join(import.meta.dirname, "floors/bridge.ts")], {});
  return subjectOf("bridge floor", server.url, [server], { kind: "floor", headers: {} });
}

async function nodePty(): Promise<Subject> {
  const env = { NODE_PATH: installNodePty() };
  const server = await startListening(process.execPath, [join(import.meta.dirname, "floors/node-pty.mjs")], env);
  return subjectOf("node-pty", server.url, [server], { kind: "floor", headers: {} });
}

async function ssh(): Promise<Subject> {
  const { server, args } = await startSsh();
  return subjectOf("ssh", server.url, [server], { kind: "ssh", headers: {}, ssh: args });
}

async function floorPath(): Promise<Subject> {
  const floor = await startListening(join(BIN, "bun"), [join(import.meta.dirname, "floors/bridge.ts")], {});
  const worker = await startRelay(`${floor.url}/`);
  const subject = subjectOf("path floor", worker.url, [worker, floor], { kind: "floor", headers: {} });
  return { ...subject, bundleBytes: worker.bundleBytes };
}

/** One user, from one address, does all of it. */
const UNLIMITED = {
  LIMIT_ATTACHES_PER_MINUTE: "1000000",
  LIMIT_CONNECTIONS_PER_IP: "1000000",
  LIMIT_SESSIONS: "1000000",
};

async function ourPath(): Promise<Subject> {
  const dir = mkdtempSync(join(tmpdir(), "bench-path-"));
  const port = await anyFreePort();
  parts ??= builtParts();
  const system = await startSystem({
    dir,
    parts: await parts,
    ports: { worker: port },
    workerVars: {
      ...UNLIMITED,
      // `AUDIT=off npm run bench` shows the audit's cost.
      AUDIT: process.env.AUDIT ?? "",
      RECORDING: "ask",
      // A slow link in front has a port of its own.
      ALLOWED_HOSTS: [`127.0.0.1:${port}`, ...linkHosts()].join(","),
    },
  });
  const token = await system.mintToken({ sub: "bench", expires: 36_000 });
  const headers = { Authorization: `Bearer ${token}` };
  return {
    ...subjectOf("path", `http://127.0.0.1:${port}`, [], { kind: "ours", headers }, () => Object.values(system.pids)),
    bundleBytes: statSync(partsIn(await parts).worker).size,
    stop: async () => {
      await system.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** As a person has it: the command, with all that it starts. @throws {Error} If it was not built, or does not start. */
async function served(): Promise<Subject> {
  const program = join(ROOT, "packages/sbx-cli/bin/sbx-stdio.js");
  parts ??= builtParts();
  // Where the packed command has them.
  cpSync(await parts, join(ROOT, "packages/sbx-cli/dist/serve"), { recursive: true });
  const state = mkdtempSync(join(tmpdir(), "bench-serve-"));
  const port = await anyFreePort();
  const place = ["--port", String(port), "--state", state];
  const child = spawn(program, ["serve", ...place, "--link-file", join(state, "link")], {
    env: { ...process.env, ...UNLIMITED },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    child.once("exit", (code) => reject(new Error(`serve ended with ${code}; npm run build builds it`)));
  });
  const token = execFileSync(program, ["serve", "token", ...place], { encoding: "utf8" }).trim();
  const url = `http://localhost:${port}`;
  const headers = { Authorization: `Bearer ${token}` };
  const { pid = 0 } = child;
  const server = { url, process: child };
  const subject = subjectOf("serve", url, [server], { kind: "ours", headers }, () => [pid, ...childrenOf(pid)]);
  return {
    ...subject,
    stop: async () => {
      execFileSync(program, ["serve", "stop", "--now", ...place]);
      await subject.stop();
      rmSync(state, { recursive: true, force: true });
    },
  };
}

/** Ports that slow links may listen on, chosen before the Worker starts since it must know its hosts. */
export const LINK_PORTS: readonly number[] = await Promise.all([anyFreePort(), anyFreePort(), anyFreePort()]);
function linkHosts(): string[] {
  return LINK_PORTS.flatMap((port) => [`127.0.0.1:${port}`, `${FAR}:${port}`]);
}

function startBridge(token: string): Promise<Server> {
  const root = mkdtempSync(join(tmpdir(), "bench-sandboxes-"));
  const env = { STDIO_TOKEN: token, PORT: "0", HOST: "127.0.0.1", SANDBOX_ROOT: root };
  return startListening(join(BIN, "bun"), [join(ROOT, "sandbox/stdio-ws.ts")], env);
}

/** Starts a server that says in one line of JSON where it listens. */
async function startListening(command: string, args: string[], env: Record<string, string>): Promise<Server> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk) => {
      text += String(chunk);
      const line = /^\{.*\}$/m.exec(text)?.[0];
      if (line !== undefined) resolve((JSON.parse(line) as { listening: string }).listening);
    });
    child.once("exit", (code) => reject(new Error(`${args[0]} ended with ${code}`)));
  });
  return { url, process: child };
}

/** Built once for all subjects: what people install. */
let parts: Promise<string> | undefined;

async function builtParts(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "bench-parts-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  await buildParts(folder);
  return folder;
}

/** A Worker with one Durable Object, which passes everything on to the bridge. */
async function startRelay(bridgeUrl: string): Promise<Server & { readonly bundleBytes: number }> {
  const dir = mkdtempSync(join(tmpdir(), "bench-floor-"));
  const bundle = join(dir, "index.js");
  buildSync({
    entryPoints: [join(import.meta.dirname, "floors/relay.ts")],
    outfile: bundle,
    bundle: true,
    format: "esm",
  });
  const [, date = ""] = /compatibility_date = "([^"]+)"/.exec(readFileSync(join(ROOT, "wrangler.toml"), "utf8")) ?? [];
  const options = {
    name: "floor",
    compatibilityDate: date,
    compatibilityFlags: ["nodejs_compat"],
    bindings: { BRIDGE_URL: bridgeUrl },
    durableObjects: { RELAY: { className: "Relay" } },
  };
  const address = `127.0.0.1:${await anyFreePort()}`;
  const modules = join(ROOT, "packages/local/src/system");
  const places = { v8Flags: [], address, bundle, page: dir, modules, objects: dir };
  writeFileSync(join(dir, "config.capnp"), workerdConfig(options, {}, places));
  const words = ["serve", "--import-path=/", join(dir, "config.capnp")];
  const child = spawn(programs().workerd, words, { stdio: ["ignore", "inherit", "inherit"] });
  const url = `http://${address}`;
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isUp) return { url, process: child, bundleBytes: statSync(bundle).size };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("Cannot start workerd: it does not answer");
}

function subjectOf(
  name: SubjectName,
  url: string,
  servers: readonly Server[],
  client: Pick<TerminalSpec, "kind" | "headers" | "ssh">,
  pids = () => servers.flatMap((server) => withDescendants(server.process.pid ?? 0, client.kind === "ssh")),
): Subject {
  return {
    name,
    url,
    spec: (command, options) => ({ url, command, ...client, ...options }),
    memory: () => sum(pids().map(residentBytes)),
    cpuMs: () => sum(pids().map(cpuMsOf)),
    stop: async () => {
      for (const server of servers) {
        if (server.process.exitCode !== null) continue;
        const ended = new Promise((resolve) => server.process.once("exit", resolve));
        server.process.kill("SIGTERM");
        const timer = setTimeout(() => server.process.kill("SIGKILL"), 3_000);
        await ended;
        clearTimeout(timer);
      }
    },
  };
}

/** OpenSSH has a process or two for each connection; programs on the terminals are not the server. */
function withDescendants(pid: number, isTree: boolean): number[] {
  if (!isTree) return [pid];
  const own = childrenOf(pid).filter((child) => readFileSync(`/proc/${child}/comm`, "utf8").startsWith("sshd"));
  return [pid, ...own.flatMap((child) => withDescendants(child, true))];
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}

function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}

/** The kernel counts in ticks of 10 ms. */
function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
