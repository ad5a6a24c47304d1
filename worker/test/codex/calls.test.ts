// What codex' clients ask for (section 12), as it is read: each call, and each refusal of one.
import { CodexError } from "sandbox-stdio/codex";
import { expect, test } from "vitest";
import { parsed, SHAPES } from "../../src/codex/calls.ts";
import { fileCallOf } from "../../src/codex/files.ts";

function codeOf(read: () => unknown): number | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof CodexError) return error.code;
    throw error;
  }
}

const START = { processId: "p", argv: ["ls"], cwd: "file:///tmp/a%20b", env: {}, tty: false };

test("E3: a start's parameters are checked, those that nobody knows are left alone, and a sandbox is refused", () => {
  const given = { ...START, sandbox: null, envPolicy: null, unheardOf: 1 };
  expect(parsed(SHAPES.start, given)).toEqual({ ...START, cwd: "/tmp/a b", pipeStdin: false, envPolicy: null });
  const bad = [
    { processId: "" },
    { processId: "é".repeat(129) },
    { argv: "ls" },
    { cwd: "/tmp" },
    { cwd: 7 },
    { env: { A: 1 } },
    { tty: null },
    { envPolicy: { inherit: "some" } },
    { sandbox: { permissions: { type: "managed" } } },
    { sandbox: {} },
    { enforceManagedNetwork: true },
  ];
  for (const one of bad) {
    expect([one, codeOf(() => parsed(SHAPES.start, { ...START, ...one }))]).toEqual([one, -32602]);
  }
  expect(codeOf(() => parsed(SHAPES.start, null))).toBe(-32602);
  expect(codeOf(() => parsed(SHAPES.start, { ...START, sandbox: { permissions: { type: "disabled" } } }))).toBe(
    undefined,
  );
});

test("E2, E4, E5: the other calls' parameters are checked, and a refusal names what is wrong", () => {
  const bad: [keyof typeof SHAPES, object][] = [
    ["initialize", {}],
    ["initialize", { clientName: "a", resumeSessionId: 7 }],
    ["read", { processId: "p", afterSeq: -1 }],
    ["read", { processId: "p", maxBytes: 0.5 }],
    ["read", { processId: "p", waitMs: 600_001 }],
    ["write", { processId: "p", chunk: "a", writeId: "1" }],
    ["write", { processId: "p", chunk: "aGk=" }],
    ["write", { processId: "p", chunk: "A".repeat(1_398_104), writeId: "1" }],
    ["signal", { processId: "p", signal: "terminate" }],
    ["terminate", { processId: 1 }],
  ];
  for (const [name, params] of bad) {
    expect([name, params, codeOf(() => parsed(SHAPES[name], params))]).toEqual([name, params, -32602]);
  }
  expect(parsed(SHAPES.write, { processId: "p", chunk: "aGkA/w==", writeId: "1" }).chunk).toBe("hi\0\xff");
  expect(() => parsed(SHAPES.read, { processId: "p", waitMs: "1" })).toThrow(/^"waitMs": .*number/);
});

test("E6: calls about files become orders, within their bounds", () => {
  const path = "file:///tmp/a";
  const write = fileCallOf("fs/writeFile", { path, dataBase64: "aGk=" }, "me");
  expect([write.order, String(write.bytes)]).toEqual([{ op: "write", path: "/tmp/a" }, "hi"]);
  const walk = fileCallOf("fs/walk", { path, options: { maxEntries: 1e9, maxDepth: 3 } }, "me");
  expect(walk.order).toMatchObject({ maxEntries: 10_000, maxDepth: 3 });
  const options = { recursive: null, force: false };
  expect(fileCallOf("fs/remove", { path, ...options }, "me").order).toMatchObject({ recursive: true, force: false });
  for (const method of ["fs/watch", "constructor", "fs/"]) {
    expect([method, codeOf(() => fileCallOf(method, { path }, "me"))]).toEqual([method, -32601]);
  }
  const bad: [string, object][] = [
    ["fs/writeFile", { path, dataBase64: "a" }],
    ["fs/writeFile", { path, dataBase64: "A".repeat(6 * 1024 * 1024) }],
    ["fs/readFile", { path, sandbox: { permissions: { type: "managed" } } }],
    ["fs/readFile", { path: "/tmp/a" }],
    ["fs/readBlock", { handleId: "h", offset: 0, len: 1024 * 1024 + 1 }],
    ["fs/readBlock", { handleId: "h", offset: -1, len: 1 }],
    ["fs/walk", { path }],
    ["fs/copy", { sourcePath: path, destinationPath: "tmp", recursive: true }],
  ];
  for (const [method, params] of bad)
    expect([method, codeOf(() => fileCallOf(method, params, "me"))]).toEqual([method, -32602]);
});
