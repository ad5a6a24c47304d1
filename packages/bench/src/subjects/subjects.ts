// The subjects of measurements: this project's bridge and its whole path, and the floors beneath them. Each subject is started
// afresh for each measurement, so that none inherits another's memory.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { buildSync } from "esbuild";
import { BIN, ROOT } from "../../../local/src/base/paths.ts";
import { anyFreePort } from "../../../local/src/base/ports.ts";
import { startIssuer } from "../../../local/src/issuer/issuer.ts";
import { tokenMinter } from "../../../local/src/issuer/tokens.ts";
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
  readonly servers: readonly Server[];
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
};

export type SubjectName = "bridge" | "bridge floor" | "path" | "path floor" | "ttyd" | "node-pty" | "ssh" | "mosh";

/** @param profiles Where our own programs leave CPU profiles; without it they make none. */
export async function startSubject(name: SubjectName, profiles?: string): Promise<Subject> {
  switch (name) {
    case "bridge":
      return ourBridge(profiles);
    case "bridge floor":
      return floorBridge();
    case "path":
      return ourPath(profiles);
    case "path floor":
      return floorPath();
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

async function ourBridge(profiles?: string): Promise<Subject> {
  const token = randomBytes(24).toString("hex");
  const server = await startBridge(token, profiles);
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
  const dir = mkdtempSync(join(tmpdir(), "bench-floor-"));
  buildSync({
    entryPoints: [join(import.meta.dirname, "floors/relay.ts")],
    outfile: join(dir, "index.js"),
    bundle: true,
    format: "esm",
  });
  const worker = await startWorkerd(dir, { BRIDGE_URL: `${floor.url}/` }, ["Relay:RELAY"]);
  return subjectOf("path floor", worker.url, [worker, floor], { kind: "floor", headers: {} });
}

async function ourPath(profiles?: string): Promise<Subject> {
  const bridgeToken = randomBytes(24).toString("hex");
  const bridge = await startBridge(bridgeToken, profiles);
  const dir = mkdtempSync(join(tmpdir(), "bench-path-"));
  const issuer = await startIssuer({ port: 0, dir, publicOrigin: "http://127.0.0.1:1" });
  const mint = await tokenMinter({ keysDir: dir, issuerUrl: issuer.url });
  const token = await mint({ sub: "bench", scope: "sandbox:connect sandbox:exec", expires: 36_000 });
  bundle ??= bundleWorker();
  cpSync(await bundle, join(dir, "index.js"));
  const port = await anyFreePort();
  const vars = {
    BRIDGE_URL: bridge.url,
    STDIO_TOKEN: bridgeToken,
    OAUTH_ISSUER: issuer.url,
    OAUTH_AUDIENCE: "sbx-stdio-cli,sbx-stdio-web",
    SESSION_SECRET: randomBytes(24).toString("hex"),
    PUBLIC_ORIGIN: `http://127.0.0.1:${port}`,
    DEFAULT_SCOPES: "sandbox:connect sandbox:exec",
    // One user, from one address, does all of it.
    LIMIT_ATTACHES_PER_MINUTE: "1000000",
    LIMIT_CONNECTIONS_PER_IP: "1000000",
    LIMIT_SESSIONS: "1000000",
    // `AUDIT=off npm run bench` shows the audit's cost.
    AUDIT: process.env.AUDIT ?? "",
    RECORDING: "ask",
    // A slow link in front has a port of its own.
    ALLOWED_HOSTS: linkHosts().join(","),
  };
  const objects = [
    ...["SessionObject:SESSION", "SandboxDirectory:DIRECTORY", "Sandbox:Sandbox"],
    ...["TenantObject:TENANT", "AddressObject:ADDRESS"],
  ];
  const worker = await startWorkerd(dir, vars, objects, { port, isInspected: profiles !== undefined });
  const headers = { Authorization: `Bearer ${token}` };
  const subject = subjectOf("path", worker.url, [worker, bridge], { kind: "ours", headers });
  return {
    ...subject,
    stop: async () => {
      await subject.stop();
      await issuer.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Ports that slow links may listen on, chosen before the Worker starts since it must know its hosts. */
export const LINK_PORTS: readonly number[] = await Promise.all([anyFreePort(), anyFreePort(), anyFreePort()]);
function linkHosts(): string[] {
  return LINK_PORTS.flatMap((port) => [`127.0.0.1:${port}`, `${FAR}:${port}`]);
}

function startBridge(token: string, profiles?: string): Promise<Server> {
  const root = mkdtempSync(join(tmpdir(), "bench-sandboxes-"));
  const env = { STDIO_TOKEN: token, PORT: "0", HOST: "127.0.0.1", SANDBOX_ROOT: root };
  const program = join(ROOT, "sandbox/stdio-ws.ts");
  if (profiles === undefined) return startListening(join(BIN, "bun"), [program], env);
  const flags = ["--cpu-prof", `--cpu-prof-dir=${profiles}`];
  // Bun's sampler may signal a thread before it has a handler for that: one in three starts dies of it.
  const start = (attempts: number): Promise<Server> =>
    startListening(join(BIN, "bun"), [...flags, program], env).catch((error: unknown) => {
      if (attempts === 1) throw error;
      return start(attempts - 1);
    });
  return start(10);
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
  return { name: basename(args.at(-1) ?? ""), url, process: child };
}

/** Made once for all subjects: its file. */
let bundle: Promise<string> | undefined;

/** Makes the Worker's one file, as it would be deployed. */
async function bundleWorker(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "bench-bundle-"));
  process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(ROOT, "packages/dashboard/dist"), { recursive: true });
  const wrangler = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
  const args = [wrangler, "deploy", "--dry-run", "--outdir", dir, "--containers-rollout=none"];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, CI: "1", WRANGLER_SEND_METRICS: "false", WRANGLER_LOG_PATH: join(dir, "logs") },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const code = await new Promise((resolve) => child.once("exit", resolve));
  if (code !== 0) throw new Error(`Cannot bundle the Worker: wrangler ended with ${code}`);
  return join(dir, "index.js");
}

/** Plain workerd, without the second one that wrangler puts in front. `objects` are CLASS:BINDING. */
async function startWorkerd(
  dir: string,
  vars: Record<string, string>,
  objects: readonly string[],
  { port, isInspected = false }: { port?: number; isInspected?: boolean } = {},
): Promise<Server> {
  const listen = port ?? (await anyFreePort());
  const inspector = isInspected ? `127.0.0.1:${await anyFreePort()}` : undefined;
  const text = (value: string) => JSON.stringify(value);
  mkdirSync(join(dir, "do"), { recursive: true });
  const namespaces = objects.map((object) => object.split(":") as [string, string]);
  const bindings = [
    ...Object.entries(vars).map(([name, value]) => `(name = ${text(name)}, text = ${text(value)})`),
    ...namespaces.map(([type, name]) => `(name = ${text(name)}, durableObjectNamespace = (className = ${text(type)}))`),
  ];
  const classes = namespaces.map(
    ([type]) => `(className = ${text(type)}, uniqueKey = ${text(type)}, enableSql = true)`,
  );
  const date = /compatibility_date = "([^"]+)"/.exec(readFileSync(join(ROOT, "wrangler.toml"), "utf8"))?.[1] ?? "";
  writeFileSync(
    join(dir, "config.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "index.js", esModule = embed "index.js")],
      compatibilityDate = ${text(date)}, compatibilityFlags = ["nodejs_compat"],
      bindings = [${bindings.join(", ")}],
      durableObjectNamespaces = [${classes.join(", ")}],
      durableObjectStorage = (localDisk = "disk"), globalOutbound = "net")),
    (name = "disk", disk = (path = ${text(join(dir, "do"))}, writable = true)),
    (name = "net", network = (allow = ["private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${listen}", http = (), service = "main")],
);
`,
  );
  const workerd = join(ROOT, "node_modules/workerd/bin/workerd");
  const flags = ["--experimental", ...(inspector === undefined ? [] : [`--inspector-addr=${inspector}`])];
  const child = spawn(workerd, ["serve", join(dir, "config.capnp"), ...flags], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const url = `http://127.0.0.1:${listen}`;
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const isUp = await fetch(`${url}/healthz`).then(
      () => true,
      () => false,
    );
    if (isUp) return { name: "workerd", url, process: child, inspector };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("Cannot start workerd: it does not answer");
}

function subjectOf(
  name: SubjectName,
  url: string,
  servers: readonly Server[],
  client: Pick<TerminalSpec, "kind" | "headers" | "ssh">,
): Subject {
  const pids = () => servers.flatMap((server) => withDescendants(server.process.pid ?? 0, client.kind === "ssh"));
  return {
    name,
    url,
    servers,
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
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  const own = children.filter((child) => readFileSync(`/proc/${child}/comm`, "utf8").startsWith("sshd"));
  return [pid, ...own.flatMap((child) => withDescendants(child, true))];
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
