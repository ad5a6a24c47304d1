// How a command reaches its process: its words, of any length, given to no shell; on a PTY where one is asked for.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cleanEnv, collect, PROGRAM, RUNTIME, runCli, scratch, startCli, until } from "../fixture/cli.ts";
import { startServer, type TestServer } from "../fixture/server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

describe("a command that no address can carry", () => {
  test("goes in a body, and is attached to by its name: every byte of it arrives", async () => {
    const word = "x".repeat(100_000);
    const result = await runCli([server.url, "--", "sh", "-c", 'printf %s "$1" | sha256sum; cat', "sh", word], "input");
    const sum = createHash("sha256").update(word).digest("hex");
    expect(result).toEqual({ code: 0, signal: null, stdout: `${sum}  -\ninput`, stderr: "" });
    expect(server.queries.map((query) => query.get("cmd"))).toEqual([null]);
  });

  test("is started once, whether or not a run that keeps its place is stopped in between", async () => {
    const file = join(scratch(), "place");
    const words = [server.url, "--resume-file", file, "--", "sh", "-c", "echo $$; read x; echo $x", "x".repeat(20_000)];
    const child = startCli(words);
    const first = collect(child);
    await until(
      () => [...server.hosts.values()][0]?.session.log.endOffset,
      () => "no output",
    );
    child.kill("SIGTERM");
    const { stdout } = await first;
    const again = await runCli(words, "in\n");
    expect([again.code, stdout + again.stdout]).toEqual([0, `${server.host().pid}\nin\n`]);
    expect(server.hosts.size).toBe(1);
  });
});

test("an argument that is not UTF-8 is refused, and the sign that stands for such is not", async () => {
  const bytes = Buffer.from([0x2d, 0xff]);
  const script = `exec ${RUNTIME} ${PROGRAM} ${server.url} -- echo "$(printf '\\377')"`;
  const child = spawn("sh", ["-c", script], { env: cleanEnv(), stdio: ["ignore", "pipe", "pipe"] });
  const refused = await collect(child);
  expect([refused.code, refused.stdout, bytes.length]).toEqual([2, "", 2]);
  expect(refused.stderr).toMatch(/^sbx-stdio: an argument is not valid UTF-8[^\n]*\n$/);
  expect((await runCli([server.url, "--", "echo", "\ufffd"])).stdout).toBe("\ufffd\n");
});

describe("a PTY without a terminal", () => {
  test("is there where it is asked for, of the usual size, and takes the end of input for its end of file", async () => {
    const result = await runCli([server.url, "--tty", "--", "sh", "-c", "test -t 0 && stty size; cat"], "abc\n");
    expect({ code: result.code, stderr: result.stderr }).toEqual({ code: 0, stderr: "" });
    // Its echo comes whenever it comes.
    expect(result.stdout.split("\r\n").sort()).toEqual(["", "24 80", "abc", "abc"]);
    expect(server.queries[0]?.get("tty")).toBe("1");
  });
});
