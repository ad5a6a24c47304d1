// Sessions that programs make, without a WebSocket: made once by name, described, listed, replaced, ended (P1 to P4).
import { expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { exitedIn } from "../support/clients/exited-in.ts";
import { type Description, Programs } from "../support/clients/programs.ts";
import { fresh, person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const programs = async () => new Programs(await person());

test("P2: PUT makes a session once: 201, then 200 for the same process and 409 for another", async () => {
  const at = await programs();
  const process = { cmd: "cat", args: [], env: { A: "1", B: "2" } };
  const made = await at.put("one", process);
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ session: "one", state: "running", tty: false, cmd: "cat", args: [], offset: 0 });
  const again = await at.put("one", { ...process, env: { B: "2", A: "1" } });
  expect([again.status, again.body.incarnation]).toEqual([200, made.body.incarnation]);
  for (const other of [
    { cmd: "cat", env: { A: "1" } },
    { ...process, tty: true },
    { ...process, cwd: "/" },
  ]) {
    expect(await at.put("one", other)).toMatchObject({ status: 409, body: { error: "other_command" } });
  }
  const many = await Promise.all([1, 2, 3, 4].map(() => at.put("two", { command: "cat" })));
  expect(many.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201]);
  expect(new Set(many.map(({ body }) => body.incarnation)).size).toBe(1);
});

test("P1: POST makes a fresh name, and what is no process is refused with what is wrong", async () => {
  const at = await programs();
  const names = await Promise.all([1, 2].map(() => at.ask<Description>("POST", "/sessions", { cmd: "cat" })));
  expect(names.map(({ status }) => status)).toEqual([201, 201]);
  expect(names[0]?.body.session).not.toBe(names[1]?.body.session);
  const wrong: [object, number, string][] = [
    [{}, 400, "bad_request"],
    [{ cmd: "cat", command: "cat" }, 400, "bad_request"],
    [{ cmd: "cat", ended: "replace" }, 400, "bad_request"],
    [{ cmd: "no-such-program" }, 422, "cmd_not_found"],
    [{ cmd: "true", cwd: "/no/such" }, 422, "bad_cwd"],
    [{ cmd: "echo", args: ["x".repeat(131_072)] }, 422, "cmd_too_long"],
    [{ cmd: "echo", args: Array<string>(11).fill("x".repeat(100_000)) }, 422, "cmd_too_long"],
  ];
  for (const [body, status, error] of wrong) {
    expect(await at.put(fresh("s"), body)).toMatchObject({ status, body: { error } });
  }
});

test("P2: replace starts anew under an ended name, once for each attempt", async () => {
  const at = await programs();
  const first = await at.put("job", { cmd: "sh", args: ["-c", "exit 3"] });
  const ended = await exitedIn(at, "job");
  expect(ended.exit).toEqual({ code: 3 });
  const plain = await at.put("job", { cmd: "sh", args: ["-c", "exit 3"] });
  expect([plain.status, plain.body.state]).toEqual([200, "exited"]);
  const replacing = { cmd: "cat", ended: "replace", attempt: "second" };
  const many = await Promise.all([1, 2, 3].map(() => at.put("job", replacing)));
  expect(many.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
  expect(new Set(many.map(({ body }) => body.incarnation)).size).toBe(1);
  expect(many[0]?.body.incarnation).not.toBe(first.body.incarnation);
});

test("A12: ended=replace starts anew under an ended name, once a life; ended=read attaches to what is kept", async () => {
  const at = await programs();
  const place = { sandbox: at.sandbox, session: "job" };
  const first = await connect(at.who, { ...place, cmd: "sh", arg: ["-c", "echo one; exit 1"] });
  const { incarnation } = await first.hello();
  await first.end();
  const kept = await connect(at.who, { ...place, ended: "read" });
  expect((await kept.hello()).incarnation).toBe(incarnation);
  const life = fresh("").slice(1, 11);
  const started = await connect(at.who, { ...place, cmd: "cat", ended: "replace", attempt: `${life}.1` });
  const second = (await started.hello()).incarnation;
  expect(second).not.toBe(incarnation);
  started.say({ type: "eof" });
  await started.end();
  const again = await connect(at.who, { ...place, cmd: "cat", ended: "replace", attempt: `${life}.2` });
  expect((await again.hello()).incarnation).toBe(second);
  const other = await connect(at.who, { ...place, cmd: "cat", ended: "replace", attempt: `${life}x.1` });
  expect((await other.hello()).incarnation).not.toBe(second);
});

test("P4: it runs on for keepSeconds with nobody attached, and leaves the list keepExitedSeconds after its exit", async () => {
  const at = await programs();
  await at.put("short", {
    cmd: "sh",
    args: ["-c", "yes | head -c 4000000; cat"],
    keepSeconds: 1,
    keepExitedSeconds: 5,
  });
  // Nothing holds it up although nobody has ever attached, and a call under way counts as attached.
  const waited = await at.wait("short", { until: { idleMs: 1500 }, timeoutMs: 60_000 });
  expect(waited.body.outcome).toBe("met");
  expect((await exitedIn(at, "short")).exit).toEqual({ code: 129, signal: "SIGHUP" });
  expect((await at.read("short", { tail: 2 })).body.output).toBe("y\n");
  await until("its leaving", async () => (await at.describe("short")).status === 404);
  expect((await at.ask("GET", "/sessions")).body).toEqual({ sessions: [] });
});

test("the list comes in pages, newest first, also where a page's last session is gone", async () => {
  const at = await programs();
  for (const name of ["a", "b", "c", "d"]) await at.put(name, { cmd: "cat" });
  type List = { sessions: Description[]; next?: string };
  const page = async (query: string) => (await at.ask<List>("GET", `/sessions?${query}`)).body;
  const names = ({ sessions }: List) => sessions.map(({ session }) => session);
  const first = await page("limit=2");
  expect([names(first), first.next]).toEqual([["d", "c"], "c"]);
  expect((await at.end("c")).status).toBe(204);
  const second = await page("limit=2&after=c");
  expect([names(second), second.next]).toEqual([["b", "a"], undefined]);
  expect((await at.ask("GET", "/sessions?after=never")).status).toBe(404);
  expect((await at.ask("GET", "/sessions?limit=0")).status).toBe(400);
});

test("DELETE answers 204 once the process has exited; R2: not for another incarnation", async () => {
  const at = await programs();
  const { body } = await at.put("s", { cmd: "sh", args: ["-c", "trap '' HUP; echo ready; cat"] });
  expect((await at.ask("DELETE", "/sessions/s?incarnation=other")).body).toMatchObject({ error: "other_incarnation" });
  expect((await at.ask("GET", `/sessions/s?incarnation=${body.incarnation}x`)).status).toBe(404);
  const waiting = at.wait("s", { until: { exit: true } });
  expect((await at.ask("DELETE", `/sessions/s?incarnation=${body.incarnation}`)).status).toBe(204);
  expect((await waiting).body).toMatchObject({ outcome: "met" });
  expect((await at.describe("s")).status).toBe(404);
});
