// Which of a person's credentials goes to which server: the context's command, SBX_TOKEN, and both beside a link.

import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { type CliResult, cleanEnv, collect, runCli, scratch, startCli } from "../fixture/cli.ts";
import { runHere } from "../fixture/here.ts";

type Listener = { readonly url: string; readonly shown: (string | undefined)[]; answer: unknown };

/** Writes down whose token it is shown, and lets nobody attach. */
async function listen(): Promise<Listener> {
  const shown: (string | undefined)[] = [];
  const listener = { shown, answer: { sessions: [] } as unknown };
  const server = createServer((request, response) => {
    shown.push(request.headers.authorization);
    response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(listener.answer));
  });
  server.on("upgrade", (request, socket) => {
    shown.push(request.headers.authorization);
    const body = '{"error":"no_token","message":"Log in"}';
    socket.end(`HTTP/1.1 401 No\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(listener, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

/** A copy starts this program again, so it must be one. */
const run = (words: readonly string[], input = "", env = cleanEnv(), cwd?: string): Promise<CliResult> =>
  words[0] !== "cp"
    ? runHere(words, input, env, cwd === undefined ? {} : { cwd })
    : cwd === undefined
      ? runCli(words, input, env)
      : collect(startCli(words, { env, cwd }));

let own: Listener;
let other: Listener;
beforeEach(async () => {
  [own, other] = [await listen(), await listen()];
});

const COMMAND = ["--token-command", "echo of-command"];

async function withContext(extra: Record<string, string> = {}): Promise<NodeJS.ProcessEnv> {
  const env = cleanEnv(extra);
  if (extra.SBX_TOKEN === undefined) delete env.SBX_TOKEN;
  await run(["context", "set", "own", own.url, "--sandbox", "dev", ...COMMAND], "", env);
  return env;
}

test("the context's token command is for the context's server: no other address gets what it prints", async () => {
  const env = await withContext();
  const file = join(scratch(), "f");
  writeFileSync(file, "x");
  for (const words of [
    [other.url, "--", "true"],
    ["ls", other.url],
    ["cp", other.url, file, ":f"],
    ["--context", "own", other.url, "--", "true"],
    ["ls", other.url, "--context", "own"],
  ]) {
    const { code, stderr } = await run(words, "", env);
    expect([words[0], code]).toEqual([words[0], 255]);
    expect(stderr).toContain(`the context's token command is only for ${own.url}`);
  }
  await run(["ls"], "", { ...env, SBX_URL: other.url });
  expect(other.shown).toEqual([]);
  for (const words of [["ls"], ["ls", own.url], ["ls", `${own.url.replace("http", "ws")}/attach`]]) {
    expect(await run(words, "", env)).toMatchObject({ code: 0 });
  }
  expect(own.shown).toEqual(Array(3).fill("Bearer of-command"));
});

test("what is typed for this one command goes to the address that it is typed with", async () => {
  const env = await withContext();
  await run(["ls", other.url, "--token-command", "echo typed"], "", env);
  await run(["ls", other.url], "", { ...env, SBX_TOKEN_COMMAND: "echo of-environment" });
  expect(other.shown).toEqual(["Bearer typed", "Bearer of-environment"]);
});

test("what SBX_TOKEN_COMMAND prints goes to the server that SBX_TOKEN_ORIGIN names, and to no other", async () => {
  const file = join(scratch(), "f");
  writeFileSync(file, "x");
  const { SBX_TOKEN: _, ...env } = cleanEnv({ SBX_TOKEN_COMMAND: "echo of-environment", SBX_TOKEN_ORIGIN: own.url });
  for (const words of [
    ["ls", other.url],
    ["cp", other.url, file, ":f"],
    [other.url, "--", "true"],
    ["doctor", other.url],
  ]) {
    const { code, stdout, stderr } = await run(words, "", env);
    expect([words[0], code]).toEqual([words[0], 255]);
    expect(stdout + stderr).toContain(`SBX_TOKEN_COMMAND is only for ${own.url}`);
  }
  await run(["ls", own.url], "", env);
  await run(["cp", own.url, file, ":f"], "", env);
  expect([own.shown, other.shown.filter(Boolean)]).toEqual([Array(2).fill("Bearer of-environment"), []]);
  // A copy whose context is named gets that one's, whatever the environment's is for.
  const context = await withContext({ SBX_TOKEN_ORIGIN: other.url });
  await run(["cp", "--context", "own", file, ":f"], "", context);
  expect(own.shown.at(-1)).toBe("Bearer of-command");
});

test("SBX_TOKEN wins over the context's token command, and that of --context over SBX_TOKEN", async () => {
  const env = await withContext({ SBX_TOKEN: "of-environment" });
  own.answer = { authenticated: true };
  const told: string[] = [];
  const bound = { ...env, SBX_TOKEN_ORIGIN: other.url };
  for (const [words, environment] of [
    [[], env],
    [["--context", "own"], env],
    [[...COMMAND, "--token", "typed"], env],
    [[], bound],
  ] as const) {
    const { code, stderr } = await run(["whoami", "-v", ...words], "", environment);
    expect(code).toBe(0);
    told.push(stderr.trim());
  }
  expect(told).toEqual([
    "sbx-stdio: the token is from SBX_TOKEN",
    "sbx-stdio: the token is from the context's token command",
    "sbx-stdio: the token is from --token",
    "sbx-stdio: the token is from the context's token command",
  ]);
  const shown = ["of-environment", "of-command", "typed", "of-command"];
  expect(own.shown).toEqual(shown.map((token) => `Bearer ${token}`));
  // A copy starts this program again: it is to come to the same.
  const file = join(scratch(), "f");
  writeFileSync(file, "x");
  for (const words of [[], ["--context", "own"]]) await run(["cp", ...words, file, ":f"], "", env);
  expect(own.shown.slice(shown.length)).toEqual(["Bearer of-environment", "Bearer of-command"]);
});

