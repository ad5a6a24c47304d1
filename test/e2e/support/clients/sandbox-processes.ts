// Processes as their own sandbox sees them, where their numbers mean something: a container has numbers of its own.
import { allProcesses, factsOf, isAlive, type ProcessFacts } from "../system/processes.ts";
import { type Person, system } from "../system/system.ts";
import { Programs } from "./programs.ts";

/** Here they are this machine's. */
const ARE_LOCAL = system.bridgeUrl !== "";

export async function processesIn(who: Person, sandbox = "default"): Promise<ProcessFacts[]> {
  if (ARE_LOCAL) return allProcesses();
  const at = new Programs(who, sandbox);
  const look = { cmd: "sh", args: ["-c", "cat /proc/[0-9]*/stat 2>/dev/null"], waitMs: 50_000, maxBytes: 1_048_576 };
  const { status, body } = await at.run(look);
  if (status !== 200) throw new Error(`Cannot look at the processes of ${sandbox}: ${status} ${JSON.stringify(body)}`);
  // The look leaves no trace on the list of sessions.
  await at.end(body.session);
  return body.output
    .split(/\n(?=\d+ \()/)
    .map(factsOf)
    .filter((facts) => facts !== undefined);
}

export async function isAliveIn(who: Person, pid: number, sandbox?: string): Promise<boolean> {
  if (ARE_LOCAL) return isAlive(pid);
  return (await processesIn(who, sandbox)).some((facts) => facts.pid === pid);
}
