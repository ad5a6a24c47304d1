import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { McpLines } from "../../src/tools/mcp-server.ts";
import { startCli } from "../fixture/cli.ts";
import { startServer } from "../fixture/server.ts";

/** What comes of a client's bytes: the lines that go on, and the answers. */
function lines(...chunks: (string | Buffer)[]) {
  const answers: unknown[] = [];
  const lines = new McpLines((message) => answers.push(message));
  for (const chunk of chunks) lines.write(chunk);
  const read = String(lines.read() ?? "");
  return { lines, passed: read.split("\n").filter((line) => line !== ""), answers };
}

const request = (id: number | string) => ({ jsonrpc: "2.0", id, method: "ping" });

test("a good line goes on, however it is cut; what is none is answered with its fault", () => {
  const text = Buffer.from(`${JSON.stringify({ ...request("ü"), params: {} })}\r\n`);
  const garbage = 'Hello?\n\n{"id":7}\n[]\n';
  const { passed, answers } = lines(text.subarray(0, 20), text.subarray(20), garbage, "{", "broken\n");
  expect(passed.map((line) => JSON.parse(line))).toEqual([{ ...request("ü"), params: {} }]);
  const fault = (id: unknown, code: number) => ({ jsonrpc: "2.0", id, error: { code, message: expect.any(String) } });
  expect(answers).toEqual([fault(null, -32_700), fault(7, -32_600), fault(null, -32_600), fault(null, -32_700)]);
});

test("a line of more than 4 MiB is answered, and the next one goes on", () => {
  const { passed, answers } = lines("x".repeat(4 * 1024 * 1024), `x\n${JSON.stringify(request(1))}\n`);
  expect(answers).toMatchObject([{ id: null, error: { message: "message larger than 4 MiB" } }]);
  expect(passed.map((line) => JSON.parse(line))).toEqual([request(1)]);
});

test("a batch goes on message by message, and its answers come together", () => {
  const batch = [request(1), { jsonrpc: "2.0", method: "notifications/initialized" }, request("1")];
  const { lines: at, passed, answers } = lines(`${JSON.stringify(batch)}\n`);
  expect(passed.map((line) => JSON.parse(line))).toEqual(batch);
  const answer = (id: number | string) => ({ jsonrpc: "2.0", id, result: {} });
  expect([at.collect(answer(2)), at.collect(answer("1")), answers.length]).toEqual([false, true, 0]);
  expect(at.collect(answer(1))).toBe(true);
  expect(answers).toEqual([[answer("1"), answer(1)]]);
});

test("sbx-stdio mcp answers a line that is no JSON, and a batch", { timeout: 60_000 }, async () => {
  const server = await startServer();
  onTestFinished(() => server.close());
  const child = startCli(["mcp", server.url, "--sandbox", "dev"]);
  onTestFinished(() => void child.kill());
  let said = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    said += chunk;
  });
  const line = async (count: number) => {
    while (said.split("\n").length <= count) await once(child.stdout ?? expect.fail(), "data");
    return JSON.parse(said.split("\n")[count - 1] ?? "") as unknown;
  };
  const say = (message: unknown) =>
    child.stdin?.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  say("Hello?");
  expect(await line(1)).toMatchObject({ id: null, error: { code: -32_700 } });
  const params = { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  say({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  expect(await line(2)).toMatchObject({ id: 0, result: { protocolVersion: "2025-03-26" } });
  say([request(1), request(2)]);
  expect(await line(3)).toMatchObject([{ result: {} }, { result: {} }]);
});
