// The command: `node packages/chaos/src/programs/main.ts URL`, or `npm run chaos -- programs` with a local system of its own.

import { readSettings, type Settings, USAGE, UsageError } from "./settings.ts";
import { type Disturbance, Suite } from "./suite.ts";

/** @returns The exit code. */
export async function exactlyOnce(settings: Settings, disturbance?: Disturbance): Promise<number> {
  const { seed, writes, programs, url, sandbox } = settings;
  console.log(
    `exactly once: ${writes} writes by ${programs} programs at ${url.origin}, sandbox ${sandbox}, seed ${seed}`,
  );
  const startedAtMs = performance.now();
  const suite = new Suite(settings);
  try {
    await suite.run(disturbance);
  } catch (error) {
    suite.report.wrong(`the run did not end: ${error instanceof Error ? error.message : String(error)}`);
  }
  await suite.close().catch((error: unknown) => suite.report.wrong(`the session can't be ended: ${String(error)}`));
  console.log(suite.report.text(seed, (performance.now() - startedAtMs) / 1000));
  return suite.report.violations.length === 0 ? 0 : 1;
}

/** Reads arguments, and runs. @returns The exit code. */
export async function main(args: readonly string[], run: (settings: Settings) => Promise<number>): Promise<number> {
  try {
    const settings = readSettings(args, process.env.SBX_TOKEN ?? "");
    if (settings !== undefined) return await run(settings);
    console.log(USAGE);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${USAGE}`);
    return 2;
  }
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2), (settings) => exactlyOnce(settings));
