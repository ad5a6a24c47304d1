// `sbx-stdio serve`, as somebody has it who installed the packed file: from its link to a shell, and what it keeps over a restart.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { childEnv } from "../../../packages/local/src/base/env.ts";
import { findHeadlessChromium } from "../../../packages/local/src/base/programs.ts";
import { Tab } from "../../browser/support/tab.ts";
import { RawCodex } from "../support/agents/codex-raw.ts";
import { act, commandOf, installServe, Served, stateFolder, Visitor } from "../support/system/served.ts";
import { until } from "../support/system/wait.ts";

let project = "";
let browser: Browser | undefined;

beforeAll(async () => {
  project = await installServe();
});

afterAll(async () => {
  await browser?.close();
  rmSync(project, { recursive: true, force: true });
});

/** Asks the HTTP interface as the server's owner. */
async function ask(served: Served, method: string, path: string, body?: object): Promise<Response> {
  const { stdout } = await act(project, served.state, ["token"], String(served.port));
  return fetch(`${served.origin}/api/sandboxes/home/sessions/${path}`, {
    method,
    headers: { Authorization: `Bearer ${stdout.trim()}`, "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
}

/** The command line, attached to a program by pipes. */
async function attached(served: Served, program: readonly string[]) {
  const { stdout } = await act(project, served.state, ["token"], String(served.port));
  const words = [served.origin, "--sandbox", "home", "--", ...program];
  const env = childEnv({ SBX_TOKEN: stdout.trim(), HOME: project });
  const child = spawn(commandOf(project), words, { cwd: project, env, stdio: ["pipe", "pipe", "ignore"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const exited = once(child, "exit");
  const type = (text: string): void => void child.stdin.write(text);
  return {
    type,
    says: async (text: string): Promise<void> => {
      type(text);
      await until(`${JSON.stringify(text)} to come back`, () => output.endsWith(text));
    },
    end: async () => {
      child.stdin.end();
      const [code] = await exited;
      return { code, output };
    },
  };
}

test("the link opens a shell in the browser, leaves the address bar, and is good once", async () => {
  const served = await Served.start(project, ["--dir", project]);
  browser ??= await chromium.launch({ executablePath: findHeadlessChromium() ?? "", args: ["--no-sandbox"] });
  const page = await browser.newPage();
  await page.goto(served.link.replace("#", "&debug=1#"));
  const tab = new Tab(page);
  await expect.poll(async () => (await tab.lines().catch(() => [])).join("").trim()).not.toBe("");
  await page.locator(".xterm-helper-textarea").focus();
  await page.keyboard.type("echo in $PWD $((40 + 2))\n");
  await expect.poll(() => tab.lines()).toContain(`in ${project} 42`);
  expect(page.url()).not.toContain("key=");

  const other = await (await browser.newContext()).newPage();
  await other.goto(served.link);
  await expect.poll(() => other.locator("body").innerText()).toContain("This link was used");
  expect(other.url()).not.toContain("key=");
});

test("a server that is stopped and started again has the same sessions and logins", async () => {
  const state = stateFolder();
  const first = await Served.start(project, [], { state });
  const visitor = new Visitor(first.origin);
  expect((await visitor.exchange(first.key)).status).toBe(204);
  await visitor.follow();
  const made = await ask(first, "PUT", "counted", { cmd: "sh", args: ["-c", "read a; echo got $a; read b"] });
  const { incarnation } = (await made.json()) as { incarnation: string };
  // For files the bridge starts its own program once more, which is a bundle here.
  const ticket = (await (await ask(first, "POST", "../codex-ticket", {})).json()) as { url: string };
  const codex = await RawCodex.open(ticket.url);
  expect(await codex.result("initialize", { clientName: "test" })).toMatchObject({ sessionId: expect.any(String) });
  codex.socket.terminate();
  const piped = await attached(first, ["cat"]);
  await piped.says("one\n");
  expect(await first.stop()).toBe(0);
  expect(first.output).toContain("Sessions run on");
  const away = await act(project, state, ["status"]);
  expect([away.code, away.stdout]).toEqual([
    3,
    expect.stringMatching(/server {2}does not run\nbridge .* has sessions/),
  ]);

  // Typed while nobody is there; it arrives once, with what follows.
  piped.type("two\n");
  const again = await Served.start(project, [], { state, port: first.port });
  await piped.says("three\n");
  expect(await piped.end()).toEqual({ code: 0, output: "one\ntwo\nthree\n" });
  const typed = await ask(again, "POST", "counted/input", { text: "it", enter: true });
  expect(typed.status).toBe(200);
  const until = { match: "got it" };
  const waited = await ask(again, "POST", "counted/wait", { until, from: 0 });
  expect(await waited.json()).toMatchObject({ outcome: "met" });
  const seen = await ask(again, "GET", "counted");
  expect(await seen.json()).toMatchObject({ incarnation, state: "running" });
  expect(await visitor.me()).toMatchObject({ authenticated: true });
  expect(await (await visitor.ask("/api/me/renew", {})).json()).toMatchObject({ authenticated: true });

  const refused = await act(project, state, ["stop"]);
  expect([refused.code, refused.stderr]).toEqual([255, expect.stringContaining("--now ends them")]);
  expect((await act(project, state, ["stop", "--now"])).stdout).toBe("Stopped\n");
  expect(await again.exited).toBe(0);
});

test("a bridge of another build goes on while it has sessions, and is replaced once it has none", async () => {
  const state = stateFolder();
  const first = await Served.start(project, [], { state });
  await ask(first, "PUT", "held", { cmd: "cat" });
  // As a crash, or the machine's own shortage of memory.
  await first.kill();
  const file = join(project, "node_modules/sbx-stdio/dist/serve/bridge/build-id");
  const build = readFileSync(file, "utf8");
  onTestFinished(() => writeFileSync(file, build));
  writeFileSync(file, "another\n");
  const second = await Served.start(project, [], { state, port: first.port });
  const told = `build ${build.trim()}; another is installed, and follows once nothing runs, process`;
  expect((await act(project, state, ["status"])).stdout).toContain(told);
  expect(await (await ask(second, "GET", "held")).json()).toMatchObject({ state: "running" });
  await ask(second, "DELETE", "held");
  await second.stop();

  const third = await Served.start(project, [], { state, port: first.port });
  expect((await act(project, state, ["status"])).stdout).toMatch(
    /bridge {2}build another, process \d+, has no sessions/,
  );
  expect(await third.stop()).toBe(0);
});

test("with one program, people drive it and start no other; --once ends with its exit code", async () => {
  const words = ["--once", "--", "bash", "-c", "read line; exit $line"];
  const served = await Served.start(project, words);
  const visitor = new Visitor(served.origin);
  await visitor.exchange(served.key);
  await visitor.follow();
  const api = "/api/sandboxes/home";
  const post = (path: string, body: object) => visitor.send(`${api}${path}`, JSON.stringify(body));
  const other = await post("/run", { cmd: "true" });
  expect([other.status, await other.json()]).toEqual([403, expect.objectContaining({ error: "cmd_forbidden" })]);
  expect((await post("/sessions/bash/input", { text: "7", enter: true })).status).toBe(200);
  expect(await served.exited).toBe(7);
  expect((await act(project, served.state, ["status"])).stdout).toMatch(
    /^server {2}does not run\nbridge {2}does not run\n/,
  );
});

test("with --readonly people look on: they neither type nor start anything", async () => {
  const served = await Served.start(project, ["--readonly", "--", "cat"]);
  const visitor = new Visitor(served.origin);
  await visitor.exchange(served.key);
  await visitor.follow();
  expect(await visitor.me()).toMatchObject({ scopes: ["sandbox:connect"] });
  const seen = await visitor.ask("/api/sandboxes/home/sessions/cat");
  expect(await seen.json()).toMatchObject({ state: "running", cmd: "cat" });
  const typed = await visitor.send("/api/sandboxes/home/sessions/cat/input", JSON.stringify({ text: "x" }));
  expect([typed.status, await typed.json()]).toEqual([403, expect.objectContaining({ error: "insufficient_scope" })]);
  expect((await visitor.send("/api/sandboxes/home/run", JSON.stringify({ cmd: "true" }))).status).toBe(403);
});
