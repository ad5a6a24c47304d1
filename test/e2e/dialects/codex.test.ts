// codex' exec-server over the real system (section 12), by a client without a library.
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type Chunk, codexAt, codexUrl, RawCodex, textOf } from "../support/agents/codex-raw.ts";
import { connect, dropClients } from "../support/clients/client.ts";
import { api, cutInnerHop, fresh, person, restartWorker, system } from "../support/system/system.ts";
import { until, within } from "../support/system/wait.ts";

afterEach(dropClients);

test("E2, E3, E4: a process runs, its output is numbered, and its end is told once", async () => {
  const client = await RawCodex.begin(fresh("box"));
  expect(client.id).toMatch(/^[0-9a-f]{32}$/);
  const script = 'echo out; read x; echo "$0" >&2; read x; echo more; exit 3';
  const started = await client.start("p1", script, { arg0: "another name", pipeStdin: true });
  expect(started.result).toEqual({ processId: "p1", sandboxType: "none" });
  // Each stream's piece by itself: what comes at once is one chunk for each.
  for (const [writeId, said] of [
    ["1", "out\n"],
    ["2", "another name\n"],
  ] as const) {
    await until(said, () => client.output("p1").includes(said));
    await client.result("process/write", { processId: "p1", chunk: "Cg==", writeId });
  }
  expect(await client.exit("p1")).toMatchObject({ exitCode: 3, sandboxDenied: false });
  expect(client.output("p1", "stdout")).toBe("out\nmore\n");
  expect(client.output("p1", "stderr")).toBe("another name\n");
  const seqs = client.notifications.map(({ params }) => params.seq);
  expect(seqs).toEqual(seqs.map((_, i) => i + 1));
  const read = await client.result("process/read", { processId: "p1", afterSeq: null, maxBytes: null, waitMs: 0 });
  expect(textOf(read.chunks as Chunk[])).toBe("out\nanother name\nmore\n");
  expect(read).toMatchObject({ nextSeq: seqs.length + 1, exited: true, exitCode: 3, closed: true, failure: null });
  expect(await client.result("process/terminate", { processId: "p1" })).toEqual({ running: false });
});

test("E4: a process that says more than the log holds waits for its client, and for nothing else", async () => {
  const client = await RawCodex.begin(fresh("box"));
  let bytes = 0;
  client.onNotification = ({ method, params }) => {
    if (method === "process/output") bytes += Buffer.from(String(params.chunk), "base64").length;
  };
  await client.start("p", "seq 1 300000");
  await client.exit("p");
  expect(bytes).toBe(1_988_895);
});

test("E4: a client that reads besides is told every number all the same", async () => {
  const client = await RawCodex.begin(fresh("box"));
  const told: unknown[] = [];
  client.onNotification = ({ params }) => told.push(params.seq);
  await client.start("p", "head -c 3000000 /dev/zero | tr '\\0' x");
  let read = 0;
  for (let [afterSeq, isClosed] = [0, false]; !isClosed; ) {
    const answer = await client.result("process/read", { processId: "p", afterSeq, maxBytes: null, waitMs: 2_000 });
    for (const { chunk } of answer.chunks as Chunk[]) read += Buffer.from(chunk, "base64").length;
    isClosed = answer.closed === true;
    afterSeq = Number(answer.nextSeq) - 1;
  }
  await client.exit("p");
  expect(read).toBe(3_000_000);
  expect(told).toEqual(told.map((_, i) => i + 1));
  const ahead = { processId: "p", afterSeq: 100_000, maxBytes: null, waitMs: 0 };
  expect((await client.result("process/read", ahead)).nextSeq).toBe(told.length + 1);
});

test("E3: a person finds a process in the list, watches it, takes its keyboard and types", async () => {
  const [who, box] = [await person(), fresh("box")];
  const codex = await RawCodex.begin(box, who);
  await codex.start("p", "echo ready; read x; echo got $x; exit 5", { tty: true });
  const listed = await api(who, `/api/sandboxes/${box}/sessions`);
  const { sessions } = (await listed.json()) as { sessions: { session: string }[] };
  expect(sessions.map(({ session }) => session)).toEqual([expect.stringMatching(/^codex-[0-9a-f]{20}$/)]);
  const human = await connect(who, { sandbox: box, session: sessions[0]?.session ?? "", offset: 0 });
  const { you } = (await human.hello()) as unknown as { you: { id: string } };
  await until("the screen", () => human.text().includes("ready"));
  human.say({ type: "request_stdin" });
  await until("the keyboard", () => human.messages("stdin_holder").some(({ id }) => id === you.id));
  human.type("by hand\n");
  expect(await codex.exit("p")).toMatchObject({ exitCode: 5 });
  expect(codex.output("p")).toContain("got by hand");
});

