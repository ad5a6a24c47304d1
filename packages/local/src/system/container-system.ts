// The local system with real containers: issuer and Worker on loopback ports, and for each sandbox a container of the Docker
// engine that the environment names, as in production. Used by `npm run test:container`; system.ts is the one without.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { docker } from "../base/docker.ts";
import { makePrivateDirectory, writePrivateFile } from "../base/files.ts";
import { ROOT } from "../base/paths.ts";
import { anyFreePort } from "../base/ports.ts";
import { type ContainerWay, configOf } from "../build/container-ways.ts";
import { startIssuer } from "../issuer/issuer.ts";
import { CLI_CLIENT_ID, WEB_CLIENT_ID } from "../issuer/tokens.ts";
import { ChildKeeper } from "../processes/children.ts";
import { Server } from "../processes/server.ts";
import { dotenv, workerEnv } from "./worker-env.ts";

/** In the name of each container of our class; each has one more beside it, `…-proxy`, that its ports lead through. */
export const CONTAINER_NAME = "-sbx-stdio-Sandbox-";
const IMAGE = "cloudflare-dev/sandbox*";
/** Switches off wrangler's look-ups and offers beyond the Worker: the network is only for the image. */
const QUIET = { CLOUDFLARE_CF_FETCH_ENABLED: "false", X_LOCAL_OBSERVABILITY: "false", X_LOCAL_EXPLORER: "false" };
/** The image is built at the first start, and packages are downloaded for it. */
const READY_WITHIN_MS = 600_000;

const run = promisify(execFile);

export interface ContainerSystemOptions {
  /** Directory of all files of this system. Made if missing. */
  readonly dir: string;
  /** Any free port where absent. */
  readonly workerPort?: number;
  /** Variables of the Worker, over the ones given here. */
  readonly workerVars?: Record<string, string>;
  /** How containers are reached and scheduled. Default: the way of wrangler.toml, `sdk`. */
  readonly way?: ContainerWay;
  /** A Dockerfile in place of sandbox/Dockerfile. */
  readonly dockerfile?: string;
}

export interface ContainerSystem {
  /** The public origin, `http://localhost:PORT`. */
  readonly origin: string;
  readonly issuerUrl: string;
  readonly dir: string;
  /** kill -9 of wrangler and workerd, then a start in the same place. The containers run on. */
  restartWorker(): Promise<void>;
  /** Removes the sandboxes' containers, as if their machines were gone. */
  removeContainers(): Promise<void>;
  /** Kills the sandboxes' containers, as a bridge that crashes does. */
  killContainers(): Promise<void>;
  /** What each bridge says of its sessions of this query: bodies of JSON. */
  sessionsInBridges(query: string): Promise<string[]>;
  /** Breaks every connection from the Worker to a sandbox, as a network does. Needs root, and `ss` of iproute2. */
  cutConnections(): Promise<void>;
  /** The id of wrangler, which is also that of its and workerd's process group. */
  readonly workerPid: number;
  /** Ends everything, and removes the containers and what wrangler called their image. */
  stop(): Promise<void>;
}

/**
 * Starts a system and waits until the Worker answers. The page and the bridge must have been built before.
 * @throws {NotReadyError} If a part does not come up. Whatever had been started is stopped first.
 */
