// `npm start`: builds what has changed, and runs it as `sbx-stdio serve` does, where anybody may sign in as anybody.

import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { localDir, ROOT } from "../packages/local/src/base/paths.ts";
import { chosenPort, PortError } from "../packages/local/src/base/ports.ts";
import { stopSignal } from "../packages/local/src/base/stop-signals.ts";
import { buildUnlessUnchanged, CHECKOUT_SOURCES } from "../packages/local/src/build/build-record.ts";
import { buildAll } from "../packages/local/src/build/builds.ts";
import { BuildError } from "../packages/local/src/build/tool.ts";
import { CLI_CLIENT_ID } from "../packages/local/src/issuer/tokens.ts";
import { claimDirectory, claimPort, DEFAULT_PORT, livingRuns } from "../packages/local/src/system/claim.ts";
import { buildParts } from "../packages/local/src/system/parts.ts";

/** From the checkout, where the token comes from too: no registry has it. */
const CLI = "packages/sbx-cli/bin/sbx-stdio.js";

function welcome(origin: string, seconds: string, { dir, isOnlyRun }: { dir: string; isOnlyRun: boolean }): string {
  const token = `npm run --silent token${isOnlyRun ? "" : ` -- --port ${new URL(origin).port}`}`;
  return `
sbx-stdio is running (${seconds} s)

  In a browser   ${origin}/?sandbox=dev
                 log in as alice, bob or anybody: no password, this machine only
  In a terminal  SBX_TOKEN=$(${token}) ${CLI} ${origin}/attach --sandbox dev
                 or log in as the browser does: ${CLI} login ${origin} --issuer ${origin} --client-id ${CLI_CLIENT_ID}
  Network        not restricted: what runs here is on this machine, as you (EGRESS_ALLOW is for containers)
  Files          ${dir} (sandboxes, logs)
  Stop           Ctrl+C
`;
}

/** @param dir Of the run. @returns The folder of the built parts. */
async function buildChanged(dir: string, signal: AbortSignal): Promise<string> {
  const parts = join(dir, "parts");
  await buildUnlessUnchanged({
    recordFile: join(dir, "built"),
    sources: CHECKOUT_SOURCES,
    outputs: [join(ROOT, "packages/dashboard/dist"), join(ROOT, "packages/sbx-cli/dist/sbx-stdio.js"), parts],
    build: async () => {
      console.log("Building the page, the command line and the Worker");
      await buildAll(signal);
      signal.throwIfAborted();
      await buildParts(parts, { signal });
    },
  });
  return parts;
}

/** Runs until `signal` stops it. @returns What was wrong. */
async function run(signal: AbortSignal): Promise<string | undefined> {
  const startedAt = performance.now();
  const keysDir = localDir();
  const port = await chosenPort(process.env.PORT, DEFAULT_PORT, claimPort);
  const dir = await claimDirectory(keysDir, port);
  mkdirSync(dir, { recursive: true });
  // Other tasks' caches may have made it for everybody.
  chmodSync(dir, 0o700);
  const parts = await buildChanged(dir, signal);
  console.log("Starting the bridge, the issuer and the Worker");
  const isOnlyRun = livingRuns(keysDir).length === 0;
  let isUp = false;
  signal.addEventListener("abort", () => isUp && console.log("\nStopping"));
  const local = {
    keysDir,
    accessTokens: process.env.SBX_ACCESS_TOKENS === "opaque" ? "opaque" : "jwt",
    welcome: (origin: string): string => {
      isUp = true;
      return welcome(origin, ((performance.now() - startedAt) / 1000).toFixed(1), { dir, isOnlyRun });
    },
  } as const;
  const serve: typeof import("../packages/serve/src/index.ts") = await import(join(parts, "serve.mjs"));
  const ended = await serve.runLocal({ port, state: dir }, local);
  if (isUp && ended === undefined) console.log("Stopped");
  return ended;
}

const signal = stopSignal();
try {
  const wrong = await run(signal);
  if (wrong !== undefined) throw new BuildError(wrong);
} catch (error) {
  const isExpected = error instanceof PortError || error instanceof BuildError;
  if (signal.aborted) console.error("Stopped before everything was up");
  else console.error(isExpected ? error.message : error);
  process.exitCode = 1;
}
