// Starts and ends hundreds of programs, and prints the open descriptors before and after: a process for the test that counts them.
// It ends once no child is a zombie.

import { readdirSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { eventually, start, zombies } from "../support/process-harness.ts";

/** The runtime closes its copy of the wake event a moment after the last session. */
const MOMENT_MS = 100;
const tty = process.argv[2] === "tty";

function descriptors(): string[] {
  return readdirSync("/proc/self/fd")
    .flatMap((fd) => {
      try {
        return [`${fd} ${readlinkSync(`/proc/self/fd/${fd}`)}`];
      } catch {
        // The directory's own descriptor, closed by now.
        return [];
      }
    })
    .sort();
}

// Warm up: the first session makes the poller's own descriptors.
await start(["true"], { tty }).exited;
let before = descriptors();
for (let last = -1; last !== before.length; before = descriptors()) {
  last = before.length;
  await delay(MOMENT_MS);
}
for (let round = 0; round < 30; round += 1) {
  const runs = Array.from({ length: 10 }, () => start(["sh", "-c", "echo hi; exec cat"], { tty }));
  for (const { child } of runs) child.signalAll("SIGTERM");
  for (const { exited } of runs) {
    const { code } = await exited;
    if (code !== 143) throw new Error(`ended with ${code}`);
  }
}
await eventually(() => descriptors().length <= before.length && zombies().length === 0);
console.log(JSON.stringify({ before, after: descriptors() }));
process.exit(0);
