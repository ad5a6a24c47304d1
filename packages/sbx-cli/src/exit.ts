// Ending the process for sure.

import v8 from "node:v8";
import vm from "node:vm";

/**
 * Node's own `process.exit` waits for the threads that compile what has become hot, and one that has no room for its code
 * waits for the main thread to collect garbage, which it never does again: after much work one exit in a hundred hangs
 * (https://github.com/nodejs/node/issues/54918). So it is collected here, which lets them all go on and leaves room.
 */
export function exit(code: number): never {
  try {
    v8.setFlagsFromString("--expose-gc");
    vm.runInNewContext("gc()");
  } catch {
    // Another runtime than Node, which has no such function.
  }
  process.exit(code);
}
