import { afterEach, expect, test } from "vitest";
import { callTool, closeClients, mcpClient, toolBody } from "../support/clients/mcp.ts";
import { Programs } from "../support/clients/programs.ts";
import { api, fresh, mint, type Person, person, system } from "../support/system/system.ts";

afterEach(closeClients);

const TOOLS = ["run", "read", "write", "wait", "screen", "commands", "signal", "list", "end", "keyboard"];
const ERAS = ["legacy", "auto"] as const;
const VERSIONS = { legacy: "2025-11-25", auto: "2026-07-28" };

test.each(ERAS)("M1: the official client (%s) finds every tool, with schemas, annotations and words", async (era) => {
  const client = await mcpClient(await person(), "/mcp", era);
  expect(client.getNegotiatedProtocolVersion()).toBe(VERSIONS[era]);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(TOOLS);
  for (const { name, description = "", inputSchema, outputSchema, annotations } of tools) {
    expect([name, inputSchema.required]).toEqual([name, expect.arrayContaining(["sandbox"])]);
    expect([name, description.length > 60 && description.length < 500]).toEqual([name, true]);
    expect([name, outputSchema?.type]).toEqual([name, "object"]);
    const reads = ["read", "wait", "screen", "commands", "list"].includes(name);
    expect([name, annotations?.readOnlyHint]).toEqual([name, reads]);
    expect([name, annotations?.destructiveHint]).toEqual([name, !reads && name !== "keyboard"]);
  }
});

test.each(ERAS)("M1: every tool does what its route does (%s)", async (era) => {
  const at = new Programs(await person());
  const { sandbox } = at;
  const client = await mcpClient(at.who, "/mcp", era);
  const ask = (name: string, args: Record<string, unknown>) => toolBody(client, name, { sandbox, ...args });

  expect(await ask("run", { command: "echo out; echo err >&2; exit 3" })).toMatchObject({
    state: "exited",
    exit: { code: 3 },
    text: "out\nerr\n",
  });
  const shell = { cmd: "bash", tty: true, session: "sh", waitMs: 0, mode: "exclusive" };
  const started = await ask("run", shell);
  expect(started).toMatchObject({ session: "sh", state: "running" });
  expect(await ask("keyboard", { session: "sh", do: "request" })).toMatchObject({ mine: true });
  const typed = await ask("write", { session: "sh", text: "echo $((6*7))", enter: true });
  const seen = await ask("wait", { session: "sh", until: { match: "\\b(42)\\b" }, from: typed.outputOffset });
  expect(seen).toMatchObject({ outcome: "met", match: { groups: ["42"] } });
  expect(await ask("wait", { session: "sh", until: { commandEnd: true }, from: typed.outputOffset })).toMatchObject({
    outcome: "met",
  });
  const { commands } = (await ask("commands", { session: "sh" })) as { commands: { exit?: number }[] };
  expect(commands.at(-1)).toMatchObject({ exit: 0 });
  expect((await ask("screen", { session: "sh" })).text).toContain("42");
  expect((await ask("read", { session: "sh", tail: 2000, format: "plain" })).text).toContain("42\n");
  const { sessions } = (await ask("list", {})) as { sessions: { session: string }[] };
  expect(sessions.map(({ session }) => session)).toContain("sh");

  await ask("write", { session: "sh", text: "sleep 1000", enter: true });
  expect(await ask("signal", { session: "sh", signal: "SIGINT" })).toMatchObject({ done: true });
  expect(await ask("end", { session: "sh" })).toMatchObject({ done: true });
  expect((await at.describe("sh")).status).toBe(404);
});

test("M1: 64 KiB of output take an agent no more than that, and what was left out can be read", async () => {
  const client = await mcpClient(await person(), "/mcp", "auto");
  const args = { sandbox: fresh("box"), session: "long", cmd: "seq", args: ["100000", "199999"] };
  const answer = await callTool(client, "run", args);
  const size = Buffer.byteLength(JSON.stringify(answer));
  expect([size > 40_000, size <= 65_536]).toEqual([true, true]);
  const { truncated } = answer.structuredContent as { truncated: { from: number; to: number } };
  const [output = ""] = answer.content.map(({ text }) => text);
  let rest = "";
  for (let from = truncated.from; from < truncated.to; ) {
    const { text, next } = await toolBody(client, "read", {
      ...args,
      cmd: undefined,
      args: undefined,
      from,
      to: truncated.to,
    });
    rest += String(text);
    from = Number(next);
  }
  const lines = Array.from({ length: 100_000 }, (_, at) => `${100_000 + at}\n`).join("");
  expect(output.slice(0, truncated.from) + rest + output.slice(truncated.from) === lines).toBe(true);
});