test("E5: what is written is typed once for each id, and a repeated start finds the process", async () => {
  const client = await RawCodex.begin(fresh("box"), await person());
  await client.start("cat", "cat", { pipeStdin: true });
  const write = (text: string, writeId: string) => {
    const chunk = Buffer.from(text).toString("base64");
    return client.call("process/write", { processId: "cat", chunk, writeId });
  };
  expect((await write("one\n", "1")).result).toEqual({ status: "accepted" });
  expect((await write("one\n", "1")).result).toEqual({ status: "accepted" });
  expect((await write("other\n", "1")).error).toMatchObject({ code: -32602 });
  expect((await write("two\n", "2")).result).toEqual({ status: "accepted" });
  await expect.poll(() => client.output("cat")).toBe("one\ntwo\n");
  expect((await client.start("cat", "cat", { pipeStdin: true })).result).toMatchObject({ processId: "cat" });
  expect(await client.result("process/terminate", { processId: "cat" })).toEqual({ running: true });
  await client.exit("cat");
  expect(client.output("cat")).toBe("one\ntwo\n");
  expect((await write("three\n", "3")).result).toEqual({ status: "stdinClosed" });
});

test("E2: a session goes on after a cut and a restart of the Worker, with its processes and its numbers", async () => {
  const [box, who] = [fresh("box"), await person()];
  const first = await RawCodex.begin(box, who);
  await first.start("p", "for i in $(seq 1 25); do echo line $i; sleep 0.1; done; read end; exit 7", {
    pipeStdin: true,
  });
  await until("some output", () => first.output("p").includes("line 3"));
  first.socket.terminate();
  await cutInnerHop();
  const second = await RawCodex.begin(box, who, first.id);
  expect(second.id).toBe(first.id);
  await until("more output", () => second.output("p").includes("\n"));
  await restartWorker();
  const third = await RawCodex.begin(box, who, first.id);
  const chunk = Buffer.from("\n").toString("base64");
  await third.result("process/write", { processId: "p", chunk, writeId: "end" });
  expect(await third.exit("p")).toMatchObject({ exitCode: 7 });
  const read = await third.result("process/read", { processId: "p", afterSeq: 0, maxBytes: null, waitMs: 0 });
  const chunks = read.chunks as Chunk[];
  const lines = Array.from({ length: 25 }, (_, i) => `line ${i + 1}\n`).join("");
  expect([textOf(chunks), read.failure]).toEqual([lines, null]);
  // Whoever was told of a number was told of the same bytes.
  const bySeq = new Map(chunks.map(({ seq, chunk }) => [seq, chunk]));
  for (const client of [first, second, third]) {
    for (const { seq, chunk } of client.of("p", "process/output"))
      expect([seq, bySeq.get(Number(seq))]).toEqual([seq, chunk]);
  }
});

test("E2: a newer connection closes the older one with 1000; an unknown session and another's are refused alike", async () => {
  const [box, who] = [fresh("box"), await person()];
  const first = await RawCodex.begin(box, who);
  const second = await RawCodex.begin(box, who, first.id);
  expect((await within("the first's end", first.closed)).code).toBe(1000);
  const stranger = await RawCodex.open((await codexUrl(await person({ org: who.org }), box)).url);
  const foreigner = await RawCodex.open((await codexUrl(await person(), box)).url);
  const asForeigner = await foreigner.call("initialize", { clientName: "test", resumeSessionId: first.id });
  const errors = [asForeigner.error];
  for (const resumeSessionId of [first.id, "0".repeat(32), "", "x"]) {
    errors.push((await stranger.call("initialize", { clientName: "test", resumeSessionId })).error);
  }
  expect(errors).toEqual(errors.map(() => ({ code: -32600, message: expect.any(String) })));
  expect(new Set(errors.map((error) => error?.message)).size).toBe(1);
  expect((await second.start("p", "true")).result).toBeDefined();
  // Nor does a stranger reach its processes by their ids.
  await stranger.result("initialize", { clientName: "test", resumeSessionId: null });
  expect(
    (await stranger.call("process/read", { processId: "p", afterSeq: 0, maxBytes: 1, waitMs: 0 })).error,
  ).toMatchObject({ code: -32600 });
  expect(await stranger.result("process/write", { processId: "p", chunk: "", writeId: "1" })).toEqual({
    status: "unknownProcess",
  });
  expect(await stranger.result("process/terminate", { processId: "p" })).toEqual({ running: false });
});

