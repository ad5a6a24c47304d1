// Which run writes a file now: a process, told by when it began from a later one that was given the same number.

import fs from "node:fs";

export type FileOwner = {
  readonly pid: number;
  /** As the kernel counts it; absent where it does not tell. */
  readonly startedAt?: string;
};

export function thisRun(): FileOwner {
  return ownerOf(process.pid);
}

/** Whether it still runs, and is another than this. If that can't be known it is taken for gone: no person is locked out. */
export function isRunning({ pid, startedAt }: FileOwner): boolean {
  return pid !== process.pid && startedAt !== undefined && ownerOf(pid).startedAt === startedAt;
}

/** Whether no process has this number now. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

function ownerOf(pid: number): FileOwner {
  let stat: string;
  try {
    stat = fs.readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    // It is gone, or this is no Linux.
    return { pid };
  }
  // The name in parentheses may hold anything. Of the fields after it, the state is the first, the beginning the twentieth.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const startedAt = fields[18];
  return state === "Z" || startedAt === undefined ? { pid } : { pid, startedAt };
}
