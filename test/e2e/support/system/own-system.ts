// A system that one file of tests has for itself, with settings that the lent ones don't have. It runs the parts that are built once for all.
import { inject } from "vitest";
import { buildAndStart } from "../../../../packages/local/src/system/parts.ts";
import * as local from "../../../../packages/local/src/system/system.ts";

export type { System } from "../../../../packages/local/src/system/system.ts";

export function startSystem(
  options: Omit<local.SystemOptions, "parts"> & { workerEntry?: string },
): Promise<local.System> {
  const parts = options.workerEntry === undefined ? inject("parts") : undefined;
  return parts === undefined ? buildAndStart(options) : local.startSystem({ ...options, parts });
}
