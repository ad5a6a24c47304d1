// Which commands may be started: the lists, and what an entry of each covers.
import { expect, test } from "vitest";
import { commandRefusal } from "../../src/attach/command-policy.ts";

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

const ofLine = (env: Parameters<typeof commandRefusal>[0], line: string) => commandRefusal(env, "bash", false, line);

test.each([
  "nc",
  "nc -l 80",
  "  nc",
  "/usr/bin/nc",
  "true; nc",
  "true&&nc",
  "a|nc>b",
  "exec nc",
  "env A=b nc",
  "sh -c 'true; nc'",
  "n''c",
  'n"c"',
  "'nc'",
  "cd /opt; ./x",
  "true\nnc",
])("blocked are nc and /opt/x: the command line %j names one of them", (line) => {
  const refusal = ofLine({ COMMAND_BLOCK: "nc,/opt/x" }, line);
  expect([refusal?.code, refusal?.error, refusal?.message]).toEqual([
    4403,
    "cmd_forbidden",
    expect.stringMatching(/names "(nc|\/opt\/x)", which may not be started$/),
  ]);
});

test.each(["n\\c", "$A", "`echo nc`", "/usr/bin/n?", "/usr/bin/[n]c", "/bin/*", "{n,}c", "~/x", '"$A"', "'", '"`a`"'])(
  "where a command is blocked, the command line %j can't be judged",
  (line) => {
    expect(ofLine({ COMMAND_BLOCK: "nc" }, line)?.message).toContain("can't be judged");
    expect(ofLine({ COMMAND_ALLOW: "bash" }, line)).toBeUndefined();
    expect(ofLine({}, line)).toBeUndefined();
  },
);

test.each(["htop", "ncat; sync", "my-nc nc.sh", "printf '%s\\n$x*' \"one two\" | tr a-z A-Z >/dev/null && stty size"])(
  "blocked is nc: the command line %j is none of its business",
  (line) => {
    expect(ofLine({ COMMAND_BLOCK: "nc" }, line)).toBeUndefined();
  },
);

test("a command line is started where its shell is allowed, whatever else is", () => {
  expect(ofLine({ COMMAND_ALLOW: "bash" }, "htop")).toBeUndefined();
  expect(ofLine({ COMMAND_ALLOW: "htop" }, "htop")?.message).toBe('the command "bash" is not among those that may be');
  expect(ofLine({ COMMAND_ALLOW: "bash", COMMAND_BLOCK: "htop" }, "htop")?.error).toBe("cmd_forbidden");
});

test("admins have lists of their own where either is set, and else everybody's", () => {
  const env = { COMMAND_ALLOW: "bash", COMMAND_ALLOW_ADMIN: "*", COMMAND_BLOCK_ADMIN: "dd" };
  expect([isRefused(env, "git"), isRefused(env, "git", true), isRefused(env, "dd", true)]).toEqual([true, false, true]);
  expect(isRefused({ COMMAND_ALLOW: "bash" }, "git", true)).toBe(true);
});

test("a connection to a port is judged as the command tcp:PORT, and tcp:* is any of them", () => {
  expect(isRefused({ COMMAND_ALLOW: "bash" }, "tcp:8080")).toBe(true);
  expect(isRefused({ COMMAND_ALLOW: "bash,tcp:8080" }, "tcp:8080")).toBe(false);
  expect(isRefused({ COMMAND_ALLOW: "bash,tcp:8080" }, "tcp:80")).toBe(true);
  expect(isRefused({ COMMAND_ALLOW: "tcp:*" }, "tcp:80")).toBe(false);
  expect(isRefused({ COMMAND_ALLOW: "tcp:*" }, "tcp:x")).toBe(true);
  expect(isRefused({ COMMAND_BLOCK: "tcp:*" }, "tcp:80")).toBe(true);
  expect(isRefused({ COMMAND_BLOCK: "tcp:80" }, "tcp:8080")).toBe(false);
});

test("where a command is blocked, nobody is led around that by the SDK's own server, unless a list names its port", () => {
  expect(isRefused({ COMMAND_BLOCK: "nc" }, "tcp:3000")).toBe(true);
  expect(isRefused({ COMMAND_BLOCK: "nc" }, "tcp:3001")).toBe(false);
  expect(isRefused({}, "tcp:3000")).toBe(false);
  expect(isRefused({ COMMAND_ALLOW: "*", COMMAND_BLOCK: "nc" }, "tcp:3000")).toBe(true);
  for (const port of ["tcp:3000", "tcp:*"])
    expect(isRefused({ COMMAND_ALLOW: `bash,${port}`, COMMAND_BLOCK: "nc" }, "tcp:3000")).toBe(false);
});
