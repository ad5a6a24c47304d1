// Contexts: what is typed once; the folder's file, the environment; a token by a command; what is made from the description.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cleanEnv, collect, runCli, scratch, startCli } from "../fixture/cli.ts";
import { runHere } from "../fixture/here.ts";
import { startServer, type TestServer, TOKEN } from "../fixture/server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

describe("contexts", () => {
  test("a context that is set gives the address, the sandbox and the session", async () => {
    const env = cleanEnv();
    expect((await runCli(["context", "set", "work", server.url, "--sandbox", "dev"], "", env)).code).toBe(0);
    expect((await runCli(["--", "echo", "hi"], "", env)).stdout).toBe("hi\n");
    expect(server.queries.map((query) => query.get("sandbox"))).toEqual(["dev"]);
    expect((await runHere(["context"], "", env)).stdout).toMatch(/^\* +work +http:\S+ +dev$/m);
    await runHere(["context", "set", "ci", "--session", "s", "--token-command", "echo secret"], "", env);
    for (const words of [
      ["context", "--json"],
      ["context", "list", "--json"],
    ]) {
      const { contexts } = JSON.parse((await runHere(words, "", env)).stdout);
      expect(contexts).toEqual([
        { name: "work", isCurrent: false, server: server.url, sandbox: "dev", hasTokenCommand: false },
        { name: "ci", isCurrent: true, session: "s", hasTokenCommand: true },
      ]);
    }
    for (const name of ["work", "ci"]) await runHere(["context", "remove", name], "", env);
    expect((await runHere(["--", "echo", "hi"], "", env)).code).toBe(2);
  });

  test("the environment wins over the context", async () => {
    const env = cleanEnv({ SBX_URL: server.url, SBX_SANDBOX: "other" });
    await runHere(["context", "set", "work", "http://127.0.0.1:1", "--sandbox", "dev"], "", env);
    expect((await runHere(["--", "echo", "hi"], "", env)).stdout).toBe("hi\n");
    expect(server.queries.map((query) => query.get("sandbox"))).toEqual(["other"]);
  });

  test("--context wins over what else is said of the place; one that is not there is wrong usage", async () => {
    const env = cleanEnv({ SBX_URL: "http://127.0.0.1:1", SBX_SANDBOX: "other", SBX_CONTEXT: "gone" });
    await runHere(["context", "set", "work", server.url, "--sandbox", "dev"], "", env);
    expect((await runHere(["--context", "work", "--", "echo", "hi"], "", env)).stdout).toBe("hi\n");
    expect(server.queries.map((query) => query.get("sandbox"))).toEqual(["dev"]);
    // It starts this program again, which is to find the same context.
    const copied = await runCli(["cp", "--context", "work", ":/none", scratch()], "", env);
    expect(copied.stderr).toBe("sbx-stdio: no such file in the sandbox: /none\n");
    const missing = { code: 2, stderr: 'sbx-stdio: no context "none"; see sbx-stdio context list\n' };
    for (const verb of ["ls", "mcp"])
      expect(await runHere([verb, "--context", "none"], "", env)).toMatchObject(missing);
  });

  test("the folder's file gives an address, to which no token goes that was not made for it", async () => {
    const folder = scratch();
    writeFileSync(
      join(folder, ".sbx.json"),
      JSON.stringify({ server: server.url, sandbox: "dev", tokenCommand: "exit 9" }),
    );
    const run = (env: NodeJS.ProcessEnv) => runHere(["-n", "--", "echo", "hi"], "", env, { cwd: folder });
    const refused = await run(cleanEnv());
    expect([refused.code, server.tokens]).toEqual([255, []]);
    expect(refused.stderr).toContain("an address from .sbx.json in this folder");
    const bound = cleanEnv({ SBX_TOKEN_ORIGIN: server.url });
    expect(await run(bound)).toMatchObject({ code: 0, stdout: "hi\n" });
    expect(server.queries.map((query) => query.get("sandbox"))).toEqual(["dev"]);
  });
});

