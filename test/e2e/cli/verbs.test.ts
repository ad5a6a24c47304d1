// http.md 11: the verbs of the command line that have no connection of their own, over the whole system.
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { exitCode, runCli, startCli } from "../support/clients/cli.ts";
import { connect } from "../support/clients/client.ts";
import { Programs } from "../support/clients/programs.ts";
import { fresh, type Person, person } from "../support/system/system.ts";
import { until, within } from "../support/system/wait.ts";

/** One verb of a person's. */
async function verb(who: Person, name: string, words: readonly string[], input = "") {
  return within(`the end of ${name} ${words.join(" ")}`, runCli(who, words, input, name));
}

/** By a call: what starts it is no verb's test here. */
async function started(who: Person, script: string): Promise<string> {
  const session = fresh("s");
  const made = await new Programs(who, "default").put(session, { cmd: "sh", args: ["-c", script] });
  expect(made.status).toBe(201);
  return session;
}

describe("run", () => {
  test("is 127 for a command that is not there, 126 for one that can't be executed", async () => {
    const who = await person();
    expect((await verb(who, "run", ["--", "no-such-program"])).code).toBe(127);
    expect((await verb(who, "run", ["--", "/etc/passwd"])).code).toBe(126);
    expect((await runCli(who, ["--", "no-such-program"])).code).toBe(127);
  });

  test("leaves input open with --stdin-open; a detached run gets the input that is given", async () => {
    const who = await person();
    const read = async (session: string) => {
      expect(await verb(who, "wait", ["--session", session, "--exit"])).toMatchObject({ code: 0, stderr: "" });
      return (await verb(who, "read", ["--session", session])).stdout;
    };
    const open = await verb(who, "run", ["--stdin-open", "--wait", "0", "--session", "open", "--", "cat"]);
    expect(open).toMatchObject({ code: 124, stdout: "" });
    expect((await verb(who, "write", ["--session", "open", "--text", "late", "--eof"])).code).toBe(0);
    expect(await read("open")).toBe("late");
    const detached = await verb(who, "run", ["--detach", "--session", "given", "--stdin", "early", "--", "cat"]);
    expect(detached).toEqual({ code: 0, stdout: "given\n", stderr: "" });
    expect(await read("given")).toBe("early");
  });
});

describe("read and write", () => {
  test("write takes standard input, byte for byte and of any length; read gives it back", async () => {
    const who = await person();
    const session = await started(who, "exec cat");
    const text = `${"0123456789abcde\n".repeat(10_000)}\0\u00fc`;
    expect(await verb(who, "write", ["--session", session, "--eof"], text)).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
    expect((await verb(who, "wait", ["--session", session, "--exit"])).code).toBe(0);
    const all = await verb(who, "read", ["--session", session, "--max-bytes", "1048576"]);
    expect([all.code, all.stdout === text, all.stderr]).toEqual([0, true, ""]);
    const part = await verb(who, "read", ["--session", session, "--from", "0", "--max-bytes", "16"]);
    expect([part.stdout, part.stderr]).toEqual([
      "0123456789abcde\n",
      "sbx-stdio: more output follows: use --from 16\n",
    ]);
    expect((await verb(who, "logs", ["--session", session])).stdout === text).toBe(true);
    expect((await verb(who, "logs", ["--session", session, "--tail", "2"])).stdout).toBe("0123456789abcde\n\0\u00fc");
  });

  test("read --follow streams what comes, until the process ends", async () => {
    const who = await person();
    const session = await started(who, "echo one; read x; echo $x; exit 3");
    const child = startCli(who, ["--session", session, "--follow"], "read");
    const ended = exitCode(child);
    let stdout = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk;
    });
    await until("the first line", () => stdout === "one\n");
    await verb(who, "write", ["--session", session, "--text", "two\n"]);
    expect(await within("the end of the stream", ended)).toBe(0);
    expect(stdout).toBe("one\ntwo\n");
    const again = await verb(who, "logs", ["--session", session, "-f"]);
    expect(again).toEqual({ code: 0, stdout: "one\ntwo\n", stderr: "" });
    const lines = await verb(who, "logs", ["--session", session, "-f", "--json"]);
    expect(lines.stdout.replace(/"time":"[^"]+Z"/g, "TIME")).toBe(
      '{"offset":0,"next":4,TIME,"text":"one"}\n{"offset":4,"next":8,TIME,"text":"two"}\n',
    );
  });
});

describe("wait", () => {
  test("ends with 0, 124, 3: it came, it did not in time, the process ended first", async () => {
    const who = await person();
    const session = await started(who, "echo ready at 8080; read x");
    const met = await verb(who, "wait", ["--session", session, "--match", "ready at (\\d+)", "--from", "0"]);
    expect(met).toEqual({ code: 0, stdout: "ready at 8080\n", stderr: "" });
    const late = await verb(who, "wait", ["--session", session, "--text", "never", "--timeout", "100ms", "--json"]);
    expect([late.code, JSON.parse(late.stdout).outcome]).toEqual([124, "timeout"]);
    const said = (words: string) => ({ stdout: "", stderr: `sbx-stdio: ${words}\n` });
    expect(await verb(who, "wait", ["--session", session, "--text", "never", "--timeout", "1.5s"])).toEqual({
      code: 124,
      ...said("timed out after 1.5 s; change it with --timeout"),
    });
    await verb(who, "write", ["--session", session, "--eof"]);
    expect(await verb(who, "wait", ["--session", session, "--text", "never"])).toEqual({
      code: 3,
      ...said("the process ended first"),
    });
  });
});

