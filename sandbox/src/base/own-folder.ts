// Temporary folders of one process. Those of processes that were killed are removed by the next one that needs such a folder.

import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";

const NAMESPACE = "/proc/self/ns/pid";

/** @param kind How the names of such folders begin. */
export function makeOwnFolder(parent: string, kind: string): string {
  // A process id means nothing in another namespace, which may share the parent folder; without namespaces nothing is removed.
  const namespace = existsSync(NAMESPACE) ? readlinkSync(NAMESPACE).replace(/\D/g, "") : undefined;
  if (namespace !== undefined) removeLeftovers(parent, `${kind}${namespace}-`);
  return mkdtempSync(join(parent, `${kind}${namespace ?? 0}-${process.pid}-`));
}

function removeLeftovers(parent: string, prefix: string): void {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(prefix) ? /^\d+(?=-)/.exec(name.slice(prefix.length))?.[0] : undefined;
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // Another user's.
    }
  }
}
