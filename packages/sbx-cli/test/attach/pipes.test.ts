// The command line between pipes: every byte of input and output, each stream by itself, and real ends.

import { createHash } from "node:crypto";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Random } from "../../../local/src/base/random.ts";
import { collect, runCli, scratch, startCli, until } from "../fixture/cli.ts";
import { startCutter } from "../fixture/cutter.ts";
import { startServer, type TestServer } from "../fixture/server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

describe("bytes", () => {
  test("standard input goes in and ends, output comes out", async () => {
    const result = await runCli([`${server.url}/attach`, "--sandbox", "dev", "--", "cat"], "abc");
    expect(result).toEqual({ code: 0, signal: null, stdout: "abc", stderr: "" });
    expect(server.queries.map((query) => query.get("sandbox"))).toEqual(["dev"]);
  });

  test("standard error stays apart", async () => {
    const result = await runCli([server.url, "--", "sh", "-c", "echo out; echo err >&2; echo out2"]);
    expect(result).toEqual({ code: 0, signal: null, stdout: "out\nout2\n", stderr: "err\n" });
  });

  test("the command and its arguments are given to no shell", async () => {
    const words = ["%s|", "a b", "$HOME", "", "*", "'\"\\", "--verbose", "ü"];
    const result = await runCli([server.url, "--", "printf", ...words]);
    expect(result.stdout).toBe("a b|$HOME||*|'\"\\|--verbose|ü|");
  });

  test("the seed's form, the environment and the directory reach the process", async () => {
    const flags = ["--env", "A=b=c", "--cwd", "/usr", "--cmd", "sh", "--arg", "-c", "--arg", 'echo "$A $PWD"'];
    expect((await runCli([server.url, ...flags])).stdout).toBe("b=c /usr\n");
  });

  test("20 MB through cat keep their sum while the connection is cut in mid-byte, over and over", async () => {
    const seed = 20261120;
    const random = new Random(seed);
    const cutter = await startCutter(server.port, () => 200_000 + Math.floor(random.next() * 4_000_000));
    const input = Buffer.alloc(20_000_000);
    for (let i = 0; i + 4 <= input.length; i += 4) input.writeUInt32LE(Math.floor(random.next() * 2 ** 32), i);
    const child = startCli([`http://127.0.0.1:${cutter.port}`, "--", "cat"]);
    const hash = createHash("sha256");
    let length = 0;
    child.stdout?.on("data", (chunk: Buffer) => {
      hash.update(chunk);
      length += chunk.length;
    });
    child.stdin?.end(input);
    const { code, stderr } = await collect(child);
    await cutter.close();
    expect({ seed, code, length, sum: hash.digest("hex") }).toEqual({
      seed,
      code: 0,
      length: input.length,
      sum: createHash("sha256").update(input).digest("hex"),
    });
    expect(cutter.cuts).toBeGreaterThan(5);
    const lines = stderr.trimEnd().split("\n");
    expect(
      lines.filter((line) => /^sbx-stdio: connection lost \(.+\), reconnecting…$/.test(line)).length,
    ).toBeGreaterThan(5);
    expect(
      lines.filter((line) => !/^sbx-stdio: (connection lost|resumed after [\d.]+ s, nothing lost$)/.test(line)),
    ).toEqual([]);
  });

  test("a reader that stops holds the process, and gets everything when it goes on", async () => {
    const child = startCli([server.url, "--", "sh", "-c", "head -c 8000000 /dev/zero; echo end"]);
    const result = new Promise<number>((resolve) => {
      let length = 0;
      child.stdout?.once("readable", () => {
        // The process's log stops growing: the window is full, and nobody reads.
        const { log } = server.host().session;
        let before = -1;
        const timer = setInterval(() => {
          if (log.endOffset !== before) {
            before = log.endOffset;
            return;
          }
          clearInterval(timer);
          expect(log.endOffset).toBeLessThan(2_500_000);
          child.stdout?.on("data", (chunk: Buffer) => {
            length += chunk.length;
          });
          child.stdout?.once("end", () => resolve(length));
        }, 300);
      });
    });
    expect(await result).toBe(8_000_004);
  });
});

describe("input that nobody takes", () => {
  test("a process that has closed its input: whoever writes to ours is told, and the process goes on", async () => {
    const go = join(scratch(), "go");
    const script = `exec 0<&-; echo closed; until [ -e ${go} ]; do sleep 0.05; done; echo done`;
    const child = startCli([server.url, "--", "sh", "-c", script]);
    const result = collect(child);
    const broken = new Promise<Error>((resolve) => child.stdin?.once("error", resolve));
    await until(
      () => [...server.hosts.values()][0]?.session.log.endOffset,
      () => "no session",
    );
    const timer = setInterval(() => child.stdin?.write("more\n"), 20);
    expect(await broken).toMatchObject({ code: "EPIPE" });
    clearInterval(timer);
    writeFileSync(go, "");
    expect(await result).toEqual({ code: 0, signal: null, stdout: "closed\ndone\n", stderr: "" });
  });

  test("a viewer's input is not read: what it sends is nothing, not even an end", async () => {
    const driver = startCli([server.url, "--session", "build", "--", "sh", "-c", "echo ready; read x; echo $x"]);
    const driven = collect(driver);
    await until(
      () => server.hosts.get("build")?.session.log.endOffset,
      () => "no session",
    );
    const viewer = collect(
      startCli([server.url, "--session", "build", "--role", "viewer"], { stdio: ["ignore", "pipe", "pipe"] }),
    );
    await until(
      () => server.host().session.attachedCount === 2,
      () => "no viewer",
    );
    driver.stdin?.end("line\n");
    for (const result of [await driven, await viewer]) {
      expect(result).toEqual({ code: 0, signal: null, stdout: "ready\nline\n", stderr: "" });
    }
  });
});

test("-n gives the command no input, and -q says nothing but what ends the run", async () => {
  const child = startCli([server.url, "-n", "--", "wc", "-c"]);
  expect((await collect(child)).stdout.trim()).toBe("0");
  const cut = startCli([server.url, "-q", "--session", "q", "--", "sh", "-c", "echo ready; read x; echo $x"]);
  const result = collect(cut);
  cut.stdout?.once("data", () => {
    server.cut();
    cut.stdin?.end("back\n");
  });
  expect(await result).toEqual({ code: 0, signal: null, stdout: "ready\nback\n", stderr: "" });
});

describe("input that can't be read", () => {
  // Open for writing only; and what Node itself takes for an empty input.
  for (const [what, open, error] of [
    ["a file", () => openSync(join(scratch(), "input"), "w"), "EBADF: bad file descriptor, read"],
    ["a directory", () => openSync(scratch(), "r"), "EISDIR: illegal operation on a directory, read"],
  ] as const) {
    test(`is ended where it breaks off, and that is no success: ${what}`, async () => {
      const input = open();
      const result = collect(startCli([server.url, "--", "cat"], { stdio: [input, "pipe", "pipe"] }));
      closeSync(input);
      const stderr = `sbx-stdio: standard input: ${error}\n`;
      expect(await result).toEqual({ code: 255, signal: null, stdout: "", stderr });
    });
  }
});
