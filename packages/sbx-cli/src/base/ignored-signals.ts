// Signals that this program was started to ignore, as by nohup. Node resets them before our code runs, so bin/sbx-stdio.js notes
// them in a variable; other runtimes leave them in /proc.

import fs from "node:fs";
import os from "node:os";
import type { SignalName } from "sandbox-stdio/core";
import type { Environment } from "./environment.ts";

/** Signals whose default is to end a program. */
export const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

/** Variable with the mask of ignored signals, in hexadecimal. */
const NOTED = "SBX_SIGIGN";

export function isIgnoredFromStart(signal: SignalName | NodeJS.Signals, env: Environment): boolean {
  const number = os.constants.signals[signal as NodeJS.Signals] ?? 0;
  const mask = env[NOTED] ?? ownMask();
  if (!/^[0-9a-f]{1,32}$/i.test(mask) || number === 0) return false;
  return ((BigInt(`0x${mask}`) >> BigInt(number - 1)) & 1n) === 1n;
}

/** Calls back at each ending signal, except those ignored from the start. @returns Stops. */
export function onEndingSignal(env: Environment, handle: (signal: NodeJS.Signals) => void): () => void {
  const listener = (signal: NodeJS.Signals) => {
    if (!isIgnoredFromStart(signal, env)) handle(signal);
  };
  for (const signal of ENDING_SIGNALS) process.on(signal, listener);
  return () => {
    for (const signal of ENDING_SIGNALS) process.off(signal, listener);
  };
}

function ownMask(): string {
  try {
    return /^SigIgn:\s*([0-9a-f]+)$/im.exec(fs.readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
  } catch {
    return ""; // Not Linux.
  }
}
