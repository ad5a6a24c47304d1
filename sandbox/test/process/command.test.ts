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

test("a command that is nowhere on PATH is not found", () => {
  expect(refused(["no-such-command"])).toEqual({ fault: "cmd_not_found", detail: "Cannot find no-such-command" });
});

test("an empty command is not found", () => {
  expect(refused([""])).toEqual({ fault: "cmd_not_found", detail: "Cannot find an empty command" });
});

test("a path that does not exist is not found", () => {
  expect(refused(["./bin/nothing"], { cwd: home }).fault).toBe("cmd_not_found");
});

test("a file without execute permission is not executable", () => {
  expect(refused(["./bin/tool"], { cwd: home })).toEqual({
    fault: "cmd_not_executable",
    detail: "Cannot execute ./bin/tool: permission denied",
  });
});

test("a directory is not executable", () => {
  expect(refused(["./bin"], { cwd: home })).toEqual({
    fault: "cmd_not_executable",
    detail: "Cannot execute ./bin: is a directory",
  });
});

test("a device is not executable", () => {
  expect(refused(["/dev/null"]).detail).toBe("Cannot execute /dev/null: not a regular file");
});

test("a script whose interpreter is missing is refused by the kernel before the start", () => {
  expect(refused(["./bin/orphaned"], { cwd: home })).toEqual({
    fault: "cmd_not_executable",
    detail: `Cannot execute ${home}/bin/orphaned: its interpreter is missing`,
  });
});

test("a text file without an interpreter line is not given to a shell", () => {
  expect(refused(["./bin/bare"], { cwd: home }).detail).toBe(
    `Cannot execute ${home}/bin/bare: not a program or script (ENOEXEC)`,
  );
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
