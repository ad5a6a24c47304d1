// `npm run chaos`: see packages/chaos. `npm run chaos -- programs` is the exactly-once suite of the programs' interface, `-- steps` replays
// what the clients saw in the model of packages/sandbox-stdio/test/model.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chaos } from "../packages/chaos/src/main.ts";
import { localExactlyOnce } from "../packages/chaos/src/programs/local.ts";
import { ROOT } from "../packages/local/src/base/paths.ts";
import { stopSignal } from "../packages/local/src/base/stop-signals.ts";

const MODEL = join(ROOT, "packages/sandbox-stdio/test/model/replay-steps.ts");

/** @returns The exit code. */
async function replayed(args: readonly string[], signal: AbortSignal): Promise<number> {
  const scratch = mkdtempSync(join(tmpdir(), "sbx-steps-"));
  try {
    const steps = join(scratch, "steps.jsonl");
    const code = await chaos([...args, "--steps", steps], signal);
    return code === 0 ? (spawnSync(process.execPath, [MODEL, steps], { stdio: "inherit" }).status ?? 1) : code;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const [mode, ...rest] = process.argv.slice(2);
const signal = stopSignal();
let code: number;
if (mode === "programs") code = await localExactlyOnce(rest, signal);
else if (mode === "steps") code = await replayed(rest, signal);
else code = await chaos(process.argv.slice(2), signal);
// Not by `exitCode`: after thousands of broken connections Node may spin for ever while it closes what is left at a natural exit.
process.exit(code);
