// Starts the system with real containers, and gives the tests the place of it in the words of the end-to-end tests, whose
// clients they use.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { type ContainerSystem, startContainerSystem } from "../../packages/local/src/container-system.ts";
// For its declaration of what is provided.
import type {} from "../e2e/global-setup.ts";
import { WORKER_VARS } from "../e2e/support/worker-vars.ts";
import { containerWay } from "./way.ts";

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), "sbx-container-"));
  const system = await startContainerSystem({
    dir,
    way: containerWay(),
    workerVars: {
      ...WORKER_VARS,
      // Soon enough to be waited for.
      SLEEP_AFTER: "3s",
      STOP_SECONDS: "5",
    },
  });
  const control = await startControlServer(system);
  project.provide("system", {
    origin: system.origin,
    issuerUrl: system.issuerUrl,
    dir,
    controlUrl: control.url,
    // There is no bridge but in containers.
    bridgeUrl: "",
    bridgeToken: "",
    sandboxesDir: "",
    relayOrigin: "",
  });
  return async () => {
    await control.close();
    await system.stop();
    if (process.env.SBX_KEEP === undefined) rmSync(dir, { recursive: true, force: true });
    else console.log(`kept ${dir}`);
  };
}

/** Lets the tests, which run in other processes, restart the Worker: `POST URL/restart-worker`. */
async function startControlServer(system: ContainerSystem): Promise<{ url: string; close(): Promise<void> }> {
  const actions = new Map<string, () => Promise<void>>([
    ["restart-worker", () => system.restartWorker()],
    ["remove-containers", () => system.removeContainers()],
    // A bridge that ends takes its container with it, and the sessions.
    ["restart-bridge", () => system.killContainers()],
    // What the bridge says is held back anyhow in a new sandbox, while its container starts.
    ["hold", async () => undefined],
    ["release", async () => undefined],
  ]);
  const path = `/${randomBytes(16).toString("hex")}/`;
  const server = createServer(async (request, response) => {
    const url = request.url ?? "";
    const action = url.startsWith(path) && request.method === "POST" ? actions.get(url.slice(path.length)) : undefined;
    if (action === undefined) {
      response.writeHead(404).end();
      return;
    }
    try {
      await action();
      response.end("null");
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The control server has no port");
  return {
    url: `http://127.0.0.1:${address.port}${path.slice(0, -1)}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
