// Programs that run, read and wait without a WebSocket (U1 to U4, D1 to D6, T1 to T5), and what ends their calls (R1 to R4).
import { expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { Programs } from "../support/clients/programs.ts";
import { api, cutInnerHop, fresh, mint, person, restartWorker } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const programs = async () => new Programs(await person());
const sh = (script: string) => ({ cmd: "sh", args: ["-c", script] });

test("U1, U2: run answers with both streams, in order and apart, and the true exit", async () => {
  const at = await programs();
  const running = at.run({
    ...sh("echo out; read _; echo err >&2; read _; echo more; exit 7"),
    session: "s",
    stdin: null,
  });
  // The order of two pipes is known only where each is read before the other is written.
  for (const text of ["out\n", "err\n"]) {
    await until("the session", async () => ((await at.describe("s")).status === 200 ? true : undefined));
    expect(await at.wait("s", { until: { text }, from: 0 })).toMatchObject({ status: 200, body: { outcome: "met" } });
    expect((await at.ask("POST", "/sessions/s/input", { text: "\n" })).status).toBe(200);
  }
  const { status, body } = await running;
  expect(status).toBe(200);
  expect(body).toMatchObject({ state: "exited", exit: { code: 7 }, from: 0, next: 13, end: 13 });
  expect([body.output, body.stdout, body.stderr]).toEqual(["out\nerr\nmore\n", "out\nmore\n", "err\n"]);
});

test("U1: stdin is given and ends, is at its end where none is given, and stays open where it is null", async () => {
  const at = await programs();
  const text = "zeile ü\n".repeat(40_000);
  const given = await at.run({ cmd: "sha256sum", stdin: text });
  const piped = await at.run({ cmd: "sha256sum", stdinBase64: Buffer.from(text).toString("base64") });
  expect(given.body.output).toBe(piped.body.output);
  expect(given.body.output).toMatch(/^[0-9a-f]{64} {2}-\n$/);
  expect((await at.run({ cmd: "wc", args: ["-c"] })).body).toMatchObject({ state: "exited", stdout: "0\n" });
  const open = await at.run({ cmd: "cat", stdin: null, waitMs: 300 });
  expect(open.body).toMatchObject({ state: "running", output: "" });
  expect(open.body.exit).toBeUndefined();
  const onTty = await at.run({ cmd: "cat", tty: true, stdin: "typed\n" });
  expect(onTty.body).toMatchObject({ state: "exited", exit: { code: 0 }, output: "typed\r\ntyped\r\n" });
});

test("U3: what is too long keeps its head and tail in whole lines, and says what was left out", async () => {
  const at = await programs();
  const { body } = await at.run({ ...sh("seq 1 5000"), maxBytes: 200 });
  const { truncated } = body;
  expect(truncated).toBeDefined();
  if (truncated === undefined) return;
  expect(truncated.to - truncated.from).toBe(truncated.bytes);
  const rest = await at.read(body.session, { from: truncated.from, to: truncated.to });
  const all = Array.from({ length: 5000 }, (_, i) => `${i + 1}\n`).join("");
  expect(body.output.slice(0, truncated.from) + rest.body.output + body.output.slice(truncated.from)).toBe(all);
  expect(body.output).toMatch(/^1\n2\n[\d\n]*\n5000\n$/);
  const long = await at.run(sh("yes | head -c 3000000"));
  expect(long.body).toMatchObject({ end: 3_000_000, gap: { from: 0 } });
});

test("U4: a run that has a name finds the same process again, running or ended", async () => {
  const at = await programs();
  const body = { ...sh("cat; echo done; exec 1>&-; exit 4"), session: "job", stdin: "once\n" };
  const runs = await Promise.all([1, 2, 3].map(() => at.run(body)));
  expect(new Set(runs.map((run) => run.body.incarnation)).size).toBe(1);
  for (const run of runs) expect(run.body).toMatchObject({ exit: { code: 4 }, output: "once\ndone\n" });
  const again = await at.run(body);
  expect(again.body).toMatchObject({ incarnation: runs[0]?.body.incarnation, output: "once\ndone\n" });
  expect((await at.run({ ...body, args: ["-c", "exit 1"] })).body).toMatchObject({ error: "other_command" });
});

test("D3: a read waits for what is new, over a broken inner hop, and for the exit", async () => {
  const at = await programs();
  await at.put("s", { cmd: "cat" });
  const waiting = at.read("s", { from: 0, waitMs: 60_000 });
  const typist = await connect(at.who, { sandbox: at.sandbox, session: "s" });
  await typist.hello();
  await cutInnerHop();
  typist.type("news\n");
  expect((await waiting).body).toMatchObject({ state: "running", output: "news\n", next: 5 });
  const end = at.read("s", { from: 5, waitMs: 60_000 });
  typist.say({ type: "eof" });
  expect((await end).body).toMatchObject({ state: "exited", exit: { code: 0 }, output: "", next: 5 });
  expect((await at.read("s", { from: 5, waitMs: 60_000 })).body).toMatchObject({ state: "exited", output: "" });
});

test("D6: bytes as they are with their fields in headers", async () => {
  const at = await programs();
  const { body } = await at.run(sh("printf '\\377\\000x'; exit 5"));
  const headers = { Accept: "application/octet-stream" };
  const response = await api(at.who, at.path(`/sessions/${body.session}/output`), { headers });
  expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0xff, 0, 0x78]);
  const field = (name: string) => response.headers.get(`X-Stdio-${name}`);
  expect([field("State"), field("Exit-Code"), field("From"), field("Next"), field("End")]).toEqual([
    "exited",
    "5",
    "0",
    "3",
    "3",
  ]);
  expect(field("Incarnation")).toBe(body.incarnation);
});

