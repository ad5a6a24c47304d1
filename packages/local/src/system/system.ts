// A whole system on this machine: bridge, issuer and Worker, from built parts, with its files in one directory. Used by `serve`, and so
// `npm start`, and by the end-to-end tests; any number of systems may run at once, each in its own directory.
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { childEnv } from "../base/env.ts";
import { makePrivateDirectory, readOrCreatePrivateFile, shortest, writePrivateFile } from "../base/files.ts";
import { anyFreePort } from "../base/ports.ts";
import { type Issuer, startIssuer } from "../issuer/issuer.ts";
import { type TokenMinter, tokenMinter } from "../issuer/tokens.ts";
import { ChildKeeper } from "../processes/children.ts";
import { killMarked, RUN_MARK } from "../processes/proc.ts";
import { Revival } from "../processes/revival.ts";
import { Server, type ServerOptions } from "../processes/server.ts";
import { partsIn, programs } from "./installed.ts";
import { workerEnv, workerVars } from "./worker-env.ts";
import { type Front, SOCKETS, type WorkerOptions, workerdConfig } from "./workerd-config.ts";

/** workerd's words about a client that breaks the protocol: they are no fault of the Worker's, and would fill a log. */
const ABOUT_CLIENTS = /Uncaught exception: .*WebSocket protocol error/;

const PROBE = "GET /healthz HTTP/1.1\r\nHost: bridge\r\n\r\n";

export interface SystemOptions {
  /** Directory of everything that this system keeps: state, sandboxes, logs. Made if missing. */
  readonly dir: string;
  /** Directory of the issuer's key and the session secret. Default: `dir`. */
  readonly keysDir?: string;
  /** Any free port where absent. */
  readonly ports?: { worker?: number; bridge?: number };
  /** Settings of the bridge, over the ones given here. */
  readonly bridgeEnv?: Record<string, string>;
  /** Variables of the Worker, over the ones given here. */
  readonly workerVars?: Record<string, string>;
  /** The folder of buildParts(), which several systems may share. */
  readonly parts: string;
  /** Compatibility flags beside those of wrangler.toml, which a test's main module needs. */
  readonly workerFlags?: readonly string[];
  /** As in IssuerOptions. */
  readonly accessTokens?: "jwt" | "opaque";
  readonly accessTokenLifetime?: number | (() => number);
  /** Where given, a Worker that crashes is started again in the same place, and this is told. Else a crash is a failure. */
  readonly onRevival?: (line: string) => void;
  /** Present for `serve`. Absent: as on Cloudflare, a Worker without a front, and an issuer elsewhere. */
  readonly served?: Served;
  /** Stops the system, in mid-start too. */
  readonly signal?: AbortSignal | undefined;
}

/** What stands around a Worker that people reach, and what goes on without it. */
export interface Served {
  /** Where people reach it: `https://HOST` or `http://HOST:PORT`. */
  readonly origin: string;
  /** Where workerd listens: `ADDRESS:PORT`. */
  readonly address: string;
  readonly front: Front;
  /** A running issuer, which is closed with the system. */
  readonly issuer: Issuer;
  /** One that is running, and is left alone. */
  readonly bridge: { readonly token: string } | undefined;
  /** Ends an idle bridge of another build or with other settings. @returns Whether it did. */
  readonly endOutdated?: () => Promise<boolean>;
  /** Present: a bridge outlives this process, and is started again if it ends before. */
  readonly keepBridge:
    | {
        /** The RUN_MARK of all processes that bridges of this folder start. */
        readonly mark: string;
        /** Called once a started bridge is up. */
        readonly started: (bridge: { readonly pid: number; readonly token: string }) => void;
      }
    | undefined;
}

/**
 * Starts a system and waits until all of it answers.
 *
 * @throws {unknown} The reason of `signal`, once it is aborted.
 * @throws {NotReadyError} If a part does not come up. Whatever had been started is stopped first.
 */
