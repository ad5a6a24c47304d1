// The command line as a program between pipes, against a server with the real session core: bytes, streams, exit codes,
// signals, refusals.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Random } from "../../local/src/random.ts";
import { cleanEnv, collect, PROGRAM, RUNTIME, runCli, scratch, startCli, until } from "./fixture/cli.ts";
import { startCutter } from "./fixture/cutter.ts";
import { startServer, type TestServer, TOKEN } from "./fixture/server.ts";

// Each run starts a program or several, on a machine that may be busy.
vi.setConfig({ testTimeout: 30_000 });

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

describe("the exit code is the process's", () => {
  const table: [string, number][] = [
    ["exit 0", 0],
    ["exit 7", 7],
    ["kill -9 $$", 137],
    ["kill -TERM $$", 143],
  ];
  for (const [script, code] of table) {
    test(`${script} ends with ${code}`, async () => {
      expect(await runCli([server.url, "--", "sh", "-c", script])).toEqual({
        code,
        signal: null,
        stdout: "",
        stderr: "",
      });
    });
  }
});

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
  }, 60_000);

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
  }, 30_000);
});

describe("input that nobody takes", () => {
  test("a process that has closed its input: whoever writes to ours is told, and the process goes on", async () => {
    const child = startCli([server.url, "--", "sh", "-c", "exec 0<&-; echo closed; sleep 0.5; echo done"]);
    const result = collect(child);
    const broken = new Promise<Error>((resolve) => child.stdin?.once("error", resolve));
    await until(
      () => [...server.hosts.values()][0]?.session.log.endOffset,
      () => "no session",
    );
    const timer = setInterval(() => child.stdin?.write("more\n"), 20);
    expect(await broken).toMatchObject({ code: "EPIPE" });
    clearInterval(timer);
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

describe("what a session is like that was there before", () => {
  test("output that it holds no more is said to be gone, and is no failure of this run", async () => {
    const script = "head -c 3000000 /dev/zero; read x";
    const driver = startCli([server.url, "--session", "build", "--", "sh", "-c", script]);
    const driven = collect(driver);
    await until(
      () => server.hosts.get("build")?.session.log.endOffset === 3_000_000,
      () => "no output",
    );
    const { log } = server.host().session;
    const viewer = collect(startCli([server.url, "--session", "build", "--role", "viewer"]));
    await until(
      () => server.host().session.attachedCount === 2,
      () => "no viewer",
    );
    driver.stdin?.end("\n");
    const { code, stdout, stderr } = await viewer;
    expect({ code, length: stdout.length, stderr }).toEqual({
      code: 0,
      length: log.endOffset - log.startOffset,
      stderr: `sbx-stdio: the first ${log.startOffset} bytes of output are gone: the session runs since earlier\n`,
    });
    await driven;
  });

  test("another command than its own is refused", async () => {
    const first = startCli([server.url, "--session", "build", "--", "sleep", "60"]);
    const ended = collect(first);
    await until(
      () => server.hosts.get("build"),
      () => "no session",
    );
    const { code, stderr } = await runCli([server.url, "--session", "build", "--", "true"]);
    expect({ code, stderr }).toEqual({ code: 255, stderr: 'sbx-stdio: session "build" runs another command\n' });
    server.host().kill("SIGKILL");
    await ended;
  });
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

describe("names", () => {
  test("a session that is not named gets a name of its own, and pipes are asked for in so many words", async () => {
    await runCli([server.url, "--", "true"]);
    await runCli([server.url, "--", "true"]);
    const [first, second] = server.queries.map((query) => query.get("session"));
    expect(first).toMatch(/^cli-[0-9a-v]{8}$/);
    expect(second).not.toBe(first);
    expect(server.queries.map((query) => query.get("tty"))).toEqual(["0", "0"]);
  });

  test("--verbose says the session's name and how it ended", async () => {
    const { stderr } = await runCli([server.url, "--session", "build", "--verbose", "--", "true"]);
    expect(stderr.split("\n")).toEqual([
      "sbx-stdio: session build",
      "sbx-stdio: attached to session build of sandbox default, pipes",
      "sbx-stdio: the process ended: code 0",
      "",
    ]);
  });
});

describe("why it failed is one line, and the code is 255", () => {
  const line = (text: string) => ({ code: 255, signal: null, stdout: "", stderr: `sbx-stdio: ${text}\n` });

  test("no token", async () => {
    const env = cleanEnv({ SBX_TOKEN: "" });
    const text = "no access token: log in with `sbx-stdio login`, or give one with SBX_TOKEN or --token";
    expect(await runCli([server.url, "--", "true"], "", env)).toEqual(line(text));
    expect(server.queries).toEqual([]);
  });

  test("a token that is refused", async () => {
    const text = "the token is not one of ours (log in again with `sbx-stdio login`, or give a fresh SBX_TOKEN)";
    expect(await runCli([server.url, "--token", "bad", "--", "true"])).toEqual(line(text));
  });

  test("a token that no request can carry", async () => {
    for (const args of [
      [server.url, "--token", "two\nlines", "--", "true"],
      ["sessions", server.url, "--token", "tök"],
    ]) {
      expect(await runCli(args)).toEqual(line("the access token has characters that it can't have"));
    }
    expect(server.queries).toEqual([]);
  });

  test("the token comes from the option, else SBX_TOKEN, else DO_TOKEN", async () => {
    const codes: (number | null)[] = [];
    for (const [flag, sbx, other] of [
      [TOKEN, "bad", "bad"],
      ["", TOKEN, "bad"],
      ["", "", TOKEN],
      ["bad", TOKEN, TOKEN],
    ] as const) {
      const flags = flag === "" ? [] : ["--token", flag];
      const env = cleanEnv({ SBX_TOKEN: sbx, DO_TOKEN: other });
      codes.push((await runCli([server.url, ...flags, "--", "true"], "", env)).code);
    }
    expect(codes).toEqual([0, 0, 0, 255]);
  });

  test("an address where nobody listens", async () => {
    expect(await runCli(["http://127.0.0.1:1", "--", "true"])).toEqual(
      line("cannot connect to 127.0.0.1:1: connection refused"),
    );
  });

  const refusals: [number, string, Record<string, string>, string][] = [
    [403, '{"error":"forbidden","message":"not your sandbox"}', {}, "not your sandbox"],
    [404, "<html>no such page</html>", {}, "the server answered HTTP 404 Refused"],
    [422, '{"error":"cmd_not_found","message":"cmd_not_found: nope\\u001b[2J\\nx"}', {}, "cmd_not_found: nope [2J x"],
    [503, '{"error":"unavailable","message":"come back later"}', {}, "come back later"],
    [
      301,
      "",
      { location: "https://other.example/" },
      "the server is elsewhere (HTTP 301 Refused): https://other.example/",
    ],
  ];
  for (const [status, body, headers, text] of refusals) {
    test(`HTTP ${status}`, async () => {
      server.refusal = { status, body, headers };
      expect(await runCli([server.url, "--", "true"])).toEqual({
        ...line(text),
        // As a shell says of a command that it can't find.
        code: text.startsWith("cmd_not_found") ? 127 : 255,
      });
    });
  }

  test("a refusal after the upgrade", async () => {
    server.onConnection = (connection) => connection.bye(4422, "cmd_not_found: nope", "never");
    expect(await runCli([server.url, "--", "nope"])).toEqual({ ...line("cmd_not_found: nope"), code: 127 });
    server.onConnection = (connection) => connection.bye(4422, "cmd_not_executable: /etc", "never");
    expect(await runCli([server.url, "--", "/etc"])).toEqual({ ...line("cmd_not_executable: /etc"), code: 126 });
  });

  test("a session that is cut off for good says that it may still run", async () => {
    const child = startCli([server.url, "--session", "build", "--", "sleep", "60"]);
    const result = collect(child);
    await until(
      () => server.hosts.get("build"),
      () => "no session",
    );
    server.onConnection = (connection) => connection.bye(4403, "you were removed", "never");
    server.cut();
    const { code, stderr } = await result;
    expect(code).toBe(255);
    expect(stderr).toMatch(/^sbx-stdio: connection lost \(.+\), reconnecting…\n/);
    expect(stderr).toMatch(/\nsbx-stdio: you were removed; session build may still be running\n$/);
  });

  test("a session whose process is lost is not said to run", async () => {
    const child = startCli([server.url, "--session", "build", "--", "sleep", "60"]);
    const result = collect(child);
    await until(
      () => server.hosts.get("build"),
      () => "no session",
    );
    server.host().kill("SIGKILL");
    server.hosts.clear();
    server.cut();
    expect((await result).stderr).toMatch(/\nsbx-stdio: process lost\n$/);
  });

  test("a ticket that does not count any more: its bearer is told whom to ask", async () => {
    server.onConnection = (connection) => connection.bye(4401, "the ticket was revoked", "never");
    server.isOpen = true;
    const env = cleanEnv({ SBX_TOKEN: "" });
    expect(await runCli([`${server.url}/?session=build&role=viewer#ticket=s.x`], "", env)).toEqual(
      line("the ticket was revoked (ask whoever shared it for another)"),
    );
  });
});

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
  expect(refused.stderr).toMatch(/^sbx-stdio: an argument is not UTF-8[^\n]*\n$/);
  expect((await runCli([server.url, "--", "echo", "\ufffd"])).stdout).toBe("\ufffd\n");
});

describe("a name whose process has ended", () => {
  test("starts anew with the new command and input; a viewer reads what is kept", async () => {
    const words = [server.url, "--session", "t", "--", "sh", "-c"];
    expect(await runCli([...words, "cat; exit 3"], "one")).toMatchObject({ code: 3, stdout: "one" });
    expect(await runCli([...words, "cat; exit 4"], "two")).toMatchObject({ code: 4, stdout: "two" });
    const viewer = await runCli([server.url, "--session", "t", "--role", "viewer"]);
    expect(viewer).toMatchObject({ code: 4, stdout: "two" });
  });

  test("a session whose name is our own says so, and none that has a name", async () => {
    await runCli([server.url, "--", "true"]);
    await runCli([server.url, "--session", "t", "--", "true"]);
    const said = server.queries.map((query) => [query.get("unnamed"), query.get("ended")]);
    expect(said).toEqual([
      ["1", "replace"],
      [null, "replace"],
    ]);
  });
});

describe("a signal that would end us", () => {
  test("in an outage ends this program within 5 s", async () => {
    const child = startCli([server.url, "--session", "t", "--", "sh", "-c", "echo ready; sleep 60"]);
    const result = collect(child);
    child.stdout?.once("data", () => {
      server.refusal = { status: 503, body: "" };
      server.cut();
    });
    // It says there that the connection is lost.
    child.stderr?.once("data", () => child.kill("SIGTERM"));
    expect((await result).signal).toBe("SIGTERM");
  });

  test("is not passed on to a process that was not started for us", async () => {
    const driver = startCli([server.url, "--session", "t", "--", "sh", "-c", "echo ready; cat"]);
    const driven = collect(driver);
    await until(
      () => server.hosts.get("t")?.session.log.endOffset,
      () => "not ready",
    );
    const other = startCli([server.url, "--session", "t"]);
    const looked = collect(other);
    other.stdout?.once("data", () => other.kill("SIGTERM"));
    expect((await looked).signal).toBe("SIGTERM");
    expect(server.host("t").asked.filter((what) => what.startsWith("SIG"))).toEqual([]);
    driver.stdin?.end();
    expect((await driven).code).toBe(0);
  });

  test("SIGHUP is ignored where whoever started us said so, and not passed on", async () => {
    const env = cleanEnv({ SBX_SIGIGN: "0000000000000001" });
    const child = startCli([server.url, "--session", "t", "--", "sh", "-c", "echo ready; cat"], { env });
    const result = collect(child);
    child.stdout?.once("data", () => {
      child.kill("SIGHUP");
      child.stdin?.write("on\n");
      // That went there and back: whoever hears a signal has heard it.
      child.stdout?.once("data", () => child.stdin?.end("and on\n"));
    });
    expect(await result).toMatchObject({ code: 0, signal: null, stdout: "ready\non\nand on\n" });
    expect(server.host("t").asked).not.toContain("SIGHUP");
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

describe("the reader goes away", () => {
  test("the code is 141, nothing is said, and a session of our own is killed", async () => {
    const child = startCli([server.url, "--", "sh", "-c", "while :; do echo y; done"]);
    const result = collect(child);
    child.stdout?.once("data", () => child.stdout?.destroy());
    expect(await result).toMatchObject({ code: 141, signal: null, stderr: "" });
    await until(
      () => server.host().session.exit,
      () => "the process lives",
    );
    expect(server.host().asked.filter((what) => what !== "left")).toEqual(["kill"]);
  });

  test("a session with a name is left as it is", async () => {
    const child = startCli([server.url, "--session", "build", "--", "sh", "-c", "while :; do echo y; done"]);
    const result = collect(child);
    child.stdout?.once("data", () => child.stdout?.destroy());
    expect(await result).toMatchObject({ code: 141, stderr: "" });
    await until(
      () => server.host().asked[0],
      () => "nobody left",
    );
    expect(server.host().asked).toEqual(["left"]);
    expect(server.host().session.exit).toBeUndefined();
  });
});

describe("a full disk", () => {
  async function runOnFull(...words: string[]) {
    const full = openSync("/dev/full", "w");
    const result = collect(startCli(words, { stdio: ["ignore", full, "pipe"] }));
    closeSync(full);
    return result;
  }
  const said = "sbx-stdio: cannot write the output: ENOSPC: no space left on device, write\n";

  test("output that could not be written is no success, also where the process has ended well", async () => {
    expect(await runOnFull(server.url, "--", "echo", "hi")).toMatchObject({ code: 255, stderr: said });
    expect(await runOnFull(server.url, "--", "sh", "-c", "echo hi; exit 7")).toMatchObject({ code: 255, stderr: said });
  });

  test("what a command answers is said not to be written", async () => {
    expect(await runOnFull("--help")).toMatchObject({ code: 255, stderr: said });
    expect(await runOnFull("sessions", server.url)).toMatchObject({ code: 255, stderr: said });
  });
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

describe("signals", () => {
  async function started(...words: string[]) {
    const child = startCli([server.url, ...words]);
    const result = collect(child);
    await until(
      () => ([...server.hosts.values()].at(-1)?.session.log.endOffset ?? 0) > 0,
      () => "no output",
    );
    return { child, result };
  }

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1"] as const) {
    test(`${signal} goes to the process, and its end is waited for`, async () => {
      const name = signal.slice(3);
      const { child, result } = await started("--", "bash", "-c", `trap 'echo got; exit 9' ${name}; echo; read`);
      child.kill(signal);
      expect(await result).toEqual({ code: 9, signal: null, stdout: "\ngot\n", stderr: "" });
      expect(server.host().asked).toEqual([signal]);
    });
  }

  test("a second ^C ends the command line as ^C does, and kills a session of our own", async () => {
    const { child, result } = await started("--", "sh", "-c", "trap '' INT; echo; sleep 60");
    child.kill("SIGINT");
    await until(
      () => server.host().asked[0],
      () => "no signal came",
    );
    child.kill("SIGINT");
    expect(await result).toMatchObject({ code: null, signal: "SIGINT" });
    await until(
      () => server.host().session.exit,
      () => "the process lives",
    );
    // Whether it is seen to leave depends on which is faster, its close or the process's end.
    expect(server.host().asked.filter((what) => what !== "left")).toEqual(["SIGINT", "kill"]);
  });

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    test(`${signal} ends a viewer itself at once, and a driver without the keyboard`, async () => {
      const { child, result } = await started(
        "--session",
        "build",
        "--mode",
        "exclusive",
        "--",
        "sh",
        "-c",
        "echo; read x",
      );
      for (const role of ["viewer", "driver"]) {
        const other = startCli([server.url, "--session", "build", "--role", role]);
        const ended = collect(other);
        await once(other.stdout ?? other, "readable");
        other.kill(signal);
        expect(await ended).toEqual({ code: null, signal, stdout: "\n", stderr: "" });
      }
      expect(server.host().asked.filter((what) => what !== "left")).toEqual([]);
      child.stdin?.end("\n");
      expect((await result).code).toBe(0);
    });
  }

  test("a signal that comes while the connection is down is passed on when it is back", async () => {
    const { child, result } = await started("--", "bash", "-c", "trap 'exit 9' TERM; echo; read");
    server.refusal = { status: 503, body: "" };
    server.cut();
    await once(child.stderr ?? child, "data");
    child.kill("SIGTERM");
    server.refusal = undefined;
    expect((await result).code).toBe(9);
  });

  test("before there is a session, the signal is the command line's own", async () => {
    server.refusal = { status: 503, body: "" };
    const child = startCli([server.url, "--verbose", "--", "true"]);
    const result = collect(child);
    await once(child.stderr ?? child, "data");
    child.kill("SIGINT");
    expect(await result).toMatchObject({ code: null, signal: "SIGINT" });
  });
});

describe("sessions and kill", () => {
  test("a table for people, JSON for programs", async () => {
    const child = startCli([
      server.url,
      "--sandbox",
      "dev",
      "--session",
      "build",
      "--",
      "sh",
      "-c",
      "echo hi; sleep 60",
    ]);
    await once(child.stdout ?? child, "data");
    const { stdout } = await runCli(["sessions", server.url, "--sandbox", "dev"]);
    expect(stdout.split("\n").map((row) => row.replace(/ \d+s /, " AGE ").split(/ {2,}/))).toEqual([
      ["SESSION", "STATE", "KIND", "CLIENTS", "OUTPUT", "AGE", "COMMAND"],
      ["build", "running", "pipes", "1", "3", "AGE", "sh -c 'echo hi; sleep 60'"],
      [""],
    ]);
    const json = await runCli(["sessions", server.url, "--sandbox", "dev", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      sessions: [{ session: "build", cmd: ["sh", "-c", "echo hi; sleep 60"] }],
    });
    const gone = collect(child);
    expect(await runCli(["kill", server.url, "--sandbox", "dev", "--session", "build"])).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "sbx-stdio: session build in sandbox dev has ended\n",
    });
    expect((await gone).code).toBe(137);
  });

  test("a reader that has gone is no fault", async () => {
    const child = startCli(["sessions", server.url]);
    child.stdout?.destroy();
    expect(await collect(child)).toEqual({ code: 141, signal: null, stdout: "", stderr: "" });
  });

  test("a session that is not there, and a server that is not", async () => {
    const missing = await runCli(["kill", server.url, "--session", "none"]);
    expect(missing).toMatchObject({ code: 255, stderr: 'sbx-stdio: no session "none"\n' });
    const dead = await runCli(["sessions", "http://127.0.0.1:1"]);
    expect(dead.stderr).toMatch(/^sbx-stdio: cannot connect to 127.0.0.1:1: .+\n$/);
  });
});