test("E1: only a ticket of this route opens it, for its own sandbox, until it is revoked or has expired", async () => {
  const [box, who] = [fresh("box"), await person()];
  const { id, url } = await codexUrl(who, box);
  expect(url).toMatch(/\/codex\/[\w-]+\?ticket=c\.[\w-]+$/);
  const ticket = new URL(url).searchParams.get("ticket") ?? "";
  const client = await RawCodex.open(url);
  await client.result("initialize", { clientName: "test", resumeSessionId: null });
  const shared = { method: "POST", body: JSON.stringify({ sandbox: box, session: "main" }) };
  const { ticket: other } = (await (await api(who, "/api/tickets", shared)).json()) as { ticket: string };
  const brief = await codexUrl(who, box, { seconds: 1 });
  const statuses = [
    await RawCodex.status(codexAt(fresh("box"), ticket)),
    await RawCodex.status(codexAt(box, other)),
    await RawCodex.status(codexAt(box, `${ticket}x`)),
    await RawCodex.status(codexAt(box, "")),
    await RawCodex.status(url, { Origin: system.origin }),
    await RawCodex.status(codexAt(box, ticket).replace(`/codex/${box}?`, `/attach?sandbox=${box}&session=main&`)),
    (await api(undefined, `/api/sandboxes/${box}/sessions`, { headers: { Authorization: `Bearer ${ticket}` } })).status,
  ];
  expect(statuses).toEqual([403, 401, 401, 401, 403, 401, 401]);
  await until("the brief ticket's end", async () => (await RawCodex.status(brief.url)) === 401);
  const tickets = (await (await api(who, `/api/sandboxes/${box}/tickets`)).json()) as { tickets: object[] };
  expect(tickets).toEqual({ tickets: [expect.objectContaining({ id, kind: "codex", maker: who.sub })] });
  expect((await api(who, `/api/sandboxes/${box}/tickets/${id}`, { method: "DELETE" })).status).toBe(204);
  expect((await within("the close", client.closed)).code).toBe(1008);
  expect(await RawCodex.status(url)).toBe(401);
});

/** One that is not told asks by itself half a minute later. */
const TOLD_MS = 20_000;

test("E1: its maker's revocation closes what a ticket has opened, and nothing opens by it any more", async () => {
  const [box, org] = [fresh("box"), fresh("org")];
  const who = await person({ org });
  const client = await RawCodex.begin(box, who);
  const { url } = await codexUrl(who, box);
  // One that has never said a word hears of it, too.
  const silent = await RawCodex.open(url);
  const admin = await person({ org, scope: "sandbox:admin" });
  const revoke = { method: "POST", body: JSON.stringify({ sub: who.sub }) };
  expect((await api(admin, "/api/revocations", revoke)).status).toBe(204);
  expect((await within("the close", client.closed, TOLD_MS)).code).toBe(1008);
  // Of one that was silent the runtime leaves TCP open until the client lets go; told it is at once.
  await until("the end of the silent one", () => silent.socket.readyState >= WebSocket.CLOSING, TOLD_MS);
  expect(await RawCodex.status(url)).toBe(401);
});

