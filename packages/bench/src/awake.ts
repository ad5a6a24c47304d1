// Keeps the cores awake while something is measured. A virtual core with nothing to do is taken away, and to get it back can
// take longer than what is measured here: a server that waits between two bytes would be measured by that.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { join } from "node:path";

/** No run lasts as long: a loop that nobody ends does so by itself. */
const MAX_SECONDS = 2 * 60 * 60;

/**
 * Starts a loop for each core, in the kernel's class for what runs when nothing else does: it gives way at once. They end with
 * this process.
 * @returns Whether all run; where not, there is no Linux's `chrt`.
 */
export async function keepAwake(): Promise<boolean> {
  return (await Promise.all(Array.from({ length: availableParallelism() }, startLoop))).every(Boolean);
}

async function startLoop(): Promise<boolean> {
  const args = ["--idle", "0", process.execPath, join(import.meta.dirname, "spin.ts"), String(MAX_SECONDS)];
  const loop = spawn("chrt", args, { stdio: ["ignore", "pipe", "ignore"] });
  process.once("exit", () => loop.kill());
  loop.on("error", () => undefined); // There is no such program: its output ends too.
  loop.unref();
  return Promise.race([once(loop.stdout, "data").then(() => true), once(loop.stdout, "close").then(() => false)]);
}
