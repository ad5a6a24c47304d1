// Starts the bridge again in the same process: only a start can give it an environment without its secret, and the options that
// the runtime reads before any of our code runs.

import { readFileSync } from "node:fs";
import { cString, cStrings, LibcError, libc } from "./libc.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * JavaScriptCore without its last compiler, which compiles for as long as the bridge runs, on a thread that competes with keystrokes.
 * Its code for this program is not faster: without it a key costs the same on the main thread, and a quarter less in all.
 */
export const RUNTIME_OPTIONS = { BUN_JSC_useFTLJIT: "0" } as const;

export function lacksRuntimeOptions(env: Environment): boolean {
  return Object.keys(RUNTIME_OPTIONS).some((name) => env[name] === undefined);
}

/**
 * Returns only if the kernel refuses. Descriptors stay open, and the process keeps its number.
 * @param env The whole environment. The runtime's options in it are kept.
 */
export function startAgain(env: Environment): LibcError {
  const variables = Object.entries({ ...RUNTIME_OPTIONS, ...env });
  const environment = cStrings(variables.flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`)));
  const line = cStrings(readFileSync("/proc/self/cmdline", "utf8").split("\0").slice(0, -1));
  libc.execve(cString(process.execPath), line.pointers, environment.pointers);
  const failure = new LibcError("start again");
  // The pointers lead into these: keeps the collector from freeing them before the call.
  line.bytes.fill(0);
  environment.bytes.fill(0);
  return failure;
}
