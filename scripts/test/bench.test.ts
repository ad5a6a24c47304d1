// `npm run bench` before it measures anything: a wrong word must not cost a run, nor the page its table.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import { TABLE_FILE, withTable } from "../../packages/bench/src/base/table-file.ts";
import { pageTable } from "../../packages/bench/src/page/table.ts";
import { openTerminal } from "../../packages/bench/src/subjects/terminal.ts";

const SCRIPT = fileURLToPath(new URL("../bench.ts", import.meta.url));

test.each([
  [
    ["--only", "echoIdle,nothing"],
    'There is no "nothing"; there are start, connectToPrompt, connectAtOnce, runTrue, codexTrue, echoBesideWaits, echoIdle, ',
  ],
  [["--share", "2"], "It must be a number above 0, up to 1."],
  [["echoIdle"], "too many arguments"],
])("wrong usage is told in a line, with 2: %j", (args, words) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, "--no-write", ...args], { encoding: "utf8" });
  expect([status, stdout, stderr.trim().split("\n").length]).toEqual([2, "", 1]);
  expect(stderr).toContain(words);
});

test("a ttyd is told the command in the address and the size first, and its titles and settings are no output", async () => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, handleProtocols: () => "tty" });
  onTestFinished(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const heard: string[] = [];
  server.on("connection", (socket, { url }) => {
    heard.push(url ?? "", socket.protocol);
    socket.on("message", (message) => {
      heard.push(String(message));
      if (heard.length === 3) for (const frame of ["1a title", "2{}", "0PROMPT> "]) socket.send(Buffer.from(frame));
      else socket.send(Buffer.from("0seen"));
    });
  });
  const spec = { kind: "ttyd", url: `http://127.0.0.1:${port}`, headers: {}, command: ["sh", "-c", "a b"] } as const;
  const terminal = await openTerminal(spec);
  let output = "";
  terminal.onOutput = (bytes) => {
    output += Buffer.from(bytes).toString();
    if (output === "PROMPT> ") terminal.send(Buffer.from("x"));
  };
  await expect.poll(() => output).toBe("PROMPT> seen");
  terminal.close();
  expect(heard).toEqual(["/ws?arg=sh&arg=-c&arg=a+b", "tty", '{"AuthToken":"","columns":80,"rows":24}', "0x"]);
});

test("the table takes the place of the one in docs/benchmark.md, and all else stays", () => {
  const page = readFileSync(TABLE_FILE, "utf8");
  const [before, , after] = page.split(/<!-- \/?bench -->/);
  expect(withTable(page, "| $& | 1 |")).toBe(`${before}<!-- bench -->\n| $& | 1 |\n<!-- /bench -->${after}`);
});

test("the table of the page has a place of its own, and medians of numbers beside words that differ", () => {
  const page = readFileSync(TABLE_FILE, "utf8");
  const [before, , after] = page.split(/<!-- \/?page -->/);
  const round = (ms: number, renderer: string) =>
    [
      ["a key, ms", ms / 2, ms, "10"],
      ["renderer", undefined, renderer, ""],
    ] as const;
  const table = pageTable([round(4, "dom"), round(8, "webgl"), round(5, "dom")], "Here.");
  expect(table.split("\n").slice(4)).toEqual(["| a key, ms | 2.50 | 5.00 | 10 |", "| renderer |  | dom, webgl |  |"]);
  expect(withTable(page, table, "page")).toBe(`${before}<!-- page -->\n${table}\n<!-- /page -->${after}`);
});

test.each([
  ["none", "", 0],
  ["two pairs of", "<!-- bench --><!-- /bench --><!-- bench --><!-- /bench -->", 2],
])("a page with %s markers is not written", (_what, page, count) => {
  expect(() => withTable(page, "table")).toThrow(`Cannot place the table: the page has ${count} places for it`);
});
