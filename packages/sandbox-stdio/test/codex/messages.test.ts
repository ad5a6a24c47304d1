// What a codex client says (section 12), and what is made of it.
import { expect, test } from "vitest";
import { applyEnvPolicy, CodexError, parseMessage, pathOf, uriOf } from "../../src/codex/index.ts";

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
  expect(parseMessage('{"method":"initialized"}')).toEqual({ kind: "notification" });
  expect(parseMessage('{"id":3,"result":{}}')).toMatchObject({ kind: "notification" });
  for (const text of ["[]", "1", '{"id":1}', '{"id":{},"method":"a"}', '{"id":1.5,"method":"a"}', '{"method":7}'])
    expect([text, parseMessage(text)]).toEqual([text, { kind: "invalid" }]);
  for (const text of ["", "{", "nonsense", '{"id":1']) expect([text, parseMessage(text)]).toEqual([text, undefined]);
});

test("E6: paths are file: URIs of this machine", () => {
  expect(pathOf("file:///tmp/a%20b/%C3%A9")).toBe("/tmp/a b/é");
  expect(pathOf("file://localhost/tmp")).toBe("/tmp");
  expect(uriOf("/tmp/a b/é#?")).toBe("file:///tmp/a%20b/%C3%A9%23%3F");
  for (const uri of ["/tmp", "http://a/b", "file://host/a", "file:///a%00b", "file:///%ff", "file:///a?b", ""])
    expect([uri, codeOf(() => pathOf(uri))]).toEqual([uri, -32602]);
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
