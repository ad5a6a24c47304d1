// The record's part about the surroundings that a process was asked for with.

import { createHash } from "node:crypto";
import { defined, type ProcessWish } from "sandbox-stdio/core";
import type { RecordedVariable } from "./record.ts";

/** Absent where nothing was asked for. Variables as they were given: of one that is given twice the last counts. */
export function recordedSurroundings({ cwd, env }: Pick<ProcessWish, "cwd" | "env">): {
  cwd?: string;
  env?: readonly RecordedVariable[];
} {
  const variables = env.map(([name, value]) => ({ name, sha256: createHash("sha256").update(value).digest("hex") }));
  return defined({ cwd, env: variables.length === 0 ? undefined : variables });
}
