// `@openai/agents-extensions` of the registry, unchanged: its sandbox of Cloudflare's, with our Worker in the place of Cloudflare's.
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { examplesOf, run } from "../e2e/support/system/installed.ts";
import { api, type Person, person, system } from "../e2e/support/system/system.ts";
import { directory, load } from "./installed.ts";

/** As much of its types as is used here. */
interface Session {
  readonly state: { readonly sandboxId: string };
  execCommand(args: { cmd: string; workdir?: string; tty?: boolean; yieldTimeMs?: number }): Promise<string>;
  writeStdin(args: { sessionId: number; chars: string; yieldTimeMs?: number }): Promise<string>;
  readFile(args: { path: string }): Promise<Uint8Array>;
  pathExists(path: string): Promise<boolean>;
  directoryExists(path: string): Promise<boolean>;
  createEditor(): {
    createFile(operation: { type: "create_file"; path: string; diff: string }): Promise<unknown>;
    deleteFile(operation: { type: "delete_file"; path: string }): Promise<unknown>;
  };
  persistWorkspace(): Promise<Uint8Array>;
  hydrateWorkspace(archive: Uint8Array): Promise<void>;
  running(): Promise<boolean>;
  close(): Promise<void>;
}
interface Client {
  create(manifest?: unknown): Promise<Session>;
  resume(state: Session["state"]): Promise<Session>;
}
type Clients = { readonly CloudflareSandboxClient: new (options: object) => Client };
type Sandboxes = { readonly Manifest: new (init: object) => unknown };

const { CloudflareSandboxClient } = load("@openai/agents-extensions/sandbox/cloudflare") as Clients;
const { Manifest } = load("@openai/agents/sandbox") as Sandboxes;

const clientOf = (who: Person) => new CloudflareSandboxClient({ workerUrl: system.origin, apiKey: who.token });
const idOf = (said: string) => Number(/session ID (\d+)/.exec(said)?.[1]);

test("a session: exec, environment, files, editor, and its end", async () => {
  const who = await person();
  const client = clientOf(who);
  const manifest = new Manifest({
    entries: { "hello.txt": { type: "file", content: "hi there\n" } },
    environment: { GREETING: "it's" },
  });
  const session = await client.create(manifest);
  const said = await session.execCommand({ cmd: "pwd; cat hello.txt; echo $GREETING; echo wrong >&2; exit 3" });
  expect(said).toContain("exited with code 3\nOutput:\n/workspace\nhi there\nit's\nwrong");
  expect(Buffer.from(await session.readFile({ path: "hello.txt" })).toString()).toBe("hi there\n");
  await session.createEditor().createFile({ type: "create_file", path: "src/new.txt", diff: "+one\n+two" });
  expect(Buffer.from(await session.readFile({ path: "src/new.txt" })).toString()).toBe("one\ntwo");
  await session.createEditor().deleteFile({ type: "delete_file", path: "hello.txt" });
  expect([await session.pathExists("hello.txt"), await session.directoryExists("src")]).toEqual([false, true]);
  await expect(session.readFile({ path: "none.txt" })).rejects.toThrow("not found");
  expect(await (await client.resume(session.state)).execCommand({ cmd: "echo back" })).toContain("Output:\nback");
  await session.close();
  expect(await session.running()).toBe(false);
  await expect(session.execCommand({ cmd: "true" })).rejects.toThrow("not_found");
});

test("ten thousand lines of both streams, each once", async () => {
  const session = await clientOf(await person()).create();
  const said = await session.execCommand({ cmd: "seq 1 10000; seq 1 10000 >&2" });
  const lines = Array.from({ length: 10_000 }, (_, index) => String(index + 1)).join("\n");
  expect(said.slice(said.indexOf("Output:\n") + 8)).toBe(`${lines}\n${lines}`);
});

test("a terminal: typed at, read, ended", async () => {
  const session = await clientOf(await person()).create();
  const first = await session.execCommand({ cmd: "stty -echo; cat", tty: true, yieldTimeMs: 2_000 });
  const sessionId = idOf(first);
  expect(await session.writeStdin({ sessionId, chars: "one line\n", yieldTimeMs: 2_000 })).toContain("one line");
  const last = await session.writeStdin({ sessionId, chars: "\u0004exit 5\n", yieldTimeMs: 10_000 });
  expect(last).toContain("exited with code 5");
});

test("a workspace: persisted, hydrated elsewhere, links and all", async () => {
  const client = clientOf(await person());
  const [session, other] = [await client.create(), await client.create()];
  // A terminal each: without a process a container might sleep meanwhile, and lose the workspace.
  for (const one of [session, other]) await one.execCommand({ cmd: "cat", tty: true, yieldTimeMs: 250 });
  await session.execCommand({
    cmd: "mkdir -p a/b; echo deep > a/b/c; ln -s a/b/c link; chmod 700 a/b/c; seq 1 100000 > big",
  });
  const archive = await session.persistWorkspace();
  await other.hydrateWorkspace(archive);
  const look = { cmd: "cat link; stat -c %a a/b/c; cksum big; readlink link" };
  const output = (said: string) => said.slice(said.indexOf("Output:\n"));
  expect(output(await other.execCommand(look))).toBe(output(await session.execCommand(look)));
  await Promise.all([session.close(), other.close()]);
});

/** In the place of the model's API (Responses): has a command run, and repeats what came of it. */
async function modelServer(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const { input } = JSON.parse((await request.toArray()).join("")) as {
      input: { type?: string; output?: unknown }[];
    };
    const result = input.find(({ type }) => type === "function_call_output")?.output;
    const call = { type: "function_call", id: "fc_1", call_id: "1", name: "exec_command", status: "completed" };
    const message = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
    const text = typeof result === "string" ? result : JSON.stringify(result);
    const output =
      result === undefined
        ? { ...call, arguments: JSON.stringify({ cmd: "uname -s; pwd" }) }
        : { ...message, content: [{ type: "output_text", text, annotations: [] }] };
    const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } };
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2, ...details };
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ id: "resp_1", object: "response", status: "completed", output: [output], usage }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, close: () => server.close() };
}

test("the guide's agent: its model's tool runs in the sandbox, and the sandbox goes with the run", async () => {
  const who = await person();
  const model = await modelServer();
  onTestFinished(() => model.close());
  const example = examplesOf("docs/programs.md").get("agent.mjs") ?? "";
  const file = join(directory, `agent-${process.pid}.mjs`);
  writeFileSync(file, example.replace("http://localhost:8787", system.origin));
  onTestFinished(() => rmSync(file));
  const env = {
    SBX_TOKEN: who.token,
    OPENAI_API_KEY: "none",
    OPENAI_BASE_URL: model.url,
    OPENAI_AGENTS_DISABLE_TRACING: "1",
  };
  const { code, stdout, stderr } = await run(process.execPath, [file], directory, env);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("Linux\n/workspace");
  expect(await (await api(who, "/api/sandboxes")).json()).toEqual({ sandboxes: [] });
});
