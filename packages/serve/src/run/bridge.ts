// The bridge of a server: the one part that outlives it, since the processes are its children. Whoever starts the server next finds it by
// a file.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { childEnv } from "../../../local/src/base/env.ts";
import { makePrivateDirectory } from "../../../local/src/base/files.ts";
import { anyFreePort } from "../../../local/src/base/ports.ts";
import { isAlive } from "../../../local/src/system/run-record.ts";
import { BRIDGE, bridgeBuild } from "../base/installed.ts";
import { ServeError } from "../base/refusal.ts";
import { readJson, type State, writeJson } from "../base/state.ts";

const READY_MS = 20_000;
/** On a machine that is busy for long. One that is silent has sessions for all we know, and nothing takes its place. */
const ANSWER_MS = 60_000;
/** It ends its sessions itself, some of them only after SIGHUP and SIGTERM. */
const STOP_MS = 15_000;
const LOOK_MS = 25;

export type BridgeFacts = {
  readonly pid: number;
  readonly port: number;
  readonly token: string;
  /** Where it calls the Worker. */
  readonly innerPort: number;
  readonly build: string;
  /** Its environment, but for what differs each time. */
  readonly settings: Readonly<Record<string, string>>;
};

export type RunningBridge = BridgeFacts & { readonly isBusy: boolean };

const urlOf = ({ port }: Pick<BridgeFacts, "port">): string => `http://127.0.0.1:${port}`;

/** The bridge that runs for this state, if one does. @throws {ServeError} If it is there and does not answer. */
export async function findBridge({ bridgeFile, dir }: State): Promise<RunningBridge | undefined> {
  const facts = readJson<BridgeFacts>(bridgeFile);
  if (facts === undefined || !isAlive(facts.pid)) return undefined;
  try {
    const headers = { Authorization: `Bearer ${facts.token}` };
    const signal = AbortSignal.timeout(ANSWER_MS);
    const response = await fetch(`${urlOf(facts)}/sessions?sandbox=any`, { headers, signal });
    // Another program may have its process id or its port by now.
    if (!response.ok) return undefined;
    const { idleMs } = (await response.json()) as { idleMs: number };
    return { ...facts, isBusy: idleMs === 0 };
  } catch (error) {
    if (error instanceof DOMException && error.name === "TimeoutError")
      throw new ServeError(`The bridge of ${dir} (process ${facts.pid}) does not answer: try again, or end it by kill`);
    // No program listens: it has ended, and its process id is another's.
    return undefined;
  }
}

/** One that runs, or comes up: `ready` rejects with a {@link ServeError} if it doesn't. */
export type KeptBridge = { readonly facts: BridgeFacts; readonly ready: Promise<void> };
type Wish = Pick<BridgeFacts, "settings" | "innerPort"> & { readonly bun: string };

/** The bridge of this state: the one that runs, unless it has nothing to do and was built or set up otherwise. */
export async function keepBridge(state: State, found: RunningBridge | undefined, wish: Wish): Promise<KeptBridge> {
  const isSame = found?.build === bridgeBuild() && isDeepStrictEqual(found.settings, wish.settings);
  if (found !== undefined && (found.isBusy || isSame)) return { facts: found, ready: Promise.resolve() };
  if (found !== undefined) await stopBridge(state, found);
  return startBridge(state, wish);
}

async function startBridge(state: State, { settings, bun, innerPort }: Wish): Promise<KeptBridge> {
  const [port, token] = [await anyFreePort(), randomBytes(32).toString("base64url")];
  const logFile = join(state.dir, "logs/bridge.log");
  makePrivateDirectory(join(state.dir, "logs"));
  const log = openSync(logFile, "a", 0o600);
  const env = childEnv({
    STDIO_TOKEN_FD: "3",
    HOST: "127.0.0.1",
    PORT: String(port),
    ...settings,
    STDIO_BELL_URL: `http://127.0.0.1:${innerPort}/internal/bell`,
  });
  // Its own session: neither Ctrl+C here nor the end of this terminal is for it.
  const child = spawn(bun, [BRIDGE], { cwd: "/", env, detached: true, stdio: ["ignore", log, log, "pipe"] });
  closeSync(log);
  const secret = child.stdio[3];
  if (secret instanceof Socket) secret.on("error", () => undefined).end(token);
  const facts: BridgeFacts = { pid: child.pid ?? 0, port, token, innerPort, build: bridgeBuild(), settings };
  if (child.pid !== undefined) writeJson(state.bridgeFile, facts);
  const ready = untilReady(state, child, logFile);
  // Its fault is looked at later.
  ready.catch(() => undefined);
  return { facts, ready };
}

async function untilReady(state: State, child: ChildProcess, logFile: string): Promise<void> {
  const failed = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(`it ended with ${signal ?? code}`));
  });
  for (let waited = 0; waited < READY_MS; waited += LOOK_MS) {
    const fault = await Promise.race([failed, delay(LOOK_MS)]);
    if (fault !== undefined)
      throw new ServeError(`The bridge does not start: ${fault}. Its log, ${logFile}, ends:\n${lastLines(logFile)}`);
    if ((await findBridge(state)) === undefined) continue;
    child.unref();
    return;
  }
  child.kill("SIGKILL");
  throw new ServeError(`The bridge was not ready after ${READY_MS / 1000} s. Its log is ${logFile}`);
}

/** Ends it and all its processes. */
export async function stopBridge({ bridgeFile }: State, { pid }: BridgeFacts): Promise<void> {
  if (isAlive(pid)) process.kill(pid, "SIGTERM");
  for (let waited = 0; isAlive(pid) && waited < STOP_MS; waited += LOOK_MS) await delay(LOOK_MS);
  if (isAlive(pid)) process.kill(pid, "SIGKILL");
  rmSync(bridgeFile, { force: true });
}

const lastLines = (file: string): string => readFileSync(file, "utf8").trimEnd().split("\n").slice(-10).join("\n");
