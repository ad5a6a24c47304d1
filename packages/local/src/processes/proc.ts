// Ending what left its process group: programs in a sandbox make groups and sessions of their own, and outlive a bridge
// that was killed. They are known by a variable that they inherited. Linux only: elsewhere nothing is found.
import { readdirSync, readFileSync } from "node:fs";
import { isErrorCode } from "../base/files.ts";

/** The variable that marks the processes of one run. */
export const RUN_MARK = "SBX_RUN_ID";

// A process that is forked during a look is found by the next look.
const MAX_ROUNDS = 10;

/** True while a process with this id exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isErrorCode(error, "EPERM");
  }
}

function markedProcesses(runId: string): number[] {
  const wanted = `${RUN_MARK}=${runId}`;
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    // No /proc: not Linux.
    return [];
  }
  return names
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, "latin1").split("\0").includes(wanted);
      } catch {
        // Ended meanwhile, or another user's.
        return false;
      }
    })
    .map(Number);
}

/** SIGKILL to every process that carries the mark of this run, but for this process itself. */
export function killMarked(runId: string): void {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = markedProcesses(runId);
    if (found.length === 0) return;
    for (const pid of found) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // Ended meanwhile.
      }
    }
  }
}
