// The folder of one server's state, for its owner alone: what it is, and which ports this server has beside its own.
import { createHash } from "node:crypto";
import { realpathSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { makePrivateDirectory, readTextIfPresent, shortest, writePrivateFile } from "../../../local/src/base/files.ts";
import { SOCKETS } from "../../../local/src/system/workerd-config.ts";
import { ServeError } from "./refusal.ts";
import type { ServerChoice } from "./request.ts";

/** Of a Unix socket's path, on Linux 107. */
const MOST_BYTES = 100;

const DEFAULT_PORT = 8787;

export type State = {
  readonly dir: string;
  /** What its other commands have to say, to mean this server: ` --port 9000`. */
  readonly options: string;
  /** One-time keys, by their hashes. */
  readonly keysDir: string;
  readonly accountsFile: string;
  readonly issuerSocket: string;
  readonly innerSocket: string;
  readonly bridgeSocket: string;
  /** The RUN_MARK of what its bridges start. A copy of the folder has another. */
  readonly bridgeMark: string;
  readonly bridgeFile: string;
  readonly serverFile: string;
};

/** What the server's other commands must know of it. */
export type ServerFacts = {
  readonly origin: string;
  /** Of the page, with its query. */
  readonly path: string;
  readonly pid: number;
  /** The RUN_MARK of its processes, which outlive a server that is killed by a moment. */
  readonly runId: string;
  readonly version: string;
  /** Where the issuer's key is, and what logins rest on. */
  readonly secretsDir: string;
  /** Where the Worker asks for the issuer's answers. */
  readonly innerHost: string;
  /** Whether it serves one program. */
  readonly isShared: boolean;
};

/** @throws {ServeError} For a folder that others can write, read or replace. */
export function openState({ port, state }: ServerChoice): State {
  const base = process.env.XDG_STATE_HOME || join(homedir(), ".local/state");
  const dir = state === undefined ? join(base, "sbx-stdio", `serve-${port}`) : resolve(state);
  makePrivateDirectory(dir);
  const { mode, uid, dev, ino } = statSync(dir);
  if (uid !== process.getuid?.()) throw new ServeError(`Cannot use ${dir}: it belongs to another user`);
  if ((mode & 0o077) !== 0) throw new ServeError(`Cannot use ${dir}: others may read it. Say: chmod 700 ${dir}`);
  refuseReplaceable(realpathSync(dir));
  const socketOf = (name: keyof typeof SOCKETS): string => shortest(join(dir, SOCKETS[name]));
  const issuerSocket = socketOf("issuer");
  if (Buffer.byteLength(issuerSocket) > MOST_BYTES)
    throw new ServeError(`Cannot use ${dir}: a socket's path is at most ${MOST_BYTES} bytes. Choose a shorter --state`);
  const [bridgeFile, serverFile, placeFile] = [join(dir, "bridge.json"), join(dir, "server.json"), join(dir, "place")];
  const place = `${dev}:${ino}`;
  const before = readTextIfPresent(placeFile);
  // The folder is a copy: the running processes belong to the original.
  if (before !== undefined && before !== place)
    for (const file of [bridgeFile, serverFile]) rmSync(file, { force: true });
  if (before !== place) writePrivateFile(placeFile, place);
  return {
    dir,
    options: `${port === DEFAULT_PORT ? "" : ` --port ${port}`}${state === undefined ? "" : ` --state ${dir}`}`,
    keysDir: join(dir, "keys"),
    accountsFile: join(dir, "accounts.json"),
    issuerSocket,
    innerSocket: socketOf("inner"),
    bridgeSocket: socketOf("bridge"),
    bridgeMark: createHash("sha256").update(`${place} ${dir}`).digest("hex").slice(0, 24),
    bridgeFile,
    serverFile,
  };
}

/** @throws {ServeError} If another user can put a folder of theirs in the place of this one. */
function refuseReplaceable(dir: string): void {
  for (let [at, parent] = [dir, dirname(dir)]; at !== parent; [at, parent] = [parent, dirname(parent)]) {
    const { mode, uid } = statSync(parent);
    const isOurs = uid === process.getuid?.() || uid === 0;
    // In a sticky directory such as /tmp only an entry's owner can rename it.
    if (!isOurs || ((mode & 0o022) !== 0 && (mode & 0o1000) === 0))
      throw new ServeError(`Cannot use ${dir}: another user, who may write in ${parent}, could replace it`);
  }
}

/** The object in a file of ours; undefined where there is none, or a file that was cut short. */
export function readJson<Value>(file: string): Value | undefined {
  try {
    return JSON.parse(readTextIfPresent(file) ?? "null") ?? undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export const writeJson = (file: string, value: object): void => writePrivateFile(file, `${JSON.stringify(value)}\n`);
