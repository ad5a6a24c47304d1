// When a container starts, sleeps and dies, and what its clients hear of that.
import { expect, test } from "vitest";
import { docker } from "../../packages/local/src/base/docker.ts";

import { connect, refusedHttp, refusedSocket } from "../e2e/support/clients/client.ts";
import { api, fresh, person, restartWorker } from "../e2e/support/system/system.ts";
import { until } from "../e2e/support/system/wait.ts";
import { attachedLine, lateReader } from "./attached-line.ts";
import { containerOf, containerWith, ended, isRunning, runningContainers } from "./containers.ts";

const sh = (script: string) => ({ cmd: "sh", arg: ["-c", script] });
const PROCESS_LOST = { type: "bye", code: 4404, reason: "process lost", retry: "never" };
/** Counts on, and says its process id first. */
const COUNTER = sh("echo pid=$$; i=0; while :; do echo $i; i=$((i+1)); sleep 0.02; done");

test("what only asks never starts a container", async () => {
  const who = await person();
  const before = await runningContainers();
  const session = fresh("s");
  const path = "/api/sandboxes/default/sessions";
  expect(await (await api(who, path)).json()).toEqual({ sessions: [] });
  expect((await api(who, `${path}/${session}`)).status).toBe(404);
  expect((await api(who, `${path}/${session}`, { method: "DELETE" })).status).toBe(404);
  expect(await refusedSocket(who, { session, wake: 0, cmd: "cat" })).toMatchObject({ code: 4503, bye: { code: 4503 } });
  const refusal = await refusedHttp(who, { session, wake: 0, cmd: "cat" });
  expect([refusal.status, Number(refusal.headers["retry-after"]) > 0]).toEqual([503, true]);
  expect((await refusedSocket(who, { session, role: "viewer" })).code).toBe(4404);
  const after = await runningContainers();
  expect(after.filter((id) => !before.includes(id))).toEqual([]);
});

test("wake=0 attaches to what runs", async () => {
  const who = await person();
  const session = fresh("s");
  const first = await connect(who, { session, cmd: "cat" });
  await first.hello();
  const second = await connect(who, { session, wake: 0 });
  expect((await second.hello()).incarnation).toBe((await first.hello()).incarnation);
});

test("a Worker that is killed here finds none of its containers again: who comes back is told, and others get a new one", async () => {
  const who = await person();
  const session = fresh("s");
  const client = await connect(who, { session, ...COUNTER });
  await client.output("\n20\n");
  const { resume, incarnation } = await client.hello();
  const container = await containerOf(who);
  await restartWorker();
  await client.closed;
  // The platform has the object's container at hand after a restart; the local runtime names containers after its own process.
  expect(await isRunning(container)).toBe(true);
  expect(await refusedSocket(who, { session, resume: String(resume) })).toMatchObject({ bye: PROCESS_LOST });
  const attempt = `${fresh("life").replace("-", "")}.0`;
  const next = await connect(who, { session, cmd: "cat", ended: "replace", attempt });
  expect((await next.hello()).incarnation).not.toBe(incarnation);
});

test("a killed container's clients are told that the process is lost, and none is started to find out", async () => {
  const who = await person();
  const session = fresh("s");
  const container = await containerOf(who);
  const client = await connect(who, { session, ...COUNTER });
  const plain = await connect(who, { session }, { protocols: [] });
  const line = await attachedLine(who, session);
  await client.output("\n5\n");
  await plain.output("5");
  plain.say({ type: "resize", cols: 80, rows: 24 }); // One that has said nothing at all hears no close.
  const { resume, incarnation } = await client.hello();
  const from = performance.now();
  await docker("kill", container);
  await client.message("bye");
  console.log(`container killed: ${Math.round(performance.now() - from)} ms until the client was told`);
  const { bye, exit, code } = await client.end();
  expect([bye, exit, code]).toEqual([PROCESS_LOST, undefined, 4404]);
  expect((await plain.end()).code).toBe(4404);
  expect(await line.end()).toEqual({ code: 255, said: "sbx-stdio: process lost" });
  const { output } = await lateReader(who, session);
  expect(output).toMatch(/^pid=\d+\n0\n1\n/);
  expect(await refusedSocket(who, { session, resume: String(resume) })).toMatchObject({ bye: PROCESS_LOST });
  await ended(container);
  const others = await runningContainers();
  // A viewer is shown what is left, and starts nothing either.
  const viewer = await connect(who, { session, role: "viewer" });
  expect((await viewer.end()).bye).toEqual(PROCESS_LOST);
  expect(await runningContainers()).toEqual(others);
  // Who starts something anew gets a new process, in a new container.
  const next = await connect(who, {
    session,
    cmd: "cat",
    ended: "replace",
    attempt: `${fresh("life").replace("-", "")}.0`,
  });
  expect((await next.hello()).incarnation).not.toBe(incarnation);
  expect(others).not.toContain(await containerOf(who));
});

test("a container that is removed with the one beside it is followed by a new one", async () => {
  const who = await person();
  const mark = `/tmp/${fresh("mark")}`;
  const client = await connect(who, { session: fresh("s"), ...sh(`touch ${mark}; echo here; cat`) });
  await client.output("here");
  const name = (await docker("inspect", "--format", "{{.Name}}", await containerWith(mark))).slice(1);
  await docker("rm", "--force", name, `${name}-proxy`);
  expect((await client.end()).bye).toEqual(PROCESS_LOST);
  const exit = await until("a new container", async () => {
    const next = await connect(who, { session: fresh("s"), ...sh("exit 3") });
    return (await next.end()).exit;
  });
  expect(exit).toMatchObject({ code: 3 });
});

