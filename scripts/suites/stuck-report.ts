// Says what a Node process waits for that should have ended: its stack, its open handles, and the processes that it has left.
import { execFileSync } from "node:child_process";
import { basename, dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readTextIfPresent } from "../../packages/local/src/base/files.ts";

const REPORT_MS = 3_000;

type NodeReport = {
  readonly javascriptStack?: { readonly stack?: readonly string[] };
  readonly libuv?: readonly Readonly<Record<string, unknown>>[];
};

/** Node's arguments for a process that may be asked. @param file Where it writes its report. */
export const reportingArgs = (file: string): string[] => [
  ...["--report-on-signal", "--report-signal=SIGUSR2", "--report-exclude-env"],
  ...[`--report-directory=${dirname(file)}`, `--report-filename=${basename(file)}`],
];

/** Asks a process that was started with {@link reportingArgs} and the same file. */
export async function stuckReport(pid: number, file: string): Promise<string> {
  process.kill(pid, "SIGUSR2");
  await pause(REPORT_MS);
  const text = readTextIfPresent(file);
  const { javascriptStack, libuv = [] } = JSON.parse(text ?? "{}") as NodeReport;
  const handles = libuv.filter((handle) => handle.is_active === true && handle.is_referenced !== false);
  const processes = execFileSync(
    "ps",
    ["--ppid", "2", "-p", "2", "-N", "-o", "pid,ppid,stat,wchan:20,args", "--forest"],
    { encoding: "utf8" },
  );
  return [
    text === undefined ? "It gave no report: its thread computes, or is in a call of the system" : "It was here:",
    ...(javascriptStack?.stack ?? []),
    ...handles.map((handle) => JSON.stringify(handle)),
    ...processes.split("\n").map((line) => line.slice(0, 160)),
  ].join("\n");
}
