// `run` prints all of a command's output, or says that it could not; and lives on over the Worker's death.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { exitCode, runCli, startCli, textOf, withoutWords } from "../support/clients/cli.ts";
import { api, type Person, person, restartBridge, restartWorker } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const run = (who: Person, words: readonly string[], input = "") => runCli(who, words, input, "run");

function started(who: Person, words: readonly string[]) {
  const child = startCli(who, words, "run");
  child.stdin.end();
  return { child, code: exitCode(child), stderr: textOf(child.stderr).then(withoutWords) };
}

function running(who: Person, words: readonly string[]) {
  const run = started(who, words);
  const said = { stdout: "" };
  run.child.stdout.on("data", (chunk: Buffer) => {
    said.stdout += chunk;
  });
  return { ...run, said };
}

const linesTo = (last: number) => Array.from({ length: last }, (_, at) => `${at + 1}\n`).join("");

describe("output", () => {
  test("is whole, also where it is longer than an answer, on either stream", async () => {
    const who = await person();
    const lines = linesTo(30_000);
    const both = await run(who, ["--", "sh", "-c", "seq 30000; seq 30000 >&2; exit 3"]);
    expect([both.code, both.stdout === lines, both.stderr === lines]).toEqual([3, true, true]);
    const waited = await run(who, ["--wait", "30s", "--", "seq", "30000"]);
    expect([waited.code, waited.stdout === lines, waited.stderr]).toEqual([0, true, ""]);
  });

  test("is cut where --max-bytes says so, and said", async () => {
    const cut = await run(await person(), ["--session", "cut", "--max-bytes", "16", "--", "seq", "100"]);
    expect([cut.code, cut.stdout.length <= 16]).toEqual([0, true]);
    expect(cut.stderr).toMatch(
      /^sbx-stdio: \d+ bytes in the middle were omitted: read --session cut --from \d+ --to \d+\n$/,
    );
  });

  test("is whole, also where it comes in bursts that are longer than the log, on one stream alone", async () => {
    const who = await person();
    const burst = 'for i in 1 2 3 4 5 6; do head -c 300000 /dev/zero | tr "\\0" $i; sleep 0.2; done';
    const [whole, named] = await Promise.all([
      run(who, ["--", "sh", "-c", burst]),
      run(who, ["--session", "long", "--wait", "60s", "--", "seq", "300000"]),
    ]);
    const blocks = [1, 2, 3, 4, 5, 6].map((digit) => String(digit).repeat(300_000)).join("");
    expect([whole.code, whole.stdout === blocks, whole.stderr]).toEqual([0, true, ""]);
    expect([named.code, named.stdout === linesTo(300_000), named.stderr]).toEqual([0, true, ""]);
  });

  test("that is no longer held is said, and the code is the command's own", async () => {
    const who = await person();
    const words = ["--session", "gone", "--", "sh", "-c", "seq 300000; exit 3"];
    await run(who, ["--detach", ...words]);
    await runCli(who, ["--session", "gone", "--exit"], "", "wait");
    const made = await run(who, words);
    expect([made.code, made.stdout.endsWith("\n300000\n")]).toEqual([3, true]);
    expect(made.stderr).toMatch(/^sbx-stdio: \d+ bytes of output were discarded before they could be read\n$/);
  });
});

test("without --wait it waits for the end, and prints what comes as it comes", async () => {
  const who = await person();
  const { said, code, stderr } = running(who, [
    "--stdin-open",
    "--session",
    "waits",
    "--",
    "sh",
    "-c",
    "echo a; read x; echo b$x; exit 6",
  ]);
  await until("the first line", () => said.stdout === "a\n");
  await runCli(who, ["--session", "waits", "--text", "c\n"], "", "write");
  expect([await code, said.stdout, await stderr]).toEqual([6, "a\nbc\n", ""]);
});

test("input that is longer than a pipe holds is given to the end, to a process that is slow to read it", async () => {
  const input = "0123456789abcde\n".repeat(40_000);
  const told = await run(await person(), ["--stdin", "-", "--", "sh", "-c", "sleep 2; sha256sum"], input);
  expect(told).toEqual({ code: 0, stdout: `${createHash("sha256").update(input).digest("hex")}  -\n`, stderr: "" });
});