test("the session of a killed container that nobody watched is listed as lost, without a start", async () => {
  const who = await person();
  const session = fresh("s");
  const container = await containerOf(who);
  const client = await connect(who, { session, ...sh("printf old; cat") });
  await client.output("old");
  await client.leave();
  await docker("kill", container);
  await ended(container);
  const before = await runningContainers();
  const path = `/api/sandboxes/default/sessions/${session}`;
  const listing = await until("a lost session", async () => {
    const answer = (await (await api(who, path)).json()) as { state: string };
    return answer.state === "lost" && answer;
  });
  expect(listing).toMatchObject({ state: "lost", clients: 0, offset: 3 });
  expect((await refusedSocket(who, { session, wake: 0 })).code).toBe(4503);
  expect(await runningContainers()).toEqual(before);
  expect((await api(who, path, { method: "DELETE" })).status).toBe(204);
  expect((await api(who, path)).status).toBe(404);
});

test("X8: a container told to stop says how long there is; a job gets the time, and the rest is ended after it", async () => {
  const who = await person();
  const container = await containerOf(who);
  const shell = await connect(who, { session: fresh("s") });
  const job = await connect(who, { session: fresh("s"), ...sh("echo ready; sleep 600") });
  const names = { short: fresh("s") };
  const short = await connect(who, { session: names.short, ...sh("echo ready; read go; echo saved; exit 3") });
  await shell.output("# ");
  await job.output("ready");
  await short.output("ready");
  const [plain, line] = [
    await connect(who, { session: names.short }, { protocols: [] }),
    await attachedLine(who, names.short),
  ];
  const from = performance.now();
  await docker("kill", "--signal", "SIGTERM", container);
  for (const client of [shell, job, short]) {
    expect(await client.message("stopping")).toEqual({ type: "stopping", seconds: 5 });
  }
  console.log(`container told to stop: ${Math.round(performance.now() - from)} ms until its clients were told`);
  const refusal = await refusedSocket(who, { session: fresh("s"), cmd: "true" });
  expect(refusal.bye).toMatchObject({ code: 4503, reason: expect.stringMatching(/^the sandbox stops within \d s: /) });
  short.type("\n");
  expect(await short.message("exit")).toEqual({ type: "exit", code: 3, offset: 12 });
  expect((await plain.end()).exit).toMatchObject({ code: 3 });
  expect(await line.end()).toEqual({ code: 3, said: expect.stringMatching(/^sbx-stdio: The sandbox stops in \d s: /) });
  expect(await shell.message("exit")).toMatchObject({ code: 129, signal: "SIGHUP" });
  expect(await job.message("exit")).toEqual({ type: "exit", code: 129, signal: "SIGHUP", offset: 6 });
  await ended(container);
  expect(await lateReader(who, names.short)).toMatchObject({
    state: "exited",
    exit: { code: 3 },
    output: "ready\nsaved\n",
  });
});

test("a container told to stop ends although a process ignores it", async () => {
  const who = await person();
  const container = await containerOf(who);
  const client = await connect(who, {
    session: fresh("s"),
    ...sh("trap '' HUP TERM; echo ready; while :; do sleep 1; done"),
  });
  await client.output("ready");
  await docker("kill", "--signal", "SIGTERM", container);
  expect(await client.message("exit")).toMatchObject({ code: 137, signal: "SIGKILL" });
  await ended(container);
});

test("a bridge that is killed from inside takes its container with it: the next client gets a new one", async () => {
  const who = await person();
  const container = await containerOf(who);
  const session = fresh("s");
  const client = await connect(who, { session, ...sh("echo ready; read go; pkill -9 stdio-ws; sleep 600") });
  await client.output("ready");
  const [plain, line] = [await connect(who, { session }, { protocols: [] }), await attachedLine(who, session)];
  const from = performance.now();
  client.type("\n");
  expect((await client.end()).bye).toEqual(PROCESS_LOST);
  console.log(`bridge crashed: ${Math.round(performance.now() - from)} ms until the client was told`);
  expect((await plain.end()).code).toBe(4404);
  expect(await line.end()).toEqual({ code: 255, said: "sbx-stdio: process lost" });
  expect(await lateReader(who, session)).toMatchObject({ state: "lost", output: "ready\n" });
  // Docker starts such a container again by itself, as production does not; that one is not used either.
  expect(await containerOf(who)).not.toBe(container);
});

test("a container whose last session is gone goes to sleep; one with a process that nobody watches does not", async () => {
  const [idle, busy] = [await person(), await person()];
  const [session, mark] = [fresh("s"), `/tmp/${fresh("mark")}`];
  const watched = await connect(busy, { session, ...COUNTER });
  await watched.output("\n3\n");
  const busyContainer = await containerOf(busy);
  const other = await connect(idle, { session, ...sh(`touch ${mark}; echo ready; sleep 600`) });
  await other.output("ready");
  const idleContainer = await containerWith(mark);
  // An exit that was told holds no container, although the bridge keeps it for ten minutes.
  const ending = await connect(idle, { session: fresh("s"), cmd: "true" });
  await ending.end();
  await watched.leave();
  await other.leave();
  expect((await api(idle, `/api/sandboxes/default/sessions/${session}`, { method: "DELETE" })).status).toBe(204);
  await ended(idleContainer);
  expect(await isRunning(busyContainer)).toBe(true);
  const back = await connect(busy, { session, wake: 0 });
  expect(await back.output(/^pid=\d+\n0\n1\n/)).toContain("\n3\n");
});
