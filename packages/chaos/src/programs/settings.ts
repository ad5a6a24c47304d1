// The settings of the exactly-once suite, from its command line. Pure.

import { parseArgs } from "node:util";

export const USAGE = `Usage: sbx-exactly-once URL [options]        the token is in SBX_TOKEN

Writes to one session over the HTTP interface and stdio.v1 (WebSocket), cuts its own calls before, during and after their responses,
repeats them, and checks every byte, receipt and wait.

  --writes N     number of writes, and of waits (default 1000)
  --programs N   programs that write concurrently, each as a separate writer (default 10)
  --seed S       an integer; the same seed plans the same writes and cuts (default: random, printed)
  --cuts P       percentage of calls that are cut (default 40)
  --sandbox ID   the sandbox (default: a new one); it needs sh, stty and cat
  --help         this text

SBX_TOKEN may hold several comma-separated tokens, of people who share sandboxes: calls are spread over them, since each person's
calls are limited.
Exit codes: 0 if every check passed; 1 if data was lost, duplicated or reordered, or a wait or receipt was wrong; 2 for a usage error.
`;

export class UsageError extends Error {}

export type Settings = {
  readonly url: URL;
  readonly tokens: readonly [string, ...string[]];
  readonly writes: number;
  readonly programs: number;
  readonly seed: number;
  /** From 0 to 1. */
  readonly cutChance: number;
  readonly sandbox: string;
};

/** @returns undefined where help was asked for. @throws {UsageError} */
export function readSettings(args: readonly string[], token: string): Settings | undefined {
  const names = ["writes", "programs", "seed", "cuts", "sandbox"] as const;
  const text = { type: "string" } as const;
  const parsed = parsedArgs(args, {
    ...Object.fromEntries(names.map((name) => [name, text])),
    help: { type: "boolean" },
  });
  const { values, positionals } = parsed;
  if (values.help === true) return undefined;
  const whole = (name: (typeof names)[number], fallback: number, max = 1e9): number => {
    const value = values[name];
    if (value === undefined) return fallback;
    const number = typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
    if (number <= max) return number;
    throw new UsageError(`--${name} must be an integer from 0 to ${max}`);
  };
  const url = positionals.length === 1 ? URL.parse(positionals[0] ?? "") : null;
  if (url === null) throw new UsageError("give exactly one URL: the server's");
  const [first, ...others] = token.split(",").filter((one) => one !== "");
  if (first === undefined) throw new UsageError("SBX_TOKEN must hold a token for the server");
  const seed = whole("seed", Math.floor(Math.random() * 1e9));
  return {
    url,
    tokens: [first, ...others],
    writes: whole("writes", 1_000),
    // 64 writers may write to one process.
    programs: Math.max(1, whole("programs", 10, 63)),
    seed,
    cutChance: whole("cuts", 40, 95) / 100,
    sandbox: typeof values.sandbox === "string" ? values.sandbox : `exactly-once-${seed}-${Date.now().toString(36)}`,
  };
}

function parsedArgs(args: readonly string[], options: Record<string, { type: "string" | "boolean" }>) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
