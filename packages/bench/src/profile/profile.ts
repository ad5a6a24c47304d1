// Where the time of one measurement goes: by function, as the runtimes and perf sample it, and by system call, as strace counts
// it. Two runs, since strace slows all else down.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { show } from "../base/numbers.ts";
import type { Measure } from "../measures/measures.ts";
import type { Result } from "../measures/measuring.ts";
import { type SubjectName, startSubject } from "../subjects/subjects.ts";
import { countSystemCalls, countsOf, sampleNativeFunctions } from "./kernel-tools.ts";
import { type CpuProfile, functionTable } from "./profile-table.ts";
import { startProfiler } from "./workerd-profiler.ts";

/** Ours: the floors' time is not ours to mend. */
export const PROFILED: readonly SubjectName[] = ["bridge", "path"];

export async function profile(name: SubjectName, measure: Measure, share: number): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "bench-profile-"));
  try {
    const functions = await byFunction(name, measure, share, dir);
    const calls = await bySystemCall(name, measure, share, dir);
    return [`# ${measure.name}, ${name}`, ...functions, ...calls].join("\n\n");
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A program that Bun runs writes its profile at its end; workerd is asked for its own. */
async function byFunction(name: SubjectName, measure: Measure, share: number, dir: string): Promise<string[]> {
  const tables: string[] = [];
  const subject = await startSubject(name, dir);
  try {
    const inspected = subject.servers.find(({ inspector }) => inspector !== undefined);
    const stop = inspected?.inspector === undefined ? undefined : await startProfiler(inspected.inspector);
    const before = subject.servers.map(countsOf);
    const native = await Promise.all(subject.servers.map((server) => sampleNativeFunctions(server, dir)));
    tables.push(rowsOf(await measure(subject, share)));
    subject.servers.forEach((server, i) => {
      const now = Object.entries(countsOf(server)).map(([what, n]) => `${what} ${n - (before[i]?.[what] ?? 0)}`);
      tables.push(`${server.name}: ${now.join(", ")}`);
    });
    for (const end of native) if (end !== undefined) tables.push(await end());
    if (stop !== undefined) tables.push(`workerd:\n${functionTable(await stop())}`);
  } finally {
    await subject.stop();
  }
  for (const file of readdirSync(dir)) {
    if (!file.endsWith(".cpuprofile")) continue;
    const sampled = JSON.parse(readFileSync(join(dir, file), "utf8")) as CpuProfile;
    tables.push(`bridge, main thread, with its start:\n${functionTable(sampled)}`);
  }
  return tables;
}

async function bySystemCall(name: SubjectName, measure: Measure, share: number, dir: string): Promise<string[]> {
  const subject = await startSubject(name);
  try {
    const traces = await Promise.all(subject.servers.map((server) => countSystemCalls(server, dir)));
    await measure(subject, share);
    const tables: string[] = [];
    for (const end of traces) if (end !== undefined) tables.push(await end());
    return tables;
  } finally {
    await subject.stop();
  }
}

function rowsOf(result: Result): string {
  return Object.entries(result)
    .map(([row, value]) => `${row} ${show(value)}`)
    .join("\n");
}
