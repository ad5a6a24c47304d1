// What a server says, on the way to a terminal: nothing of it may act there.

import { afterEach, beforeEach, expect, test } from "vitest";
import { oneLine, safeJson } from "../../src/base/plain-text.ts";
import { runHere } from "../fixture/here.ts";
import { startServer, type TestServer } from "../fixture/server.ts";

/** C0, DEL, C1 (CSI, OSC), bidi overrides and isolates, zero width, a tag, ends of lines. */
const UNSAFE = "\x1b[2J\x07\x7f\x9b31m\x9d0;x\x9c\u202e\u2066\u2069\u200b\ufeff\u2028\u2029\u{e0041}";
const ACTS = /(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/u;

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

test("JSON has it escaped, means the same, and keeps every other character", () => {
  const value = { name: `Ann${UNSAFE}`, list: ["ä 漢 😀", `${UNSAFE}`], lone: "\ud800" };
  for (const text of [safeJson(value), safeJson(value, 2)]) {
    expect(text).not.toMatch(ACTS);
    expect(JSON.parse(text)).toEqual(value);
    expect(text).toContain("ä 漢 😀");
  }
  expect(safeJson("\x9b\u202e\u{e0041}")).toBe('"\\u009b\\u202e\\udb40\\udc41"');
});

test("a line has a space instead", () => {
  expect(oneLine(`a${UNSAFE}b`)).not.toMatch(ACTS);
  expect(oneLine("a\x9b\u202e\nb")).toBe("a b");
});

test.each([["sessions"], ["tickets"], ["share"]])("%s --json prints it escaped", async (command) => {
  const ticket = { id: UNSAFE, url: UNSAFE, role: UNSAFE, maker: UNSAFE, expiresAt: UNSAFE };
  server.said = { ...ticket, sessions: [{ session: UNSAFE, cmd: [UNSAFE], state: "running" }], tickets: [ticket] };
  const words = [command, server.url, ...(command === "sessions" ? [] : ["--session", "main"])];
  const { code, stdout, stderr } = await runHere([...words, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).not.toMatch(ACTS);
  expect(JSON.stringify(JSON.parse(stdout))).toContain(JSON.stringify(UNSAFE));
  const table = await runHere(words);
  expect(table.stdout + table.stderr).not.toMatch(ACTS);
});
