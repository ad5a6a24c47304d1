// A whole local system: bridge, issuer and Worker, on loopback ports, with its files in one directory. Used by
// `npm start` and by the end-to-end tests; any number of systems may run at once, each in its own directory.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { childEnv } from "../base/env.ts";
import { makePrivateDirectory, readOrCreatePrivateFile, writePrivateFile } from "../base/files.ts";
import { BIN, ROOT } from "../base/paths.ts";
import { anyFreePort } from "../base/ports.ts";
import { type Issuer, startIssuer } from "../issuer/issuer.ts";
import { CLI_CLIENT_ID, type TokenMinter, tokenMinter, WEB_CLIENT_ID } from "../issuer/tokens.ts";
import { ChildKeeper } from "../processes/children.ts";
import { RUN_MARK } from "../processes/proc.ts";
import { Revival } from "../processes/revival.ts";
import { Server } from "../processes/server.ts";
import { bundleFile, bundleWorker } from "./worker-bundle.ts";
import { dotenv, workerEnv } from "./worker-env.ts";

const WORKER_SERVER = join(ROOT, "packages/local/src/system/worker-server.ts");

export interface SystemOptions {
  /** Directory of everything that this system keeps: state, sandboxes, logs. Made if missing. */
  readonly dir: string;
  /** Directory of the issuer's key and the session secret. Default: `dir`. */
  readonly keysDir?: string;
  /** Any free port where absent. */
  readonly ports?: { worker?: number; bridge?: number; issuer?: number };
  /** Settings of the bridge, over the ones given here. */
  readonly bridgeEnv?: Record<string, string>;
  /** Variables of the Worker, over the ones given here. */
  readonly workerVars?: Record<string, string>;
  /** The outDir of {@link bundleWorker}, made before: several systems share it. Absent: this system makes its own. */
  readonly bundle?: string;
  /** The main module in place of the Worker's own: a test's, which adds what production must not have. */
  readonly workerEntry?: string;
  /** Compatibility flags beside those of wrangler.toml, which a test's main module needs. */
  readonly workerFlags?: readonly string[];
  /** As in IssuerOptions. */
  readonly accessTokens?: "jwt" | "opaque";
  readonly accessTokenLifetime?: number | (() => number);
  readonly deviceInterval?: number;
  /** Where given, a Worker that crashes is started again in the same place, and this is told. Else a crash is a failure. */
  readonly onRevival?: (line: string) => void;
  /** Stops the system, in mid-start too. */
  readonly signal?: AbortSignal;
}

export interface System {
  /** The public origin, `http://localhost:PORT`: the page, `/attach`, `/api`. */
  readonly origin: string;
  /** `http://127.0.0.1:PORT` */
  readonly bridgeUrl: string;
  /** The bridge's STDIO_TOKEN, random per system. */
  readonly bridgeToken: string;
  readonly issuerUrl: string;
  readonly dir: string;
  /** Parent of the sandboxes' working directories. */
  readonly sandboxesDir: string;
  readonly worker: Server;
  readonly bridge: Server;
  readonly pids: { readonly worker: number; readonly bridge: number };
  /** Signs a token of this system's issuer; test processes elsewhere use tokenMinter with `dir` and `issuerUrl`. */
  readonly mintToken: TokenMinter;
  /** kill -9 of workerd and its starter, then a start in the same place. Stored Durable Object state survives. */
  restartWorker(): Promise<void>;
  /** kill -9 of the bridge, then a start on the same port. Its sessions are lost. */
  restartBridge(): Promise<void>;
  /** Settles, with a message for people, when a server ended without being told to, and was not started again. */
  readonly failed: Promise<string>;
  /** Ends everything. May be called at any time, more than once, and again while it works. */
  stop(): Promise<void>;
}

/**
 * Starts a system and waits until all of it answers. The page must have been built before.
 *
 * @throws {unknown} The reason of `signal`, once it is aborted.
 * @throws {NotReadyError} If a part does not come up. Whatever had been started is stopped first.
 */
