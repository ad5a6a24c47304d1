// A workerd that crashes under `npm start`: the Worker comes up again by itself, and who was attached loses nothing.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Random } from "../../../packages/local/src/base/random.ts";
import { CLI, cliEnv, exitCode } from "../support/clients/cli.ts";
import { startSystem } from "../support/system/own-system.ts";
import { namedInGroup } from "../support/system/processes.ts";
import { until, within } from "../support/system/wait.ts";

const MIB = 1024 * 1024;
const RESTART_MS = 120_000;

test("workerd is killed twice in the middle of 24 MiB each way: it is told, and the command line gets every byte once", {
  timeout: 2 * RESTART_MS,
}, async () => {
  const dir = mkdtempSync(join(tmpdir(), "sbx-revival-"));
  const lines: string[] = [];
  const system = await startSystem({ dir, onRevival: (line) => lines.push(line) });
  onTestFinished(async () => {
    await system.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  const failures: string[] = [];
  void system.failed.then((message) => failures.push(message));

  const input = Buffer.from(new Random(31).bytes(24 * MIB));
  const token = await system.mintToken({ sub: "alice", org: "local" });
  const child = spawn(process.execPath, [CLI, system.origin, "--", "cat"], {
    env: cliEnv({ sub: "alice", org: "local", token }),
    stdio: "pipe",
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const ended = exitCode(child);
  const output: Buffer[] = [];
  let received = 0;
  const stderr: string[] = [];
  child.stdout.on("data", (chunk: Buffer) => {
    output.push(chunk);
    received += chunk.length;
  });
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk.toString()));
  child.stdin.write(input.subarray(0, 12 * MIB));

  for (const times of [1, 2]) {
    await until("output", () => received >= times * MIB);
    for (const pid of namedInGroup("workerd", system.pids.worker)) process.kill(pid, "SIGKILL");
    const isUp = () =>
      lines.filter((line) => line === "The Worker is up again").length === times || failures.length > 0;
    await until("the Worker", isUp, RESTART_MS);
  }
  child.stdin.end(input.subarray(12 * MIB));
  expect([await within("the exit", ended, 60_000), stderr.join("")]).toEqual([0, expect.any(String)]);
  expect(Buffer.concat(output).equals(input)).toBe(true);
  expect(failures).toEqual([]);
  expect(lines).toHaveLength(4);
});
