// `attach NAME` is of a session that runs: it starts nothing by mistake, and forgets no log. And what a refused name can do.
import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { CLI, cliEnv, exitCode, runCli, textOf } from "../support/clients/cli.ts";
import { type Person, person, system } from "../support/system/system.ts";

/** Where the environment says which server. */
async function sbx(who: Person, args: readonly string[], input = "") {
  const env = { ...cliEnv(who), SBX_URL: system.origin };
  const child = spawn(process.execPath, [CLI, ...args], { env, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => undefined); // It may end without reading all.
  child.stdin.end(input);
  const [code, stdout, stderr] = await Promise.all([exitCode(child), textOf(child.stdout), textOf(child.stderr)]);
  return { code, stdout, stderr };
}

const anew = (name: string) =>
  `start a shell with attach ${name} --create, or a command with attach ${name} -- COMMAND\n`;

test("attach NAME of a session that has ended says how, and keeps its log; --create and a command start anew", async () => {
  const who = await person();
  await sbx(who, ["run", "--session", "crash", "--", "sh", "-c", "echo why; exit 4"]);
  const refused = await sbx(who, ["attach", "crash"], "echo new\n");
  expect(refused).toEqual({
    code: 255,
    stdout: "",
    stderr: `sbx-stdio: session crash has ended (exit code 4); print its output with logs crash before a new start deletes it; ${anew("crash")}`,
  });
  expect((await sbx(who, ["logs", "crash"])).stdout).toBe("why\n");
  expect(await sbx(who, ["attach", "crash", "--create"], "echo new\n")).toMatchObject({ code: 0, stdout: "new\n" });
  expect(await sbx(who, ["attach", "crash", "--", "echo", "third"])).toMatchObject({ code: 0, stdout: "third\n" });
  expect(await sbx(who, ["--session", "crash"], "echo as ever\n")).toMatchObject({ code: 0, stdout: "as ever\n" });
});

test("attach NAME of no session starts none; of one that runs it attaches", async () => {
  const who = await person();
  const refused = await sbx(who, ["attach", "wrok"], "echo new\n");
  expect(refused).toEqual({
    code: 255,
    stdout: "",
    stderr: `sbx-stdio: no session wrok in sandbox default; list sessions with ls; ${anew("wrok")}`,
  });
  expect(JSON.parse((await sbx(who, ["sessions", "--json"])).stdout)).toMatchObject({ sessions: [] });
  await sbx(who, ["run", "-d", "--stdin-open", "--session", "work", "--", "cat"]);
  expect(await sbx(who, ["attach", "work"], "typed")).toMatchObject({ code: 0, stdout: "typed" });
});

test("a name that another process has: whether that one runs, and what can be done", async () => {
  const who = await person();
  await sbx(who, ["run", "-d", "--stdin-open", "--session", "job", "--", "cat"]);
  const other = () => sbx(who, ["run", "--session", "job", "--", "true"]);
  const told = (words: string) => ({
    code: 255,
    stdout: "",
    stderr: `sbx-stdio: session "job" is another process, ${words}\n`,
  });
  expect(await other()).toEqual(told("which still runs: choose another name, or end that one first (kill)"));
  await runCli(who, ["--session", "job", "--eof"], "", "write");
  await runCli(who, ["--session", "job", "--exit"], "", "wait");
  const ended = 'which has ended: choose another name, or start anew with ended "replace" (--ended replace)';
  expect(await other()).toEqual(told(ended));
});
