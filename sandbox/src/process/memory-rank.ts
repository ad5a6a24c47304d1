// Has the kernel, when memory runs out, end the processes that were started here before the bridge: a greedy one goes alone.

import { openSync, readFileSync, writeSync } from "node:fs";

/** Added to the kernel's count, in thousandths of the memory: more than any bridge has. */
const CHILD_ADJUSTMENT = 500;
const PATH = "/proc/self/oom_score_adj";

const own = readOwn();

/** Opened at once: a process that hides its memory, as the bridge does, may have lost the right to later. */
function readOwn(): { readonly fd: number; readonly adjustment: number } | undefined {
  try {
    const adjustment = Number(readFileSync(PATH, "utf8"));
    return adjustment < CHILD_ADJUSTMENT ? { fd: openSync(PATH, "r+"), adjustment } : undefined;
  } catch {
    return undefined; // No /proc, or not ours to change: all are equal then.
  }
}

/** Runs `start`, whose new process inherits the higher rank. Nothing else of ours runs in between. */
export function startExpendable<T>(start: () => T): T {
  if (own === undefined) return start();
  adjust(own.fd, CHILD_ADJUSTMENT);
  try {
    return start();
  } finally {
    adjust(own.fd, own.adjustment);
  }
}

function adjust(fd: number, adjustment: number): void {
  try {
    writeSync(fd, String(adjustment), 0);
  } catch {
    // The kernel refuses: the start is worth more than the rank.
  }
}
