import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { mcpServer } from "../src/index.ts";
import { type ApiRequest, requestOf } from "../src/tools/request.ts";
import { TOOL_NAMES } from "../src/tools/table.ts";

type Answers = object | ((request: ApiRequest) => object);

/** A client of the tools, whose API answers `body`; and what the API was asked. */
async function tools(body: Answers, status = 200): Promise<{ client: Client; asked: ApiRequest[] }> {
  const asked: ApiRequest[] = [];
  const ask = async (request: ApiRequest) => {
    asked.push(request);
    return Response.json(typeof body === "function" ? body(request) : body, { status });
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
  expect(JSON.stringify(answer.content)).toContain("ended after 50 s, since the client asked for no progress");
  await client.callTool({ name: "wait", arguments: WAIT }, { onprogress: () => undefined });
  expect(asked.map((request) => fieldsOf(request).timeoutMs)).toEqual([50_000, 3_600_000]);
});

test("M1: a refusal that comes late, in a 200, is a tool's error all the same", async () => {
  const { client } = await tools({ error: "revoked", message: "access was revoked" });
  const answer = await client.callTool({ name: "wait", arguments: WAIT });
  expect(answer.isError).toBe(true);
  expect(JSON.stringify(answer.content)).toContain("Access was taken away");
});

