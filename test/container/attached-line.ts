// A command line at a session whose container dies, and who reads the session afterwards.
import { type CliChild, exitCode, startCli, textOf } from "../e2e/support/clients/cli.ts";
import { api, type Person } from "../e2e/support/system/system.ts";
import { until } from "../e2e/support/system/wait.ts";

/** How it ended, and the last line that it said. */
export type LineEnd = { readonly code: number; readonly said: string };

async function endOf(child: CliChild): Promise<LineEnd> {
  const [code, stderr] = await Promise.all([exitCode(child), textOf(child.stderr)]);
  return { code, said: stderr.trimEnd().split("\n").at(-1) ?? "" };
}

/** One that has seen the session's first output. */
export async function attachedLine(who: Person, session: string): Promise<{ end(): Promise<LineEnd> }> {
  const child = startCli(who, ["--session", session]);
  const ended = endOf(child);
  let hasOutput = false;
  child.stdout.on("data", () => {
    hasOutput = true;
  });
  await until("the command line's output", () => hasOutput);
  return { end: () => ended };
}

/** One that comes to a server where nothing can be started. */
export async function lineEnd(who: Person, session: string, origin: string): Promise<LineEnd> {
  const child = startCli(who, ["--session", session, "--", "cat"], undefined, origin);
  child.stdin.end();
  child.stdout.resume();
  return endOf(child);
}

/** What a program reads of the session by HTTP. */
export async function lateReader(who: Person, session: string): Promise<Record<string, unknown>> {
  const path = `/api/sandboxes/default/sessions/${session}`;
  const state = (await (await api(who, path)).json()) as object;
  const { output } = (await (await api(who, `${path}/output?from=0`)).json()) as { output: string };
  return { ...state, output };
}
