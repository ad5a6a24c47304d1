// A system that one file of tests has for itself, with settings that the lent ones don't have. It runs the Worker that is bundled once for all.
import { inject } from "vitest";
import * as local from "../../../../packages/local/src/system/system.ts";

export type { System } from "../../../../packages/local/src/system/system.ts";

export function startSystem(options: local.SystemOptions): Promise<local.System> {
  const bundle = options.workerEntry === undefined ? inject("workerBundle") : undefined;
  return local.startSystem({ ...options, ...(bundle !== undefined && { bundle }) });
}
