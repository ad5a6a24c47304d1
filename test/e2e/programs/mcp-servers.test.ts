// Real MCP servers behind the gateway, by the official client: what they answer there is what they answer over stdio (M2).
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, expect, test } from "vitest";
import { ROOT } from "../../../packages/local/src/base/paths.ts";
import { callTool, closeClients, mcpClient, type mcpTransport } from "../support/clients/mcp.ts";
import { gatewayPath } from "../support/clients/mcp-raw.ts";
import { allProcesses, isAlive } from "../support/system/processes.ts";
import { fresh, person, system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const server = (name: string) => join(ROOT, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);

afterEach(closeClients);

/** A client that does what a server may ask of one. */
function answering(mode: "legacy" | "auto" = "legacy"): Client {
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: { sampling: {}, elicitation: { form: {} }, roots: {} }, versionNegotiation: { mode } },
  );
  client.setRequestHandler("roots/list", async () => ({ roots: [{ uri: "file:///tmp", name: "tmp" }] }));
  client.setRequestHandler("sampling/createMessage", async () => ({
    model: "scripted",
    role: "assistant",
    content: { type: "text", text: "from the client's model" },
  }));
  client.setRequestHandler("elicitation/create", async () => ({ action: "decline" }));
  return client;
}

async function direct(args: readonly string[]): Promise<Client> {
  const client = answering();
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [...args], stderr: "ignore" }));
  return client;
}

/** Processes whose command line has the word. */
const having = (word: string) => allProcesses().filter(({ pid }) => commandLine(pid).includes(word));

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** What each of the everything-server's tools is called with. */
const CALLS: Readonly<Record<string, object>> = {
  echo: { message: "hello, \u{1F30D}" },
  "get-annotated-message": { messageType: "success", includeImage: true },
  "get-env": {},
  "get-resource-links": { count: 2 },
  "get-resource-reference": { resourceId: 3 },
  "get-structured-content": { location: "Chicago" },
  "get-sum": { a: 40, b: 2 },
  "get-tiny-image": {},
  "gzip-file-as-resource": { data: "data:text/plain,hello" },
  "toggle-simulated-logging": {},
  "toggle-subscriber-updates": {},
  "trigger-long-running-operation": { duration: 0.2, steps: 2 },
  "get-roots-list": {},
  "trigger-elicitation-request": {},
  "trigger-sampling-request": { prompt: "say it" },
};
/** Their answers tell of where they run, or of a session's own name. */
const DIFFERENT = new Set([
  "get-env",
  "get-resource-reference",
  "toggle-simulated-logging",
  "toggle-subscriber-updates",
]);

test("M2: each tool of the everything-server answers as over stdio, also where it asks its client", async () => {
  const mark = fresh("everything");
  const path = gatewayPath(fresh("box"), process.execPath, [server("everything"), "stdio", mark]);
  const client = await mcpClient(await person(), path, "legacy", answering());
  const beside = await direct([server("everything"), "stdio"]);
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name).filter((name) => name !== "simulate-research-query");
  expect(names.sort()).toEqual(Object.keys(CALLS).sort());
  for (const [name, args] of Object.entries(CALLS)) {
    const [here, there] = [await callTool(client, name, { ...args }), await callTool(beside, name, { ...args })];
    expect([name, here.isError ?? false]).toEqual([name, false]);
    if (!DIFFERENT.has(name)) expect([name, here.content]).toEqual([name, there.content]);
  }
  expect(await client.listPrompts()).toEqual(await beside.listPrompts());
  expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(
    (await beside.listResourceTemplates()).resourceTemplates.length,
  );
  await beside.close();
  expect(having(mark)).not.toEqual([]);
  const { transport } = client;
  if (!(transport !== undefined && "terminateSession" in transport)) throw new Error("another transport");
  await (transport as ReturnType<typeof mcpTransport>).terminateSession();
  await until("no process left", () => having(mark).length === 0);
});

test("M2: progress comes as it is made, and a cancelled call is cancelled at the server", async () => {
  const path = gatewayPath(fresh("box"), process.execPath, [server("everything"), "stdio"]);
  const client = await mcpClient(await person(), path, "legacy", answering());
  const told: number[] = [];
  const long = (duration: number, steps: number, given?: AbortController) =>
    client.callTool(
      { name: "trigger-long-running-operation", arguments: { duration, steps } },
      {
        onprogress: ({ progress }) => {
          told.push(progress);
          given?.abort();
        },
      },
    );
  await long(0.4, 4);
  expect(told).toEqual([1, 2, 3, 4]);
  const given = new AbortController();
  const cancelled = client.callTool(
    { name: "trigger-long-running-operation", arguments: { duration: 600, steps: 1 } },
    { signal: given.signal, onprogress: () => undefined },
  );
  const refused = expect(cancelled).rejects.toThrow();
  given.abort();
  await refused;
  expect(await callTool(client, "echo", { message: "still here" })).toMatchObject({
    content: [{ text: "Echo: still here" }],
  });
});

test("M2: a client of both eras falls back, and the filesystem-server works in the sandbox", async () => {
  const sandbox = fresh("box");
  const dir = join(system.sandboxesDir, sandbox);
  mkdirSync(dir, { recursive: true });
  const path = gatewayPath(sandbox, process.execPath, [server("filesystem"), dir]);
  const client = await mcpClient(
    await person(),
    path,
    "auto",
    new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } }),
  );
  expect(client.getNegotiatedProtocolVersion()).toBe("2025-11-25");
  const file = join(dir, "a.txt");
  const ask = async (name: string, args: Record<string, unknown>) => {
    const { isError, content } = await callTool(client, name, args);
    if (isError === true) throw new Error(`${name}: ${JSON.stringify(content)}`);
    return content.map(({ text = "" }) => text).join("\n");
  };
  const called = new Set<string>();
  const all: [string, Record<string, unknown>, string][] = [
    ["write_file", { path: file, content: "one\ntwo\n" }, "Successfully"],
    ["read_file", { path: file }, "one\ntwo"],
    ["read_text_file", { path: file, head: 1 }, "one"],
    ["read_media_file", { path: file }, ""],
    ["read_multiple_files", { paths: [file] }, "two"],
    ["edit_file", { path: file, edits: [{ oldText: "two", newText: "three" }] }, "+three"],
    ["create_directory", { path: join(dir, "sub") }, "Successfully"],
    ["list_directory", { path: dir }, "[FILE] a.txt"],
    ["list_directory_with_sizes", { path: dir }, "a.txt"],
    ["directory_tree", { path: dir }, "sub"],
    ["move_file", { source: file, destination: join(dir, "sub/b.txt") }, "Successfully"],
    ["search_files", { path: dir, pattern: "**/b.txt" }, "b.txt"],
    ["get_file_info", { path: join(dir, "sub/b.txt") }, "size: 10"],
    ["list_allowed_directories", {}, dir],
  ];
  for (const [name, args, words] of all) {
    called.add(name);
    expect([name, await ask(name, args)]).toEqual([name, expect.stringContaining(words)]);
  }
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual([...called].sort());
  expect(readFileSync(join(dir, "sub/b.txt"), "utf8")).toBe("one\nthree\n");
  const [running] = having(dir);
  expect(running).toBeDefined();
  await (client.transport as ReturnType<typeof mcpTransport>).terminateSession();
  await until("no process left", () => running !== undefined && !isAlive(running.pid));
});
