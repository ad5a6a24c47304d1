// A large input through the command line into a program, while its connection is cut again and again: what arrives, and what
// it costs in memory. `BIG_INPUT_MB=2000` in the environment makes it 2 GB; it is 160 MB otherwise.
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect, onTestFinished, test } from "vitest";
import { anyFreePort } from "../../../packages/local/src/base/ports.ts";
import { CLI, cliEnv, exitCode } from "../support/clients/cli.ts";
import { BridgeProxy } from "../support/system/bridge-proxy.ts";
import { startSystem } from "../support/system/own-system.ts";
import { namedInGroup, residentBytes } from "../support/system/processes.ts";
import { MOVING_MS, whileMoving } from "../support/system/wait.ts";

const MB = 1_000_000;
const TOTAL_MB = Number(process.env.BIG_INPUT_MB ?? 160);
/** About a second's worth. */
const CUT_EVERY_MB = 20;
const LIMIT_MS = MOVING_MS + TOTAL_MB * 5_000;

/** The most memory that a process has had, in bytes. */
function peakBytes(pid: number): number {
  return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

function lastLines(file: string): string {
  return `${file} ends:\n${readFileSync(file, "utf8").split("\n").slice(-20).join("\n")}`;
}

test("a sum over a large input is right though its connection is cut every second, and no process grows by 200 MB", {
  timeout: LIMIT_MS,
}, async () => {
  const dir = mkdtempSync(join(tmpdir(), "sbx-big-input-"));
  const port = await anyFreePort();
  const proxy = await BridgeProxy.listen(port);
  const allowed = new URL(proxy.url).host;
  const system = await startSystem({ dir, ports: { worker: port }, workerVars: { ALLOWED_HOSTS: allowed } });
  onTestFinished(async () => {
    await system.stop();
    await proxy.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const servers = [system.pids.bridge, ...namedInGroup("workerd", system.pids.worker)];
  const idle = servers.map(residentBytes);

  const token = await system.mintToken({ sub: "alice", org: "local" });
  const child = spawn(process.execPath, [CLI, proxy.url, "--", "sha256sum"], {
    env: cliEnv({ sub: "alice", org: "local", token }),
    stdio: "pipe",
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const ended = exitCode(child);
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => {
    stdout += String(chunk);
  });
  child.stderr.on("data", (chunk) => {
    stderr += String(chunk);
  });

  const sum = createHash("sha256");
  const block = randomBytes(MB);
  let cliBytes = 0;
  let sentMb = 0;
  function* input() {
    for (let i = 0; i < TOTAL_MB; i += 1) {
      if (i > 0 && i % CUT_EVERY_MB === 0) proxy.cut();
      block.writeUInt32LE(i); // No block is like another.
      const bytes = Buffer.from(block);
      sum.update(bytes);
      cliBytes = peakBytes(child.pid ?? 0);
      sentMb = i;
      yield bytes;
    }
  }
  const transfer = async (): Promise<number> => {
    await pipeline(Readable.from(input(), { objectMode: true, highWaterMark: 1 }), child.stdin);
    return ended;
  };
  const code = await whileMoving(
    "The input",
    transfer(),
    () => sentMb,
    () => [stderr, lastLines(system.worker.logFile), lastLines(system.bridge.logFile)].join("\n"),
  );
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${sum.digest("hex")}  -\n` });

  expect(stderr.match(/resumed after .* s, nothing lost/g)?.length).toBeGreaterThanOrEqual(TOTAL_MB / CUT_EVERY_MB / 2);
  const growth = servers.map((pid, i) => (peakBytes(pid) - (idle[i] ?? 0)) / MB);
  console.log(
    `bridge +${growth[0]?.toFixed(0)} MB, workerd ${growth
      .slice(1)
      .map((mb) => `+${mb.toFixed(0)}`)
      .join(" and ")} MB, command line ${(cliBytes / MB).toFixed(0)} MB in all; ` +
      `${stderr.match(/resumed after/g)?.length} resumes`,
  );
  expect(Math.max(...growth, cliBytes / MB)).toBeLessThan(200);
});
