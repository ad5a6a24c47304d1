// The gateway's rules (M2), by a client without a library and a server that does as it is told.
import { expect, test } from "vitest";
import { gatewayPath, RawMcp, SCRIPTED } from "../support/clients/mcp-raw.ts";
import { Programs } from "../support/clients/programs.ts";
import { isAliveIn } from "../support/clients/sandbox-processes.ts";
import { NODE, runsFile } from "../support/system/sandbox-node.ts";
import { api, fresh, killBridge, mint, person, restartWorker, startBridge, system } from "../support/system/system.ts";
import { until, within } from "../support/system/wait.ts";

const pidOf = async (mcp: RawMcp) => Number((await mcp.result("pid")).pid);

test("M2: initialize starts one process in NAME-RANDOM; DELETE ends it, and then all is 404", async () => {
  const mcp = await RawMcp.begin(await person());
  const other = new RawMcp(mcp.who, mcp.sandbox, mcp.path);
  await other.initialize();
  const [pid, otherPid] = [await pidOf(mcp), await pidOf(other)];
  expect(pid).not.toBe(otherPid);
  const at = new Programs(mcp.who, mcp.sandbox);
  expect((await at.describe(mcp.session)).body).toMatchObject({ state: "running", session: `server-${mcp.sessionId}` });
  expect(await mcp.end()).toBe(204);
  await until("the process's end", async () => !(await isAliveIn(mcp.who, pid, mcp.sandbox)));
  expect(await isAliveIn(mcp.who, otherPid, mcp.sandbox)).toBe(true);
  expect((await mcp.request("echo")).status).toBe(404);
  expect((await mcp.listen()).status).toBe(404);
  expect(await mcp.end()).toBe(404);
  expect(await other.result("echo", { still: "here" })).toEqual({ still: "here" });
  await other.end();
});

test("M2: the session id is good for its issuer, subject, tenant and URL alone", async () => {
  const mcp = await RawMcp.begin(await person());
  const strangers: [string, RawMcp][] = [
    ["another subject", new RawMcp(await person({ org: mcp.who.org }), mcp.sandbox, mcp.path)],
    ["another tenant", new RawMcp(await person(), mcp.sandbox, mcp.path)],
    ["another command", new RawMcp(mcp.who, mcp.sandbox, gatewayPath(mcp.sandbox, NODE, [...runsFile(SCRIPTED), "x"]))],
    ["another name", new RawMcp(mcp.who, mcp.sandbox, mcp.path.replace("/server?", "/serves?"))],
  ];
  for (const [who, stranger] of strangers) {
    stranger.sessionId = mcp.sessionId;
    const statuses = [(await stranger.request("echo")).status, (await stranger.listen()).status, await stranger.end()];
    expect([who, statuses]).toEqual([who, [404, 404, 404]]);
  }
  // A session of that name which no initialize made is none.
  const at = new Programs(mcp.who, mcp.sandbox);
  await at.put("server-0123456789abcdef0123", { cmd: "cat" });
  const made = new RawMcp(mcp.who, mcp.sandbox, mcp.path);
  made.sessionId = "0123456789abcdef0123";
  expect((await made.request("echo")).status).toBe(404);
  expect(await mcp.result("echo", { still: "mine" })).toEqual({ still: "mine" });
  await mcp.end();
});

test("M2: a client that resumes by an event's id gets that stream's messages alone, each once", async () => {
  const mcp = await RawMcp.begin(await person());
  const [a, b] = [
    await mcp.request("hold", { name: "a" }, { progressToken: 1 }),
    await mcp.request("hold", { name: "b" }),
  ];
  const progress = (progress: number) => ({ method: "notifications/progress", params: { progressToken: 1, progress } });
  await mcp.result("tell", { messages: [progress(1), progress(2)] });
  await until("both words of progress", () => a.messages.length === 2);
  await a.cut();
  await b.cut();
  const [, first] = a.events;
  await mcp.result("tell", { messages: [progress(3)] });
  await mcp.send({ method: "release", params: { name: "a" } });
  await mcp.send({ method: "release", params: { name: "b" } });
  const resumed = await mcp.listen(first?.id);
  await within("the end of the resumed stream", resumed.ended);
  expect(resumed.messages.map(({ params, result }) => params?.progress ?? result)).toEqual([2, 3, { released: "a" }]);
  const other = await mcp.listen(b.lastId);
  await within("the end of the other", other.ended);
  expect(other.messages.map(({ result }) => result)).toEqual([{ released: "b" }]);
  // Not 404, which would tell the client to drop a session that lives.
  for (const id of ["77.0", "none", "-1.5", "0.999999999999999"])
    expect([id, (await mcp.listen(id)).status]).toEqual([id, 400]);
  expect(await mcp.result("echo", { still: "here" })).toEqual({ still: "here" });
  await mcp.end();
});

