// Keeps a virtual machine's cores awake while something is measured. A core with nothing to do is given back to the host, and
// to get it again can take longer than what is measured here: a server that waits between two bytes would be measured by that.

import { readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";

/** Which of Linux's idle loops is in use, and the driver without which none is. */
const IDLE = "/sys/devices/system/cpu/cpuidle";
/** The idle loop of a KVM guest: how long it looks for work before it gives the core back. */
const PARAMETERS = "/sys/module/haltpoll/parameters";
/** Longer than the pauses within a measurement, and it stays that long. */
const AWAKE = new Map([
  ["guest_halt_poll_ns", "20000000"],
  ["guest_halt_poll_allow_shrink", "N"],
]);

/**
 * For as long as this process runs, unless it is killed with -9: then the setting stays. Loops of lowest priority would do it
 * anywhere, but a core that runs one is not idle: the kernel does not move to it what waits behind something else.
 * @returns Whether it could: as root, in a guest that has the setting. Elsewhere cores seldom take long to wake.
 */
export function keepAwake(): boolean {
  if (!isGuestLoopInUse()) return false;
  const before = new Map<string, string>();
  process.once("exit", () => {
    for (const [name, value] of before) writeFileSync(join(PARAMETERS, name), value);
  });
  try {
    for (const [name, value] of AWAKE) {
      const path = join(PARAMETERS, name);
      const old = readFileSync(path, "utf8");
      writeFileSync(path, value);
      before.set(name, old);
    }
  } catch {
    return false;
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  }
  return true;
}

/** The setting is there in other guests too, where nothing reads it. */
function isGuestLoopInUse(): boolean {
  try {
    const read = (name: string) => readFileSync(join(IDLE, name), "utf8").trim();
    return read("current_driver") !== "none" && read("current_governor") === "haltpoll";
  } catch {
    return false;
  }
}