test("what the folder's file says in vain is told, once, and not with -q", async () => {
  const folder = scratch();
  const file = { sesion: "web", session: 5, "\u001b[2J": "x", tokenCommand: "exit 9", sandbox: "dev" };
  writeFileSync(join(folder, ".sbx.json"), JSON.stringify(file));
  const run = (...words: string[]) =>
    words[0] === "cp"
      ? collect(startCli(words, { env: cleanEnv(), cwd: folder }))
      : runHere(words, "", cleanEnv(), { cwd: folder });
  const told =
    'sbx-stdio: .sbx.json in this folder: ignored "sesion", "session", " [2J" and more; expected "server", "sandbox" and "session" as strings\n';
  expect(await run(server.url, "-n", "--", "echo", "hi")).toMatchObject({ code: 0, stdout: "hi\n", stderr: told });
  expect(await run(server.url, "-q", "-n", "--", "echo", "hi")).toMatchObject({ code: 0, stderr: "" });
  // It starts this program again.
  const missing = "sbx-stdio: no such file in the sandbox: /none\n";
  expect(await run("cp", server.url, ":/none", folder)).toMatchObject({ stderr: `${told}${missing}` });
  expect(server.queries.map((query) => query.get("sandbox"))).toEqual(["dev", "dev", "dev"]);
});

describe("--token-command", () => {
  test("gives the token; where it fails, that is said", async () => {
    const env = cleanEnv({ SBX_TOKEN: "" });
    const words = (line: string) => [server.url, "--token-command", line, "--", "echo", "hi"];
    expect((await runHere(words(`echo ${TOKEN}`), "", env)).stdout).toBe("hi\n");
    const failed = await runHere(words("echo no luck >&2; exit 3"), "", env);
    expect(failed).toMatchObject({ code: 255, stderr: "sbx-stdio: the token command failed: no luck\n" });
  });
});