const link = ({ url }: Listener) => `${url}/?sandbox=default&session=main&role=viewer#ticket=s.one`;

test("a link to the context's server is shown what that server gets anyway, a link elsewhere is not", async () => {
  const env = await withContext({ SBX_TOKEN: "of-environment" });
  const home = await run([link(own)], "", env);
  expect(home.stderr).not.toContain("as a guest");
  const { SBX_TOKEN: _, ...withoutToken } = env;
  await run([link(own)], "", withoutToken);
  expect(own.shown).toEqual(["Bearer of-environment", "Bearer of-command"]);
  const away = await run([link(other)], "", env);
  expect(away.stderr).toContain(`SBX_TOKEN is not sent to ${other.url}, an address from a share link`);
  await run([link(other)], "", withoutToken);
  const line = { ...withoutToken, SBX_TOKEN_COMMAND: "echo of-environment" };
  const unsaid = await run([link(other)], "", line);
  expect(unsaid.stderr).toContain(`the token command is not used for ${other.url}`);
  expect(other.shown).toEqual([undefined, undefined, undefined]);
  await run([link(other), "--token-command", "echo typed"], "", env);
  expect(other.shown.at(-1)).toBe("Bearer typed");
});

test("an address of the folder's file makes no server the person's own, for a link or for a copy", async () => {
  const folder = scratch();
  writeFileSync(join(folder, ".sbx.json"), JSON.stringify({ server: other.url }));
  writeFileSync(join(folder, "f"), "x");
  const env = await withContext({ SBX_TOKEN: "of-environment" });
  for (const words of [[link(other)], ["cp", "f", ":f"], ["ls"]]) {
    const { stderr } = await run(words, "", env, folder);
    expect(stderr).toContain(`SBX_TOKEN is not sent to ${other.url}`);
  }
  expect(other.shown).toEqual([undefined]);
});

test("a context that cp names and that has no address gives its token to no address of the folder's file", async () => {
  const folder = scratch();
  writeFileSync(join(folder, ".sbx.json"), JSON.stringify({ server: other.url }));
  writeFileSync(join(folder, "f"), "x");
  const { SBX_TOKEN: _, ...env } = cleanEnv();
  await run(["context", "set", "work", ...COMMAND], "", env);
  const copy = ["cp", "--context", "work", "f", ":f"];
  const { code, stderr } = await run(copy, "", env, folder);
  expect([code, other.shown]).toEqual([255, []]);
  expect(stderr).toContain(`the token command is not used for ${other.url}, an address from .sbx.json in this folder`);
});

test("a copy does not show the line of its context to other users of the machine", async () => {
  const env = cleanEnv();
  const [seen, file] = [join(scratch(), "seen"), join(scratch(), "f")];
  writeFileSync(file, "x");
  const line = `ps -o args= -p $PPID > ${seen}; echo of-command`;
  await run(["context", "set", "own", own.url, "--token-command", line], "", env);
  await run(["cp", "--context", "own", file, ":f"], "", env);
  expect(own.shown).toEqual(["Bearer of-command"]);
  const args = readFileSync(seen, "utf8");
  expect(args).toContain(`${own.url} --sandbox default`);
  expect(args).not.toContain("of-command");
});

test("ssh-config's entry names the context that its address is from, so that another can be used later", async () => {
  const env = await withContext();
  const entry = async (...words: string[]) => (await run(["ssh-config", ...words], "", env)).stdout.split("\n")[1];
  const proxy = (to: Listener) => `  ProxyCommand sbx-stdio ssh-proxy ${to.url} --sandbox dev`;
  expect(await entry()).toBe(`${proxy(own)} --context own`);
  expect(await entry(own.url)).toBe(`${proxy(own)} --context own`);
  expect(await entry(other.url)).toBe(proxy(other));
});

test("ssh-config writes no address of the folder's file, which ssh would later show what is shown to a typed one", async () => {
  const folder = scratch();
  writeFileSync(join(folder, ".sbx.json"), JSON.stringify({ server: other.url }));
  const found = await run(["ssh-config"], "", cleanEnv(), folder);
  const words = `${other.url} comes from .sbx.json in this folder; give the address: ssh-config ${other.url}`;
  expect([found.code, found.stdout, found.stderr.split("\n")[0]]).toEqual([2, "", `sbx-stdio: ${words}`]);
  const typed = await run(["ssh-config", other.url], "", cleanEnv(), folder);
  expect(typed.stdout).toContain(`ProxyCommand sbx-stdio ssh-proxy ${other.url} `);
});

test.each([[[]], [["--json"]]])(
  "whoami with a token that is refused says why, and ends with 255: %j",
  async (words) => {
    const refused = createServer((request, response) => {
      const isMe = request.url === "/api/me";
      const body = isMe ? { authenticated: false } : { error: "expired", message: "The token has expired" };
      response.writeHead(isMe ? 200 : 401, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    });
    await once(refused.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void refused.close());
    const url = `http://127.0.0.1:${(refused.address() as AddressInfo).port}`;
    const { code, stdout, stderr } = await run(["whoami", url, ...words]);
    const advice = `(log in again with \`sbx-stdio login ${url}\`, or set a new SBX_TOKEN)`;
    expect([code, stderr]).toEqual([255, `sbx-stdio: The token has expired ${advice}\n`]);
    if (words.length === 0) expect(stdout).toBe("");
    else expect(JSON.parse(stdout)).toEqual({ error: "expired", message: "The token has expired" });
  },
);
