// X8: the machine of a process is told to stop, here a bridge behind a Worker of their own. Whoever is attached, and whoever comes
// meanwhile, hears how long there is; a job has the time, and nothing new is started.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startCli } from "../support/clients/cli.ts";
import { connect, type Params, refusedHttp, refusedSocket } from "../support/clients/client.ts";
import { type System, startSystem } from "../support/system/own-system.ts";
import { fresh, type Person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const dir = mkdtempSync(join(tmpdir(), "sbx-stopping-"));
let own: System;

beforeAll(async () => {
  own = await startSystem({ dir, bridgeEnv: { STOP_SECONDS: "600" }, workerVars: { TENANT_CLAIM: "org_id" } });
});

afterAll(async () => {
  await own?.stop();
  rmSync(dir, { recursive: true, force: true });
});

test("X8: people on every way in are told how long there is, a job ends by itself, and nothing new is started", async () => {
  const [sub, org] = [fresh("person"), fresh("org")];
  const who: Person = { sub, org, token: await own.mintToken({ sub, org }) };
  const server = own.origin.replace(/^http/, "ws");
  const at = (params: Params, protocols?: readonly string[]) =>
    connect(who, params, { server, ...(protocols === undefined ? {} : { protocols }) });
  const place = { sandbox: "default", session: fresh("job") };
  const job = { ...place, cmd: "sh", arg: ["-c", "echo ready; read go; echo saved; exit 3"] };
  const client = await at(job);
  await client.output("ready\n");
  const plain = await at(place, []);
  await plain.output("ready\n");
  const cli = startCli(who, ["--session", place.session, "--role", "viewer"], undefined, own.origin);
  let said = "";
  cli.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  let shown = "";
  cli.stdout.on("data", (chunk: Buffer) => {
    shown += chunk.toString();
  });
  await until("the command line to show the output", () => shown.includes("ready"));

  process.kill(own.pids.bridge, "SIGTERM");
  expect(await client.message("stopping")).toEqual({ type: "stopping", seconds: 600 });
  await until("the command line to say it", () => said.includes("The sandbox stops in 10 min"));
  const late = await at({ ...place, role: "viewer" });
  expect(Number((await late.message("stopping")).seconds)).toBeLessThanOrEqual(600);
  expect(late.received.findIndex((one) => one.kind === "control" && one.message.type === "hello")).toBeLessThan(
    late.received.findIndex((one) => one.kind === "control" && one.message.type === "stopping"),
  );
  // Nothing is started, in words that say why, and whoever asks may come back.
  const options = { server };
  const refusal = await refusedSocket(who, { ...place, session: fresh("new"), cmd: "true" }, options);
  const stops = /^the sandbox stops within \d+ s: nothing new is started in it/;
  expect(refusal.bye).toMatchObject({ code: 4503, retry: "after", reason: expect.stringMatching(stops) });
  const http = await refusedHttp(who, { ...place, session: fresh("new"), cmd: "true" }, options);
  expect([http.status, JSON.parse(http.body)]).toEqual([
    503,
    { error: "stopping", message: expect.stringMatching(stops) },
  ]);
  const body = JSON.stringify({ cmd: "true" });
  const headers = { Authorization: `Bearer ${who.token}`, "Content-Type": "application/json" };
  const made = await fetch(`${own.origin}/api/sandboxes/default/sessions`, { method: "POST", headers, body });
  expect([made.status, ((await made.json()) as { error: string }).error]).toEqual([503, "stopping"]);

  client.type("\n");
  for (const one of [client, late]) {
    expect(await one.message("exit")).toEqual({ type: "exit", code: 3, offset: 12 });
  }
  expect((await plain.end()).code).toBe(1000);
  expect(plain.text()).toBe("ready\nsaved\n");
  await until("the command line to end", () => cli.exitCode !== null);
  expect(cli.exitCode).toBe(3);
});
