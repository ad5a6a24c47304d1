// The level of the Worker's log, set and checked: apart from the log, since faults are written to it.

import { LOG_LEVELS } from "sandbox-stdio/core";
import { type LogEnv, useLogLevel } from "../base/log.ts";
import { AuthFault } from "../refusal/fault.ts";

/** The environment whose level is in use: it does not change, and every request asks for it. */
let known: LogEnv | undefined;

/** @throws {AuthFault} `misconfigured`, naming the variable. */
export function requireLogLevel(env: LogEnv): void {
  if (env === known) return;
  if (!useLogLevel(env)) {
    const levels = LOG_LEVELS.join(", ");
    throw new AuthFault("misconfigured", `This server is not set up: LOG_LEVEL must be one of ${levels}`);
  }
  known = env;
}