type ServerEvent = { readonly name: string; readonly id: string; readonly data: Record<string, unknown> };

async function* events(response: Response): AsyncGenerator<ServerEvent> {
  let text = "";
  const decoder = new TextDecoder();
  if (response.body === null) return;
  for await (const chunk of response.body) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
      if (field("event") === "") continue;
      yield { name: field("event"), id: field("id"), data: JSON.parse(field("data")) as Record<string, unknown> };
    }
  }
}

function stream(at: Programs, name: string, last?: string): Promise<Response> {
  const headers = { Accept: "text/event-stream", ...(last === undefined ? {} : { "Last-Event-ID": last }) };
  return api(at.who, at.path(`/sessions/${name}/output`), { headers });
}

test("D6: a stream goes on at Last-Event-ID over a restart of the Worker, tells the exit once, and is 204 after it", async () => {
  const at = await programs();
  const made = await at.put("s", sh("read -r a; echo $a; read -r b; echo $b"));
  const typist = await connect(at.who, { sandbox: at.sandbox, session: "s" });
  await typist.hello();
  typist.type("one\n");
  let last = "";
  for await (const event of events(await stream(at, "s"))) {
    expect(event).toEqual({
      name: "output",
      id: `${made.body.incarnation}.4`,
      data: { from: 0, next: 4, output: "one\n" },
    });
    last = event.id;
    break;
  }
  await restartWorker();
  const again = await connect(at.who, { sandbox: at.sandbox, session: "s" });
  await again.hello();
  const resumed = await stream(at, "s", last);
  again.type("two\n");
  const rest: ServerEvent[] = [];
  for await (const event of events(resumed)) rest.push(event);
  expect(rest.map(({ name, data }) => [name, data.output ?? data.code])).toEqual([
    ["output", "two\n"],
    ["exit", 0],
  ]);
  expect((await stream(at, "s", rest.at(-1)?.id)).status).toBe(204);
  expect((await stream(at, "s", "another.4")).status).toBe(404);
});

test("D6, N1: a stream tells of attention that is called for while it is open, and never of a replay's", async () => {
  const at = await programs();
  await at.put("s", { ...sh("printf 'old\\a'; read a; sleep 1.1; printf '\\033]9;look here\\a'; read b"), tty: true });
  expect((await at.wait("s", { until: { text: "old" }, from: 0 })).body.outcome).toBe("met");
  const streamed = await stream(at, "s");
  const typist = await connect(at.who, { sandbox: at.sandbox, session: "s" });
  await typist.hello();
  const seen: { name: string; data: Record<string, unknown> }[] = [];
  for await (const event of events(streamed)) {
    seen.push({ name: event.name, data: event.data as Record<string, unknown> });
    if (event.name === "output" && seen.length === 1) typist.type("\r");
    if (event.name === "attention") typist.type("\r");
  }
  const attentions = seen.filter(({ name }) => name === "attention").map(({ data }) => data);
  const { end } = (await at.read("s", { tail: 1 })).body;
  expect(attentions).toEqual([{ type: "attention", kind: "notify", body: "look here", offset: expect.any(Number) }]);
  expect(Number(attentions[0]?.offset)).toBeLessThanOrEqual(end);
  expect(seen.at(-1)?.name).toBe("exit");
});

