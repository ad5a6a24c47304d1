// Re-executes the bridge in the same process: only exec can give it an environment without its secret, and the options that the
// runtime reads before any of our code runs.

import { readFileSync } from "node:fs";
import { cString, cStrings, LibcError, libc } from "./libc.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * JavaScriptCore without its last compiler, which compiles for as long as the bridge runs, on a thread that competes with keystrokes.
 * Its code is no faster here: without it a key costs the same on the main thread, and a quarter less overall.
 */
export const RUNTIME_OPTIONS = { BUN_JSC_useFTLJIT: "0" } as const;

export function lacksRuntimeOptions(env: Environment): boolean {
  return Object.keys(RUNTIME_OPTIONS).some((name) => env[name] === undefined);
}

/**
 * Returns only if the kernel refuses. Descriptors stay open, and the process keeps its number.
 * @param env The whole environment. The runtime's options in it are kept.
 */
export function reExec(env: Environment): LibcError {
  const variables = Object.entries({ ...RUNTIME_OPTIONS, ...env });
  const environment = cStrings(variables.flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`)));
  const line = cStrings(readFileSync("/proc/self/cmdline", "utf8").split("\0").slice(0, -1));
  libc.execve(cString(process.execPath), line.pointers, environment.pointers);
  const failure = new LibcError("re-execute the bridge");
  // The pointers lead into these: used here, so that the collector can't free them before the call.
  line.bytes.fill(0);
  environment.bytes.fill(0);
  return failure;
}
