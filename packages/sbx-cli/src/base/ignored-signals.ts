// Signals that this program was started to ignore, as by nohup. Node resets them before our code runs, so bin/sbx-stdio.js notes
// them in a variable; other runtimes leave them in /proc.

import fs from "node:fs";
import os from "node:os";
import type { SignalName } from "sandbox-stdio/core";
import type { Environment } from "./environment.ts";

/** Variable with the mask of ignored signals, in hexadecimal. */
const NOTED = "SBX_SIGIGN";

export function isIgnoredFromStart(signal: SignalName, env: Environment): boolean {
  const number = os.constants.signals[signal as NodeJS.Signals] ?? 0;
  const mask = env[NOTED] ?? ownMask();
  if (!/^[0-9a-f]{1,32}$/i.test(mask) || number === 0) return false;
  return ((BigInt(`0x${mask}`) >> BigInt(number - 1)) & 1n) === 1n;
}

function ownMask(): string {
  try {
    return /^SigIgn:\s*([0-9a-f]+)$/im.exec(fs.readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
  } catch {
    return ""; // Not Linux.
  }
}
