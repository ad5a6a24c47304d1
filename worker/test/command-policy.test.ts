// Which commands may be started: the lists, and what an entry of each covers.
import { expect, test } from "vitest";
import { commandRefusal } from "../src/attach/command-policy.ts";

const isRefused = (env: Parameters<typeof commandRefusal>[0], cmd: string, isAdmin = false) =>
  commandRefusal(env, cmd, isAdmin) !== undefined;

test("with no list anything may be started", () => {
  expect(isRefused({ COMMAND_ALLOW: "", COMMAND_BLOCK: " , " }, "/bin/anything")).toBe(false);
});

test.each([
  ["bash", false],
  ["/usr/bin/git", false],
  ["git", true],
  // A path is another command: it may be anybody's file of that name.
  ["/tmp/bash", true],
  ["bash ", true],
  ["BASH", true],
  ["", true],
])("allowed are bash and /usr/bin/git: is %j refused? %s", (cmd, refused) => {
  expect(isRefused({ COMMAND_ALLOW: "bash, /usr/bin/git" }, cmd)).toBe(refused);
});

test.each([
  ["nc", true],
  ["/bin/nc", true],
  ["./nc", true],
  ["/opt/x", true],
  ["x", false],
  ["ncat", false],
])("blocked are nc and /opt/x: is %j refused? %s", (cmd, refused) => {
  expect(isRefused({ COMMAND_BLOCK: "nc,/opt/x" }, cmd)).toBe(refused);
});

test("what is on both lists is refused, with 4403 and the command in the reason", () => {
  expect(commandRefusal({ COMMAND_ALLOW: "nc", COMMAND_BLOCK: "nc" }, "nc", false)).toEqual({
    code: 4403,
    error: "cmd_forbidden",
    message: 'the command "nc" is on the list of commands that may not be started',
  });
});

test("admins have lists of their own where either is set, and else everybody's", () => {
  const env = { COMMAND_ALLOW: "bash", COMMAND_ALLOW_ADMIN: "*", COMMAND_BLOCK_ADMIN: "dd" };
  expect([isRefused(env, "git"), isRefused(env, "git", true), isRefused(env, "dd", true)]).toEqual([true, false, true]);
  expect(isRefused({ COMMAND_ALLOW: "bash" }, "git", true)).toBe(true);
});
