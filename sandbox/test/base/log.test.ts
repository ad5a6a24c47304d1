// The bridge's log where stderr is a file, as `serve` gives it one.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporary } from "../support/bridge.ts";

const LOG = join(import.meta.dirname, "../../src/base/log.ts");

test("a log of 8 MiB is begun anew, and the one before it is kept", async () => {
  const file = join(temporary(), "bridge.log");
  const fd = openSync(file, "a", 0o600);
  truncateSync(file, 8 * 1024 * 1024 + 1);
  const code = `const { log } = await import(${JSON.stringify(LOG)}); log.warn("one"); log.warn("two"); log.warn("three")`;
  const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "ignore", fd] });
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(readFileSync(file, "utf8")).toBe("two\nthree\n");
  expect(readFileSync(`${file}.old`, "latin1").slice(-4)).toBe("one\n");
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
