// A quiet session sleeps while its clients stay, and goes on without a word to them: the session object is taken out of memory by the
// runtime itself. On a system of its own, which parks after a second.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../../../packages/local/src/base/paths.ts";
import { tokenMinter } from "../../../packages/local/src/issuer/tokens.ts";
import { CLI, cliEnv } from "../support/clients/cli.ts";
import { connect, type TestClient } from "../support/clients/client.ts";
import { type System, startSystem } from "../support/system/own-system.ts";
import { fresh, type Person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

let system: System;
const dir = mkdtempSync(join(tmpdir(), "sbx-parking-"));

beforeAll(async () => {
  system = await startSystem({
    dir,
    workerEntry: join(ROOT, "worker/test/counting-entry.ts"),
    workerVars: { PARK_SECONDS: "1", PARK_PLAIN: "1" },
    bridgeEnv: { STDIO_TRACE: "*" },
  });
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
  const mint = await tokenMinter({ keysDir: dir, issuerUrl: system.issuerUrl });
  const sub = fresh("person");
  return { sub, org: "", token: await mint({ sub }) };
}

/** All but pings: what a client was told. */
function told(client: TestClient): string[] {
  return client.received.flatMap((one) =>
    one.kind === "control" && one.message.type !== "pong" && one.message.type !== "stdin_ack" ? [one.text] : [],
  );
}

const SCRIPT = `while read line; do
  echo got $line
  case $line in later) (sleep 16; echo late) & ;; end) exit 7 ;; esac
done`;

/** Whether the session object has gone and has not come back, as the bridge's trace has it. */
function isParked(): boolean {
  const trace = readFileSync(join(dir, "logs/bridge.log"), "utf8");
  return trace.lastIndexOf("tells object parked") > trace.lastIndexOf("tells object hello");
}

/** The runtime takes an object that has nothing to do out of memory after ten seconds. */
async function asleep(): Promise<void> {
  await until("a parked session", isParked, 60_000);
  await new Promise((resolve) => setTimeout(resolve, 14_000));
}

test("H20a, H21: a stdio client, the command line and a plain client go on while their object leaves memory, and are told nothing", async () => {
  const who = await somebody();
  const server = system.origin.replace(/^http/, "ws");
  const session = fresh("s");
  const client = await connect(who, { session, cmd: "sh", arg: ["-c", SCRIPT] }, { server });
  await client.hello();
  const line = spawn(process.execPath, [CLI, system.origin, "--session", session], { env: cliEnv(who) });
  const heard: Record<"stdout" | "stderr", string> = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) line[name].on("data", (bytes) => (heard[name] += String(bytes)));
  const lineEnded = new Promise((resolve) => line.once("close", resolve));
  const plain = await connect(who, { session }, { server, protocols: [], pings: true });
  let expected = "";
  const all = async (output: string) => {
    expected += output;
    await client.output(expected);
    await plain.output(expected);
    await until("the command line's output", async () => heard.stdout === expected, 20_000);
  };
  client.type("one\n");
  await all("got one\n");
  const before = told(client);
  const typists = [() => client.type("two\n"), () => plain.type("two\n"), () => void line.stdin.write("two\n")];
  for (const type of typists) {
    const livesBefore = lives();
    await asleep();
    type();
    await all("got two\n");
    expect(lives()).toBe(livesBefore + 1);
  }
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
}, 420_000);

/** An object that a program has just called stays for five seconds, and a second more until it is parked. */
const asleepAfterCall = () => new Promise((resolve) => setTimeout(resolve, 24_000));

test("H21e, P4: nothing runs in the object of a wait for an hour; output brings it back", async () => {
  const who = await somebody();
  const session = `${system.origin}/api/sandboxes/${fresh("box")}/sessions/s`;
  const headers = { authorization: `Bearer ${who.token}`, "content-type": "application/json" };
  const ask = (method: string, path: string, body: object) =>
    fetch(session + path, { method, headers, body: JSON.stringify(body) });
  const sign = join(dir, fresh("sign"));
  const script = `printf 'half a nee'; until [ -e ${sign} ]; do sleep 0.1; done; echo dle; exit 7`;
  expect((await ask("PUT", "", { cmd: "sh", args: ["-c", script], keepSeconds: 5 })).status).toBe(201);
  const waits = [{ text: "needle" }, { exit: true }, { text: "never" }].map(async (until) => {
    const response = await ask("POST", "/wait", { until, from: 0, timeoutMs: 3_600_000 });
    return [response.status, (await response.json()) as object];
  });
  await asleepAfterCall();
  const before = counted().length;
  await asleep();
  expect(counted().slice(before)).toEqual([]);
  writeFileSync(sign, "");
  const [needle, exit, never] = await Promise.all(waits);
  // Its log may come later than its answers.
  await until("the object's return in the log", () => counted().length >= before + 2, 60_000);
  expect(counted().slice(before, before + 2)).toEqual(["constructor", "called"]);
  expect(needle).toEqual([
    200,
    expect.objectContaining({ outcome: "met", match: expect.objectContaining({ from: 7, to: 13 }) }),
  ]);
  expect(exit).toEqual([200, expect.objectContaining({ outcome: "met", exit: { code: 7 } })]);
  expect(never).toEqual([200, expect.objectContaining({ outcome: "exited", exit: { code: 7 } })]);
});
