// Starts the system with real containers, and gives the tests the place of it in the words of the end-to-end tests, whose
// clients they use.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { anyFreePort } from "../../packages/local/src/base/ports.ts";
// For its declaration of what is provided.
import type {} from "../e2e/global-setup.ts";
import { BridgeProxy } from "../e2e/support/system/bridge-proxy.ts";
import { type ControlServer, serveActions } from "../e2e/support/system/control-server.ts";
import { WORKER_VARS } from "../e2e/support/system/worker-vars.ts";
import { type ContainerSystem, startContainerSystem } from "./container-system.ts";
import { containerWay } from "./way.ts";

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), "sbx-container-"));
  const workerPort = await anyFreePort();
  const relay = await BridgeProxy.listen(workerPort);
  const relayOrigin = relay.url.replace("127.0.0.1", "localhost");
  const system = await startContainerSystem({
    dir,
    workerPort,
    way: containerWay(),
    workerVars: {
      ALLOWED_HOSTS: new URL(relayOrigin).host,
      ...WORKER_VARS,
      // Soon enough to be waited for.
      SLEEP_AFTER: "3s",
      STOP_SECONDS: "5",
    },
  });
  const control = await startControlServer(system, relay);
  project.provide("system", {
    origin: system.origin,
    issuerUrl: system.issuerUrl,
    dir,
    controlUrl: control.url,
    // There is no bridge but in containers.
    bridgeUrl: "",
    bridgeToken: "",
    sandboxesDir: "",
    relayOrigin,
  });
  return async () => {
    await control.close();
    await relay.close();
    await system.stop();
    if (process.env.SBX_KEEP === undefined) rmSync(dir, { recursive: true, force: true });
    else console.log(`kept ${dir}`);
  };
}

/** Lets the tests, which run in other processes, restart the Worker: `POST URL/restart-worker`. */
function startControlServer(system: ContainerSystem, relay: BridgeProxy): Promise<ControlServer> {
  return serveActions({
    "restart-worker": () => system.restartWorker(),
    "remove-containers": () => system.removeContainers(),
    // A bridge that ends takes its container with it, and the sessions.
    "restart-bridge": () => system.killContainers(),
    "kill-bridge": () => system.killContainers(),
    // A new container is started for who comes.
    "start-bridge": () => undefined,
    "cut-relay": () => relay.cut(),
    "bridge-sessions": async (query) =>
      (await system.sessionsInBridges(query)).flatMap((body) => (JSON.parse(body) as { sessions: unknown[] }).sessions),
    cut: () => system.cutConnections(),
    // There is no bridge on this machine: the Worker stands for both.
    pids: () => ({ worker: system.workerPid, bridge: system.workerPid }),
    // What the bridge says is held back anyhow in a new sandbox, while its container starts.
    hold: () => undefined,
    release: () => undefined,
  });
}
