// How containers and their bridges die, and what is told of it. lifecycle.test.ts has kill and SIGTERM.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { docker } from "../../packages/local/src/base/docker.ts";
import { tokenMinter } from "../../packages/local/src/issuer/tokens.ts";
import { auditOf } from "../e2e/support/clients/audit.ts";
import { connect, refusedHttp, refusedSocket } from "../e2e/support/clients/client.ts";
import { api, fresh, person } from "../e2e/support/system/system.ts";
import { until } from "../e2e/support/system/wait.ts";
import { WORKER_VARS } from "../e2e/support/system/worker-vars.ts";
import { attachedLine, lateReader, lineEnd } from "./attached-line.ts";
import { type ContainerSystem, startContainerSystem } from "./container-system.ts";
import { containerOf, ended, isRunning } from "./containers.ts";
import { containerWay } from "./way.ts";

const sh = (script: string) => ({ cmd: "sh", arg: ["-c", script] });
const PROCESS_LOST = { type: "bye", code: 4404, reason: "process lost", retry: "never" };

/** What the kernel says of a process in `container`: a line for each whose command is `name`. */
async function processes(container: string, name: string): Promise<string[]> {
  const text = await docker("exec", container, "ps", "-eo", "pid=,stat=,comm=");
  return text.split("\n").filter((line) => line.includes(name));
}

async function pidOf(container: string, name: string): Promise<string> {
  const [line = ""] = await processes(container, name);
  const pid = /\d+/.exec(line)?.[0];
  if (pid === undefined) throw new Error(`No process ${name} in ${container}`);
  return pid;
}

test("a bridge that hangs is noticed, and its container ended: clients are told, and the next gets a new one", async () => {
  const who = await person();
  const container = await containerOf(who);
  const session = fresh("s");
  const client = await connect(who, { session, ...sh("echo ready; sleep 600") });
  await client.output("ready");
  const [plain, line] = [await connect(who, { session }, { protocols: [] }), await attachedLine(who, session)];
  await docker("exec", container, "kill", "-STOP", await pidOf(container, "stdio-ws"));
  const from = performance.now();
  // Somebody else who comes meanwhile is one of those whose request has no answer.
  const other = connect(who, { session: fresh("s"), cmd: "cat" });
  await ended(container, 60_000);
  console.log(`bridge hung: ${Math.round(performance.now() - from)} ms until its container was ended`);
  expect((await client.end()).bye).toEqual(PROCESS_LOST);
  expect((await plain.end()).code).toBe(4404);
  expect(await line.end()).toEqual({ code: 255, said: "sbx-stdio: process lost" });
  expect(await lateReader(who, session)).toMatchObject({ state: "lost", output: "ready\n" });
  expect((await (await other).end()).bye).toMatchObject({ code: 4503, retry: "after" });
  expect(await containerOf(who)).not.toBe(container);
});

test("a process that uses up the memory is ended by the kernel, and the bridge lives", async () => {
  const who = await person();
  const container = await containerOf(who);
  const shell = await connect(who, { session: fresh("s"), cmd: "cat" });
  await shell.hello();
  await docker("update", "--memory", "300m", "--memory-swap", "300m", container);
  // Many small ones: each by itself is smaller than the bridge.
  const hog =
    "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do head -c 30m /dev/zero | tail -c 30m | sleep 20 & done; wait";
  const greedy = await connect(who, { session: fresh("s"), ...sh(hog) });
  await until("a process that the kernel has ended", async () => /oom_kill [1-9]/.test(await memoryEvents(container)));
  shell.type("still here\n");
  expect(await shell.output("still here\n")).toBe("still here\n");
  expect(await isRunning(container)).toBe(true);
  greedy.say({ type: "kill" });
  // One that is greedy itself: its clients see the kernel's end of it.
  const session = fresh("s");
  const alone = await connect(who, { session, ...sh("echo ready; read go; head -c 400m /dev/zero | tail -c 400m") });
  await alone.output("ready");
  const [plain, line] = [await connect(who, { session }, { protocols: [] }), await attachedLine(who, session)];
  alone.type("\n");
  const killed = { code: 137 };
  expect(await alone.message("exit")).toMatchObject(killed);
  expect((await plain.end()).exit).toMatchObject(killed);
  expect(await line.end()).toEqual({ code: 137, said: "Killed" });
  expect(await lateReader(who, session)).toMatchObject({ state: "exited", exit: killed, output: "ready\nKilled\n" });
});

test("what a process leaves behind is reaped when it ends", async () => {
  const who = await person();
  const container = await containerOf(who);
  const client = await connect(who, { session: fresh("s"), ...sh("(sleep 0.5 & sleep 0.5 &) ; echo left") });
  await client.message("exit");
  await until("the end of both", async () => (await processes(container, "sleep")).length === 0);
});

