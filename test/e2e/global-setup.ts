// Starts the system that all end-to-end tests share: the Worker, the bridge behind a proxy that records and cuts, and
// the issuer; and a way for the tests, which run in other processes, to restart its parts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { anyFreePort } from "../../packages/local/src/ports.ts";
import { startSystem } from "../../packages/local/src/system.ts";
import { BridgeProxy } from "./support/bridge-proxy.ts";
import { startControlServer, USUAL_TOKEN_SECONDS } from "./support/control-server.ts";
import { WORKER_VARS } from "./support/worker-vars.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where everything is. Plain data: it is copied to the test processes. */
    readonly system: {
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
    };
  }
}

/** `SBX_KEEP=1` in the environment keeps the system's files, its logs among them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), "sbx-e2e-"));
  const bridgePort = await anyFreePort();
  const workerPort = await anyFreePort();
  const proxy = await BridgeProxy.listen(bridgePort);
  const relay = await BridgeProxy.listen(workerPort);
  const relayOrigin = relay.url.replace("127.0.0.1", "localhost");
  const cleanUp = async () => {
    await Promise.all([proxy.close(), relay.close()]);
    if (process.env.SBX_KEEP === undefined) rmSync(dir, { recursive: true, force: true });
    else console.log(`kept ${dir}`);
  };
  // At full size memory is compared with what is live: V8 does not see what its small objects hold of the runtime, and would let
  // a gigabyte of that wait for a collection. On the platform an object's limit of 128 MB asks for one.
  const { SBX_LOAD, FUZZ_SECONDS } = process.env;
  if (SBX_LOAD === "full" || FUZZ_SECONDS !== undefined) process.env.MINIFLARE_WORKERD_V8_FLAGS ??= "--gc-global";
  let tokenSeconds = USUAL_TOKEN_SECONDS;
  const system = await startSystem({
    dir,
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
      ...(project.name === "browser" ? { LIMIT_SANDBOXES: "1000", LIMIT_CALLS_PER_MINUTE: "6000" } : {}),
    },
  }).catch(async (error: unknown) => {
    // What its log said is in the error.
    await cleanUp();
    throw error;
  });
  // What fails from then on fails for this reason.
  void system.failed.then((message) => console.error(message));
  const control = await startControlServer(system, proxy, relay, (seconds) => {
    tokenSeconds = seconds;
  });
  const { origin, issuerUrl, bridgeUrl, bridgeToken, sandboxesDir } = system;
  project.provide("system", {
    origin,
    issuerUrl,
    bridgeUrl,
    bridgeToken,
    dir,
    sandboxesDir,
    controlUrl: control.url,
    relayOrigin,
  });
  return async () => {
    await control.close();
    await system.stop();
    await cleanUp();
  };
}
