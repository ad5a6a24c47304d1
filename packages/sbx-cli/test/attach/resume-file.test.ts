// A run that takes up where an earlier one was stopped or killed: no byte twice, none missing, in either direction.

import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Random } from "../../../local/src/base/random.ts";
import { parsePosition, ResumeFile } from "../../src/attach/resume-file.ts";
import { writeJsonFile } from "../../src/base/small-file.ts";
import { collect, runCli, scratch, startCli, until } from "../fixture/cli.ts";
import { startServer, type TestServer } from "../fixture/server.ts";

let server: TestServer;
let file: string;
let directory: string;
beforeEach(async () => {
  server = await startServer();
  directory = scratch();
  file = join(directory, "place");
});
afterEach(() => server.close());

const sumOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

test("a link that waits where a draft was once written is not followed", () => {
  const victim = join(directory, "victim");
  writeFileSync(victim, "mine");
  const other = join(directory, "login.json");
  for (const draft of [file, other]) symlinkSync(victim, `${draft}.${process.pid}.tmp`);
  // Of a process that no kernel can have.
  const left = ["99999999.tmp", "99999999.0123456789abcdef.tmp"].map((end) => `${file}.${end}`);
  for (const draft of left) writeFileSync(draft, "half of a pl");
  const kept = new ResumeFile(file);
  kept.keep(() => ({ url: "http://host", sandbox: "dev", session: "s", offset: 1 }), expect.unreachable);
  kept.save();
  writeJsonFile(other, { a: 1 });
  expect(readFileSync(victim, "utf8")).toBe("mine");
  expect(parsePosition(readFileSync(file, "utf8"))?.offset).toBe(1);
  expect(lstatSync(other).isFile()).toBe(true);
  expect(left.filter(existsSync)).toEqual([]);
});

describe("a run that is killed", () => {
  test("40 MB through cat, files at both ends, killed again and again: each byte once, both ways", async () => {
    const seed = 3;
    const random = new Random(seed);
    const input = Buffer.from(new Random(seed).bytes(40_000_000));
    const [source, target] = [join(directory, "in"), join(directory, "out")];
    writeFileSync(source, input);
    let kills = 0;
    let code: number | null = null;
    while (code === null) {
      const stdio = [openSync(source, "r"), openSync(target, "a"), "pipe"] as const;
      const before = statSync(target).size;
      const child = startCli([server.url, "--resume-file", file, "--", "cat"], { stdio: [...stdio] });
      const result = collect(child);
      // When it has written a little more, in the middle of whatever it is doing then.
      const more = before + Math.floor(random.next() * 3_000_000);
      let hasEnded = false;
      void result.then(() => {
        hasEnded = true;
      });
      await until(
        () => hasEnded || statSync(target).size > more,
        () => "no output",
      );
      if (child.kill("SIGKILL")) kills += 1;
      const { code: ended, stderr } = await result;
      // One that was killed behind its last act, when nothing was left to come back to, had ended but for its code.
      code = ended === null && statSync(target).size > 0 && !existsSync(file) ? 0 : ended;
      if (ended !== null) expect(stderr).toBe("");
      closeSync(stdio[0]);
      closeSync(stdio[1]);
    }
    const output = readFileSync(target);
    expect({ seed, code, length: output.length, sum: sumOf(output) }).toEqual({
      seed,
      code: 0,
      length: input.length,
      sum: sumOf(input),
    });
    expect(kills).toBeGreaterThan(2);
    expect(server.hosts.size).toBe(1);
    expect(existsSync(file)).toBe(false);
  });

  test("bytes that another program wrote to the same file meanwhile are not taken for ours", async () => {
    const target = join(directory, "out");
    const run = () => {
      const output = openSync(target, "a");
      const child = startCli([server.url, "--resume-file", file, "--", "sh", "-c", "printf abc; read x; printf def"], {
        stdio: ["pipe", output, "pipe"],
      });
      closeSync(output);
      return { child, result: collect(child) };
    };
    const first = run();
    await until(
      () => parsePosition(readIfThere(file))?.offset === 3,
      () => readIfThere(file),
    );
    first.child.kill("SIGKILL");
    await first.result;
    writeFileSync(target, "d, said somebody else\n", { flag: "a" });
    const second = run();
    second.child.stdin?.end("\n");
    expect((await second.result).code).toBe(0);
    expect(readFileSync(target, "utf8")).toBe("abcd, said somebody else\ndef");
  });

  test("after data went missing: the next run does not take the process's 0 for success either", async () => {
    const [go, input] = [join(directory, "go"), join(directory, "in")];
    // Open for writing only: it can't be read.
    const stdin = openSync(input, "w");
    const args = [server.url, "--resume-file", file, "--", "sh", "-c", `cat; until [ -e ${go} ]; do sleep 0.05; done`];
    const child = startCli(args, { stdio: [stdin, "pipe", "pipe"] });
    closeSync(stdin);
    const result = collect(child);
    await until(
      () => parsePosition(readIfThere(file))?.isIncomplete,
      () => readIfThere(file),
    );
    child.kill("SIGKILL");
    await result;
    writeFileSync(go, "");
    expect((await runCli(args)).code).toBe(255);
    expect(server.hosts.size).toBe(1);
  });

  test("before the session greeted it: the next run asks for the same session, so one process starts", async () => {
    server.refusal = { status: 503, body: "" };
    const child = startCli([server.url, "--resume-file", file, "--", "true"]);
    const result = collect(child);
    await until(
      () => parsePosition(readIfThere(file)),
      () => "no file",
    );
    child.kill("SIGKILL");
    await result;
    const session = parsePosition(readIfThere(file))?.session;
    server.refusal = undefined;
    expect((await runCli([server.url, "--resume-file", file, "--", "true"])).code).toBe(0);
    expect(server.queries.map((query) => query.get("session"))).toEqual([session]);
  });
});