describe("what is made from the description", () => {
  test("completions that each shell takes", async () => {
    const folder = join(scratch(), "c");
    mkdirSync(folder);
    const files = new Map<string, string>();
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, stdout } = await runHere(["completion", shell]);
      expect(code).toBe(0);
      files.set(shell, join(folder, shell));
      writeFileSync(join(folder, shell), stdout);
    }
    // compopt works in a completion that a shell runs, and in no other.
    const inBash = (...typed: string[]) => {
      const words = ["sbx-stdio", ...typed].map((word) => `'${word}'`).join(" ");
      const script = `source ${files.get("bash")}; compopt() { :; }; sbx-stdio() { echo "$*" >&3; echo web; }
        COMP_WORDS=(${words}); COMP_LINE="\${COMP_WORDS[*]}"; COMP_CWORD=${typed.length}; _sbx_stdio 3>&1; echo "\${COMPREPLY[*]}"`;
      return execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim();
    };
    expect(inBash("wai")).toBe("wait");
    expect(inBash("")).not.toContain("--");
    expect(inBash("ls", "--w")).toBe("--watch");
    expect(inBash("attach", "--role", "v")).toBe("viewer");
    // Names are asked for, with what stands on the line.
    expect(inBash("logs", "--sandbox", "dev", "")).toBe("__complete sessions logs --sandbox dev\nweb");
    expect(inBash("ls", "--context", "w")).toBe("__complete contexts ls --context w\nweb");
    // A word behind a word, help's, and a path of the sandbox, which no file here is offered for.
    expect(inBash("context", "use", "w")).toBe("__complete contexts context use w\nweb");
    expect(inBash("help", "comp")).toBe("completion");
    expect(inBash("hel")).toBe("help");
    expect(inBash("signal", "web", "SIGH")).toBe("SIGHUP");
    expect(inBash("signal", "we")).toBe("__complete sessions signal we\nweb");
    expect(inBash("revoke", "w")).toBe("__complete tickets revoke w\nweb");
    const offersSessions = (line: string) => {
      const words = line.split(" ").map((word) => `'${word}'`);
      const script = `source ${files.get("bash")}; compopt() { echo "$@"; }
        COMP_WORDS=(${words.join(" ")}); COMP_LINE='${line}'; COMP_CWORD=${words.length - 1}; _sbx_stdio; true`;
      return !execFileSync("bash", ["-c", script], { encoding: "utf8" }).includes("+o default");
    };
    expect([offersSessions("sbx-stdio cp : pr"), offersSessions("sbx-stdio cp pr")]).toEqual([false, true]);
    const fish = readFileSync(files.get("fish") ?? "", "utf8");
    expect(fish).toMatch(/from logs' -f -a '\(sbx-stdio __complete sessions /);
    expect(readFileSync(files.get("zsh") ?? "", "utf8")).toContain(":value:(driver viewer)");
  });

  test("the names that completions ask for: of sessions that run or have a log, of sandboxes, of contexts", async () => {
    const env = cleanEnv();
    await runHere(["context", "set", "work", server.url, "--sandbox", "dev"], "", env);
    server.said = {
      sessions: [
        { session: "web", state: "running" },
        { session: "old", state: "exited" },
        { session: "cli-abcdefgh", state: "running" },
        { session: "$(rm -rf .)", state: "running" },
      ],
      sandboxes: [{ sandbox: "dev" }],
    };
    const names = async (...words: string[]) => (await runHere(["__complete", ...words], "", env)).stdout;
    expect(await names("sessions", "kill", "--sandbox", "dev")).toBe("web\n");
    expect(await names("sessions", "logs")).toBe("web\nold\n");
    expect(await names("sandboxes", "ls", server.url)).toBe("dev\n");
    expect(await names("contexts")).toContain("work\n");
    server.said = { tickets: [{ id: "3f6c2a" }] };
    expect(await names("tickets", "revoke", "--session", "web")).toBe("3f6c2a\n");
    expect(await names("tickets", "revoke")).toBe("");
    expect(await runHere(["__complete", "sessions", "http://127.0.0.1:9"], "", env)).toMatchObject({
      ...{ code: 0, stdout: "", stderr: "" },
    });
  });

  test("the manual page names every command and option of the help", async () => {
    const { stdout: page } = await runHere(["man"]);
    for (const word of ["attach", "sbx\\-stdio", ".SS wait", "\\-\\-resume\\-file"]) expect(page).toContain(word);
    expect(page).toContain(
      ".SH SYNOPSIS\nsbx\\-stdio [URL] [options] [\\-\\- COMMAND [ARGUMENT…]]\n.br\nsbx\\-stdio COMMAND [URL] [options]\n",
    );
  });

  test("--version --json says which protocol it speaks", async () => {
    const { code, stdout } = await runHere(["--version", "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { version: "0.2.0", protocol: "stdio.v1" }]);
  });
});

test("mcp takes its server, its sandbox and its token's command from the context", async () => {
  const env = cleanEnv();
  delete env.SBX_TOKEN;
  const words = ["context", "set", "work", server.url, "--sandbox", "dev", "--token-command", "echo told >&2; exit 3"];
  await runHere(words, "", env);
  const failed = await runCli(["mcp"], "", env);
  expect([failed.code, failed.stderr]).toEqual([255, "sbx-stdio: the token command failed: told\n"]);
  const { stdout } = await runCli(["mcp", "--token", TOKEN], listTools(), env);
  type Tool = { inputSchema: { properties: Record<string, unknown> } };
  const answer = JSON.parse(stdout.split("\n")[1] ?? "") as { result: { tools: Tool[] } };
  const sandboxes = answer.result.tools.map((tool) => tool.inputSchema.properties.sandbox);
  expect(new Set(sandboxes.map((one) => JSON.stringify(one))).size).toBe(1);
  expect(sandboxes[0]).toMatchObject({ const: "dev" });
});

function listTools(): string {
  const initialize = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  };
  return [
    { jsonrpc: "2.0", id: 1, method: "initialize", params: initialize },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 2, method: "tools/list" },
  ]
    .map((message) => `${JSON.stringify(message)}\n`)
    .join("");
}