export async function startSystem(options: SystemOptions): Promise<System> {
  const { dir } = options;
  const keysDir = options.keysDir ?? dir;
  const sandboxesDir = join(dir, "sandboxes");
  for (const path of [dir, keysDir, sandboxesDir]) makePrivateDirectory(path);

  const port = options.ports?.worker ?? (await anyFreePort());
  const bridgePort = options.ports?.bridge ?? (await anyFreePort());
  const origin = `http://localhost:${port}`;
  const bridgeUrl = `http://127.0.0.1:${bridgePort}`;
  const bridgeToken = randomBytes(32).toString("base64url");
  const newSecret = (): string => randomBytes(32).toString("base64url");
  const sessionSecret = await readOrCreatePrivateFile(join(keysDir, "session-secret"), newSecret);

  const keeper = new ChildKeeper();
  let issuer: Issuer | undefined;
  let reportFailure: (message: string) => void = () => undefined;
  const failed = new Promise<string>((resolve) => {
    reportFailure = resolve;
  });

  const bridge = new Server(
    keeper,
    {
      name: "bridge",
      command: join(BIN, "bun"),
      args: [join(ROOT, "sandbox/stdio-ws.ts")],
      cwd: ROOT,
      env: childEnv({
        HOST: "127.0.0.1",
        PORT: String(bridgePort),
        STDIO_TOKEN_FD: "3",
        SANDBOX_ROOT: sandboxesDir,
        STDIO_BELL_URL: `${origin}/internal/bell`,
        [RUN_MARK]: keeper.runId,
        ...options.bridgeEnv,
      }),
      secret: bridgeToken,
      logFile: join(dir, "logs/bridge.log"),
      healthUrl: `${bridgeUrl}/healthz`,
      readyWithinMs: 30_000,
      // It ends its sessions itself, and some of them only after SIGHUP and SIGTERM.
      graceMs: 15_000,
    },
    reportFailure,
  );

  let revival: Revival | undefined;
  const varsFile = join(dir, "worker.env");
  const env = workerEnv(dir);
  const bundle = {
    outDir: options.bundle ?? join(dir, "bundle"),
    logFile: join(dir, "logs/bundle.log"),
    entry: options.workerEntry,
    env,
  };
  const worker = new Server(
    keeper,
    {
      name: "Worker",
      command: process.execPath,
      args: [
        WORKER_SERVER,
        String(port),
        bundleFile(bundle),
        varsFile,
        join(dir, "state"),
        ...(options.workerFlags ?? []),
      ],
      cwd: ROOT,
      env,
      logFile: join(dir, "logs/worker.log"),
      healthUrl: `${origin}/healthz`,
      readyWithinMs: 120_000,
      // It starts a workerd that died again, without end and without telling people.
      fatalLine: /Workers runtime crashed unexpectedly/,
      graceMs: 5_000,
    },
    (message) => (revival === undefined ? reportFailure(message) : void revival.crashed(message)),
  );

  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      // The Worker first: without its clients the bridge has nothing left to tell anybody.
      await worker.stop();
      await bridge.stop();
      await issuer?.close();
      keeper.close();
    })();
    return stopping;
  };

  options.signal?.addEventListener("abort", stop);
  try {
    options.signal?.throwIfAborted();
    issuer = await startIssuer({
      port: options.ports?.issuer ?? 0,
      dir: keysDir,
      publicOrigin: origin,
      accessTokens: options.accessTokens,
      accessTokenLifetime: options.accessTokenLifetime,
      deviceInterval: options.deviceInterval,
    });
    const vars = {
      BRIDGE_URL: bridgeUrl,
      STDIO_TOKEN: bridgeToken,
      OAUTH_ISSUER: issuer.url,
      OAUTH_AUDIENCE: `${CLI_CLIENT_ID},${WEB_CLIENT_ID}`,
      OAUTH_CLIENT_ID: WEB_CLIENT_ID,
      PUBLIC_ORIGIN: origin,
      // Browsers lead all names below localhost to this machine.
      PREVIEW_HOST: `*.localhost:${port}`,
      SESSION_SECRET: sessionSecret.trim(),
      // The bridge has them from the environment.
      LOG_LEVEL: process.env.LOG_LEVEL ?? "",
      STDIO_TRACE: process.env.STDIO_TRACE ?? "",
      ...options.workerVars,
    };
    // A file, not --var: command lines are for all users of a machine to read.
    writePrivateFile(varsFile, dotenv(vars));
    const bundled = options.bundle === undefined ? bundleWorker(keeper, bundle) : Promise.resolve();
    await Promise.all([bridge.start(), bundled.then(() => worker.start())]);
    // Not before: one that crashes in its first start would do so in every other.
    if (options.onRevival !== undefined) {
      revival = new Revival({
        name: "Worker",
        restart: () => worker.restart(),
        say: options.onRevival,
        giveUp: reportFailure,
        now: () => performance.now(),
      });
    }
  } catch (error) {
    await stop();
    options.signal?.throwIfAborted();
    throw error;
  }

  return {
    origin,
    bridgeUrl,
    bridgeToken,
    issuerUrl: issuer.url,
    dir,
    sandboxesDir,
    worker,
    bridge,
    get pids() {
      return { worker: worker.pid, bridge: bridge.pid };
    },
    mintToken: await tokenMinter({ keysDir, issuerUrl: issuer.url }),
    restartWorker: () => worker.restart(),
    restartBridge: () => bridge.restart(),
    failed,
    stop,
  };
}