test("a run that is killed once its process has ended leaves it to the next to tell the exit code", async () => {
  // Full, so that the last of the lines on standard error can't be written, and the run waits for that.
  const fifo = join(directory, "stderr");
  execFileSync("mkfifo", [fifo]);
  const held = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
  const stderr = openSync(fifo, "w");
  expect(() => {
    for (;;) writeSync(held, Buffer.alloc(4096));
  }).toThrow("EAGAIN");
  const args = [server.url, "--resume-file", file, "--verbose", "--", "sh", "-c", "echo one; read x; echo $x; exit 3"];
  const child = startCli(args, { stdio: ["pipe", "pipe", stderr] });
  const result = collect(child);
  await once(child.stdout ?? child, "data");
  child.stdin?.end("two\n");
  await until(
    () => !existsSync(file) || parsePosition(readIfThere(file))?.offset === 8,
    () => readIfThere(file),
  );
  child.kill("SIGKILL");
  const first = await result;
  closeSync(held);
  closeSync(stderr);
  // One that was not killed before it had waited long enough has told it itself.
  const next = first.code === null ? await runCli(args, "two\n") : undefined;
  expect([first.code ?? next?.code, first.stdout + (next?.stdout ?? "")]).toEqual([3, "one\ntwo\n"]);
  expect([server.hosts.size, existsSync(file)]).toEqual([1, false]);
});