test("T2, T3: a match is found whether it is there, or comes, with its groups and where it stands", async () => {
  const at = await programs();
  await at.put("s", sh("printf '\\033[32mready\\033[0m on port 3000\\r\\n'; cat"));
  const request = { until: { match: "(READY).*port (\\d+)(x)?", flags: "i" }, from: 0 };
  const { body } = await at.wait("s", request);
  expect(body).toMatchObject({ outcome: "met", output: "ready on port 3000\n" });
  expect(body.match).toMatchObject({ from: 5, text: "ready on port 3000", groups: ["ready", "3000", null] });
  const later = at.wait("s", { until: { text: "typed" } });
  expect((await at.wait("s", { until: { text: "ready" }, timeoutMs: 50 })).body.outcome).toBe("timeout");
  const typist = await connect(at.who, { sandbox: at.sandbox, session: "s" });
  await typist.hello();
  typist.type("this is typed\n");
  expect((await later).body).toMatchObject({ outcome: "met", match: { text: "typed" } });
  const exiting = at.wait("s", { until: { match: "never" } });
  const exited = at.wait("s", { until: { exit: true } });
  typist.say({ type: "eof" });
  expect((await exiting).body).toMatchObject({ outcome: "exited", exit: { code: 0 } });
  expect((await exited).body).toMatchObject({ outcome: "met", exit: { code: 0 } });
  expect((await at.wait("s", request)).body.outcome).toBe("met");
});

test("T1, T4, T6: what can't be waited for is refused before anything else", async () => {
  const at = await programs();
  await at.put("s", { cmd: "cat" });
  const refusals: [object, number, string][] = [
    [{ match: "(?=x)" }, 400, "bad_pattern"],
    [{ match: "((a{0,99}){0,99}){0,99}" }, 400, "bad_pattern"],
    [{ match: "x".repeat(1_001) }, 400, "bad_pattern"],
    [{ screen: "\\pL{0,1000}".repeat(90) }, 400, "bad_pattern"],
    [{ match: "x", flag: "g" }, 400, "unknown_field"],
    [{ match: "x", flags: "g" }, 400, "bad_pattern"],
    [{ exit: false }, 400, "bad_request"],
    [{ match: "x", text: "y" }, 400, "bad_request"],
    [{ commandEnd: true }, 409, "no_marks"],
    [{ screen: "x" }, 409, "no_screen"],
  ];
  for (const [condition, status, error] of refusals) {
    expect(await at.wait("s", { until: condition })).toMatchObject({ status, body: { error } });
  }
  expect(await at.wait("s", { until: { text: "x" }, from: 1 })).toMatchObject({ status: 400 });
  expect(await at.wait("s", { until: { text: "x" }, incarnation: "no" })).toMatchObject({
    status: 404,
    body: { error: "other_incarnation" },
  });
  expect((await at.wait("s", { until: { keyboard: true } })).body.outcome).toBe("met");
});

test("a wait that is open while the Worker's objects restart still gets a true answer or an honest 503", async () => {
  const at = await programs();
  await at.put("s", { cmd: "cat" });
  const wait = () => at.wait("s", { until: { text: "after" }, from: 0 });
  const waiting = wait();
  await until("the wait", async () => ((await at.describe("s")).status === 200 ? true : undefined));
  await cutInnerHop();
  const typist = await connect(at.who, { sandbox: at.sandbox, session: "s" });
  await typist.hello();
  typist.type("after\n");
  const answer = await waiting;
  // It may have come to the bridge just as the connection broke.
  if (answer.status === 503) expect(answer.body).toMatchObject({ error: "unavailable" });
  else expect(answer).toMatchObject({ status: 200, body: { outcome: "met" } });
  expect(await wait()).toMatchObject({ status: 200, body: { outcome: "met" } });
});

test("R1: a revocation ends waits and reads that are open, with 401", async () => {
  const at = await programs();
  await at.put("s", { cmd: "cat" });
  const sub = fresh("viewer");
  const viewer = new Programs(
    { ...at.who, sub, token: await mint({ sub, org: at.who.org, scope: "sandbox:connect" }) },
    at.sandbox,
  );
  const open = [viewer.wait("s", { until: { exit: true } }), viewer.read("s", { from: 0, waitMs: 30_000 })];
  const streamed = await stream(viewer, "s");
  const streaming = (async () => {
    for await (const event of events(streamed)) expect(event.name).toBe("never");
  })();
  const admin = await person({ org: at.who.org, scope: "sandbox:admin" });
  await at.read("s", { waitMs: 1_000 });
  await api(admin, "/api/revocations", { method: "POST", body: JSON.stringify({ sub }) });
  for (const { status, body } of await Promise.all(open)) {
    expect([status, (body as unknown as { error: string }).error]).toEqual([401, "revoked"]);
  }
  await streaming;
  expect((await viewer.read("s")).status).toBe(401);
});

test("R4: an answer that takes longer than 15 s begins as 200 and is kept open by spaces", async () => {
  const at = await programs();
  await at.put("s", { cmd: "cat" });
  const body = JSON.stringify({ until: { exit: true }, timeoutMs: 17_000 });
  const response = await api(at.who, at.path("/sessions/s/wait"), { method: "POST", body });
  const text = await response.text();
  expect([response.status, text[0]]).toEqual([200, " "]);
  expect(JSON.parse(text)).toMatchObject({ outcome: "timeout" });
});
