// The cost of a call beside a connection: `true` by one request of the programs' interface, and by an attach that does the same.

import { PATIENCE_MS, type Result } from "./measuring.ts";
import { median, scaled } from "./numbers.ts";
import type { Subject } from "./subjects.ts";
import { runToExit, type TerminalSpec } from "./terminal.ts";

/** The first few pay for code that is loaded once. */
const WARM_UP = 10;
const TIMES = 50;

/** In turn, so that a machine that slows down slows both. */
export async function runTrue(subject: Subject, share = 1): Promise<Result> {
  const spec = subject.spec(["true"], { tty: false });
  const byAttach: number[] = [];
  const byCall: number[] = [];
  for (let i = 0; i < WARM_UP + scaled(TIMES, share, 5); i += 1) {
    const attached = await timed(() => runToExit(spec));
    const called = await timed(() => call(spec));
    if (i < WARM_UP) continue;
    byAttach.push(attached);
    byCall.push(called);
  }
  return { "`true` by an attach, ms": median(byAttach), "`true` by HTTP *run*, ms": median(byCall) };
}

async function timed(run: () => Promise<number>): Promise<number> {
  const from = performance.now();
  const code = await run();
  if (code !== 0) throw new Error(`\`true\` ended with ${code}`);
  return performance.now() - from;
}

/** @returns The process's exit code. */
async function call({ url, headers, command }: TerminalSpec): Promise<number> {
  const [cmd, ...args] = command;
  const response = await fetch(`${url}/api/sandboxes/bench/run`, {
    method: "POST",
    headers,
    body: JSON.stringify({ cmd, args }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const { state, exit } = (await response.json()) as { state?: string; exit?: { code: number } };
  if (state !== "exited" || exit === undefined) throw new Error(`run answered ${response.status}, state ${state}`);
  return exit.code;
}