describe("a run that is stopped", () => {
  test("with SIGTERM, pipes at both ends: it stops between two bytes, and the next run goes on with the next", async () => {
    const input = Buffer.from(new Random(5).bytes(30_000_000));
    const parts: Buffer[] = [];
    const run = () => {
      const child = startCli([server.url, "--resume-file", file, "--", "cat"]);
      child.stdin?.end(input);
      child.stdout?.on("data", (chunk: Buffer) => void parts.push(chunk));
      return { child, result: collect(child) };
    };
    for (let i = 0; i < 3; i += 1) {
      const { child, result } = run();
      let length = 0;
      const stop = (chunk: Buffer) => {
        length += chunk.length;
        if (length < 500_000) return;
        child.stdout?.off("data", stop);
        child.kill("SIGTERM");
      };
      child.stdout?.on("data", stop);
      expect(await result).toMatchObject({ code: null, signal: "SIGTERM", stderr: "" });
    }
    const { code } = await run().result;
    const output = Buffer.concat(parts);
    expect({ code, length: output.length, sum: sumOf(output) }).toEqual({
      code: 0,
      length: input.length,
      sum: sumOf(input),
    });
    // The process is asked for by its creator's words once, and was never told of a signal.
    expect(server.host().asked.filter((what) => what !== "left")).toEqual([]);
  });

  test("for want of a good token: it says how to go on, and so does the next run without one", async () => {
    const args = [server.url, "--session", "s", "--resume-file", file, "--", "sh", "-c", "echo one; read x; echo $x"];
    const child = startCli(args);
    const result = collect(child);
    await once(child.stdout ?? child, "data");
    server.onConnection = (connection) => connection.bye(4401, "the token was revoked", "never");
    server.cut();
    const advice = `(log in again with \`sbx-stdio login ${server.url}\`, or set a new SBX_TOKEN)`;
    const again = `; after a login the same command resumes from ${file}\n`;
    const { code, stderr } = await result;
    expect([code, stderr.replace(/^.*reconnecting…\n/, "")]).toEqual([
      255,
      `sbx-stdio: the token was revoked ${advice}; session s may still be running${again}`,
    ]);
    expect(await runCli(args)).toMatchObject({
      code: 255,
      stderr: `sbx-stdio: the token was revoked ${advice}${again}`,
    });
    server.onConnection = undefined;
    expect(await runCli(args, "two\n")).toMatchObject({ code: 0, stdout: "two\n", stderr: "" });
  });

  test("the process has ended meanwhile: the next run gets the rest, its exit code, and removes the file", async () => {
    const args = [server.url, "--resume-file", file, "--", "sh", "-c", "echo one; read x; echo two; exit 3"];
    const child = startCli(args);
    const result = collect(child);
    child.stdout?.once("data", () => child.kill("SIGTERM"));
    expect(await result).toMatchObject({ signal: "SIGTERM", stdout: "one\n" });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(parsePosition(readIfThere(file))).toMatchObject({ offset: 4, sandbox: "default" });
    server.host().kill("SIGKILL");
    await until(
      () => server.host().session.exit,
      () => "the process lives",
    );
    expect(await runCli(args)).toEqual({ code: 137, signal: null, stdout: "", stderr: "" });
    expect(existsSync(file)).toBe(false);
  });
});

describe("two runs with one file", () => {
  const args = () => [server.url, "--resume-file", file, "--", "sh", "-c", "echo one; read x; echo $x"];

  test("the second is refused while the first goes on, and takes its place once it is gone", async () => {
    const first = startCli(args());
    const result = collect(first);
    await once(first.stdout ?? first, "data");
    const { code, stdout, stderr } = await runCli(args(), "two\n");
    expect([code, stdout, stderr]).toEqual([255, "", `sbx-stdio: ${file} is in use by process ${first.pid}\n`]);
    expect(server.queries).toHaveLength(1);
    first.kill("SIGTERM");
    await result;
    expect(await runCli(args(), "two\n")).toMatchObject({ code: 0, stdout: "two\n" });
  });

  test("of several that are started at once, one attaches and the others say why not", async () => {
    const runs = Array.from({ length: 4 }, () => startCli([server.url, "--resume-file", file, "--", "cat"]));
    const left = new Set(runs);
    const results = runs.map((run) => collect(run).finally(() => left.delete(run)));
    // Input that goes on: the one that is in stays.
    await until(
      () => left.size === 1,
      () => `${left.size} go on`,
    );
    for (const run of left) run.stdin?.end("x\n");
    const ends = await Promise.all(results);
    expect(ends.map(({ code, stdout }) => [code, stdout]).sort()).toEqual([[0, "x\n"], ...Array(3).fill([255, ""])]);
    for (const { code, stderr } of ends) expect(stderr).toContain(code === 0 ? "" : " is in use by ");
    expect(server.queries).toHaveLength(1);
  });

  test("a number that another process has now keeps nobody out, and a draft that was left behind is removed", async () => {
    writeFileSync(`${file}.${process.pid}.tmp`, "half of a pl");
    const url = `${server.url.replace("http", "ws")}/attach`;
    const owner = { pid: process.pid, startedAt: "1" };
    writeFileSync(file, JSON.stringify({ version: 1, url, sandbox: "default", session: "s", offset: 0, owner }));
    expect(await runCli([server.url, "--resume-file", file, "--", "true"])).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(directory)).toEqual([]);
  });

  test("drafts of runs that are gone are removed with no place to name them, those of others stay", async () => {
    const { pid: gone } = spawnSync("true");
    const kept = [`${file}.${process.pid}.tmp`, `${file}.old.${gone}.tmp`, `${file}.tmp`];
    for (const path of [...kept, `${file}.${gone}.tmp`]) writeFileSync(path, "half of a pl");
    expect(await runCli([server.url, "--resume-file", file, "--", "true"])).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(directory).sort()).toEqual(kept.map((path) => basename(path)).sort());
  });
});

