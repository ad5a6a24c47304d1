// The process that writes a file. Its start time tells it from a later process with the same pid.

import fs from "node:fs";
import { codeOf } from "./errors.ts";

export type FileOwner = {
  readonly pid: number;
  /** Kernel ticks; absent if unknown. */
  readonly startedAt?: string;
};

export function thisRun(): FileOwner {
  return ownerOf(process.pid);
}

/** Whether another process still owns the file. If that is unknown the file counts as free, so that nobody is locked out. */
export function isRunning({ pid, startedAt }: FileOwner): boolean {
  return pid !== process.pid && startedAt !== undefined && ownerOf(pid).startedAt === startedAt;
}

/** Whether no process has this pid. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === "ESRCH";
  }
}

function ownerOf(pid: number): FileOwner {
  let stat: string;
  try {
    stat = fs.readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    // The process is gone, or this is not Linux.
    return { pid };
  }
  // The name in parentheses may contain anything. Of the fields after it, the state is first and the start time twentieth.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const startedAt = fields[18];
  return state === "Z" || startedAt === undefined ? { pid } : { pid, startedAt };
}
