// The machine of a parked session goes away: people are told, although their object is asleep. On a system of its own, whose bridge
// is told to stop.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tokenMinter } from "../../../packages/local/src/issuer/tokens.ts";
import { connect } from "../support/clients/client.ts";
import { type System, startSystem } from "../support/system/own-system.ts";
import { fresh } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

let system: System;
const dir = mkdtempSync(join(tmpdir(), "sbx-parked-stop-"));

beforeAll(async () => {
  system = await startSystem({
    dir,
    workerVars: { PARK_SECONDS: "1", PARK_PLAIN: "1" },
    bridgeEnv: { STOP_SECONDS: "60", STDIO_TRACE: "*" },
  });
});

afterAll(async () => {
  await system?.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** Whether a session object has gone while its client is here, as the bridge's trace has it. */
function isParked(): boolean {
  return readFileSync(join(dir, "logs/bridge.log"), "utf8").includes("tells object parked");
}

test("H20a, X8: people on a parked session are told that the sandbox stops, and then their process's own exit", async () => {
  const mint = await tokenMinter({ keysDir: dir, issuerUrl: system.issuerUrl });
  const sub = fresh("person");
  const who = { sub, org: "", token: await mint({ sub }) };
  const server = system.origin.replace(/^http/, "ws");
  const script = "echo ready; read go; echo saved; exit 3";
  const client = await connect(who, { session: fresh("s"), cmd: "sh", arg: ["-c", script] }, { server });
  await client.output("ready\n");
  await until("a parked session", isParked, 30_000);
  process.kill(system.pids.bridge, "SIGTERM");
  const { seconds } = await client.message("stopping");
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
  client.type("go\n");
  expect(await client.message("exit")).toEqual({ type: "exit", code: 3, offset: 12 });
});
