// What a codex client says (section 12), and what is made of it.
import { expect, test } from "vitest";
import {
  applyEnvPolicy,
  CodexError,
  fileCallOf,
  parseMessage,
  pathOf,
  readParams,
  uriOf,
} from "../../src/codex/index.ts";

function codeOf(read: () => unknown): number | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof CodexError) return error.code;
    throw error;
  }
}

test("E1: a message is a request, a notification, or nothing that can be answered", () => {
  expect(parseMessage('{"id":1,"method":"initialize","params":{}}')).toMatchObject({ kind: "request", id: 1 });
  expect(parseMessage('{"method":"initialized"}')).toEqual({ kind: "notification", method: "initialized" });
  expect(parseMessage('{"id":3,"result":{}}')).toMatchObject({ kind: "notification" });
  for (const text of ["[]", "1", '{"id":1}', '{"id":{},"method":"a"}', '{"id":1.5,"method":"a"}', '{"method":7}'])
    expect([text, parseMessage(text)]).toEqual([text, { kind: "invalid" }]);
  for (const text of ["", "{", "nonsense", '{"id":1']) expect([text, parseMessage(text)]).toEqual([text, undefined]);
});

const START = { processId: "p", argv: ["ls"], cwd: "file:///tmp", env: {}, tty: false };

test("E3: a start's parameters are checked, those that nobody knows are left alone, and a sandbox is refused", () => {
  expect(readParams("process/start", { ...START, pipeStdin: false, sandbox: null, unheardOf: 1 })).toMatchObject(START);
  const bad = [
    { processId: "" },
    { processId: "é".repeat(129) },
    { argv: "ls" },
    { env: { A: 1 } },
    { tty: null },
    { envPolicy: { inherit: "some" } },
    { sandbox: { permissions: { type: "managed" } } },
    { sandbox: {} },
    { enforceManagedNetwork: true },
  ];
  for (const one of bad) {
    expect([one, codeOf(() => readParams("process/start", { ...START, ...one }))]).toEqual([one, -32602]);
  }
  expect(codeOf(() => readParams("process/start", null))).toBe(-32602);
  expect(codeOf(() => readParams("process/start", { ...START, sandbox: { permissions: { type: "disabled" } } }))).toBe(
    undefined,
  );
});

test("E6: paths are file: URIs of this machine", () => {
  expect(pathOf("file:///tmp/a%20b/%C3%A9")).toBe("/tmp/a b/é");
  expect(pathOf("file://localhost/tmp")).toBe("/tmp");
  expect(uriOf("/tmp/a b/é#?")).toBe("file:///tmp/a%20b/%C3%A9%23%3F");
  for (const uri of ["/tmp", "http://a/b", "file://host/a", "file:///a%00b", "file:///%ff", "file:///a?b", 7, null])
    expect([uri, codeOf(() => pathOf(uri))]).toEqual([uri, -32602]);
});

test("E6: calls about files become orders, within their bounds", () => {
  const path = "file:///tmp/a";
  expect(fileCallOf("fs/writeFile", { path, dataBase64: "aGk=" }, "me")).toMatchObject({
    order: { op: "write", path: "/tmp/a" },
    data: "aGk=",
    writes: true,
  });
  expect(fileCallOf("fs/watch", { path }, "me")).toBeUndefined();
  expect(fileCallOf("constructor", {}, "me")).toBeUndefined();
  const walk = fileCallOf("fs/walk", { path, options: { maxEntries: 1e9, maxDepth: 3 } }, "me");
  expect(walk?.order).toMatchObject({ maxEntries: 10_000, maxDepth: 3 });
  const bad: [string, object][] = [
    ["fs/writeFile", { path, dataBase64: "a" }],
    ["fs/writeFile", { path, dataBase64: "A".repeat(6 * 1024 * 1024) }],
    ["fs/readFile", { path, sandbox: { permissions: { type: "managed" } } }],
    ["fs/readBlock", { handleId: "h", offset: 0, len: 1024 * 1024 + 1 }],
    ["fs/readBlock", { handleId: "h", offset: -1, len: 1 }],
    ["fs/copy", { sourcePath: path, destinationPath: "tmp", recursive: true }],
  ];
  for (const [method, params] of bad)
    expect([method, codeOf(() => fileCallOf(method, params, "me"))]).toEqual([method, -32602]);
});

test("E3: the policy says what a process gets of the usual environment", () => {
  const base = { PATH: "/bin", HOME: "/root", API_KEY: "secret", LANG: "C", my_token_2: "secret" };
  const all = { inherit: "all", ignoreDefaultExcludes: true } as const;
  expect(applyEnvPolicy(base, all)).toEqual(base);
  expect(applyEnvPolicy(base, { inherit: "all" })).toEqual({ PATH: "/bin", HOME: "/root", LANG: "C" });
  expect(applyEnvPolicy(base, { inherit: "core" })).toEqual({ PATH: "/bin", HOME: "/root" });
  expect(applyEnvPolicy(base, { inherit: "none", set: { A: "1" } })).toEqual({ A: "1" });
  expect(applyEnvPolicy(base, { ...all, exclude: ["*_k?y", "LANG"] })).not.toHaveProperty("API_KEY");
  expect(applyEnvPolicy(base, { ...all, set: { ADDED: "1" }, includeOnly: ["P*", "add*"] })).toEqual({
    PATH: "/bin",
    ADDED: "1",
  });
  const long = `${"*a".repeat(30)}b`;
  expect(applyEnvPolicy({ ["a".repeat(2_000)]: "x" }, { ...all, exclude: [long] })).toHaveProperty("a".repeat(2_000));
});
