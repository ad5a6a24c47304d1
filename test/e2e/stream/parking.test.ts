// A quiet session sleeps while its clients stay, and goes on without a word to them: the session object is taken out of memory by the
// runtime itself. And the machine of its process stops: people are told in time, asleep or not. On a system of its own, which parks after
// a second, and whose bridge has ten minutes to stop.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../../../packages/local/src/base/paths.ts";
import { exitCode, startCli } from "../support/clients/cli.ts";
import { connect, type Params, refusedHttp, refusedSocket, type TestClient } from "../support/clients/client.ts";
import { type System, startSystem } from "../support/system/own-system.ts";
import { fresh, type Person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

let system: System;
let server: string;
const dir = mkdtempSync(join(tmpdir(), "sbx-parking-"));

beforeAll(async () => {
  system = await startSystem({
    dir,
    workerEntry: join(ROOT, "worker/test/support/chaos-entry.ts"),
    workerVars: { CHAOS_COUNTS: "1", PARK_SECONDS: "1", PARK_PLAIN: "1" },
    bridgeEnv: { STDIO_TRACE: "*", STOP_SECONDS: "600" },
  });
  server = system.origin.replace(/^http/, "ws");
});

afterAll(async () => {
  await system?.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** What the log has counted so far. */
function counted(): string[] {
  return [...readFileSync(join(dir, "logs/worker.log"), "utf8").matchAll(/counted: (\w+)/g)].map(
    ([, what]) => what ?? "",
  );
}

const lives = () => counted().filter((what) => what === "constructor").length;

async function somebody(): Promise<Person> {
  const sub = fresh("person");
  return { sub, org: "", token: await system.mintToken({ sub }) };
}

/** All but pings: what a client was told. */
function told(client: TestClient): string[] {
  return client.received.flatMap((one) =>
    one.kind === "control" && one.message.type !== "pong" && one.message.type !== "stdin_ack" ? [one.text] : [],
  );
}

const SCRIPT = `while read line; do
  echo got $line
  case $line in later) (sleep 30; echo late) & ;; end) exit 7 ;; esac
done`;

/** Whether the session object has gone and has not come back, as the bridge's trace has it. */
function isParked(): boolean {
  const trace = readFileSync(join(dir, "logs/bridge.log"), "utf8");
  return trace.lastIndexOf("tells object parked") > trace.lastIndexOf("tells object hello");
}

/** The runtime takes an object that has nothing to do out of memory after ten seconds. */
async function asleep(): Promise<void> {
  await until("a parked session", isParked);
  await new Promise((resolve) => setTimeout(resolve, 14_000));
}

test("H20a, H21: a stdio client, the command line and a plain client go on while their object leaves memory, and are told nothing", async () => {
  const who = await somebody();
  const session = fresh("s");
  const client = await connect(who, { session, cmd: "sh", arg: ["-c", SCRIPT] }, { server });
  await client.hello();
  const line = startCli(who, ["--session", session], undefined, system.origin);
  const heard: Record<"stdout" | "stderr", string> = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) line[name].on("data", (bytes) => (heard[name] += String(bytes)));
  const lineEnded = exitCode(line);
  const plain = await connect(who, { session }, { server, protocols: [], pings: true });
  let expected = "";
  const all = async (output: string) => {
    expected += output;
    await client.output(expected);
    await plain.output(expected);
    await until("the command line's output", async () => heard.stdout === expected);
  };
  client.type("one\n");
  await all("got one\n");
  const before = told(client);
  const livesBefore = lives();
  await asleep();
  plain.type("two\n");
  await all("got two\n");
  expect(lives()).toBe(livesBefore + 1);
  client.type("later\n");
  await all("got later\n");
  const count = counted().length;
  await all("late\n");
  // Its acknowledgement of the line before, and then nothing until the bridge calls: in another life.
  const since = counted().slice(count);
  expect(since.slice(since.indexOf("constructor")).slice(0, 2)).toEqual(["constructor", "called"]);
  expect(told(client)).toEqual(before);
  expect(heard.stderr).toBe("");
  client.type("end\n");
  expect(await client.message("exit")).toMatchObject({ code: 7 });
  expect([await lineEnded, (await plain.end()).code]).toEqual([7, 1000]);
  expect([client.text(), plain.text(), heard.stdout]).toEqual(Array(3).fill(`${expected}got end\n`));
}, 600_000);

test("H20a, X8: people on every way in, asleep or not, are told how long there is; a job ends by itself, and nothing new is started", async () => {
  const who = await somebody();
  const at = (params: Params, protocols?: readonly string[]) =>
    connect(who, params, { server, ...(protocols === undefined ? {} : { protocols }) });
  const script = "echo ready; read go; echo saved; exit 3";
  const asleepOne = await at({ session: fresh("parked"), cmd: "sh", arg: ["-c", script] });
  await asleepOne.output("ready\n");
  await until("a parked session", isParked);
  const place = { sandbox: "default", session: fresh("job") };
  const client = await at({ ...place, cmd: "sh", arg: ["-c", script] });
  await client.output("ready\n");
  const plain = await at(place, []);
  await plain.output("ready\n");
  const cli = startCli(who, ["--session", place.session, "--role", "viewer"], undefined, system.origin);
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) cli[name].on("data", (bytes) => (said[name] += String(bytes)));
  const cliEnded = exitCode(cli);
  await until("the command line to show the output", () => said.stdout.includes("ready"));

  process.kill(system.pids.bridge, "SIGTERM");
  for (const one of [client, asleepOne]) {
    const { seconds, ...rest } = await one.message("stopping");
    expect(rest).toEqual({ type: "stopping" });
    expect([Number(seconds) > 500, Number(seconds) <= 600]).toEqual([true, true]);
  }
  await until("the command line to say it", () => said.stderr.includes("The sandbox stops in 10 min"));
  const late = await at({ ...place, role: "viewer" });
  expect(Number((await late.message("stopping")).seconds)).toBeLessThanOrEqual(600);
  // Nothing is started, in words that say why, and whoever asks may come back.
  const newOne = { ...place, session: fresh("new"), cmd: "true" };
  const stops = /^the sandbox stops within \d+ s: nothing new is started in it/;
  const refusal = await refusedSocket(who, newOne, { server });
  expect(refusal.bye).toMatchObject({ code: 4503, retry: "after", reason: expect.stringMatching(stops) });
  const http = await refusedHttp(who, newOne, { server });
  expect([http.status, JSON.parse(http.body)]).toEqual([
    503,
    { error: "stopping", message: expect.stringMatching(stops) },
  ]);
  const init = { method: "POST", headers: { Authorization: `Bearer ${who.token}` }, body: '{"cmd":"true"}' };
  const made = await fetch(`${system.origin}/api/sandboxes/default/sessions`, init);
  expect([made.status, ((await made.json()) as { error: string }).error]).toEqual([503, "stopping"]);

  client.type("\n");
  asleepOne.type("go\n");
  for (const one of [client, late, asleepOne]) {
    expect(await one.message("exit")).toEqual({ type: "exit", code: 3, offset: 12 });
  }
  expect((await plain.end()).code).toBe(1000);
  expect([plain.text(), await cliEnded]).toEqual(["ready\nsaved\n", 3]);
});
