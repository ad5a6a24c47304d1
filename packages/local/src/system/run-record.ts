// The record of a running `npm start` for the other commands: a small file per run in .local/runs. Knows no processes but
// by their id.
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isErrorCode, readTextIfPresent, writePrivateFile } from "../base/files.ts";

/** Where the issuer listens unless something else does: fixed, so that a token made before `npm start` fits after it. */
export const DEFAULT_ISSUER_PORT = 8710;

export interface RunRecord {
  readonly pid: number;
  /** The page's origin. */
  readonly origin: string;
  /** The issuer's address: the `iss` of its tokens. */
  readonly issuer: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

function parseRecord(text: string): RunRecord | undefined {
  try {
    const { pid, origin, issuer, startedAt }: Record<string, unknown> = JSON.parse(text);
    const fits =
      typeof pid === "number" &&
      typeof origin === "string" &&
      typeof issuer === "string" &&
      typeof startedAt === "number";
    return fits ? { pid, origin, issuer, startedAt } : undefined;
  } catch (error) {
    // Not one of ours, or from another version: as if it weren't there.
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** True while a process with this id exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isErrorCode(error, "EPERM");
  }
}

/** Writes the record of this process into `dir`. It stays after the run: the issuer's port is used again. */
export function writeRunRecord(dir: string, record: RunRecord): void {
  for (const old of readRunRecords(dir)) {
    if (!isAlive(old.pid)) rmSync(recordPath(dir, old.pid), { force: true });
  }
  writePrivateFile(recordPath(dir, record.pid), `${JSON.stringify(record)}\n`);
}

const recordPath = (dir: string, pid: number): string => join(dir, "runs", `${pid}.json`);

/** All records in `dir`, the living runs first, and the newest first among equals. */
export function readRunRecords(dir: string): RunRecord[] {
  let names: string[];
  try {
    names = readdirSync(join(dir, "runs"));
  } catch (error) {
    if (isErrorCode(error, "ENOENT")) return [];
    throw error;
  }
  const records = names
    .filter((name) => name.endsWith(".json"))
    .map((name) => parseRecord(readTextIfPresent(join(dir, "runs", name)) ?? ""))
    .filter((record) => record !== undefined);
  const rank = (record: RunRecord): number => (isAlive(record.pid) ? 1 : 0);
  return records.sort((a, b) => rank(b) - rank(a) || b.startedAt - a.startedAt);
}

/** The issuer that a token is for if the caller names none: of the newest living run, else of the last, else the default. */
export function currentIssuer(dir: string): string {
  return readRunRecords(dir)[0]?.issuer ?? `http://127.0.0.1:${DEFAULT_ISSUER_PORT}`;
}

/** The runs that live, the newest first. */
export function livingRuns(dir: string): RunRecord[] {
  return readRunRecords(dir).filter(({ pid }) => isAlive(pid));
}

/** Of these runs the one whose page has this port. */
export function runAtPort(runs: readonly RunRecord[], port: string): RunRecord | undefined {
  return runs.find(({ origin }) => URL.parse(origin)?.port === port);
}
