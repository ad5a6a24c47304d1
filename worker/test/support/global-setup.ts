// What the tests in workerd need outside of it: the test issuer, and a bridge. Runs in Node, once for all files.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestProject } from "vitest/node";
import { startTestIssuer } from "./issuer.ts";
import { STDIO_TOKEN } from "./secret.ts";

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const issuer = await startTestIssuer();
  project.provide("issuerOrigin", issuer.origin);
  project.provide("issuerKeys", issuer.keys);
  const root = mkdtempSync(join(tmpdir(), "worker-tests-"));
  const bun = join(import.meta.dirname, "../../../node_modules/.bin/bun");
  const bridge = spawn(bun, [join(import.meta.dirname, "../../../sandbox/stdio-ws.ts")], {
    env: { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", STDIO_TOKEN, SANDBOX_ROOT: root },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface(bridge.stdout), "line")) as [string];
  project.provide("bridgeUrl", (JSON.parse(line) as { listening: string }).listening);
  return async () => {
    bridge.kill("SIGTERM");
    await once(bridge, "exit");
    rmSync(root, { recursive: true, force: true });
    await issuer.close();
  };
}
