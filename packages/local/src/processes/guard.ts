// A process that outlives its parent by a moment. When the parent has gone, it ends the process groups
// that the parent had named on its standard input (`+PID` and `-PID`, a line each). It also ends whatever carries the mark of the
// run, its argument. Run by children.ts, never imported.
import { createInterface } from "node:readline";
import { killMarked } from "./proc.ts";

const GRACE_MS = 5000;
const POLL_MS = 50;

const groups = new Set<number>();

/** False when the group no longer exists. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    // ESRCH: gone. EPERM: not ours any more. Nothing to do in either case.
    return false;
  }
}

// A signal that ends the parent must not end the guard first.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);

for await (const line of createInterface({ input: process.stdin })) {
  const group = Number(line.slice(1));
  if (line.startsWith("+")) groups.add(group);
  else groups.delete(group);
}

for (const group of groups) signalGroup(group, "SIGTERM");
const deadline = Date.now() + GRACE_MS;
while ([...groups].some((group) => signalGroup(group, 0)) && Date.now() < deadline) {
  await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
for (const group of groups) signalGroup(group, "SIGKILL");
const [runId] = process.argv.slice(2);
if (runId !== undefined) killMarked(runId);
