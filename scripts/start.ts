// `npm start`: builds what has changed, runs the local system until it is told to stop, and prints how to use it.
// packages/local/src/system/system.ts does the work.

import { join } from "node:path";
import { localDir, ROOT } from "../packages/local/src/base/paths.ts";
import { chosenPort, nextFreePort, PortError } from "../packages/local/src/base/ports.ts";
import { abortOf, stopSignal } from "../packages/local/src/base/stop-signals.ts";
import { buildUnlessUnchanged, CHECKOUT_SOURCES } from "../packages/local/src/build/build-record.ts";
import { buildAll } from "../packages/local/src/build/builds.ts";
import { BuildError } from "../packages/local/src/build/tool.ts";
import { CLI_CLIENT_ID } from "../packages/local/src/issuer/tokens.ts";
import { ChildKeeper } from "../packages/local/src/processes/children.ts";
import { NotReadyError } from "../packages/local/src/processes/ready.ts";
import { claimDirectory, claimPort } from "../packages/local/src/system/claim.ts";
import {
  currentIssuer,
  DEFAULT_ISSUER_PORT,
  isAlive,
  readRunRecords,
  writeRunRecord,
} from "../packages/local/src/system/run-record.ts";
import { startSystem } from "../packages/local/src/system/system.ts";
import { bundleWorker } from "../packages/local/src/system/worker-bundle.ts";
import { workerEnv } from "../packages/local/src/system/worker-env.ts";

const DEFAULT_PORT = 8787;
/** From the checkout, where the token comes from too: no registry has it. */
const CLI = "packages/sbx-cli/bin/sbx-stdio.js";

/** The issuer's last port where that is free, since tokens made meanwhile name it; else the default or the next one. */
async function issuerPort(dir: string, taken: number): Promise<number> {
  const last = Number(new URL(currentIssuer(dir)).port);
  if (last !== taken && (await claimPort(last))) return last;
  return nextFreePort(DEFAULT_ISSUER_PORT, [taken], claimPort);
}

function welcome(
  system: { origin: string; issuerUrl: string; dir: string },
  isOnlyRun: boolean,
  seconds: string,
): string {
  const token = `npm run --silent token${isOnlyRun ? "" : ` -- --port ${new URL(system.origin).port}`}`;
  return `
sbx-stdio is running (${seconds} s)

  In a browser   ${system.origin}/?sandbox=dev
                 sign in as alice, bob or anybody: no password, this machine only
  In a terminal  SBX_TOKEN=$(${token}) ${CLI} ${system.origin}/attach --sandbox dev
                 or log in as the browser does: ${CLI} login ${system.origin} --issuer ${system.issuerUrl} --client-id ${CLI_CLIENT_ID}
  Network        not restricted: what runs here is on this machine, as you (EGRESS_ALLOW is for containers)
  Files          ${system.dir} (sandboxes, logs)
  Stop           Ctrl+C
`;
}

/** @param dir Of the run. @returns The Worker's bundle. */
async function buildChanged(dir: string, signal: AbortSignal): Promise<string> {
  const outDir = join(dir, "bundle");
  const keeper = new ChildKeeper();
  try {
    await buildUnlessUnchanged({
      recordFile: join(dir, "built"),
      sources: CHECKOUT_SOURCES,
      outputs: [join(ROOT, "packages/dashboard/dist"), join(ROOT, "packages/sbx-cli/dist/sbx-stdio.js"), outDir],
      build: async () => {
        console.log("Building the page, the command line and the Worker");
        await buildAll(signal);
        signal.throwIfAborted();
        await bundleWorker(keeper, { outDir, logFile: join(dir, "logs/bundle.log"), env: workerEnv(dir) });
      },
    });
  } finally {
    keeper.close();
  }
  return outDir;
}

/** Runs until `signal` stops it. @throws {NotReadyError} If a part of the system ends by itself and stays down. */
async function run(signal: AbortSignal): Promise<void> {
  const startedAt = Date.now();
  const dir = localDir();
  const port = await chosenPort(process.env.PORT, DEFAULT_PORT, claimPort);
  const claim = await claimDirectory(dir, port);
  const bundle = await buildChanged(claim, signal);
  console.log("Starting the bridge, the issuer and the Worker");
  const isOnlyRun = !readRunRecords(dir).some((record) => isAlive(record.pid));
  const system = await startSystem({
    dir: claim,
    bundle,
    keysDir: dir,
    ports: { worker: port, issuer: await issuerPort(dir, port) },
    workerVars: { HOME_SANDBOX: "dev" },
    accessTokens: process.env.SBX_ACCESS_TOKENS === "opaque" ? "opaque" : "jwt",
    onRevival: (line) => console.log(line),
    signal,
  });
  const { origin, issuerUrl: issuer } = system;
  writeRunRecord(dir, { pid: process.pid, origin, issuer, startedAt });
  console.log(welcome(system, isOnlyRun, ((Date.now() - startedAt) / 1000).toFixed(1)));

  const failure = await Promise.race([system.failed, abortOf(signal)]);
  console.log("\nStopping");
  await system.stop();
  if (failure !== undefined) throw new NotReadyError(failure);
  console.log("Stopped");
}

const signal = stopSignal();
try {
  await run(signal);
} catch (error) {
  const isExpected = error instanceof PortError || error instanceof BuildError || error instanceof NotReadyError;
  if (signal.aborted) console.error("Stopped before everything was up");
  else console.error(isExpected ? error.message : error);
  process.exitCode = 1;
}
