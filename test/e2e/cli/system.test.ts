// The command line in the system that people have: commands of any length, scripts that run many, nohup, copies.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { CLI, type CliChild, cliEnv, exitCode, runCli, textOf, withoutWords } from "../support/clients/cli.ts";
import { isAliveIn } from "../support/clients/sandbox-processes.ts";
import { fresh, person, system } from "../support/system/system.ts";
import { until, within } from "../support/system/wait.ts";

/** As npm installs it: what a shell starts. */
const BIN = join(dirname(dirname(CLI)), "bin", "sbx-stdio.js");

test("a command of half a megabyte runs, with its input, and its code is ours", async () => {
  const words = Array.from({ length: 8 }, (_one, i) => String(i).repeat(60_000));
  const script = 'printf "%s" "$@" | sha256sum; cat; exit 9';
  const result = await runCli(await person(), ["--", "sh", "-c", script, "sh", ...words], "input");
  const sum = createHash("sha256").update(words.join("")).digest("hex");
  expect(result).toEqual({ code: 9, stdout: `${sum}  -\ninput`, stderr: "" });
});

/** A login has 180 attaches at once. */
const COMMANDS = process.env.SBX_LOAD === "full" ? 100 : 12;

test("many short commands, eight at a time: every one runs, none is refused, and none is told to wait", async () => {
  const script = 'seq "$3" | xargs -P8 -I% "$0" "$1" "$2" -- echo ran-%';
  const child: CliChild = spawn("sh", ["-c", script, process.execPath, CLI, system.origin, String(COMMANDS)], {
    env: cliEnv(await person()),
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.end();
  const [code, stdout, stderr] = await Promise.all([exitCode(child), textOf(child.stdout), textOf(child.stderr)]);
  const ran = Array.from({ length: COMMANDS }, (_one, i) => `ran-${i + 1}`);
  expect([code, stdout.trim().split("\n").sort()]).toEqual([0, ran.sort()]);
  // A refusal by a limit would be told in other words.
  expect(withoutWords(stderr)).toBe("");
});

test("started with nohup it outlives its terminal's SIGHUP, and so does the process", async () => {
  const session = fresh("s");
  const words = [system.origin, "--session", session, "--", "sh", "-c", "echo pid=$$.; read x; echo $x"];
  const who = await person();
  const env = cliEnv(who);
  const child: CliChild = spawn("sh", ["-c", 'trap "" HUP; exec "$0" "$@"', BIN, ...words], {
    env: { ...env, PATH: `${dirname(process.execPath)}:${env.PATH}` },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = exitCode(child);
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk;
  });
  const pid = await until("the process", () => Number(/pid=(\d+)\./.exec(stdout)?.[1]) || undefined);
  child.kill("SIGHUP");
  child.stdin.end("on\n");
  expect([await within("the exit", ended), stdout]).toEqual([0, `pid=${pid}.\non\n`]);
  expect(await isAliveIn(who, pid)).toBe(false);
});

test("doctor says that every step is good, and which one is not", async () => {
  const good = await runCli(await person(), ["--start"], "", "doctor");
  // The local server does not say its time: that is no "ok".
  expect(good.stdout.match(/^ok +\S+/gm)?.map((line) => line.slice(2).trim())).toEqual([
    ...["URL", "DNS", "server", "token", "origin", "access", "commands", "WebSocket", "container"],
  ]);
  expect(good.stdout).toMatch(/^- +clock +unknown: /m);
  expect(good.code).toBe(0);
  const bad = await runCli({ ...(await person()), token: "garbage" }, [], "", "doctor");
  expect([bad.code, /^FAIL +access .+\n +log in again/m.test(bad.stdout)]).toEqual([255, true]);
});

test("whoami says who the server takes us for", async () => {
  const who = await person();
  expect((await runCli(who, [], "", "whoami")).stdout).toContain(who.sub);
});