test("M1: a batch of too many messages is refused before any of them is looked at", async () => {
  const who = await person();
  const notification = { jsonrpc: "2.0", method: "notifications/initialized" };
  const answer = await post(who, Array(20_000).fill(notification));
  expect([answer.status, await answer.json()]).toEqual([
    400,
    { jsonrpc: "2.0", id: null, error: { code: -32_600, message: "a batch has 1 to 100 messages" } },
  ]);
  expect((await post(who, Array(2).fill(notification))).status).toBe(202);
});

test("M1: no session id, GET and DELETE are 405, and revisions from 2025-03-26 on are taken", async () => {
  const who = await person();
  for (const method of ["GET", "DELETE"]) {
    const answer = await api(who, "/mcp", { method, headers: { Accept: "text/event-stream" } });
    expect([method, answer.status, answer.headers.get("Allow")]).toEqual([method, 405, "POST"]);
  }
  for (const protocolVersion of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "t", version: "1" } };
    const answer = await post(who, { jsonrpc: "2.0", id: 1, method: "initialize", params });
    expect([answer.status, answer.headers.get("Mcp-Session-Id")]).toEqual([200, null]);
    expect(await answer.text()).toContain(`"protocolVersion":"${protocolVersion}"`);
    // The next request comes with no more than its revision.
    const list = await post(
      who,
      { jsonrpc: "2.0", id: 2, method: "tools/list" },
      { "MCP-Protocol-Version": protocolVersion },
    );
    expect(await list.text()).toContain('"name":"keyboard"');
  }
});

test("M1: the sandbox may be fixed in the address: no call names it, and none may name another", async () => {
  const sandbox = fresh("box");
  const client = await mcpClient(await person(), `/mcp?sandbox=${sandbox}`, "auto");
  const { tools } = await client.listTools();
  expect(tools.flatMap(({ inputSchema }) => inputSchema.required ?? [])).not.toContain("sandbox");
  expect(await toolBody(client, "run", { command: "echo here", session: "s" })).toMatchObject({ text: "here\n" });
  expect((await callTool(client, "run", { command: "true", sandbox: fresh("box") })).isError).toBe(true);
});

test("M3: a Bearer header only, no other Origin, and a 401 says where to log in", async () => {
  const who = await person();
  const metadata = `${system.origin}/.well-known/oauth-protected-resource`;
  const nobody = await post(undefined, LIST);
  expect(nobody.status).toBe(401);
  expect(nobody.headers.get("WWW-Authenticate")).toBe(`Bearer resource_metadata="${metadata}"`);
  const old = { ...who, token: await mint({ sub: who.sub, org: who.org, expires: -60 }) };
  expect((await post(old, LIST)).headers.get("WWW-Authenticate")).toBe(
    `Bearer error="invalid_token", resource_metadata="${metadata}"`,
  );
  const inQuery = await api(undefined, `/mcp?token=${who.token}`, { method: "POST", body: JSON.stringify(LIST) });
  expect(inQuery.status).toBe(401);
  for (const path of ["", "/mcp"]) {
    const document = (await (await fetch(`${metadata}${path}`)).json()) as Record<string, unknown>;
    expect(document).toMatchObject({
      resource: `${system.origin}/mcp`,
      authorization_servers: [system.issuerUrl],
      bearer_methods_supported: ["header"],
    });
  }
  expect((await post(who, LIST, { Origin: "https://elsewhere.example" })).status).toBe(403);
  expect((await post(who, LIST, { Origin: system.origin })).status).toBe(200);
});

test("M3: aud may be this server's /mcp, for a client of ours only", async () => {
  const who = await person();
  const { sub, org } = who;
  const resource = `${system.origin}/mcp`;
  const ours = await mint({ sub, org, aud: resource, client: "sbx-stdio-cli" });
  expect((await post({ ...who, token: ours }, LIST)).status).toBe(200);
  for (const client of ["registered-by-anyone", ""]) {
    const theirs = await mint({ sub, org, aud: resource, client });
    const answer = await post({ ...who, token: theirs }, LIST);
    expect([client, answer.status, await answer.json()]).toMatchObject([client, 401, { error: "wrong_audience" }]);
  }
});

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

function post(who: Person | undefined, message: object, headers: Record<string, string> = {}): Promise<Response> {
  const all = { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers };
  return api(who, "/mcp", { method: "POST", body: JSON.stringify(message), headers: all });
}
