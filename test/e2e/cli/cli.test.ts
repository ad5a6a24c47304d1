// The command line in pipelines: bytes in, bytes out, exit codes, and one line for what goes wrong.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { Random } from "../../../packages/local/src/base/random.ts";
import { approveDevice } from "../../../packages/local/test/approve.ts";
import { CLI, cliEnv, exitCode, runCli, startCli, textOf, withoutWords } from "../support/clients/cli.ts";
import { connect } from "../support/clients/client.ts";
import { isAliveIn } from "../support/clients/sandbox-processes.ts";
import { api, fresh, person, restartWorker, system } from "../support/system/system.ts";
import { MOVING_MS, until, whileMoving, within } from "../support/system/wait.ts";

const MB = 1_000_000;
/** Through all windows and logs many times. */
const LENGTH = (process.env.SBX_LOAD === "full" ? 200 : 12) * MB;

describe("a command's end is the command line's", () => {
  test("exit 7 is 7", async () => {
    const result = await runCli(await person(), ["--", "sh", "-c", "exit 7"]);
    expect(result).toEqual({ code: 7, stdout: "", stderr: "" });
  });

  test("kill -9 $$ is 137", async () => {
    const result = await runCli(await person(), ["--", "sh", "-c", "kill -9 $$"]);
    expect(result).toEqual({ code: 137, stdout: "", stderr: "" });
  });
});

test("a short command on this machine loads no TLS, which would take a fifth of its time, and nothing else rare", async () => {
  const rare = "/ (_tls_wrap|tls|https|child_process|zlib|v8|vm|perf_hooks|timers.promises)$/";
  const loaded = `process.moduleLoadList.slice(before).filter((name) => ${rare}.test(name)).join()`;
  const script = `const before=process.moduleLoadList.length;process.once("exit",()=>process.stderr.write("loaded:"+${loaded}))`;
  const tell = `data:text/javascript,${encodeURIComponent(script)}`;
  const child = spawn(process.execPath, ["--import", tell, CLI, system.origin, "--", "true"], {
    env: cliEnv(await person()),
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.end();
  const [code, stderr] = await Promise.all([exitCode(child), textOf(child.stderr)]);
  expect([code, withoutWords(stderr)]).toEqual([0, "loaded:"]);
});

describe("a pipeline", () => {
  test("printf abc | sbx-stdio … -- cat prints abc and ends", async () => {
    expect(await runCli(await person(), ["--", "cat"], "abc")).toEqual({ code: 0, stdout: "abc", stderr: "" });
  });

  test("an empty input ends at once", async () => {
    expect(await runCli(await person(), ["--", "wc", "-c"])).toEqual({ code: 0, stdout: "0\n", stderr: "" });
  });

  /** Sends `length` bytes through a remote `cat`; calls `halfway` once half of them has come back. */
  async function throughCat(length: number, halfway?: () => Promise<unknown>) {
    const block = Buffer.from(new Random(5).bytes(MB));
    const sent = createHash("sha256");
    function* blocks(): Generator<Buffer> {
      for (let at = 0; at < length; at += block.length) {
        // No two blocks are the same: one that is lost, doubled or moved changes the sum.
        const copy = Buffer.from(block);
        for (let i = 0; i < copy.length; i += 4096) copy.writeUInt32LE(at + i, i);
        sent.update(copy);
        yield copy;
      }
    }
    const child = startCli(await person(), ["--", "cat"]);
    const ended = exitCode(child);
    Readable.from(blocks(), { objectMode: false }).pipe(child.stdin);
    const received = createHash("sha256");
    let count = 0;
    let disturbing: Promise<unknown> | undefined;
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk;
    });
    child.stdout.on("data", (chunk: Buffer) => {
      received.update(chunk);
      count += chunk.length;
      if (count > length / 2) disturbing ??= halfway?.();
    });
    const code = await whileMoving(
      "What came back",
      ended,
      () => count,
      () => stderr,
    );
    await disturbing;
    return { code, count, stderr, isSame: received.digest("hex") === sent.digest("hex") };
  }

  test("many MB through cat, in both directions, keep their SHA-256", { timeout: MOVING_MS }, async () => {
    // A machine that is short of processor time may lose the connection; not a byte.
    expect(await throughCat(LENGTH)).toMatchObject({ code: 0, count: LENGTH, isSame: true });
  });

  test("and they do while the Worker is killed and started again", { timeout: MOVING_MS }, async () => {
    const { stderr, ...result } = await throughCat(LENGTH / 2, restartWorker);
    expect(result).toEqual({ code: 0, count: LENGTH / 2, isSame: true });
    // Once, or more often where the new Worker closes once again while it comes up. A wait of two seconds is told, the first one too.
    expect(stderr).toMatch(
      /^(?:sbx-stdio: connected to .+: waiting for .+\n)*(?:sbx-stdio: connection lost \(.+\), reconnecting…\n(?:sbx-stdio: not connected .+\n)*sbx-stdio: resumed after [\d.]+ s, nothing lost\n)+$/,
    );
  });
});