describe("a file that does not fit", () => {
  const place = { version: 1, url: "ws://h/attach", sandbox: "default", session: "s", offset: 0 };
  const table: [string, string, RegExp][] = [
    ["another program's", "{}", /is not a file that --resume-file wrote$/],
    ["no JSON", "hello", /is not a file that --resume-file wrote$/],
    ["a negative offset", JSON.stringify({ ...place, offset: -1 }), /is not a file that --resume-file wrote$/],
    [
      "another server's",
      JSON.stringify(place),
      /belongs to another session: ws:\/\/h\/attach, sandbox default, session s$/,
    ],
  ];
  for (const [what, content, message] of table) {
    test(`${what}: nothing is attached and the file is left alone`, async () => {
      writeFileSync(file, content);
      const { code, stderr } = await runCli([server.url, "--resume-file", file, "--", "true"]);
      expect(code).toBe(2);
      expect(stderr.trimEnd()).toMatch(message);
      expect(readFileSync(file, "utf8")).toBe(content);
      expect(server.queries).toEqual([]);
    });
  }

  test.each([
    ["a FIFO, which would be waited for", () => execFileSync("mkfifo", [file])],
    ["a directory", () => mkdirSync(file)],
    ["a device", () => symlinkSync("/dev/zero", file)],
  ])("%s: nothing is attached and it is left alone", async (_what, make) => {
    make();
    const before = lstatSync(file);
    expect(await runCli([server.url, "--resume-file", file, "--", "true"])).toEqual({
      code: 2,
      signal: null,
      stdout: "",
      stderr: `sbx-stdio: --resume-file ${file} is not a regular file\n`,
    });
    expect(lstatSync(file).ino).toBe(before.ino);
    expect(server.queries).toEqual([]);
  });

  test("a session that is lost says so, and keeps the file", async () => {
    const url = server.url.replace("http", "ws");
    writeFileSync(file, JSON.stringify({ ...place, url: `${url}/attach`, resume: "other/client", offset: 10 }));
    expect(await runCli([server.url, "--resume-file", file, "--", "true"])).toMatchObject({
      code: 255,
      stderr: "sbx-stdio: process lost\n",
    });
    expect(existsSync(file)).toBe(true);
  });

  test("a directory that is not there: nothing is attached", async () => {
    const { code, stderr } = await runCli([server.url, "--resume-file", join(directory, "no", "place"), "--", "true"]);
    expect([code, server.queries.length]).toEqual([255, 0]);
    expect(stderr).toMatch(/^sbx-stdio: cannot write .+: ENOENT: .+\n$/);
  });
});

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // It may go at any moment.
  }
}
