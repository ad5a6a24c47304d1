// Measures the HTTP interface: `true` by one request beside an attach that runs it, and the echo of a key in another session while
// waits with hostile patterns search endless output.

import { setTimeout as pause } from "node:timers/promises";
import { median, percentile, scaled } from "../base/numbers.ts";
import type { Subject } from "../subjects/subjects.ts";
import { runToExit, type TerminalSpec } from "../subjects/terminal.ts";
import { echoes, PATIENCE_MS, type Result, readyCat } from "./measuring.ts";

/** Rounds not counted: they load code. */
const WARM_UP = 10;
const TIMES = 50;
const AT_ONCE = 100;

/** Alternates both, so that a slower machine slows both. The floor answers calls and has no attach. */
export async function runTrue(subject: Subject, share = 1): Promise<Result> {
  const spec = subject.spec(["true"], { tty: false });
  const byAttach: number[] = [];
  const byCall: number[] = [];
  for (let i = 0; i < WARM_UP + scaled(TIMES, share, 5); i += 1) {
    const attached = spec.kind === "floor" ? undefined : await timed(() => runToExit(spec));
    const called = await timed(() => call(spec));
    if (i < WARM_UP) continue;
    if (attached !== undefined) byAttach.push(attached);
    byCall.push(called);
  }
  const from = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, () => timed(() => call(spec))));
  const each = (performance.now() - from) / AT_ONCE;
  return {
    "`true` by an attach, ms": median(byAttach),
    "`true` by HTTP *run*, ms": median(byCall),
    [`... ${AT_ONCE} at once, ms each`]: each,
  };
}

async function timed(run: () => Promise<number>): Promise<number> {
  const from = performance.now();
  const code = await run();
  if (code !== 0) throw new Error(`\`true\` ended with ${code}`);
  return performance.now() - from;
}

const WAITS = 200;
/** Time until all waits are open. */
const OPEN_MS = 4_000;
/** On a long line of these letters each would keep a backtracking engine busy forever. */
const HOSTILE = ["(a*)*b", "(a|a)*b", "(a|aa)+$b", "([a-z]+)*\\d", "(.*)(.*)(.*)(.*)b$"];
const LINES = ["sh", "-c", "exec yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"];

/** Echo of a key in another session of the same server, alternating without and beside such waits. */
export async function echoBesideWaits(subject: Subject, share = 1): Promise<Result> {
  const alone: number[] = [];
  const beside: number[] = [];
  for (let i = 0; i < scaled(2, share, 1); i += 1) {
    const terminal = await readyCat(subject);
    alone.push(...(await echoes(terminal, 200, PATIENCE_MS)));
    const waits = await openWaits(subject.spec(LINES, { tty: false }));
    await pause(OPEN_MS);
    beside.push(...(await echoes(terminal, 200, PATIENCE_MS)));
    await waits.close();
    terminal.close();
  }
  return {
    "key beside 200 hostile waits p99, ms, without them": percentile(alone, 0.99),
    "key beside 200 hostile waits p99, ms": percentile(beside, 0.99),
  };
}

/** Starts a session that prints without end, and opens waits that are never met. */
async function openWaits(spec: TerminalSpec): Promise<{ close(): Promise<void> }> {
  const session = `waits-${process.pid}-${Date.now()}`;
  const [cmd, ...args] = spec.command;
  await ask(spec, "PUT", `sessions/${session}`, { cmd, args });
  const waits = Promise.all(
    Array.from({ length: WAITS }, (_, i) => {
      const until = { match: HOSTILE[i % HOSTILE.length] };
      return ask(spec, "POST", `sessions/${session}/wait`, { until, from: 0, timeoutMs: 20_000 });
    }),
  );
  waits.catch(() => undefined); // close() reports it.
  return {
    async close() {
      await ask(spec, "DELETE", `sessions/${session}`);
      for (const answer of await waits) {
        const body = await answer.text();
        // A wait that lags behind the output when its session ends gets `not_found` or its timeout.
        if (!/"outcome":"(?:exited|timeout)"|"error":"not_found"/.test(body))
          throw new Error(`a wait ended as ${body.trim()}`);
      }
    },
  };
}

/** @returns The process's exit code. */
async function call(spec: TerminalSpec): Promise<number> {
  const [cmd, ...args] = spec.command;
  const response = await ask(spec, "POST", "run", { cmd, args });
  const { state, exit } = (await response.json()) as { state?: string; exit?: { code: number } };
  if (state !== "exited" || exit === undefined) throw new Error(`run answered ${response.status}, state ${state}`);
  return exit.code;
}

async function ask({ url, headers }: TerminalSpec, method: string, path: string, body?: unknown): Promise<Response> {
  const signal = AbortSignal.timeout(12 * PATIENCE_MS);
  const request = { method, headers, signal, body: JSON.stringify(body) };
  const response = await fetch(`${url}/api/sandboxes/bench/${path}`, request);
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response;
}
