// Ends the process without hanging or aborting in Node.

import fs from "node:fs";
import tty from "node:tty";
import v8 from "node:v8";
import vm from "node:vm";

/** Processor time after which much code may be optimized. */
const MUCH_WORK_US = 1_000_000;
/** Memory outside of the heap above which space may be short. */
const MUCH_MEMORY_BYTES = 32 * 1024 * 1024;
const STANDARD_STREAMS = [0, 1, 2] as const;
const terminals = STANDARD_STREAMS.filter((fd) => tty.isatty(fd));

/** Node restores the modes of its terminals at exit, and aborts if one is gone. A closed descriptor is skipped. */
export function letGoOfLostTerminals(): void {
  for (const fd of terminals) {
    if (tty.isatty(fd)) continue;
    try {
      fs.closeSync(fd);
    } catch {
      // Already closed.
    }
  }
}

/**
 * `process.exit` waits for compiler threads, and one without room for its code waits for a garbage collection that never comes: after
 * much work one exit in a hundred hangs (https://github.com/nodejs/node/issues/54918). So collect first, unless the run was short.
 */
export function exit(code: number): never {
  const hasMuch = process.cpuUsage().user > MUCH_WORK_US || process.memoryUsage().external > MUCH_MEMORY_BYTES;
  if (hasMuch) collectGarbage();
  letGoOfLostTerminals();
  process.exit(code);
}

function collectGarbage(): void {
  try {
    v8.setFlagsFromString("--expose-gc");
    vm.runInNewContext("gc()");
  } catch {
    // Not Node.
  }
}
