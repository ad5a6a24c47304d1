// The local system with real containers: issuer and Worker on loopback ports, and for each sandbox a container of the Docker
// engine that the environment names, as in production. Used by `npm run test:container`.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateDirectory, writePrivateFile } from "../../packages/local/src/base/files.ts";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { anyFreePort } from "../../packages/local/src/base/ports.ts";
import { type ContainerWay, configOf } from "../../packages/local/src/build/container-ways.ts";
import { startIssuer } from "../../packages/local/src/issuer/issuer.ts";
import { ChildKeeper } from "../../packages/local/src/processes/children.ts";
import { Server } from "../../packages/local/src/processes/server.ts";
import { dotenv, workerEnv, workerVars } from "../../packages/local/src/system/worker-env.ts";
import { SandboxContainers } from "./sandbox-containers.ts";

/** Switches off wrangler's look-ups and offers beyond the Worker: the network is only for the image. */
const QUIET = { CLOUDFLARE_CF_FETCH_ENABLED: "false", X_LOCAL_OBSERVABILITY: "false", X_LOCAL_EXPLORER: "false" };
/** The image is built at the first start, and packages are downloaded for it. */
const READY_WITHIN_MS = 600_000;

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

export type ContainerSystem = Awaited<ReturnType<typeof startContainerSystem>>;

/**
 * Starts a system and waits until the Worker answers. The page and the bridge must have been built before.
 * @throws {NotReadyError} If a part does not come up. Whatever had been started is stopped first.
 */
export async function startContainerSystem(options: ContainerSystemOptions) {
  const { dir, way = "sdk", dockerfile } = options;
  makePrivateDirectory(dir);
  const config = join(dir, "wrangler.toml");
  writePrivateFile(
    config,
    configOf(readFileSync(join(ROOT, "wrangler.toml"), "utf8"), { root: ROOT, way, dockerfile }),
  );
  const containers = await SandboxContainers.look();
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
  const newSecret = (): string => randomBytes(32).toString("base64url");
  const own = { origin, issuerUrl: issuer.url, bridgeUrl: "", bridgeToken: newSecret() };
  const vars = workerVars(own, newSecret());
  // A file, not --var: command lines are for all users of a machine to read.
  writePrivateFile(join(dir, "worker.env"), dotenv({ ...vars, ...options.workerVars }));

  const stop = async (): Promise<void> => {
    await worker.stop();
    await issuer.close();
    keeper.close();
    // wrangler removes what runs its image, and leaves what runs beside it.
    await containers.remove();
    await containers.removeImages();
  };
  try {
    await worker.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    /** The public origin, `http://localhost:PORT`. */
    origin,
    issuerUrl: issuer.url,
    dir,
    /** kill -9 of wrangler and workerd, then a start in the same place. The containers run on. */
    restartWorker: () => worker.restart(),
    /** Removes the sandboxes' containers, as if their machines were gone. */
    removeContainers: () => containers.remove(),
    /** Kills the sandboxes' containers, as a bridge that crashes does. */
    killContainers: () => containers.kill(),
    /** What each bridge says of its sessions of this query: bodies of JSON. */
    sessionsInBridges: (query: string) => containers.sessions(query),
    /** Breaks every connection from the Worker to a sandbox, as a network does. Needs root, and `ss` of iproute2. */
    cutConnections: () => containers.cutConnections(),
    /** The id of wrangler, which is also that of its and workerd's process group. */
    get workerPid() {
      return worker.pid;
    },
    /** Ends everything, and removes the containers and what wrangler called their image. */
    stop,
  };
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
