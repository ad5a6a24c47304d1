// The command: `npm run chaos -- --cuts 10000 --seed S [--url URL]`. Reads arguments, prints, and sets the exit code.

import { appendFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { noteCounts } from "../../local/src/base/counts.ts";
import { REAL_TIME_PROFILE } from "./faults.ts";
import { type Ground, localGround, remoteGround } from "./ground.ts";
import { Run } from "./run.ts";

const USAGE = `Usage: npm run chaos -- [options]

  --cuts N       connections to break, over both hops (default 1000)
  --seed S       a whole number; the same one plans the same faults (default: random, printed)
  --parallel N   sessions side by side (default 16)
  --aborts N     Durable Objects to abort meanwhile (default: one for each 50 cuts)
  --kills N      times that the whole Worker is killed (default: one for each 3000 cuts)
  --losses N     times that the bridge is killed with all processes, which must be told (default: one for each 5000 cuts)
  --reloads N    times that a client is made anew from its resume point (default: one for each 100 cuts)
  --park N       seconds by the Worker's clock after which a quiet session is parked; some sessions pause then, and parked Durable Objects
                 are taken out of memory (default 2; 0: never)
  --speed N      how much faster than real time the clocks of clients and Worker are (default 10)
  --bytes N      bytes that one session moves, about (default 1000000)
  --url URL      a server that speaks the protocol, instead of a local system of its own; the token is in SBX_TOKEN.
                 Only the connections to it are broken, nothing is restarted, no program types by calls, no client in a dialect
                 looks on, and its sandbox needs Node
  --steps FILE   writes what clients saw as steps of the model; \`npm run chaos -- steps\` replays them in it
  --client CMD   another client instead of ours, at real time: run by the shell with the URL of an attach, --, and a command as its
                 arguments, and the token in SBX_TOKEN. Its stdin, stdout, stderr and exit code must be those of the process
`;

/** Far more than it takes: for the start and the end, for each cut, and for what stands still until it is noticed. */
const LIMIT_MS = { fixed: 120_000, perCut: 200, perStandstill: 40_000 };

const SHOWN_FAULTS = 10;
const PAUSE_FACTOR = 20;

class UsageError extends Error {}

type Settings = {
  readonly cuts: number;
  readonly seed: number;
  readonly parallel: number;
  readonly aborts: number;
  readonly kills: number;
  readonly losses: number;
  readonly reloads: number;
  readonly park: number;
  readonly speed: number;
  readonly bytes: number;
  readonly url: URL | undefined;
  readonly client: string | undefined;
  readonly steps: string | undefined;
};

function readArguments(args: readonly string[]): Settings {
  const names = [
    "cuts",
    "seed",
    "parallel",
    "aborts",
    "kills",
    "losses",
    "reloads",
    "park",
    "speed",
    "bytes",
    "url",
    "client",
    "steps",
  ] as const;
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
  let values: Record<string, unknown>;
  try {
    ({ values } = parseArgs({ args: [...args], options }));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  const whole = (name: (typeof names)[number], fallback: number): number => {
    const value = values[name];
    if (value === undefined) return fallback;
    if (typeof value === "string" && /^\d{1,10}$/.test(value)) return Number(value);
    throw new UsageError(`--${name} must be a whole number`);
  };
  const cuts = whole("cuts", 1_000);
  const client = typeof values.client === "string" ? values.client : undefined;
  const url = typeof values.url === "string" ? URL.parse(values.url) : undefined;
  if (url === null) throw new UsageError(`--url is not a URL: ${values.url}`);
  // A server or client that is not ours has its own clock, and proportions must stay.
  const isOurs = url === undefined && client === undefined;
  return {
    cuts,
    url,
    client,
    steps: typeof values.steps === "string" ? values.steps : undefined,
    seed: whole("seed", Math.floor(Math.random() * 1e9)),
    parallel: Math.max(1, whole("parallel", isOurs ? 16 : 8)),
    aborts: whole("aborts", Math.floor(cuts / 50)),
    kills: whole("kills", Math.floor(cuts / 3_000)),
    losses: isOurs ? whole("losses", Math.floor(cuts / 5_000)) : 0,
    reloads: client === undefined ? whole("reloads", Math.floor(cuts / 100)) : 0,
    park: whole("park", isOurs ? 2 : 0),
    speed: isOurs ? Math.max(1, whole("speed", 10)) : 1,
    bytes: whole("bytes", 1_000_000),
  };
}

/** @returns The exit code. */
export async function chaos(args: readonly string[], signal?: AbortSignal): Promise<number> {
  let settings: Settings;
  try {
    settings = readArguments(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${USAGE}`);
    return 2;
  }
  const { cuts, seed, speed, url, bytes, park, steps, ...rest } = settings;
  const token = process.env.SBX_TOKEN ?? "";
  if (url !== undefined && token === "") {
    console.error("SBX_TOKEN must hold a token for the server");
    return 2;
  }
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1000;
  const log = (line: string) => console.log(`${seconds().toFixed(0).padStart(5)} s  ${line}`);
  console.log(`chaos: ${cuts} cuts, seed ${seed}, clocks ${speed} times as fast as real time`);
  const run = new Run({
    ...rest,
    cuts,
    seed,
    speed,
    sessionBytes: bytes,
    isMixed: url === undefined && rest.client === undefined,
    // Long enough for the look, the bridge's answer and an eviction.
    pauseMs: park === 0 ? 0 : (park * 1000 * PAUSE_FACTOR) / speed,
    limitMs: LIMIT_MS.fixed + cuts * (LIMIT_MS.perCut + LIMIT_MS.perStandstill / (speed * rest.parallel)),
    // Half a minute more than the longest that any part waits by design.
    stuckMs: 30_000 + 60_000 / speed,
    ...(rest.client === undefined ? {} : { profile: REAL_TIME_PROFILE }),
    log,
    traced: steps === undefined ? undefined : (seen) => appendFileSync(steps, `${JSON.stringify(seen)}\n`),
  });
  const ground: Ground =
    url === undefined
      ? await localGround({ speed, parkSeconds: park }, (hop) => run.hop(hop), signal)
      : await remoteGround(url, token, run.hop("outer"));
  log(`started, ${ground.attachUrl.origin}`);
  signal?.addEventListener("abort", () => run.giveUp("stopped"));
  const { isGood, faults } = await judge(run, ground).finally(() => ground.close());
  for (const fault of faults.slice(0, SHOWN_FAULTS)) console.log(`! logged: ${fault}`);
  console.log(`\n${isGood ? "good" : "NOT GOOD"}, seed ${seed}\n${run.tally.report(seconds())}`);
  noteCounts(run.tally.counts);
  return isGood ? 0 : 1;
}

async function judge(run: Run, ground: Ground): Promise<{ isGood: boolean; faults: readonly string[] }> {
  const wasGood = await run.on(ground);
  const faults = ground.faults?.() ?? [];
  return { isGood: wasGood && faults.length === 0, faults };
}

if (import.meta.main) process.exitCode = await chaos(process.argv.slice(2));