/** What a person is told of a server that is away for two seconds, which a busy machine makes of a restart. */
const AWAY = /^sbx-stdio: (not connected \(.*|waiting for .*|resumed after \d+ s, nothing lost)\n/gm;

test("the Worker's death is outlived: the output is whole, and the exit code the process's", async () => {
  const who = await person();
  const script = "i=0; until [ -e over ]; do echo $i; i=$((i + 1)); sleep 0.1; done; echo over; exit 6";
  const streamed = running(who, ["--", "sh", "-c", script]);
  const waited = running(who, ["--wait", "300s", "--", "sh", "-c", script]);
  await until("the first line", () => streamed.said.stdout !== "");
  const runningNow = async () => {
    const { sessions } = await (await api(who, "/api/sandboxes/default/sessions")).json();
    return sessions.filter(({ state }: { state: string }) => state === "running").length;
  };
  await until("both processes", async () => (await runningNow()) === 2);
  await restartWorker();
  await run(who, ["--", "touch", "over"]);
  for (const { code, said, stderr } of [streamed, waited]) {
    expect(await code).toBe(6);
    const count = said.stdout.split("\n").length - 2;
    expect(said.stdout).toBe(`${Array.from({ length: count }, (_, at) => `${at}\n`).join("")}over\n`);
    expect((await stderr).replaceAll(AWAY, "")).toBe("");
  }
});

test("the bridge's death is told as soon as it is known, behind all that had come", async () => {
  const { said, code, stderr } = running(await person(), ["--", "sh", "-c", "echo a; echo b; sleep 600"]);
  await until("both lines", () => said.stdout === "a\nb\n");
  await restartBridge();
  expect([await code, said.stdout, await stderr]).toEqual([255, "a\nb\n", "sbx-stdio: the process was lost\n"]);
});

test("with --wait it prints what is there, and leaves the process to run on with nobody attached", async () => {
  const who = await person();
  const script = "echo first; read x; seq 300000; echo last; read y";
  const made = await run(who, ["--stdin-open", "--session", "on", "--wait", "3s", "--", "sh", "-c", script]);
  expect(made).toEqual({
    code: 124,
    stdout: "first\n",
    stderr: "sbx-stdio: the process is still running, in session on\n",
  });
  await runCli(who, ["--session", "on", "--text", "x\n"], "", "write");
  expect(await runCli(who, ["--session", "on", "--text", "last", "--from", "0"], "", "wait")).toMatchObject({
    code: 0,
  });
  const { clients } = (await (await api(who, "/api/sandboxes/default/sessions/on")).json()) as { clients: number };
  expect(clients).toBe(0);
});

describe("a signal", () => {
  test("is passed on to a process that is ours", async () => {
    const script = "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.1; done";
    const { child, said, code } = running(await person(), ["--", "sh", "-c", script]);
    await until("the trap", () => said.stdout === "ready\n");
    child.kill("SIGINT");
    expect([await code, said.stdout]).toEqual([7, "ready\ncaught\n"]);
  });
});

test("logs and read say what is no longer held; logs begins at a line", async () => {
  const who = await person();
  await run(who, ["--session", "long", "--wait", "60s", "--", "seq", "300000"]);
  const logs = await runCli(who, ["--session", "long"], "", "logs");
  const [first = ""] = logs.stdout.split("\n", 1);
  // Seven bytes for each line by then: whole lines up to the last one.
  expect([logs.code, logs.stdout.length, logs.stdout.endsWith("\n300000\n")]).toEqual([
    0,
    (300_001 - Number(first)) * 7,
    true,
  ]);
  const gone = Number(
    /^sbx-stdio: the first (\d+) bytes are no longer available; starting at the next line\n$/.exec(logs.stderr)?.[1],
  );
  const whole = linesTo(300_000).length;
  expect(whole - logs.stdout.length - gone).toSatisfy((cut: number) => cut > 0 && cut <= 7);
  const followed = await runCli(who, ["--session", "long", "-f"], "", "logs");
  expect([followed.stdout === logs.stdout, followed.stderr]).toEqual([true, logs.stderr]);
  const read = await runCli(who, ["--session", "long", "--max-bytes", "16"], "", "read");
  expect(read.stderr).toMatch(
    new RegExp(`^sbx-stdio: the first ${gone} bytes are no longer available\nsbx-stdio: more output follows: `),
  );
});