test("screen, commands and signal of a shell", async () => {
  const who = await person();
  const session = fresh("s");
  await verb(who, "run", ["--detach", "--tty", "--session", session, "--", "bash"]);
  await verb(who, "wait", ["--session", session, "--screen", "[$#]"]);
  await verb(who, "write", ["--session", session, "--text", "echo $((40 + 2))", "--enter"]);
  expect((await verb(who, "wait", ["--session", session, "--screen", "(?m)^42"])).code).toBe(0);
  expect((await verb(who, "screen", ["--session", session])).stdout).toMatch(/^42$/m);
  const json = await verb(who, "screen", ["--session", session, "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ cols: 80, rows: 24 });
  const listed = await until("the command", async () => {
    const { stdout } = await verb(who, "commands", ["--session", session]);
    return / 0 .*echo/.test(stdout) ? stdout : undefined;
  });
  expect(listed).toMatch(/^STARTED +EXIT +OUTPUT +COMMAND\n\S+ +0 +\d+-\d+ +echo \$\(\(40 \+ 2\)\)\n$/);
  expect(await verb(who, "signal", ["--session", session, "--signal", "SIGHUP"])).toMatchObject({
    code: 0,
    stdout: "",
  });
  expect((await verb(who, "wait", ["--session", session, "--exit"])).code).toBe(0);
});

/** Cells of a table's rows, without its heading; none is empty. */
function rowsOf(table: string): string[][] {
  return table
    .split("\n")
    .slice(1, -1)
    .map((line) => line.split(/ {2,}/));
}

test("ls shows all sandboxes of a person: what runs there, who is there, and when it last put something out", async () => {
  const who = await person();
  const session = await started(who, "echo hello; read x");
  await verb(who, "wait", ["--session", session, "--text", "hello", "--from", "0"]);
  const looker = await connect(who, { sandbox: "other", session: "shell", cmd: "cat", tty: 1, name: "Bob" });
  await looker.hello();
  looker.type("typed\r");
  await looker.output(/typed/);
  const viewer = await connect(who, { sandbox: "other", session: "shell", role: "viewer", name: "Eve" });
  await viewer.hello();
  const rows = rowsOf((await verb(who, "ls", [])).stdout);
  const age = expect.stringMatching(/^\d+[smh]$/);
  expect(rows).toEqual([
    ["default", session, "running", "pipes", "6", age, age, "sh -c 'echo hello; read x'"],
    ["other", "shell", "running", "pty", "Bob, Eve (viewer)", expect.any(String), age, age, "cat"],
  ]);
  const { stdout } = await verb(who, "ls", ["--json"]);
  expect(JSON.parse(stdout)).toMatchObject({
    sessions: [
      { sandbox: "default", session, lastOutputAt: expect.stringMatching(/Z$/) },
      { sandbox: "other", session: "shell", participants: [{ name: "Bob" }, { name: "Eve", role: "viewer" }] },
    ],
  });
  await looker.leave();
  await viewer.leave();
});

test("D2a: logs --since prints what came since a time, of a process that runs and of one that has ended", async () => {
  const who = await person();
  const session = await started(who, "echo early; read x; echo late; read y");
  await verb(who, "wait", ["--session", session, "--text", "early", "--from", "0"]);
  // The index counts in seconds.
  await delay(2_100);
  const between = new Date().toISOString();
  await delay(1_100);
  await verb(who, "write", ["--session", session, "--text", "x\n"]);
  await verb(who, "wait", ["--session", session, "--text", "late", "--from", "0"]);
  const since = async (time: string) => (await verb(who, "logs", ["--session", session, "--since", time])).stdout;
  const all = async () => [await since(between), await since("1h")];
  const expected = ["late\n", "early\nlate\n"];
  await delay(1_100);
  expect(await all()).toEqual(expected);
  const lines = async () => {
    const { stdout } = await verb(who, "logs", ["--session", session, "--json"]);
    const told = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(told).toMatchObject([
      { offset: 0, next: 6, text: "early" },
      { offset: 6, next: 11, text: "late" },
    ]);
    expect([told[0].time < between, told[1].time > between]).toEqual([true, true]);
    return told;
  };
  const running = await lines();
  // Longer than a life of which no times are kept.
  await delay(1_000);
  await verb(who, "write", ["--session", session, "--eof"]);
  await verb(who, "wait", ["--session", session, "--exit"]);
  expect(await all()).toEqual(expected);
  expect(await lines()).toEqual(running);
});
