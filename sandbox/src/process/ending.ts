// Ends a process: SIGHUP, then SIGTERM, then SIGKILL to every process of its session.

import type { ChildProcess } from "./process.ts";

const HANGUP_GRACE_MS = 1_000;
const TERMINATE_GRACE_MS = 2_000;
/** On a PTY it comes twice: bash only notes one that comes while it draws its prompt, and then waits for a key. What others do
 * on it, such as save, has this long. */
const SECOND_HANGUP_MS = 300;

export function endProcess(child: ChildProcess): void {
  // A process that is held back must be read to its end, or its exit is never seen.
  child.release();
  child.signalAll("SIGHUP");
  const steps: [number, string][] = [
    [HANGUP_GRACE_MS, "SIGTERM"],
    [HANGUP_GRACE_MS + TERMINATE_GRACE_MS, "SIGKILL"],
  ];
  if (child.tty) steps.unshift([SECOND_HANGUP_MS, "SIGHUP"]);
  for (const [ms, signal] of steps) setTimeout(() => child.signalAll(signal), ms).unref();
}
