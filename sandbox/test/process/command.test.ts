// What can't be started, and how it is told apart before anything runs.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ENV, refused, start } from "../support/process-harness.ts";

let home = "";

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "process-command-"));
  mkdirSync(join(home, "bin"));
  mkdirSync(join(home, "other"));
  writeFileSync(join(home, "bin/hello"), '#!/bin/sh\necho "hello from $0" "$@"\n', { mode: 0o755 });
  writeFileSync(join(home, "bin/tool"), "#!/bin/sh\necho bin\n", { mode: 0o644 });
  writeFileSync(join(home, "other/tool"), "#!/bin/sh\necho other\n", { mode: 0o755 });
  writeFileSync(join(home, "bin/orphaned"), "#!/no/such/interpreter\n", { mode: 0o755 });
  writeFileSync(join(home, "bin/bare"), "echo a shell would run me\n", { mode: 0o755 });
});

afterAll(() => rmSync(home, { recursive: true }));

test.each([
  ["a command that is nowhere on PATH", "no-such-command", "cmd_not_found", "Cannot find no-such-command"],
  ["an empty command", "", "cmd_not_found", "Cannot find an empty command"],
  ["a path that does not exist", "./bin/nothing", "cmd_not_found", "Cannot find ./bin/nothing"],
  ["a file without execute permission", "./bin/tool", "cmd_not_executable", "permission denied"],
  ["a directory", "./bin", "cmd_not_executable", "is a directory"],
  ["a device", "/dev/null", "cmd_not_executable", "not a regular file"],
  ["a script whose interpreter is missing", "./bin/orphaned", "cmd_not_executable", "its interpreter is missing"],
  ["a text file without an interpreter", "./bin/bare", "cmd_not_executable", "not a program or script (ENOEXEC)"],
])("%s is refused before the start, and says why", (_, cmd, fault, why) => {
  const refusal = refused([cmd], { cwd: home });
  expect(refusal).toEqual({ fault, detail: expect.stringContaining(why) });
  if (fault === "cmd_not_executable") expect(refusal.detail).toMatch(/^Cannot execute .*: /);
});

test("arguments beyond the kernel's limit are refused", () => {
  expect(refused(["true", "x".repeat(200_000)]).detail).toMatch(
    /^Cannot execute .*\/true: its arguments are too long \(E2BIG\)$/,
  );
});

test("a NUL in the command, an argument, a variable or the directory is refused", () => {
  expect(refused(["tr\0ue"]).fault).toBe("cmd_not_found");
  expect(refused(["true", "a\0b"]).fault).toBe("cmd_not_executable");
  expect(refused(["true"], { env: { ...ENV, A: "b\0c" } }).fault).toBe("cmd_not_executable");
  expect(refused(["true"], { cwd: "/tmp\0" }).fault).toBe("bad_cwd");
});

test("a directory that is missing, or is a file, is a bad cwd even if the command is bad too", () => {
  expect(refused(["no-such-command"], { cwd: join(home, "none") })).toEqual({
    fault: "bad_cwd",
    detail: `Cannot enter ${home}/none: no such file or directory`,
  });
  expect(refused(["true"], { cwd: join(home, "bin/hello") }).detail).toMatch(/not a directory$/);
});

test("PATH of the spec decides, not the bridge's own", async () => {
  expect(refused(["true"], { env: { PATH: join(home, "bin") } }).fault).toBe("cmd_not_found");
  const { sink, exited } = start(["hello"], { env: { PATH: join(home, "bin") } });
  expect(await exited).toEqual({ code: 0 });
  expect(sink.text()).toBe(`hello from ${home}/bin/hello\n`);
});

test("the search goes on past a file that can't be executed", async () => {
  const { sink, exited } = start(["tool"], { env: { PATH: `${home}/bin:${home}/other` } });
  expect(await exited).toEqual({ code: 0 });
  expect(sink.text()).toBe("other\n");
  expect(refused(["tool"], { env: { PATH: `${home}/bin` } }).fault).toBe("cmd_not_executable");
});

test("a relative path and an empty PATH entry count from the working directory", async () => {
  const relative = start(["bin/hello"], { cwd: home });
  expect(await relative.exited).toEqual({ code: 0 });
  const empty = start(["hello"], { cwd: join(home, "bin"), env: { PATH: ":/usr/bin" } });
  expect(await empty.exited).toEqual({ code: 0 });
});

test("arguments and variables arrive untouched by any shell", async () => {
  const args = ["$HOME", "a b", "*", ";exit 1", "'\"\\", "-c", "--", "", "ünï→🙂", "line\nbreak"];
  const { sink, exited } = start(["printf", "%s|", ...args], { env: { ...ENV, HOME: "/nowhere" } });
  expect(await exited).toEqual({ code: 0 });
  expect(sink.text()).toBe(`${args.join("|")}|`);
  const variables = start(["env"], { env: { PATH: ENV.PATH, X: "a=b $Y" } });
  expect(await variables.exited).toEqual({ code: 0 });
  expect(variables.sink.text().trim().split("\n").sort()).toEqual([`PATH=${ENV.PATH}`, "X=a=b $Y"]);
});

test("a file that lost its permission between two starts is refused the second time", async () => {
  const path = join(home, "bin/fickle");
  writeFileSync(path, "#!/bin/sh\n", { mode: 0o755 });
  expect(await start([path]).exited).toEqual({ code: 0 });
  chmodSync(path, 0o600);
  expect(refused([path]).fault).toBe("cmd_not_executable");
});