test("a job that ended with nobody there has its output and exit, although its container was killed afterwards", async () => {
  const who = await person();
  const session = fresh("s");
  const container = await containerOf(who);
  const client = await connect(who, { session, ...sh("echo early; sleep 1; echo late; exit 7") });
  await client.output("early\n");
  await client.leave();
  const isOnRecord = async () => (await auditOf(who, session)).some(({ type }) => type === "exit");
  await until("the exit's record", isOnRecord, 60_000);
  await docker("kill", container);
  await ended(container);
  const path = `/api/sandboxes/default/sessions/${session}`;
  expect(await (await api(who, path)).json()).toMatchObject({ state: "exited", exit: { code: 7 }, offset: 11 });
  expect(await (await api(who, `${path}/output?from=0`)).json()).toMatchObject({ output: "early\nlate\n" });
});

test("where the disk takes nothing sessions go on and start, no output is lost, and programs are told", async () => {
  const who = await person();
  const container = await containerOf(who);
  const before = await connect(who, { session: fresh("s"), cmd: "cat" });
  await before.hello();
  // Whoever may mount nothing in a container can't fill its disk alone: nothing can be written to /tmp, and /dev/full is full.
  await docker("exec", container, "sh", "-c", "mv /tmp /tmp.before && touch /tmp");
  before.type("still here\n");
  expect(await before.output("still here\n")).toBe("still here\n");
  // The scripts of marks find no place: a shell comes up without them, and is what people clean up with.
  const shell = await connect(who, { session: fresh("s") });
  await shell.output("# ");
  shell.type("echo x > /dev/full; seq 20000; rm /tmp && mv /tmp.before /tmp && echo cleaned\n");
  await shell.until("the end", () => shell.text().includes("\r\ncleaned\r\n"));
  expect(shell.text()).toContain("No space left on device");
  expect(shell.text()).toContain(Array.from({ length: 20_000 }, (_, i) => `${i + 1}\r\n`).join(""));
  expect(shell.text()).not.toContain("\x1b]133;");
  const session = fresh("s");
  const upload = await connect(who, { session, ...sh("cat > /dev/full") });
  await upload.hello();
  upload.type("x".repeat(10_000));
  upload.say({ type: "eof", offset: 10_000 });
  expect(Number((await upload.message("exit")).code)).toBeGreaterThan(0);
  expect(upload.text(2)).toContain("No space left on device");
  expect((await auditOf(who, session)).some(({ type }) => type === "input")).toBe(true);
  expect(await isRunning(container)).toBe(true);
  // Cleaned up, the next shell has its marks again.
  const next = await connect(who, { session: fresh("s") });
  await next.until("a mark", () => next.text().includes("\x1b]133;"));
});

/** What the kernel has counted: read outside of the container, where a reader is not among those that it may end. */
async function memoryEvents(container: string): Promise<string> {
  const pid = await docker("inspect", "--format", "{{.State.Pid}}", container);
  const places = readFileSync(`/proc/${pid}/cgroup`, "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const found = places.flatMap(([, controllers = "", path = ""]) => {
    if (controllers === "") return [`/sys/fs/cgroup${path}/memory.events`];
    return controllers.includes("memory") ? [`/sys/fs/cgroup/memory${path}/memory.oom_control`] : [];
  });
  return found.flatMap((file) => (existsSync(file) ? readFileSync(file, "utf8") : [])).join("\n");
}

let broken: ContainerSystem;
const dir = mkdtempSync(join(tmpdir(), "sbx-broken-"));

beforeAll(async () => {
  const dockerfile = join(dir, "Dockerfile");
  writeFileSync(dockerfile, 'FROM docker.io/cloudflare/sandbox:0.12.10\nCMD ["sh", "-c", "exit 3"]\n');
  broken = await startContainerSystem({ dir, way: containerWay(), dockerfile, workerVars: WORKER_VARS });
});

afterAll(async () => {
  await broken?.stop();
  rmSync(dir, { recursive: true, force: true });
});

test("an image that can't start is started three times; then all are told why, and nobody starts it again", async () => {
  const mint = await tokenMinter({ keysDir: dir, issuerUrl: broken.issuerUrl });
  const [sub, org] = [fresh("person"), fresh("org")];
  const who = { sub, org, token: await mint({ sub, org }) };
  const options = { server: broken.origin.replace(/^http/, "ws") };
  const words = "the container ended 3 times while it started, with exit code 3: its program ended";
  const reason = `container_failed: ${words}`;
  const from = performance.now();
  const { bye, code } = await refusedSocket(who, { session: fresh("s"), cmd: "cat" }, options);
  console.log(`image that can't start: ${Math.round(performance.now() - from)} ms until the client was told`);
  expect([code, bye]).toEqual([4422, { type: "bye", code: 4422, reason, retry: "never" }]);
  const plain = await refusedHttp(who, { session: fresh("s"), cmd: "cat" }, options);
  expect([plain.status, plain.body]).toEqual([422, expect.stringContaining("with exit code 3")]);
  expect(await lineEnd(who, fresh("s"), broken.origin)).toEqual({ code: 255, said: `sbx-stdio: ${words}` });
});