export async function startSystem(options: SystemOptions): Promise<System> {
  const { dir, keysDir = dir, ports, signal } = options;
  for (const path of [dir, keysDir, join(dir, "sandboxes")]) makePrivateDirectory(path);
  const sessionSecret = await readOrCreatePrivateFile(join(keysDir, "session-secret"), newSecret);
  const pushKey = await readOrCreatePrivateFile(join(keysDir, "push-key"), newPushKey);
  const system = new System(options, {
    keysDir,
    port: ports?.worker ?? (await anyFreePort()),
    bridgePort: ports?.bridge ?? (await anyFreePort()),
    sessionSecret: sessionSecret.trim(),
    pushKey: pushKey.trim(),
  });
  const stop = (): void => void system.stop();
  signal?.addEventListener("abort", stop);
  try {
    signal?.throwIfAborted();
    await system.start();
  } catch (error) {
    await system.stop();
    signal?.throwIfAborted();
    throw error;
  }
  return system;
}

const newPushKey = (): string =>
  JSON.stringify(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" }));
const newSecret = (): string => randomBytes(32).toString("base64url");

type Places = { readonly keysDir: string; port: number; bridgePort: number; sessionSecret: string; pushKey: string };

export class System {
  /** The public origin, `http://localhost:PORT`: the page, `/attach`, `/api`. */
  readonly origin: string;
  /** `http://127.0.0.1:PORT`. Under `serve` a name only: requests go by the socket. */
  readonly bridgeUrl: string;
  /** The bridge's STDIO_TOKEN, random per system. */
  readonly bridgeToken: string;
  readonly dir: string;
  /** Parent of the sandboxes' working directories. */
  readonly sandboxesDir: string;
  readonly worker: Server;
  readonly bridge: Server;
  /** Settles, with a message for people, when a server ended without being told to, and was not started again. */
  readonly failed: Promise<string>;
  readonly #options: SystemOptions;
  readonly #places: Places;
  readonly #keeper = new ChildKeeper();
  readonly #configFile: string;
  readonly #socket: string | undefined;
  readonly #bridgeSocket: string | undefined;
  #reportFailure: (message: string) => void = () => undefined;
  #issuer: Issuer | undefined;
  #mint: TokenMinter | undefined;
  #revival: Revival | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: SystemOptions, places: Places) {
    const { dir, workerFlags = [], served } = options;
    this.#options = options;
    this.#places = places;
    this.dir = dir;
    this.sandboxesDir = join(dir, "sandboxes");
    this.origin = served?.origin ?? `http://localhost:${places.port}`;
    this.bridgeUrl = served ? "http://bridge" : `http://127.0.0.1:${places.bridgePort}`;
    this.bridgeToken = served?.bridge?.token ?? newSecret();
    this.failed = new Promise((resolve) => {
      this.#reportFailure = resolve;
    });
    const { workerd, bun } = programs();
    this.#socket = served && shortest(join(dir, SOCKETS.inner));
    this.#bridgeSocket = served && shortest(join(dir, SOCKETS.bridge));
    const mark = { [RUN_MARK]: this.#keeper.runId };
    const bridgeEnv = {
      ...(served
        ? { STDIO_SOCKET: SOCKETS.bridge, STDIO_BELL_URL: `unix:${SOCKETS.inner}` }
        : { HOST: "127.0.0.1", PORT: String(places.bridgePort), STDIO_BELL_URL: `${this.origin}/internal/bell` }),
      // Else all of them are in one.
      ...(options.bridgeEnv?.STDIO_WORKSPACE === undefined && { SANDBOX_ROOT: this.sandboxesDir }),
      [RUN_MARK]: served?.keepBridge?.mark ?? this.#keeper.runId,
      ...options.bridgeEnv,
    };
    const bridgeProgram = [bun, partsIn(options.parts).bridge] as const;
    const bridge = bridgeServer(dir, this, this.#bridgeSocket, bridgeProgram, bridgeEnv);
    this.bridge = new Server(this.#keeper, bridge, (message) => this.#reportFailure(message));
    this.#configFile = join(dir, "worker.capnp");
    // Flags of tests are such as workerd has not released.
    const args = [...(workerFlags.length > 0 ? ["--experimental"] : []), "--import-path=/", this.#configFile];
    this.worker = new Server(
      this.#keeper,
      workerServer(dir, this.origin, this.#socket, [workerd, args], mark),
      (message) => (this.#revival === undefined ? this.#reportFailure(message) : void this.#revival.crashed(message)),
    );
  }

  /** What its processes have as RUN_MARK. */
  get runId(): string {
    return this.#keeper.runId;
  }

  get pids(): { readonly worker: number; readonly bridge: number } {
    return { worker: this.worker.pid, bridge: this.bridge.pid };
  }

  get issuerUrl(): string {
    return this.#issuer?.url ?? "";
  }

  /** Signs a token of this system's issuer; test processes elsewhere use tokenMinter with `dir` and `issuerUrl`. */
  readonly mintToken: TokenMinter = (request) => {
    if (this.#mint === undefined) throw new Error("The system has not started");
    return this.#mint(request);
  };

  /** kill -9 of workerd, then a start in the same place. Stored Durable Object state survives. */
  restartWorker(): Promise<void> {
    return this.worker.restart();
  }

  /** kill -9 of the bridge, then a start on the same port. Its sessions are lost. */
  restartBridge(): Promise<void> {
    return this.bridge.restart();
  }

  async start(): Promise<void> {
    const { onRevival, workerVars: moreVars, workerFlags = [], served, ...options } = this.#options;
    const { keysDir, sessionSecret, pushKey } = this.#places;
    this.#issuer =
      served?.issuer ??
      (await startIssuer({
        port: 0,
        dir: keysDir,
        publicOrigin: this.origin,
        accessTokens: options.accessTokens,
        accessTokenLifetime: options.accessTokenLifetime,
      }));
    this.#mint = await tokenMinter({ keysDir, issuerUrl: this.issuerUrl });
    const vars = {
      ...workerVars(this, sessionSecret),
      VAPID_KEY: pushKey,
      // The bridge has them from the environment.
      LOG_LEVEL: process.env.LOG_LEVEL ?? "",
      STDIO_TRACE: process.env.STDIO_TRACE ?? "",
      ...moreVars,
    };
    this.#configure(vars, workerFlags);
    await Promise.all([served?.bridge === undefined ? this.#startBridge() : undefined, this.#restartWorker()]);
    // Not before: one that crashes in its first start would do so in every other.
    if (onRevival === undefined) return;
    const common = { say: onRevival, giveUp: this.#reportFailure, now: () => performance.now() };
    const goesOn = { name: "Worker", effect: "Sessions go on, and clients come back by themselves" };
    this.#revival = new Revival({ ...common, ...goesOn, restart: () => this.#restartWorker() });
    if (served?.keepBridge === undefined) return;
    const lost = { name: "bridge", effect: "Its sessions are lost", restart: () => this.#startBridge() };
    this.#followBridge(new Revival({ ...common, ...lost }));
  }

  /** A connection tells of its end: one that an earlier server started is no child of this process. */
  #followBridge(revival: Revival): void {
    let hasAnswered = false;
    const { endOutdated } = this.#options.served ?? {};
    const socket = connect(this.#bridgeSocket ?? "", () => socket.write(PROBE));
    socket.unref().on("error", () => undefined);
    socket.on("data", () => {
      hasAnswered = true;
    });
    socket.on("close", async () => {
      // It closes a connection on which nothing comes, and listens.
      if (this.#stopping === undefined && !hasAnswered) await revival.crashed("The bridge has ended");
      else if (this.#stopping === undefined && (await endOutdated?.().catch(() => false)))
        await this.#startBridge().catch(() => undefined);
      if (this.#stopping === undefined) this.#followBridge(revival);
    });
  }

  /** workerd finds the socket of the one before in its way. */
  #restartWorker(): Promise<void> {
    if (this.#socket !== undefined) rmSync(this.#socket, { force: true });
    return this.worker.restart();
  }

  async #startBridge(): Promise<void> {
    const { keepBridge } = this.#options.served ?? {};
    // An earlier bridge may have left processes, which no other bridge can find, and its socket, which would be in the way.
    if (keepBridge !== undefined) killMarked(keepBridge.mark);
    if (this.#bridgeSocket !== undefined) rmSync(this.#bridgeSocket, { force: true });
    await this.bridge.start();
    if (keepBridge === undefined) return;
    keepBridge.started({ pid: this.bridge.pid, token: this.bridgeToken });
    await this.bridge.release();
  }

  #configure(vars: Record<string, string>, flags: readonly string[]): void {
    const { options: optionsFile, worker, page, modules } = partsIn(this.#options.parts);
    const options = JSON.parse(readFileSync(optionsFile, "utf8")) as WorkerOptions;
    const objects = join(this.dir, "state/objects");
    makePrivateDirectory(objects);
    const flagged = { ...options, compatibilityFlags: [...options.compatibilityFlags, ...flags] };
    const { served } = this.#options;
    const recordings = served && join(this.dir, "recordings");
    if (recordings !== undefined) makePrivateDirectory(recordings);
    const address = served?.address ?? `127.0.0.1:${this.#places.port}`;
    // Tests of memory have it collect garbage at once.
    const v8Flags = (process.env.SBX_V8_FLAGS ?? "").split(" ").filter((flag) => flag !== "");
    const places = { v8Flags, address, bundle: worker, page, modules, objects, recordings, front: served?.front };
    // The configuration holds secrets: a private file.
    writePrivateFile(this.#configFile, workerdConfig(flagged, vars, places));
  }

  /** Ends everything. May be called at any time, more than once, and again while it works. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    // The Worker first: without its clients the bridge has nothing left to tell anybody.
    await this.worker.stop();
    await this.bridge.stop();
    await this.#issuer?.close();
    this.#keeper.close();
  }
}

function bridgeServer(
  dir: string,
  { bridgeUrl, bridgeToken }: Pick<System, "bridgeUrl" | "bridgeToken">,
  socketPath: string | undefined,
  [bun, script]: readonly [string, string],
  env: Record<string, string>,
): ServerOptions {
  return {
    name: "bridge",
    command: bun,
    args: [script],
    // Bun reads settings from where it is started. A socket's path is short from its folder, and stays right if that is moved.
    cwd: socketPath === undefined ? "/" : dir,
    env: childEnv({ STDIO_TOKEN_FD: "3", ...env }),
    secret: bridgeToken,
    logFile: join(dir, "logs/bridge.log"),
    healthUrl: `${bridgeUrl}/sessions?sandbox=any`,
    healthWay: { headers: { Authorization: `Bearer ${bridgeToken}` }, socketPath },
    readyWithinMs: 30_000,
    // The bridge ends its sessions itself, some only after SIGHUP and SIGTERM.
    graceMs: 15_000,
  };
}

function workerServer(
  dir: string,
  origin: string,
  socketPath: string | undefined,
  [workerd, args]: readonly [string, readonly string[]],
  mark: Record<string, string>,
): ServerOptions {
  return {
    name: "Worker",
    command: workerd,
    args: ["serve", ...args],
    cwd: dir,
    // One that was just started when this process was killed is found by it.
    env: workerEnv(dir, mark),
    logFile: join(dir, "logs/worker.log"),
    leavesOut: ABOUT_CLIENTS,
    healthUrl: `${socketPath === undefined ? origin : "http://inner"}/healthz`,
    healthWay: { socketPath },
    readyWithinMs: 120_000,
    // workerd would wait for clients to leave; a kill does not harm the objects' state.
    graceMs: 0,
  };
}