test("M1: each tool has a route of its own name, and names go into paths as they are", () => {
  for (const name of TOOL_NAMES) {
    const { path } = requestOf(name, { sandbox: "a/b", session: "c d" });
    expect(path).toMatch(/^\/api\/sandboxes\/a%2Fb\/(run|sessions)/);
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
    expect(isError).toBe(true);
    expect(said).toMatchObject({ error: "unknown_field", field: expect.stringMatching(/^ses+ion$/) });
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

const RUN = { session: "s", incarnation: "i", state: "exited", exit: { code: 0 } } as const;
const LISTED = {
  ...{ incarnation: "i", state: "running", tty: false, createdAt: "2026-01-01T00:00:00Z" },
  ...{ clients: 0, offset: 0, inputOffset: 0 },
};
const SCREEN = {
  ...{ offset: 7, cols: 4, rows: 2, cursor: { x: 0, y: 1, visible: true }, alternate: false, title: "" },
  modes: { bracketedPaste: false, applicationCursor: false, mouse: "none" },
};
const fieldsOf = ({ body, path }: ApiRequest): Record<string, unknown> =>
  body === undefined
    ? Object.fromEntries(new URL(path, "http://api").searchParams)
    : (JSON.parse(body) as Record<string, unknown>);
const textsOf = (answer: object) => (answer as { content: { text: string }[] }).content.map(({ text }) => text);

test("M1: output stands once, as text; structured content has the other fields", async () => {
  const output = "out\nerr\n".repeat(2_000);
  const told = { ...RUN, from: 0, next: output.length, end: output.length };
  const { client } = await tools({ ...told, output, stdout: "out\n".repeat(2_000), stderr: "err\n".repeat(2_000) });
  const answer = await client.callTool({ name: "run", arguments: { command: "x" } });
  expect(textsOf(answer)).toEqual([output, JSON.stringify(told)]);
  expect(answer.structuredContent).toEqual(told);
  const seen = await tools({ ...SCREEN, lines: ["two", ""], scrollback: ["one"] });
  const drawn = await seen.client.callTool({ name: "screen", arguments: { session: "s" } });
  expect([textsOf(drawn)[0], drawn.structuredContent]).toEqual(["one\ntwo\n", SCREEN]);
});

/** A log of 1 MiB, as JSON writes it six times as long, behind routes that obey `maxBytes`. */
const LOG = "\u001b".repeat(1_048_576);
const LOGGED: Record<string, (fields: Record<string, unknown>) => object> = {
  run: ({ maxBytes }) => {
    const half = Number(maxBytes) / 2;
    const [from, to] = [Math.ceil(half), LOG.length - Math.floor(half)];
    const output = LOG.slice(0, Number(maxBytes));
    const truncated = { from, to, bytes: to - from };
    return { ...RUN, from: 0, next: LOG.length, end: LOG.length, output, stdout: output, stderr: "", truncated };
  },
  read: ({ from = 0, maxBytes }) => {
    const next = Number(from) + Number(maxBytes);
    return { ...RUN, from: Number(from), next, end: LOG.length, output: LOG.slice(0, Number(maxBytes)) };
  },
  wait: ({ maxBytes }) => ({ outcome: "met", offset: 9, output: LOG.slice(0, Number(maxBytes)) }),
};

test.each([
  ["run", { command: "x" }, /^Left out in the middle: read session "s" from (\d+) to (\d+)\.$/],
  ["read", { session: "s", from: 5 }, /^There is more, up to 1048576: read session "s" from (\d+)\.$/],
  ["wait", { ...WAIT, maxBytes: 1_048_576 }, /^(\d+) characters at the beginning of the out/],
] as const)("M1: a result of %s has at most 64 KiB, and says what was left out", async (name, args, words) => {
  const { client, asked } = await tools((request) => LOGGED[name]?.(fieldsOf(request)) ?? {});
  const answer = await client.callTool({ name, arguments: args });
  expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(65_536);
  const [output = ""] = textsOf(answer);
  expect(output.length).toBeGreaterThan(8_000);
  const [, from, to] = words.exec(textsOf(answer).at(-1) ?? "")?.map(Number) ?? [];
  if (name === "run") expect(answer.structuredContent).toMatchObject({ truncated: { from, to } });
  if (name === "run") expect(fieldsOf(asked[1] ?? expect.fail())).toMatchObject({ session: "s", incarnation: "i" });
  if (name === "read")
    expect([(answer.structuredContent as { from?: number }).from, from]).toEqual([5, 5 + output.length]);
  if (name === "wait") expect(output.length + (from ?? 0)).toBe(48 * 1024);
});

test("M1: lists, screens and long words are cut to 64 KiB as well, and that is said", async () => {
  const listed = { ...LISTED, session: "s", cmd: "bash", args: ["-lc"], title: "x".repeat(200_000) };
  const commands = Array(1_000).fill({ line: "make ".repeat(40), startedAt: "2026-01-01T00:00:00Z" });
  const screen = { ...SCREEN, cols: 1_000, rows: 500, lines: Array(500).fill("\u2500".repeat(1_000)) };
  const cases: [string, Record<string, unknown>, object, RegExp][] = [
    ["list", {}, { sessions: [listed, listed] }, /^Texts of more than 1000 characters are cut/],
    ["commands", { session: "s" }, { commands, next: 1 }, /^The first \d+ of 1000 commands/],
    ["screen", { session: "s" }, screen, /at the beginning/],
  ];
  for (const [name, args, body, words] of cases) {
    const { client } = await tools(body);
    const answer = await client.callTool({ name, arguments: args });
    expect([name, answer.isError]).toEqual([name, undefined]);
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(65_536);
    expect(textsOf(answer).some((text) => words.test(text))).toBe(true);
  }
});

test("M1: of a listed session's arguments as much is told as has room, as whole scripts are among them", async () => {
  const args = [["-c", "x".repeat(9_000), "sh"], Array(500).fill("a b"), ["serve", "--port", "80"]];
  const sessions = args.map((one, at) => ({ ...LISTED, session: `s${at}`, cmd: "sh", args: one }));
  const { client } = await tools({ sessions });
  const answer = await client.callTool({ name: "list", arguments: {} });
  const told = (answer.structuredContent as { sessions: { args: string[] }[] }).sessions.map((one) => one.args);
  expect(told[0]).toEqual(["-c", `${"x".repeat(197)}…`]);
  expect(told[1]).toEqual([...Array(50).fill("a b"), "…"]);
  expect(told[2]).toEqual(args[2]);
  expect(textsOf(answer).join("").length).toBeLessThan(1_500);
});

test("M1: a page of sessions that is too long is asked for again, shorter, so that none is passed over", async () => {
  const one = { ...LISTED, cmd: "bash", args: ["a word ".repeat(40)] };
  const { client, asked } = await tools((request: ApiRequest) => {
    const limit = Number(fieldsOf(request).limit);
    const sessions = Array.from({ length: limit }, (_, at) => ({ session: `s${at}`, ...one }));
    return { sessions, next: `s${limit - 1}` };
  });
  const { structuredContent } = await client.callTool({ name: "list", arguments: { limit: 1_000 } });
  const { sessions, next } = structuredContent as { sessions: { session: string }[]; next: string };
  expect([sessions.at(-1)?.session, asked.length > 1]).toEqual([next, true]);
});
