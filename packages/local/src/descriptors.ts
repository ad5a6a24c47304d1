// What /proc says of the open files of programs.
import { constants, readFileSync } from "node:fs";

/** Whether writes to a descriptor of another program fail where they would wait. */
export function isNonBlocking(pid: number | undefined, fd: number): boolean {
  const [, flags = ""] = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8")) ?? [];
  return (Number.parseInt(flags, 8) & constants.O_NONBLOCK) !== 0;
}
