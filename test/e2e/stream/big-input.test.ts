// A large input through the command line into a program, while its connection is cut again and again: what arrives, and what
// it costs in memory. `BIG_INPUT_MB=2000` in the environment makes it 2 GB; it is 24 MB otherwise.
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect, onTestFinished, test } from "vitest";
import { exitCode, startCli } from "../support/clients/cli.ts";
import { namedInGroup, residentBytes } from "../support/system/processes.ts";
import { cutRelay, person, pids, system } from "../support/system/system.ts";
import { MOVING_MS, whileMoving } from "../support/system/wait.ts";

const MB = 1_000_000;
const TOTAL_MB = Number(process.env.BIG_INPUT_MB ?? 24);
/** Of 2 GB about each second. */
const CUT_EVERY_MB = TOTAL_MB > 200 ? 20 : 4;
/** What a process may grow by: of 2 GB little more than of 24 MB, which says nothing by itself. */
const ROOM_MB = TOTAL_MB > 200 ? 200 : 100;
const LIMIT_MS = MOVING_MS + TOTAL_MB * 5_000;

/** The most memory that a process has had, in bytes. */
function peakBytes(pid: number): number {
  return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

function lastLines(server: "worker" | "bridge"): string {
  const file = join(system.dir, "logs", `${server}.log`);
  return `${file} ends:\n${readFileSync(file, "utf8").split("\n").slice(-20).join("\n")}`;
}

test("a sum over a large input is right though its connection is cut every second, and no process grows by as much", {
  timeout: LIMIT_MS,
}, async () => {
  const { worker, bridge } = await pids();
  const servers = [bridge, ...namedInGroup("workerd", worker)];
  // The peak counts from here on.
  for (const pid of servers) writeFileSync(`/proc/${pid}/clear_refs`, "5");
  const idle = servers.map(residentBytes);

  const child = startCli(await person(), ["--", "sha256sum"], undefined, system.relayOrigin);
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
      if (i > 0 && i % CUT_EVERY_MB === 0) void cutRelay();
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
    () => [stderr, lastLines("worker"), lastLines("bridge")].join("\n"),
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
  expect(Math.max(...growth)).toBeLessThan(ROOM_MB);
  expect(cliBytes / MB).toBeLessThan(200);
});
