// A folder that anybody may have made, and files that are broken: told in a line without a byte that moves a terminal, nothing sent.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readDefaults } from "../../src/account/contexts.ts";
import { configDirectory, loginFor } from "../../src/account/logins.ts";
import { readEndpoint } from "../../src/base/endpoint.ts";
import { cleanEnv, scratch } from "../fixture/cli.ts";
import { runHere } from "../fixture/here.ts";
import { startServer, type TestServer } from "../fixture/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const ESCAPE = "\u001b]0;taken\u0007";
const text = (what: string | Uint8Array) => (file: string) => writeFileSync(file, what);

const SPOILT: readonly (readonly [string, (file: string) => unknown, RegExp])[] = [
  ["a pipe", (file) => execFileSync("mkfifo", [file]), /not a regular file$/],
  ["a device without an end", (file) => symlinkSync("/dev/zero", file), /not a regular file$/],
  ["a folder", (file) => mkdirSync(file), /not a regular file$/],
  ["a file of 2 MB", text(" ".repeat(2_000_000)), /too large$/],
  ["no JSON, with an escape sequence", text(`${ESCAPE}{`), /not a JSON object$/],
  ["bytes that are no UTF-8", text(new Uint8Array([0xff, 0xfe])), /not a JSON object$/],
  ["a sandbox that is another path", text('{"sandbox":".."}'), /invalid sandbox name "\.\." from the context,/],
  ["a session that is another path", text('{"session":".."}'), /invalid session name "\.\." from the context,/],
];

test.each(SPOILT)(".sbx.json that is %s", (_what, make, words) => {
  const folder = scratch();
  make(join(folder, ".sbx.json"));
  expect(() => readDefaults({ HOME: folder }, folder)).toThrow(words);
});

test(".sbx.json with an escape sequence is told in a line without it, and nothing is sent", async () => {
  for (const [spoilt, words] of [
    [`${ESCAPE}{`, /not a JSON object$/],
    [JSON.stringify({ server: `http://${ESCAPE}` }), /is not a valid URL/],
  ] as const) {
    const folder = scratch();
    writeFileSync(join(folder, ".sbx.json"), spoilt);
    const before = server.tokens.length;
    const env = cleanEnv(spoilt.endsWith("}") ? {} : { SBX_URL: server.url });
    const { code, stdout, stderr } = await runHere(["-n", "--", "true"], "", env, { cwd: folder });
    expect([code === 2 || code === 255, stdout]).toEqual([true, ""]);
    expect(stderr).toMatch(/^sbx-stdio: [^\p{Cc}]+\n$/u);
    expect(stderr.trim()).toMatch(words);
    expect(server.tokens).toHaveLength(before);
  }
});

test("a file of contexts that is spoilt is said, and left as it is", async () => {
  const env = cleanEnv();
  const folder = join(env.HOME ?? "", ".config", "sbx-stdio");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "contexts.json"), '{"contexts":');
  for (const words of [["context"], ["context", "set", "a", server.url], ["ls"]]) {
    const { code, stderr } = await runHere(words, "", env);
    expect([code, stderr]).toEqual([255, `sbx-stdio: cannot read ${folder}/contexts.json: not a JSON object\n`]);
  }
});

test.each([
  ["no JSON", '{"servers":', "not a JSON object"],
  ["a server with no issuer in words", '{"servers":{"https://a.example":{"issuer":1}}}', "not a list of logins"],
  ["a login for any server that is none", '{"servers":{},"unbound":"https://b.example"}', "not a list of logins"],
  ["a list of servers", '{"servers":[]}', "not a list of logins"],
])("a file of logins that is spoilt lets no login out: %s", (_what, content, why) => {
  const env = { HOME: scratch() };
  mkdirSync(configDirectory(env), { recursive: true });
  writeFileSync(join(configDirectory(env), "logins.json"), content);
  expect(() => loginFor(env, readEndpoint(server.url), false)).toThrow(why);
});

test("a file of logins that is spoilt is said, and stays as it is", async () => {
  const env = cleanEnv();
  delete env.SBX_TOKEN;
  const file = join(env.HOME ?? "", ".config/sbx-stdio/logins.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '{"servers":[]}');
  for (const words of [["ls", server.url], ["logout"]]) {
    const { code, stderr } = await runHere(words, "", env);
    expect([code, stderr]).toEqual([255, `sbx-stdio: cannot read ${file}: not a list of logins\n`]);
  }
  expect(readFileSync(file, "utf8")).toBe('{"servers":[]}');
});

test("a file of contexts that can't be written is said", async () => {
  const { code, stderr } = await runHere(
    ["context", "set", "a", server.url],
    "",
    cleanEnv({ XDG_CONFIG_HOME: "/dev/null" }),
  );
  expect(code).toBe(255);
  expect(stderr).toMatch(/^sbx-stdio: cannot write \/dev\/null\/sbx-stdio\/contexts\.json: ENOTDIR[^\n]*\n$/);
});