test("E1, E2: what is no message closes, half of one does nothing, and all comes to an answer twice", async () => {
  const [box, who] = [fresh("box"), await person()];
  const { url } = await codexUrl(who, box);
  for (const nonsense of ["nonsense", '{"id":1,', Buffer.from([1, 2])]) {
    const client = await RawCodex.open(url);
    client.socket.send(nonsense);
    expect((await within("the close", client.closed)).code).toBe(1008);
  }
  const client = await RawCodex.open(url, { Authorization: "Basic bm9ib2R5" });
  expect((await client.call("process/start", {})).error).toMatchObject({ code: -32600 });
  client.say("[]");
  await until("an answer to nothing", () => client.answers.some(({ id }) => id === null));
  await client.result("initialize", { clientName: "test", resumeSessionId: null });
  expect((await client.call("initialize", { clientName: "test" })).error).toMatchObject({ code: -32600 });
  for (const method of ["fs/watch", "environmentConfig/read", "process/nothing", "__proto__"]) {
    expect((await client.call(method, {})).error).toMatchObject({ code: -32601 });
  }
  const start = {
    processId: "p",
    argv: ["/bin/bash", "-c", "echo $((6 * 7))"],
    cwd: "file:///tmp",
    env: {},
    tty: true,
  };
  const message = { id: 77, method: "process/start", params: start };
  client.say(message);
  client.say(message);
  await until("both answers", () => client.answers.filter(({ id }) => id === 77).length === 2);
  await client.exit("p");
  expect(client.output("p", "pty")).toBe("42\r\n");
  const sandboxed = { sandbox: { permissions: { type: "managed" } } };
  expect((await client.start("q", "touch /tmp/never", sandboxed)).error).toMatchObject({
    code: -32602,
    message: "no sandbox here: the container is the sandbox",
  });
  expect((await client.start("r", "true", { cwd: "/tmp" })).error).toMatchObject({ code: -32602 });
  expect((await client.call("process/start", { ...start, processId: "s", argv: ["/no/such"] })).error).toMatchObject({
    code: -32000,
  });
  expect((await client.start("t", "sleep 60")).result).toBeDefined();
  expect(await client.result("process/signal", { processId: "t", signal: "interrupt" })).toEqual({});
  expect(await client.exit("t")).toMatchObject({ exitCode: 130 });
});

test("E6: files are written, read and told of, and that is on record without what is in them", async () => {
  const [box, org] = [fresh("box"), fresh("org")];
  const client = await RawCodex.begin(box, await person({ org }));
  const path = `file:///tmp/${box}`;
  expect((await client.call("fs/getMetadata", { path, sandbox: null })).error).toMatchObject({ code: -32004 });
  await client.result("fs/createDirectory", { path, recursive: true });
  await client.result("fs/writeFile", { path: `${path}/a%20b`, dataBase64: "aGVsbG8K", sandbox: null });
  expect(await client.result("fs/readFile", { path: `${path}/a%20b` })).toEqual({ dataBase64: "aGVsbG8K" });
  expect(await client.result("fs/getMetadata", { path: `${path}/a%20b` })).toMatchObject({ isFile: true, size: 6 });
  expect(await client.result("fs/readDirectory", { path })).toEqual({
    entries: [{ fileName: "a b", isDirectory: false, isFile: true }],
  });
  expect(await client.result("fs/walk", { path, options: {} })).toEqual({
    entries: [{ path: `${path}/a%20b`, kind: "file" }],
    errors: [],
    truncated: false,
  });
  await client.result("fs/open", { handleId: "h", path: `${path}/a%20b` });
  expect(await client.result("fs/readBlock", { handleId: "h", offset: 1, len: 3 })).toEqual({
    chunk: "ZWxs",
    eof: false,
  });
  await client.result("fs/close", { handleId: "h" });
  await client.result("fs/copy", { sourcePath: path, destinationPath: `${path}2`, recursive: true });
  expect(await client.result("fs/canonicalize", { path: `${path}2/../${box}2` })).toEqual({ path: `${path}2` });
  for (const one of [path, `${path}2`]) await client.result("fs/remove", { path: one, recursive: true, force: true });
  expect((await client.call("fs/readFile", { path: `${path}2/a%20b` })).error).toMatchObject({ code: -32004 });
  const admin = await person({ org, scope: "sandbox:admin" });
  const record = await (await api(admin, `/api/sandboxes/${box}/audit?limit=100`)).text();
  expect(record).toContain(`"operation":"fs/writeFile","path":"/tmp/${box}/a b","bytes":6,"outcome":"ok"`);
  expect(record).not.toMatch(/hello|aGVsbG8K/);
});
