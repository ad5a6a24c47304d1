// What hosts start: the configurations of docs/programs.md as they stand there, `sbx-stdio mcp`, and the MCP inspector's command line.
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, expect, test } from "vitest";
import { ROOT } from "../../../packages/local/src/base/paths.ts";
import { CLI, cliEnv } from "../support/clients/cli.ts";
import { callTool, clientInfo, type Era, refusalOf, toolBody } from "../support/clients/mcp.ts";
import { Programs } from "../support/clients/programs.ts";
import { fresh, type Person, person, system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const run = promisify(execFile);
const INSPECTOR = join(ROOT, "node_modules/.bin/mcp-inspector");
const BLOCKS = /```(json|toml|js)\n(.*?)```/gs;
const TOOLS = ["run", "read", "write", "wait", "screen", "commands", "signal", "list", "end", "keyboard"];

/** The blocks of code about hosts in docs/programs.md, with the address of this system's server. */
const [, hosts = ""] = readFileSync(join(ROOT, "docs/programs.md"), "utf8").split("### Hosts");
const blocks = [...hosts.matchAll(BLOCKS)].map(([, kind, code = ""]) => ({
  kind,
  code: code.replaceAll("http://localhost:8787", system.origin),
}));

let open: Client[] = [];
afterEach(async () => {
  await Promise.all(open.map((client) => client.close()));
  open = [];
});

function env(who: Person | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(cliEnv(who)).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** A client of a program that a host starts; `sbx-stdio` is the bundle. */
async function stdio(who: Person, command: string, args: readonly string[], era: Era = "auto"): Promise<Client> {
  const words = [command, ...args];
  const [program = "", ...rest] = words[0] === "sbx-stdio" ? [process.execPath, CLI, ...args] : words;
  const client = new Client(...clientInfo(era));
  await client.connect(new StdioClientTransport({ command: program, args: rest, env: env(who), stderr: "pipe" }));
  open.push(client);
  return client;
}

const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

test("the configuration for Claude Code in docs/programs.md lists the tools and runs a command", async () => {
  const who = await person();
  type Config = { mcpServers: { sandbox: { type: string; url: string; headers: Record<string, string> } } };
  const { type, url, headers } = (JSON.parse(block("json", 0)) as Config).mcpServers.sandbox;
  expect(type).toBe("http");
  const given = Object.entries(headers).map(([name, value]) => [name, value.replace(/\$\{SBX_TOKEN\}/, who.token)]);
  const client = new Client(...clientInfo("auto"));
  const requestInit = { headers: Object.fromEntries(given) as Record<string, string> };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  open.push(client);
  expect(await names(client)).toEqual(TOOLS);
  expect(await toolBody(client, "run", { command: "echo hello" })).toMatchObject({ text: "hello\n" });
});

test("the configuration for Codex in docs/programs.md starts the command line, which lists the tools", async () => {
  const toml = block("toml", 0);
  const value = (name: string) => JSON.parse(new RegExp(`^${name} = (.*)$`, "m").exec(toml)?.[1] ?? "null") as unknown;
  expect([toml.split("\n")[0], value("env_vars")]).toEqual(["[mcp_servers.sandbox]", ["SBX_TOKEN"]]);
  const client = await stdio(await person(), String(value("command")), value("args") as string[]);
  expect(await names(client)).toEqual(TOOLS);
});

test("the configuration for VS Code in docs/programs.md starts the command line, which lists the tools", async () => {
  type Config = {
    servers: { sandbox: { type: string; command: string; args: string[]; env: Record<string, string> } };
  };
  const { type, command, args, env: given } = (JSON.parse(block("json", 1)) as Config).servers.sandbox;
  expect([type, given.SBX_TOKEN]).toEqual(["stdio", expect.stringMatching(/^\$\{env:SBX_TOKEN\}$/)]);
  expect(await names(await stdio(await person(), command, args))).toEqual(TOOLS);
});

test("the client of one's own in docs/programs.md runs as it stands there", async () => {
  const who = await person();
  // Below the checkout: it imports the SDK.
  const cache = join(ROOT, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const dir = mkdtempSync(join(cache, "example-"));
  try {
    writeFileSync(join(dir, "client.mjs"), block("js", 0));
    const { stdout } = await run(process.execPath, [join(dir, "client.mjs")], { env: { ...env(who) } });
    expect(stdout).toBe("Linux\n\n");
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("M1: sbx-stdio mcp serves the same tools over stdio", async () => {
  const client = await stdio(await person(), process.execPath, [CLI, "mcp", system.origin]);
  expect(await names(client)).toEqual(TOOLS);
  const sandbox = fresh("box");
  await toolBody(client, "run", { sandbox, cmd: "cat", session: "s", stdin: null, waitMs: 0 });
  const typed = await toolBody(client, "write", { sandbox, session: "s", text: "hello", enter: true });
  const waited = { sandbox, session: "s", until: { text: "hello" }, from: typed.outputOffset };
  expect(await toolBody(client, "wait", waited)).toMatchObject({ outcome: "met" });
  expect(refusalOf(await callTool(client, "read", { sandbox, session: "none" }))).toMatchObject({ error: "not_found" });
  // Over stdio a call is cancelled in both eras.
  const given = new AbortController();
  const waiting = client.callTool(
    { name: "wait", arguments: { sandbox, session: "s", until: { exit: true }, timeoutMs: 600_000 } },
    { signal: given.signal, onprogress: () => given.abort() },
  );
  await expect(waiting).rejects.toThrow();
  expect(await toolBody(client, "end", { sandbox, session: "s" })).toMatchObject({ done: true });
});

test("M1: a wait cancelled over stdio by revision 2025-06-18 has no answer, and ends in the session", async () => {
  const at = new Programs(await person());
  const { sandbox } = at;
  const server = spawn(process.execPath, [CLI, "mcp", system.origin], {
    env: env(at.who),
    stdio: ["pipe", "pipe", "inherit"],
  });
  try {
    const heard: { id?: number; method?: string; result?: { protocolVersion?: string } }[] = [];
    createInterface(server.stdout).on("line", (line) => heard.push(JSON.parse(line) as (typeof heard)[number]));
    const say = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const answer = (id: number) => until(`answer ${id}`, async () => heard.find((one) => one.id === id));
    const clientInfo = { name: "raw", version: "1" };
    say({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
    expect((await answer(1)).result?.protocolVersion).toBe("2025-06-18");
    say({ method: "notifications/initialized" });
    const quiet = { sandbox, session: "quiet", cmd: "cat", stdin: null, waitMs: 0, keepSeconds: 1 };
    say({ id: 2, method: "tools/call", params: { name: "run", arguments: quiet } });
    await answer(2);
    const waited = { sandbox, session: "quiet", until: { exit: true }, timeoutMs: 3_600_000 };
    const _meta = { progressToken: "p" };
    say({ id: 3, method: "tools/call", params: { name: "wait", arguments: waited, _meta } });
    await until("the wait", async () => heard.some(({ method }) => method === "notifications/progress"));
    say({ method: "notifications/cancelled", params: { requestId: 3, reason: "enough" } });
    // A wait counts as attached: once it is gone, nothing keeps the process but its second. It is seen to be gone within 15 s (R4).
    const hasEnded = async () => (await at.describe("quiet")).body.state === "exited";
    // Asked more often, it would be refused as too many calls within a minute.
    await until("the end of what nobody waits for", hasEnded, 50_000, 500);
    say({ id: 4, method: "tools/list" });
    await answer(4);
    expect(heard.flatMap(({ id }) => id ?? [])).toEqual([1, 2, 4]);
  } finally {
    server.kill();
  }
});

test("sbx-stdio mcp says what is wrong before it says anything in MCP, and ends with its host", async () => {
  const fails = (args: string[], who?: Person) =>
    run(process.execPath, [CLI, "mcp", ...args], { env: env(who) }).then(
      () => ({ code: 0, stderr: "", stdout: "" }),
      (error: { code: number; stderr: string; stdout: string }) => error,
    );
  const nobody = await fails([system.origin]);
  expect([nobody.code, nobody.stdout]).toEqual([255, ""]);
  expect(nobody.stderr).toContain("no access token");
  expect(await fails([])).toMatchObject({ code: 2, stdout: "" });
  expect(await fails([system.origin, "--sandbox", "a/b"])).toMatchObject({ code: 2 });
  const child = execFile(process.execPath, [CLI, "mcp", system.origin], { env: env(await person()) });
  const code = new Promise((resolve) => child.once("exit", resolve));
  child.stdin?.end();
  expect(await code).toBe(0);
});

test("M1: the inspector's command line finds the schemas good, and calls tools over HTTP and stdio", async () => {
  const who = await person();
  const dir = mkdtempSync(join(system.dir, "inspector-"));
  const http = [`${system.origin}/mcp`, "--transport", "http", "--header", `Authorization: Bearer ${who.token}`];
  const inspect = async (args: readonly string[]) => {
    const options = { env: { ...env(who), HOME: dir }, maxBuffer: 10_000_000 };
    const { stdout } = await run(INSPECTOR, ["--cli", ...args], options);
    return JSON.parse(stdout) as {
      tools?: { name: string }[];
      content?: { text?: string }[];
    };
  };
  const listed = await inspect([...http, "--method", "tools/list", "--strict"]);
  expect(listed.tools?.map(({ name }) => name)).toEqual(TOOLS);
  const call = ["--method", "tools/call", "--tool-name", "run", "--tool-arg", "sandbox=box", "command=echo inspected"];
  const overStdio = ["-e", `SBX_TOKEN=${who.token}`, process.execPath, CLI, "mcp", system.origin];
  expect((await inspect([...overStdio, ...call])).content?.[0]?.text).toBe("inspected\n");
});

function block(kind: string, index: number): string {
  const code = blocks.filter((one) => one.kind === kind)[index]?.code;
  if (code === undefined) throw new Error(`docs/programs.md has no block ${index} of ${kind}`);
  return code;
}