test("M2: a restart of the session's object loses no message; the process goes on", async () => {
  const mcp = await RawMcp.begin(await person());
  const pid = await pidOf(mcp);
  const held = await mcp.request("hold", { name: "a" }, { progressToken: 1 });
  const progress = (progress: number) => ({ method: "notifications/progress", params: { progressToken: 1, progress } });
  await mcp.result("tell", { messages: [progress(1)] });
  await held.message("the progress");
  await restartWorker();
  await within("the break", held.ended);
  await mcp.result("tell", { messages: [progress(2)] });
  const resumed = await mcp.listen(held.lastId);
  await mcp.send({ method: "release", params: { name: "a" } });
  await within("the end of the resumed stream", resumed.ended);
  expect(resumed.messages.map(({ params, result }) => params?.progress ?? result)).toEqual([2, { released: "a" }]);
  expect(await pidOf(mcp)).toBe(pid);
  expect(await mcp.end()).toBe(204);
  await until("the process's end", async () => !(await isAliveIn(mcp.who, pid, mcp.sandbox)));
});

test("M2: a request of a newer revision gets a plain 400, other wrong requests what says why", async () => {
  const mcp = await RawMcp.begin(await person());
  const body = { jsonrpc: "2.0", id: 1, method: "server/discover", params: {} };
  for (const [headers, message] of [
    [{ "MCP-Protocol-Version": "2026-07-28" }, { jsonrpc: "2.0", id: 1, method: "tools/list" }],
    [{}, body],
    [
      {},
      { ...body, method: "tools/list", params: { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } } },
    ],
  ] as const) {
    const answer = await mcp.ask("POST", headers, message);
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([400, "text/plain;charset=UTF-8"]);
  }
  const wrong: [string, Record<string, string>, unknown, number][] = [
    ["POST", {}, "{", 400],
    ["POST", {}, [], 400],
    ["POST", {}, { id: 1 }, 400],
    ["POST", { "Content-Type": "text/plain" }, body, 415],
    ["POST", { Accept: "application/json" }, { jsonrpc: "2.0", id: 1, method: "echo" }, 406],
    ["POST", { "Mcp-Session-Id": "" }, { jsonrpc: "2.0", id: 1, method: "echo" }, 404],
    ["GET", { Accept: "application/json" }, undefined, 406],
    ["PUT", {}, body, 405],
    ["POST", { Origin: "https://elsewhere.example" }, body, 403],
  ];
  for (const [method, headers, message, status] of wrong) {
    const answer = await mcp.ask(method, headers, message);
    expect([method, headers, message, answer.status]).toEqual([method, headers, message, status]);
  }
  const held = await mcp.request("hold", { name: "a" });
  const same = await mcp.ask("POST", {}, { jsonrpc: "2.0", id: 2, method: "echo" });
  expect([held.status, same.status]).toEqual([200, 400]);
  await held.cut();
  await mcp.end();
});

