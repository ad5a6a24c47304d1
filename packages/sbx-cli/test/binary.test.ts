// The command line as one file with its runtime in it: built for this platform, and run.

import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { constants, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildBinary } from "../../local/src/build/binaries.ts";
import { cleanEnv, collect, scratch, until } from "./fixture/cli.ts";
import { hostileFolder } from "./fixture/hostile-folder.ts";
import { startServer, type TestServer } from "./fixture/server.ts";

let binary = "";
let server: TestServer;
beforeAll(async () => {
  binary = await buildBinary("linux-x64", scratch());
  server = await startServer();
});
afterAll(() => server.close());

function run(words: readonly string[], input: string | Buffer, env: Record<string, string> = {}) {
  const child = spawn(binary, words, { env: cleanEnv(env), stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => undefined); // It may end without reading everything.
  child.stdin.end(input);
  return collect(child);
}

test("it says its version, the protocol and what is in it", () => {
  const said = JSON.parse(execFileSync(binary, ["--version", "--json"], { encoding: "utf8" }));
  expect(said).toMatchObject({ version: "0.2.0", protocol: "stdio.v1", platform: "linux-x64" });
  expect(said.runtime).toMatch(/^bun /);
});

test("a pipeline goes through it byte for byte, and the exit code is the process's", async () => {
  const input = Buffer.alloc(3_000_000, "0123456789abcdef\xff", "latin1");
  const result = await run([server.url, "--", "sh", "-c", "sha256sum; echo err >&2; exit 7"], input);
  const sum = createHash("sha256").update(input).digest("hex");
  expect(result).toEqual({ code: 7, signal: null, stdout: `${sum}  -\n`, stderr: "err\n" });
});

/** Whether writes to a descriptor of another process fail if they would block. */
function isNonBlocking(pid: number | undefined, fd: number): boolean {
  const [, flags = ""] = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8")) ?? [];
  return (Number.parseInt(flags, 8) & constants.O_NONBLOCK) !== 0;
}

test("its output stays blocking: a full pipe is waited for, and not tried again every few milliseconds", async () => {
  const child = spawn(binary, [server.url, "--", "cat"], { env: cleanEnv(), stdio: ["pipe", "pipe", "pipe"] });
  const result = collect(child);
  child.stdin.write("x");
  await once(child.stdout, "data");
  expect([1, 2].map((fd) => isNonBlocking(child.pid, fd))).toEqual([false, false]);
  child.stdin.end();
  expect(await result).toEqual({ code: 0, signal: null, stdout: "x", stderr: "" });
});

test("a proxy of the environment is asked by no call and no attach, as on Node", async () => {
  // Nothing listens there.
  const proxy = { HTTP_PROXY: "http://127.0.0.1:9", http_proxy: "http://127.0.0.1:9" };
  expect(await run(["sessions", server.url], "", proxy)).toMatchObject({ code: 0, stderr: "" });
  expect(await run([server.url, "--", "echo", "hi"], "", proxy)).toMatchObject({ code: 0, stdout: "hi\n" });
});

test("one request attaches, and one that is refused has the server's own words", async () => {
  const asked = server.tokens.length;
  expect(await run([server.url, "--", "echo", "hi"], "")).toMatchObject({ code: 0, stdout: "hi\n" });
  expect(server.tokens.length).toBe(asked + 1);
  server.refusal = { status: 422, body: '{"error":"cmd_not_found","message":"cmd_not_found: nope"}' };
  const result = await run([server.url, "--", "nope"], "");
  server.refusal = undefined;
  expect(result).toEqual({ code: 127, signal: null, stdout: "", stderr: "sbx-stdio: nope: command not found\n" });
  expect(server.tokens.length).toBe(asked + 2);
});

test("a cut and an outage cost no byte", async () => {
  const child = spawn(binary, [server.url, "-q", "--", "cat"], { env: cleanEnv(), stdio: ["pipe", "pipe", "pipe"] });
  const result = collect(child);
  let length = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    length += chunk.length;
  });
  const cameBack = (letters: string, end: number) => {
    child.stdin.write(letters);
    return until(
      () => length === end,
      () => `${length} of ${end} bytes`,
    );
  };
  await cameBack("a".repeat(100_000), 100_000);
  server.cut();
  await cameBack("b".repeat(100_000), 200_000);
  const asked = server.tokens.length;
  server.refusal = { status: 503, body: "" };
  server.cut();
  await until(
    () => server.tokens.length > asked,
    () => "nobody came back",
  );
  server.refusal = undefined;
  await cameBack("c".repeat(100_000), 300_000);
  child.stdin.end();
  const stdout = ["a", "b", "c"].map((letter) => letter.repeat(100_000)).join("");
  expect(await result).toEqual({ code: 0, signal: null, stdout, stderr: "" });
});

test("a server that is slow to answer is waited for, and what is waited for is said", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const child = spawn(binary, [`http://127.0.0.1:${port}`, "--", "true"], { env: cleanEnv() });
  let said = "";
  // One that starts slowly says before that it is connecting.
  while (!/^sbx-stdio: connected to 127\.0\.0\.1:\d+: waiting for a response \(\d+ s so far/m.test(said))
    said += (await once(child.stderr, "data")).join("");
  child.kill("SIGKILL");
  silent.close();
});

test("neither runs nor believes what the current folder's files say", async () => {
  const { folder, ran } = hostileFolder();
  const env = cleanEnv();
  const child = spawn(binary, ["--", "true"], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const { code, stderr } = await collect(child);
  expect(stderr).toMatch(/^sbx-stdio: missing server address/);
  expect(code).toBe(2);
  expect(ran()).toBe(false);
});
