// The bridge of a server: the one part that outlives it, since the processes are its children. Whoever starts the server next finds it by
// a file.
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ask } from "../../../local/src/base/ask.ts";
import { readTextIfPresent } from "../../../local/src/base/files.ts";
import { isAlive, killMarked } from "../../../local/src/processes/proc.ts";
import { bridgeBuild } from "../../../local/src/system/installed.ts";
import { ServeError } from "../base/refusal.ts";
import { readJson, type State } from "../base/state.ts";

/** On a machine that is busy for long. One that is silent has sessions for all we know, and nothing takes its place. */
const ANSWER_MS = 60_000;
/** It ends its sessions itself, some of them only after SIGHUP and SIGTERM. */
const STOP_MS = 15_000;
const LOOK_MS = 25;

export type BridgeFacts = {
  readonly pid: number;
  /** The port of a bridge of an older build. Newer ones listen at a socket. */
  readonly port?: number;
  readonly token: string;
  readonly build: string;
  /** Its environment, but for what differs each time. */
  readonly settings: Readonly<Record<string, string>>;
};

export type RunningBridge = BridgeFacts & { readonly isBusy: boolean };

/** Of the built parts: this code is bundled into it. */
export const PARTS = dirname(fileURLToPath(import.meta.url));
export const installedBridge = (): string => bridgeBuild(PARTS);

/** The bridge that runs for this state, if one does. @throws {ServeError} If it is there and does not answer. */
export async function findBridge({ bridgeFile, bridgeSocket, dir }: State): Promise<RunningBridge | undefined> {
  const facts = readJson<BridgeFacts>(bridgeFile);
  if (facts === undefined || !isAlive(facts.pid)) return undefined;
  // Another program may listen at that port by now, and would learn the secret.
  if (facts.port !== undefined) return hasBridge(facts.pid) ? { ...facts, isBusy: true } : undefined;
  const headers = { Authorization: `Bearer ${facts.token}` };
  const way = { headers, signal: AbortSignal.timeout(ANSWER_MS), socketPath: bridgeSocket };
  const answer = await ask("http://bridge/sessions?sandbox=any", way).catch(() => undefined);
  if (answer?.status === 200) return { ...facts, isBusy: (JSON.parse(answer.text) as { idleMs: number }).idleMs === 0 };
  // No program listens: it has ended, and its process id is another's.
  if (answer === undefined && !way.signal.aborted) return undefined;
  throw new ServeError(`The bridge of ${dir} (process ${facts.pid}) does not answer: try again, or end it by kill`);
}

/** Whether the process is a bridge, by its command line. Outside Linux: assumed. */
const hasBridge = (pid: number): boolean =>
  (readTextIfPresent(`/proc/${pid}/cmdline`) ?? "stdio-ws.js").includes("stdio-ws.js");

/** @throws {ServeError} If a bridge runs that only its port leads to. */
export async function refuseOld(state: State): Promise<void> {
  const found = await findBridge(state);
  if (found?.port !== undefined)
    throw new ServeError(
      `Sessions of an older version run here, whose bridge (process ${found.pid}) listens at a port, which is not safe: end them by sbx-stdio serve stop --now${state.options}`,
    );
}

/** By the variables that carry them. */
const OPTIONS = { STDIO_EXEC: "--exec", STDIO_LOGINS: "--cgroup or --limit", STDIO_WORKSPACE: "--dir" };

const otherOptions = (found: BridgeFacts, settings: BridgeFacts["settings"]): readonly string[] =>
  Object.entries(OPTIONS).flatMap(([name, option]) => (found.settings[name] === settings[name] ? [] : [option]));

/** Ends a bridge that has nothing to do, and was built or set up otherwise. @returns Whether it did. @throws {ServeError} */
export async function endOutdated(state: State, settings: BridgeFacts["settings"]): Promise<boolean> {
  const found = await findBridge(state);
  const isCurrent = found?.build === installedBridge() && otherOptions(found, settings).length === 0;
  if (found === undefined || found.isBusy || isCurrent) return false;
  await stopBridge(state, found);
  return true;
}

/** The one that runs, unless it was outdated. @throws {ServeError} If sessions run, and new ones would not run as they are to. */
export async function reusableBridge(
  state: State,
  settings: BridgeFacts["settings"],
  say: (text: string) => void,
): Promise<RunningBridge | undefined> {
  const found = (await endOutdated(state, settings)) ? undefined : await findBridge(state);
  const [first] = found === undefined ? [] : otherOptions(found, settings);
  if (first === OPTIONS.STDIO_WORKSPACE)
    say(`Sessions run here: until they have ended, programs start in ${found?.settings.STDIO_WORKSPACE}`);
  else if (first !== undefined)
    throw new ServeError(
      `Sessions run here that were started with another ${first}: give the same, or end them by sbx-stdio serve stop --now${state.options}`,
    );
  return found;
}

/** Ends it and all its processes, also those that it left behind if it has ended. */
export async function stopBridge({ bridgeFile, bridgeMark }: State, found: BridgeFacts | undefined): Promise<void> {
  const tell = (signal: NodeJS.Signals | 0): boolean =>
    found !== undefined && isAlive(found.pid) && process.kill(found.pid, signal);
  tell("SIGTERM");
  for (let waited = 0; tell(0) && waited < STOP_MS; waited += LOOK_MS) await delay(LOOK_MS);
  tell("SIGKILL");
  killMarked(bridgeMark);
  rmSync(bridgeFile, { force: true });
}