test("M2: it needs exec on every request, and obeys the command policy", async () => {
  const mcp = await RawMcp.begin(await person());
  const { sub, org } = mcp.who;
  const viewer = new RawMcp(
    { sub, org, token: await mint({ sub, org, scope: "sandbox:connect" }) },
    mcp.sandbox,
    mcp.path,
  );
  viewer.sessionId = mcp.sessionId;
  expect([(await viewer.request("echo")).status, (await viewer.listen()).status, await viewer.end()]).toEqual([
    403, 403, 403,
  ]);
  const nobody = await fetch(`${system.origin}${mcp.path}`, { method: "POST" });
  expect(nobody.headers.get("WWW-Authenticate")).toContain("resource_metadata=");
  const started = async (cmd: string) => {
    const raw = new RawMcp(mcp.who, mcp.sandbox, gatewayPath(mcp.sandbox, cmd, []));
    const answer = await raw.ask("POST", {}, { jsonrpc: "2.0", id: 1, method: "initialize", params: {} });
    return [answer.status, ((await answer.json()) as { error: string }).error];
  };
  expect(await started("blocked-by-test")).toEqual([403, "cmd_forbidden"]);
  expect(await started("no-such-program")).toEqual([422, "cmd_not_found"]);
  await mcp.end();
});

test("M2: a message may have 4 MiB either way; junk is passed over; stderr goes to the log", async () => {
  const mcp = await RawMcp.begin(await person());
  const text = "y".repeat(4 * 1024 * 1024 - 200);
  expect(await mcp.result("echo", { text })).toEqual({ text });
  expect(await mcp.send({ method: "echo", params: { text: `${text}${"z".repeat(200)}` } })).toBe(413);
  expect(await mcp.result("junk")).toEqual({});
  const at = new Programs(mcp.who, mcp.sandbox);
  const said = async () => String((await at.read(mcp.session, { tail: 200 })).body.output);
  await until("the word in the log", async () => (await said()).includes("a word to the log"));
  await mcp.end();
}, 120_000);

test("M2: a client that gives up during initialize leaves no process behind", async () => {
  const who = await person();
  const sandbox = fresh("box");
  const mcp = new RawMcp(who, sandbox, gatewayPath(sandbox, "sleep", ["1000"]));
  const given = new AbortController();
  const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } };
  const asked = mcp.ask("POST", {}, initialize, given.signal).catch(() => undefined);
  /** undefined where a busy machine does not say. */
  const running = async () => {
    const response = await api(who, `/api/sandboxes/${sandbox}/sessions`);
    if (!response.ok) return undefined;
    const { sessions } = (await response.json()) as { sessions: { state: string }[] };
    return sessions.some(({ state }) => state === "running");
  };
  await until("the process", running);
  given.abort();
  await asked;
  await until("its end", async () => (await running()) === false);
});

test("M2: more than 8 MiB that no client fetches end the session, and until then nothing is lost", async () => {
  const mcp = await RawMcp.begin(await person());
  const pid = await pidOf(mcp);
  const flood = (count: number) => mcp.send({ method: "flood", params: { count, bytes: 1024 * 1024 } });
  // Read without a client that fetches: only this request waits, and it gets none of them.
  const held = await mcp.request("hold", { name: "a" });
  const get = await mcp.listen();
  await until("its first event", () => get.lastId !== "");
  await get.cut();
  expect(await flood(6)).toBe(202);
  await mcp.result("echo");
  const fetched = await mcp.listen(get.lastId);
  await until("six messages", () => held.messages.length + fetched.messages.length === 6);
  await fetched.cut();
  await held.cut();
  const other = await mcp.request("hold", { name: "b" });
  await other.cut();
  await flood(6);
  await flood(6);
  // Nobody asks for anything: a request would get what nobody has got.
  await until("the session's end", async () => (await mcp.send({ method: "notifications/none" })) === 404);
  await until("the process's end", async () => !(await isAliveIn(mcp.who, pid, mcp.sandbox)));
});

test("M2: a server that ends refuses what it owes; a lost one is 404 and never replaced", async () => {
  const ending = await RawMcp.begin(await person());
  const owed = await ending.request("hold", { name: "a" });
  await ending.send({ method: "exit", params: { code: 3 } });
  expect(await owed.message("the refusal")).toMatchObject({ error: { message: "the MCP server exited with code 3" } });
  await within("the end of the stream", owed.ended);
  expect((await ending.request("echo")).status).toBe(404);

  const lost = await RawMcp.begin(await person());
  await killBridge();
  await startBridge();
  await until("the loss", async () => (await lost.request("echo")).status === 404);
});
