// The reports of Linux's tools on a running process, if they are installed: its system calls (strace), and in which native
// functions of all its threads it is (perf).

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Server } from "../subjects/peers.ts";

const MOST_ROWS = 25;

/** @returns Ends the trace and gives its table; undefined without strace. */
export async function countSystemCalls({ name, process: { pid } }: Server, dir: string) {
  if (!isThere("strace", "--version")) return undefined;
  const file = join(dir, `strace-${pid}`);
  const child = spawn("strace", ["-c", "-f", "-o", file, "-p", String(pid)], { stdio: ["ignore", "ignore", "pipe"] });
  await once(child.stderr, "data"); // It says that it is attached.
  return async () => {
    const ended = once(child, "exit");
    child.kill("SIGINT");
    await ended;
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    return `${name}, system calls of all threads:\n${lines.slice(0, MOST_ROWS).join("\n")}`;
  };
}

/** @returns Ends the sampling and gives its table; undefined without perf. JavaScript is in it as addresses. */
export async function sampleNativeFunctions({ name, process: { pid } }: Server, dir: string) {
  if (!isThere("perf", "--version")) return undefined;
  const file = join(dir, `perf-${pid}`);
  const child = spawn("perf", ["record", "-e", "cpu-clock", "-F", "997", "-o", file, "-p", String(pid)], {
    stdio: "ignore",
  });
  await once(child, "spawn");
  return async () => {
    const ended = once(child, "exit");
    child.kill("SIGINT");
    await ended;
    const sorted = ["report", "-i", file, "--stdio", "--sort", "dso,symbol", "--percent-limit", "0.5"];
    const { stdout } = spawnSync("perf", sorted, { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
    const lines = stdout.split("\n").filter((line) => /^\s+\d/.test(line));
    return `${name}, native functions of all threads:\n${lines.slice(0, MOST_ROWS).join("\n")}`;
  };
}

/** The kernel's own counts of a process, all threads together. */
export function countsOf({ process: { pid } }: Server): Record<string, number> {
  const io = readFileSync(`/proc/${pid}/io`, "utf8");
  const ofIo = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, "m").exec(io)?.[1] ?? 0);
  let switches = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const status = readFileSync(`/proc/${pid}/task/${task}/status`, "utf8");
    switches += Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  }
  return { reads: ofIo("syscr"), writes: ofIo("syscw"), "times it slept": switches };
}

function isThere(program: string, argument: string): boolean {
  return spawnSync(program, [argument], { stdio: "ignore" }).status === 0;
}
