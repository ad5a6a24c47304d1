import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { type ApiRequest, mcpServer, TOOL_NAMES } from "../src/index.ts";
import { requestOf } from "../src/tools/request.ts";

/** A client of the tools, whose API answers `body`; and what the API was asked. */
async function tools(body: object, status = 200): Promise<{ client: Client; asked: ApiRequest[] }> {
  const asked: ApiRequest[] = [];
  const ask = async (request: ApiRequest) => {
    asked.push(request);
    return Response.json(body, { status });
  };
  const [near, far] = InMemoryTransport.createLinkedPair();
  await mcpServer({ ask, sandbox: "dev" }).connect(far);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(near);
  return { client, asked };
}

const WAIT = { session: "s", until: { exit: true }, timeoutMs: 3_600_000 };
const TIMED_OUT = { outcome: "timeout", offset: 7, output: "" };

test("M1: a wait of an hour asks for 50 s where the client wants no progress, and says why it ended", async () => {
  const { client, asked } = await tools(TIMED_OUT);
  const answer = await client.callTool({ name: "wait", arguments: WAIT });
  expect(JSON.parse(asked[0]?.body ?? "")).toMatchObject({ timeoutMs: 50_000 });
  expect(JSON.stringify(answer.content)).toContain("ended after 50 s, since the client asked for no progress");
});

test("M1: with a progress token it waits as long as it was asked to", async () => {
  const { client, asked } = await tools(TIMED_OUT);
  await client.callTool({ name: "wait", arguments: WAIT }, { onprogress: () => undefined });
  expect(JSON.parse(asked[0]?.body ?? "")).toMatchObject({ timeoutMs: 3_600_000 });
});

test("M1: a refusal that comes late, in a 200, is a tool's error all the same", async () => {
  const { client } = await tools({ error: "revoked", message: "access was revoked" });
  const answer = await client.callTool({ name: "wait", arguments: WAIT });
  expect(answer.isError).toBe(true);
  expect(JSON.stringify(answer.content)).toContain("Access was taken away");
});

test("M1: each tool has a route of its own name, and names go into paths as they are", () => {
  for (const name of TOOL_NAMES) {
    expect(requestOf(name, { sandbox: "a/b", session: "c d" }).path).toMatch(
      /^\/api\/sandboxes\/a%2Fb\/(run|sessions)/,
    );
  }
  const read = requestOf("read", { sandbox: "dev", session: "c?d", from: 3, format: "plain", tail: undefined });
  expect(read).toEqual({ method: "GET", path: "/api/sandboxes/dev/sessions/c%3Fd/output?from=3&format=plain" });
});

test("R4a: unknown fields of every tool are refused with the nearest name, and nothing is asked", async () => {
  const { client, asked } = await tools(TIMED_OUT);
  const { tools: told } = await client.listTools();
  for (const { name, inputSchema } of told) {
    expect([name, inputSchema.additionalProperties]).toEqual([name, false]);
    const { content, isError } = await client.callTool({ name, arguments: { session: "s", sesion: "s" } });
    const [first] = content;
    const said: unknown = first?.type === "text" ? JSON.parse(first.text) : undefined;
    expect([isError, said]).toMatchObject([
      true,
      { error: "unknown_field", field: expect.stringMatching(/^ses+ion$/) },
    ]);
  }
  const flag = await client.callTool({ name: "wait", arguments: { session: "s", until: { match: "x", flag: "i" } } });
  expect(JSON.stringify(flag.content)).toContain('the nearest is \\\\\\"flags');
  expect(asked).toEqual([]);
});

test("T3, D4a: a search that was given up, and bytes that are no text, are said with what to do", async () => {
  const { client } = await tools({ ...TIMED_OUT, undecided: true, searchedTo: 7, lossy: true });
  const { content } = await client.callTool({ name: "wait", arguments: WAIT });
  const words = JSON.stringify(content);
  expect(words).toContain("Undecided: the search was given up");
  expect(words).toContain('Call wait again with \\"from\\": 7');
  expect(words).toContain('read with \\"format\\":\\"base64\\"');
});
