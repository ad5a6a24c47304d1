// The settings of the exactly-once suite, from its command line. Pure.

import { parseArgs } from "node:util";

export const USAGE = `Usage: sbx-exactly-once URL [options]        the token is in SBX_TOKEN

Writes and waits at one session of a server that speaks the programs' interface (HTTP) and stdio.v1 (WebSocket), cuts its own calls
before, during and after their answers, repeats them, and checks every byte, every receipt and every wait.

  --writes N     writes in all (default 1000); as many waits
  --programs N   programs that write side by side, each a writer of its own (default 10)
  --seed S       a whole number; the same one plans the same writes and cuts (default: random, printed)
  --cuts P       how many of 100 calls are cut (default 40)
  --sandbox ID   the sandbox that it works in (default: a fresh one); it needs sh, stty and cat
  --help         this text

SBX_TOKEN may hold several tokens, separated by commas, of people who share sandboxes: calls are shared among them, since a
person's are limited.
Ends with 0 if all is well, 1 if anything was lost, doubled, out of order, missed, early or not true, 2 for a usage error.
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
    throw new UsageError(`--${name} must be a whole number up to ${max}`);
  };
  const url = positionals.length === 1 ? URL.parse(positionals[0] ?? "") : null;
  if (url === null) throw new UsageError("one URL is needed, of the server");
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