describe("what goes wrong is told in one line, with 255", () => {
  const failed = (line: string) => ({ code: 255, stdout: "", stderr: `sbx-stdio: ${line}\n` });

  test("a bad token", async () => {
    const who = { ...(await person()), token: "garbage" };
    const { code, stdout, stderr } = await runCli(who, ["--", "true"]);
    expect([code, stdout]).toEqual([255, ""]);
    expect(stderr).toMatch(/^sbx-stdio: The token can't be read[^\n]*\n$/);
  });

  test("a viewer of nothing", async () => {
    expect(await runCli(await person(), ["--role", "viewer", "--session", "none"])).toEqual(
      failed('no session "none" of yours to view (for another person\'s session use the link they share)'),
    );
  });
});

describe("its other commands", () => {
  /** `words` in front of the server's address, as subcommands are given. */
  async function subcommand(who: Parameters<typeof runCli>[0], name: string, ...words: string[]) {
    return runCli(who, words, "", name);
  }

  test("sessions lists, kill ends", async () => {
    const who = await person();
    const client = await connect(who, { session: "one", cmd: "sh", arg: ["-c", "echo pid=$$.; cat"] });
    const pid = Number(/pid=(\d+)\./.exec(await client.output(/pid=\d+\./))?.[1]);
    const listed = await subcommand(who, "sessions", "--json");
    expect(listed.code).toBe(0);
    expect(JSON.parse(listed.stdout)).toEqual(await (await api(who, "/api/sandboxes/default/sessions")).json());
    expect(await subcommand(who, "kill", "--session", "one")).toEqual({
      code: 0,
      stdout: "",
      stderr: "sbx-stdio: session one in sandbox default has ended\n",
    });
    expect(await isAliveIn(who, pid)).toBe(false);
  });

  test("login takes the issuer that the server names; then no token is given, until logout", async () => {
    const child = startCli(undefined, ["--no-browser"], "login");
    const ended = exitCode(child);
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk;
    });
    const code = await until("a code", () => /code: +(\S+)/i.exec(said)?.[1]);
    const org = fresh("org");
    await approveDevice(system.issuerUrl, code, { sub: "erin", org });
    expect(await within("the login", ended)).toBe(0);
    const script = ["--session", "hers", "--", "sh", "-c", "exit 6"];
    expect(await runCli(undefined, script)).toEqual({ code: 6, stdout: "", stderr: "" });
    // It is hers: the same tenant's token sees the session.
    const listing = await api(await person({ sub: "erin", org }), "/api/sandboxes/default/sessions/hers");
    expect(((await listing.json()) as { exit: object }).exit).toEqual({ code: 6 });
    expect((await runCli(undefined, [], "", "logout")).code).toBe(0);
    expect((await runCli(undefined, script)).stderr).toMatch(/^sbx-stdio: no access token/);
  });
});
