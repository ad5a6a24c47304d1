// Lends a system (the Worker, the bridge behind a proxy that records and cuts, the issuer) to each of vitest's workers. A worker runs one
// file at a time, so a file that restarts or cuts parts disturbs no other. A system is started when the first file asks for it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { anyFreePort } from "../../packages/local/src/base/ports.ts";
import { sharedParts } from "../../packages/local/src/system/installed.ts";
import { buildParts } from "../../packages/local/src/system/parts.ts";
import { startSystem } from "../../packages/local/src/system/system.ts";
import { packAll } from "../../scripts/pack.ts";
import { BridgeProxy } from "./support/system/bridge-proxy.ts";
import { serveActions, startControlServer, USUAL_TOKEN_SECONDS } from "./support/system/control-server.ts";
import { WORKER_VARS } from "./support/system/worker-vars.ts";

/** Where everything of a system is. Plain data: it is copied to the test processes. */
export interface SystemFacts {
  readonly origin: string;
  readonly issuerUrl: string;
  /** The bridge itself, not through the proxy. */
  readonly bridgeUrl: string;
  readonly bridgeToken: string;
  /** Holds the issuer's key. */
  readonly dir: string;
  readonly sandboxesDir: string;
  readonly controlUrl: string;
  /** The Worker behind a relay, whose connections tests can cut. */
  readonly relayOrigin: string;
}

declare module "vitest" {
  interface ProvidedContext {
    /** The one system of all files; absent where each worker borrows its own. */
    readonly system?: SystemFacts;
    /** `POST URL/N` answers with the facts of the system of vitest's worker N, `POST URL/packed` with where the packages are. */
    readonly systemsUrl?: string;
    /** The folder of the built parts, for the systems that tests start themselves. */
    readonly parts?: string;
  }
}

interface LentSystem {
  readonly facts: SystemFacts;
  stop(): Promise<void>;
}

/** `SBX_KEEP=1` in the environment keeps the systems' files, their logs among them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // At full size memory is compared with what is live: V8 does not see what its small objects hold of the runtime, and would let
  // a gigabyte of that wait for a collection. On the platform an object's limit of 128 MB asks for one.
  const { SBX_LOAD, FUZZ_SECONDS } = process.env;
  if (SBX_LOAD === "full" || FUZZ_SECONDS !== undefined) process.env.SBX_V8_FLAGS ??= "--gc-global";
  const base = mkdtempSync(join(tmpdir(), "sbx-e2e-"));
  const shared = sharedParts();
  const parts = shared ?? join(base, "parts");
  if (shared === undefined) await buildParts(parts);

  const lent = new Map<number, Promise<LentSystem>>();
  const lend = async (worker: number): Promise<SystemFacts> => {
    const known = lent.get(worker);
    if (known !== undefined) return (await known).facts;
    const system = startLentSystem(join(base, String(worker)), parts, project.name);
    lent.set(worker, system);
    return (await system).facts;
  };
  const workers = Array.from({ length: project.vitest.config.maxWorkers }, (_, index) => index + 1);
  let packed: ReturnType<typeof packAll> | undefined;
  const desk = await serveActions({
    ...Object.fromEntries(workers.map((worker) => [String(worker), () => lend(worker)])),
    packed: () => {
      packed ??= packAll(join(base, "packed"), parts);
      return packed;
    },
  });
  project.provide("systemsUrl", desk.url);
  project.provide("parts", parts);

  return async () => {
    await desk.close();
    // One that did not start has told so to the file that asked for it.
    const systems = await Promise.allSettled(lent.values());
    await Promise.all(systems.map((system) => (system.status === "fulfilled" ? system.value.stop() : undefined)));
    if (process.env.SBX_KEEP === undefined) rmSync(base, { recursive: true, force: true });
    else console.log(`kept ${base}`);
  };
}

async function startLentSystem(dir: string, parts: string, projectName: string): Promise<LentSystem> {
  const bridgePort = await anyFreePort();
  const workerPort = await anyFreePort();
  const proxy = await BridgeProxy.listen(bridgePort);
  const relay = await BridgeProxy.listen(workerPort);
  const relayOrigin = relay.url.replace("127.0.0.1", "localhost");
  const closeHops = () => Promise.all([proxy.close(), relay.close()]);
  let tokenSeconds = USUAL_TOKEN_SECONDS;
  const system = await startSystem({
    dir,
    parts,
    accessTokenLifetime: () => tokenSeconds,
    ports: { bridge: bridgePort, worker: workerPort },
    // Its log says then when it can call session objects.
    bridgeEnv: { LOG_LEVEL: "debug" },
    workerVars: {
      BRIDGE_URL: proxy.url,
      ALLOWED_HOSTS: new URL(relayOrigin).host,
      ...WORKER_VARS,
      // The browsers' people are all of one tenant, and each of their tests has a sandbox of its own. One of them opens a new page
      // every two seconds for minutes, which nobody does by hand.
      ...(projectName === "browser" ? { LIMIT_SANDBOXES: "1000", LIMIT_CALLS_PER_MINUTE: "6000" } : {}),
    },
  }).catch(async (error: unknown) => {
    // What its log said is in the error.
    await closeHops();
    throw error;
  });
  // What fails from then on fails for this reason.
  void system.failed.then((message) => console.error(message));
  const control = await startControlServer(system, proxy, relay, (seconds) => {
    tokenSeconds = seconds;
  });
  const { origin, issuerUrl, bridgeUrl, bridgeToken, sandboxesDir } = system;
  return {
    facts: { origin, issuerUrl, bridgeUrl, bridgeToken, dir, sandboxesDir, controlUrl: control.url, relayOrigin },
    async stop() {
      await control.close();
      await system.stop();
      await closeHops();
    },
  };
}
