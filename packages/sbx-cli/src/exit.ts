// Ending the process for sure.

import fs from "node:fs";
import tty from "node:tty";
import v8 from "node:v8";
import vm from "node:vm";

/** Microseconds of work after which much may be hot: starting takes a tenth of it. */
const MUCH_WORK_US = 1_000_000;
/** Bytes beside the heap from which room may be short. A short command holds far less. */
const MUCH_MEMORY_BYTES = 32 * 1024 * 1024;
const STANDARD_STREAMS = [0, 1, 2] as const;
const terminals = STANDARD_STREAMS.filter((fd) => tty.isatty(fd));

/**
 * Node gives each terminal that it was started on its modes back when it ends, and aborts where that fails: a terminal whose
 * window was closed. One that is closed on this side is left alone.
 */
export function letGoOfLostTerminals(): void {
  for (const fd of terminals) {
    if (tty.isatty(fd)) continue;
    try {
      fs.closeSync(fd);
    } catch {
      // It is closed already.
    }
  }
}

/**
 * Node's own `process.exit` waits for the threads that compile what has become hot. One that has no room for its code
 * waits for the main thread to collect garbage, which it never does again: after much work one exit in a hundred hangs
 * (https://github.com/nodejs/node/issues/54918). So it is collected here, which lets them all go on and leaves room. A short run
 * that holds little has made nothing hot and has room, so it is spared the time.
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
    // Another runtime than Node, which has no such function.
  }
}
