// Which Python has pexpect: that of PATH, or Debian's, which python3-pexpect is for.
import { spawnSync } from "node:child_process";

/** @returns undefined where none has it. */
export function findPexpectPython(): string | undefined {
  return ["python3", "/usr/bin/python3"].find((python) => spawnSync(python, ["-c", "import pexpect"]).status === 0);
}