export async function startContainerSystem(options: ContainerSystemOptions): Promise<ContainerSystem> {
  const { dir, way = "sdk", dockerfile } = options;
  makePrivateDirectory(dir);
  const config = join(dir, "wrangler.toml");
  writePrivateFile(
    config,
    configOf(readFileSync(join(ROOT, "wrangler.toml"), "utf8"), { root: ROOT, way, dockerfile }),
  );
  const before = { containers: await containers(), images: await images() };
  const port = options.workerPort ?? (await anyFreePort());
  const origin = `http://localhost:${port}`;
  const issuer = await startIssuer({ port: 0, dir, publicOrigin: origin });
  const keeper = new ChildKeeper();
  const worker = new Server(
    keeper,
    {
      name: "Worker",
      command: process.execPath,
      args: workerArgs(port, dir, config),
      cwd: ROOT,
      env: workerEnv(dir, { ...QUIET, WRANGLER_REGISTRY_PATH: join(dir, "registry") }),
      logFile: join(dir, "logs/worker.log"),
      healthUrl: `${origin}/healthz`,
      readyWithinMs: READY_WITHIN_MS,
      fatalLine: /Workers runtime crashed unexpectedly/,
      graceMs: 30_000,
    },
    (message) => console.error(message),
  );
  const vars = {
    BRIDGE_URL: "",
    STDIO_TOKEN: randomBytes(32).toString("base64url"),
    OAUTH_ISSUER: issuer.url,
    OAUTH_AUDIENCE: `${CLI_CLIENT_ID},${WEB_CLIENT_ID}`,
    OAUTH_CLIENT_ID: WEB_CLIENT_ID,
    PUBLIC_ORIGIN: origin,
    // Browsers lead all names below localhost to this machine.
    PREVIEW_HOST: `*.localhost:${port}`,
    SESSION_SECRET: randomBytes(32).toString("base64url"),
    ...options.workerVars,
  };
  // A file, not --var: command lines are for all users of a machine to read.
  writePrivateFile(join(dir, "worker.env"), dotenv(vars));

  const removeContainers = async (): Promise<void> => {
    const ours = (await containers()).filter((name) => !before.containers.includes(name));
    // One that ends just now is removed by the runtime.
    const isGone = (error: unknown) => /already in progress|No such container/.test(String(error));
    for (const name of ours)
      await docker("rm", "--force", name).catch((error) => isGone(error) || Promise.reject(error));
  };
  const killContainers = async (): Promise<void> => {
    const ours = (await containers()).filter((name) => !before.containers.includes(name) && !name.endsWith("-proxy"));
    const hasEnded = (error: unknown) => /is not running|No such container/.test(String(error));
    for (const name of ours) await docker("kill", name).catch((error) => hasEnded(error) || Promise.reject(error));
  };
  const sessionsInBridges = async (query: string): Promise<string[]> => {
    const ours = (await containers()).filter((name) => !before.containers.includes(name) && !name.endsWith("-proxy"));
    // One that has ended has none.
    const hasEnded = (error: unknown) => /is not running|No such container/.test(String(error));
    const ask = 'curl -sSf -H "Authorization: Bearer $STDIO_TOKEN" "http://127.0.0.1:8080/sessions?$0"';
    const answers = ours.map((name) =>
      docker("exec", name, "sh", "-c", ask, query).catch((error) => (hasEnded(error) ? "" : Promise.reject(error))),
    );
    return (await Promise.all(answers)).filter((body) => body !== "");
  };
  const cutConnections = async (): Promise<void> => {
    const ours = (await publishedPorts()).filter(({ name }) => !before.containers.includes(name));
    if (ours.length === 0) return;
    const those = ["state", "established", `( ${ours.map(({ port }) => `dport = :${port}`).join(" or ")} )`];
    const open = lines((await run("ss", ["--tcp", "--no-header", ...those])).stdout);
    const cut = lines((await run("ss", ["--kill", "--tcp", "--no-header", ...those])).stdout);
    if (open.length > 0 && cut.length === 0) throw new Error(`Cannot cut ${open.length} connections: are you root?`);
  };
  const stop = async (): Promise<void> => {
    await worker.stop();
    await issuer.close();
    keeper.close();
    // wrangler removes what runs its image, and leaves what runs beside it.
    await removeContainers();
    const tags = (await images()).filter((tag) => !before.images.includes(tag));
    if (tags.length > 0) await docker("rmi", ...tags);
  };
  try {
    await worker.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    origin,
    issuerUrl: issuer.url,
    dir,
    restartWorker: () => worker.restart(),
    removeContainers,
    killContainers,
    sessionsInBridges,
    cutConnections,
    get workerPid() {
      return worker.pid;
    },
    stop,
  };
}

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** Names of the sandboxes' containers, and of those beside them. */
async function containers(): Promise<string[]> {
  return lines(await docker("ps", "--all", "--filter", `name=${CONTAINER_NAME}`, "--format", "{{.Names}}"));
}

/** All connections to a sandbox lead through a port of the container beside its own. */
async function publishedPorts(): Promise<{ name: string; port: string }[]> {
  const rows = lines(await docker("ps", "--filter", `name=${CONTAINER_NAME}`, "--format", "{{.Names}} {{.Ports}}"));
  return rows.flatMap((row) => {
    const name = row.slice(0, row.indexOf(" "));
    return [...row.matchAll(/127\.0\.0\.1:(\d+)->/g)].map(([, port = ""]) => ({ name, port }));
  });
}

async function images(): Promise<string[]> {
  return lines(await docker("images", IMAGE, "--format", "{{.Repository}}:{{.Tag}}"));
}

function workerArgs(port: number, dir: string, config: string): string[] {
  return [
    join(ROOT, "node_modules/wrangler/bin/wrangler.js"),
    "dev",
    ...["--config", config],
    ...["--local", "--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0"],
    ...["--enable-containers=true", "--env-file", join(dir, "worker.env"), "--persist-to", join(dir, "state")],
    ...["--show-interactive-dev-session=false", "--log-level", "info"],
  ];
}
