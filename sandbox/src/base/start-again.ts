// The bridge started again as the same process, with what only a start can give it: an environment without its secret, and the
// options that its runtime reads before any of our code runs.

import { readFileSync } from "node:fs";
import { cString, cStrings, LibcError, libc } from "./libc.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * JavaScriptCore without its last compiler. That one compiles for as long as the bridge runs, on a thread that takes a core from
 * whoever types, and what it makes of this program runs no faster: a key costs the same on the main thread, and a quarter less in all.
 */
export const RUNTIME_OPTIONS = { BUN_JSC_useFTLJIT: "0" } as const;

export function lacksRuntimeOptions(env: Environment): boolean {
  return Object.keys(RUNTIME_OPTIONS).some((name) => env[name] === undefined);
}

/**
 * Does not return, unless the kernel refuses: then with the reason. Descriptors stay open, and the process keeps its number.
 * @param env The whole environment. What it says of the runtime's options stays.
 */
export function startAgain(env: Environment): LibcError {
  const variables = Object.entries({ ...RUNTIME_OPTIONS, ...env });
  const environment = cStrings(variables.flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`)));
  const line = cStrings(readFileSync("/proc/self/cmdline", "utf8").split("\0").slice(0, -1));
  libc.execve(cString(process.execPath), line.pointers, environment.pointers);
  const failure = new LibcError("start again");
  // The pointers lead into these: they are kept until here.
  line.bytes.fill(0);
  environment.bytes.fill(0);
  return failure;
}
