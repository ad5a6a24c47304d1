// `sbx-stdio serve`, as somebody has it who installed the packed file: from its link to a shell, and what it keeps over a restart.
// `SBX_LOAD=full` (test:long) has an update as well.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import WebSocket from "ws";
import { launch } from "../../../packages/dashboard/test/browser.ts";
import { anyFreePort } from "../../../packages/local/src/base/ports.ts";
import { isAlive } from "../../../packages/local/src/processes/proc.ts";
import { Tab } from "../../browser/support/tab.ts";
import { RawCodex } from "../support/agents/codex-raw.ts";
import { CLIENT, type Comer, OtherIssuer } from "../support/servers/other-issuer.ts";
import { run } from "../support/system/installed.ts";
import {
  AS,
  act,
  attached,
  commandOf,
  installServe,
  Served,
  stateFolder,
  USER,
  Visitor,
} from "../support/system/served.ts";
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
  return fetch(`${served.origin}/api/sandboxes/home/sessions/${path}`, {
    method,
    headers: { Authorization: `Bearer ${await served.token()}`, "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
}

/** The first word of an attach: `hello`, or `bye`. */
const answerOf = (address: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(address, "stdio.v1");
    socket.once("message", (data) => {
      resolve((JSON.parse(String(data)) as { type: string }).type);
      socket.close();
    });
    socket.once("error", reject);
  });

/** Starts a session with a process that leaves its group. @returns The process's id. */
async function leftIn(served: Served, session: string): Promise<number> {
  const wish = { cmd: "sh", args: ["-c", "setsid sleep 1000 & echo $!; wait"] };
  expect((await ask(served, "PUT", session, wish)).status).toBe(201);
  const said = await ask(served, "POST", `${session}/wait`, { until: { match: "\\d+\n" }, from: 0 });
  expect(await said.json()).toMatchObject({ outcome: "met" });
  const { output } = (await (await ask(served, "GET", `${session}/output`)).json()) as { output: string };
  expect(output).toMatch(/^\d+\n$/);
  return Number(output);
}

/** Tokens know no less. */
const nextSecond = () => {
  const now = Date.now();
  return until("the next second", () => Math.floor(Date.now() / 1000) > Math.floor(now / 1000));
};

test("the link opens a shell in the browser, leaves the address bar, and is good once", async () => {
  const served = await Served.start(project, ["--dir", project]);
  browser ??= await launch();
  const page = await browser.newPage();
  const tab = new Tab(page);
  await page.goto(served.link.replace("#", "&debug=1#"));
  await expect.poll(async () => (await tab.lines().catch(() => [])).join("").trim()).not.toBe("");
  await page.locator(".xterm-helper-textarea").focus();
  await page.keyboard.type("echo in $PWD $((40 + 2))\n");
  await expect.poll(() => tab.lines()).toContain(`in ${project} 42`);
  expect(page.url()).not.toContain("key=");

  const other = new Tab(await (await browser.newContext()).newPage()).page;
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
  const piped = await attached(project, first, ["cat"]);
  await piped.says("one\n");
  const inner = new URL(first.inner);
  expect(await first.stop()).toBe(0);
  expect(first.output).toContain("Sessions run on");
  // Any program may listen there from now on.
  const learned: string[] = [];
  const stranger = createServer((request, response) => {
    learned.push(`${request.url} ${request.headers.authorization}`);
    response.end("{}");
  });
  await new Promise<void>((resolve) => stranger.listen(Number(inner.port), inner.hostname, resolve));
  onTestFinished(() => void stranger.close());
  const away = await act(project, state, ["status"]);
  expect([away.code, away.stdout]).toEqual([
    3,
    expect.stringMatching(/server {2}does not run\nbridge .* has sessions/),
  ]);

  // New sessions would have these rights no more than the old ones.
  const words = ["--exec", "ssh NAME", "--link-file", join(state, "link")];
  const other = await act(project, state, words, String(first.port));
  expect([other.code, other.stderr]).toEqual([255, expect.stringContaining("with another --exec")]);

  // Typed while nobody is there; it arrives once, with what follows.
  piped.type("two\n");
  const again = await Served.start(project, ["--dir", state], { state, port: first.port });
  expect(again.output).toContain(`until they have ended, programs start in ${project}\n`);
  await piped.says("three\n");
  expect(await piped.end()).toEqual({ code: 0, output: "one\ntwo\nthree\n" });
  const typed = await ask(again, "POST", "counted/input", { text: "it", enter: true });
  expect(typed.status).toBe(200);
  const waited = await ask(again, "POST", "counted/wait", { until: { match: "got it" }, from: 0 });
  expect(await waited.json()).toMatchObject({ outcome: "met" });
  const seen = await ask(again, "GET", "counted");
  expect(await seen.json()).toMatchObject({ incarnation, state: "running" });
  expect(await visitor.me()).toMatchObject({ authenticated: true });
  expect(await (await visitor.ask("/api/me/renew", {})).json()).toMatchObject({ authenticated: true });

  expect(learned).toEqual([]);

  const refused = await act(project, state, ["stop"]);
  expect([refused.code, refused.stderr]).toEqual([255, expect.stringContaining("--now ends them")]);
  expect((await act(project, state, ["stop", "--now"])).stdout).toBe("Stopped\n");
  expect(await again.exited).toBe(0);
});

test("a user's sessions run as their own user where root serves, are theirs alone, and stay at another port", async () => {
  const state = stateFolder();
  const first = await Served.start(project, [], { state });
  const port = String(first.port);
  const set = ["user", "alice", "--no-password"];
  if (AS.length > 0)
    expect((await act(project, state, set, port)).stderr).toContain("As root, say as whom its sessions run: --as USER");
  expect((await act(project, state, [...set, ...AS], port)).code).toBe(0);
  await ask(first, "PUT", "owners", { cmd: "cat" });

  /** Alice, in by a link of hers. */
  const visit = async ({ port, origin }: Served): Promise<Visitor> => {
    const link = join(state, "alices");
    expect((await act(project, state, ["link", "alice", "--link-file", link], String(port))).code).toBe(0);
    const visitor = new Visitor(origin);
    await visitor.exchange(readFileSync(link, "utf8").trim().split("#key=")[1] ?? "");
    await visitor.follow();
    return visitor;
  };
  const alice = await visit(first);
  const sessions = "/api/sandboxes/home/sessions";
  const made = await alice.send("/api/sandboxes/home/run", JSON.stringify({ cmd: "id", args: ["-un"] }));
  expect(await made.json()).toMatchObject({ stdout: `${USER}\n` });
  expect((await alice.ask(`${sessions}/owners`)).status).toBe(AS.length > 0 ? 404 : 200);
  const started = await alice.send(sessions, JSON.stringify({ cmd: "cat", keepSeconds: 600 }));
  const { session } = (await started.json()) as { session: string };
  await first.stop();

  const second = await Served.start(project, [], { state });
  expect(second.port).not.toBe(first.port);
  const again = await visit(second);
  expect(await (await again.ask(`${sessions}/${session}`)).json()).toMatchObject({ state: "running" });
  // A link ends with the right to make it, and whoever is removed has nothing left.
  const shared = await again.send(
    `${sessions}/${session}/share`,
    JSON.stringify({ role: "driver", guests: true, seconds: 600 }),
  );
  const { ticket } = (await shared.json()) as { ticket: string };
  const link = `${second.origin.replace("http", "ws")}/attach?sandbox=home&session=${session}&ticket=${ticket}`;
  expect(await answerOf(link)).toBe("hello");
  const lowered = await act(project, state, [...set, "--role", "viewer", ...AS], String(second.port));
  expect(lowered.stdout).toContain("What alice had as driver ends: logins, links");
  expect(await answerOf(link)).toBe("bye");
  expect((await again.ask("/api/me/renew", {})).status).toBe(401);
  // A login in the same second counts as one from before.
  const entered = async (visitor: Visitor) => ({
    visitor,
    status: (await visitor.ask(`${sessions}/${session}`)).status,
  });
  await nextSecond();
  let back = await entered(await visit(second));
  while (back.status === 401) back = await entered(await visit(second));
  const viewer = back.visitor;
  expect(await viewer.me()).toMatchObject({ scopes: ["sandbox:connect"] });
  expect((await act(project, state, ["user", "alice", "--remove"], String(second.port))).code).toBe(0);
  expect((await viewer.ask(`${sessions}/${session}`)).status).toBe(401);
  // The next person of that name gets in by their own login alone.
  expect((await act(project, state, [...set, ...AS], String(second.port))).code).toBe(0);
  await nextSecond();
  let next = await entered(await visit(second));
  while (next.status === 401) next = await entered(await visit(second));
  expect(await next.visitor.me()).toMatchObject({ scopes: ["sandbox:connect", "sandbox:exec"] });
  expect((await viewer.ask("/api/me/renew", {})).status).toBe(401);
});

test("people of another issuer come in by its login if they are on the list, and no other way", async () => {
  const [port, state] = [await anyFreePort(), stateFolder()];
  const issuer = await OtherIssuer.start(`http://localhost:${port}/oauth/back`);
  const secret = join(project, "secret");
  writeFileSync(secret, `${CLIENT.secret}\n`);
  const words = ["--issuer", issuer.url, "--client-id", CLIENT.id, "--client-secret-file", secret];
  const served = await Served.start(project, words, { state, port });
  for (const name of ["eve@example.com", "4711"]) {
    const set = ["user", name, "--no-password", "--role", "viewer", ...AS];
    expect((await act(project, state, set, String(port))).code).toBe(0);
  }
  const set = `printf 'correct horse' | ${commandOf(project)} serve user pat ${AS.join(" ")} --state ${state}`;
  expect((await run("sh", ["-c", set], project)).code).toBe(0);

  /** Begins at the page's login, and comes back from the issuer. */
  const comes = async (comer: Comer, visitor = new Visitor(served.origin)) => {
    issuer.comer = comer;
    const { path, response } = await visitor.follow();
    const [, link = ""] = /href="(\/oauth\/with[^"]*)"/.exec(await response.text()) ?? [];
    expect(link).toBe(`/oauth/with?to=${encodeURIComponent(path)}`);
    const there = new Visitor(issuer.url);
    let next = (await visitor.ask(link)).headers.get("location") ?? "";
    while (next !== "" && !next.startsWith(served.origin)) next = (await there.ask(next)).headers.get("location") ?? "";
    const back = next.slice(served.origin.length);
    const answer = await visitor.ask(back);
    const to = answer.headers.get("location");
    if (to !== null) await visitor.follow(to);
    return { visitor, back, status: answer.status, me: await visitor.me() };
  };
  const eve = await comes({ sub: "eve", email: "eve@example.com", isVerified: true });
  expect([eve.status, eve.me]).toEqual([
    302,
    expect.objectContaining({ authenticated: true, subject: "eve@example.com", scopes: ["sandbox:connect"] }),
  ]);
  expect((await comes({ sub: "4711", email: "", isVerified: false })).me).toMatchObject({ subject: "4711" });
  // An address that is not verified, a subject that looks like one, people without a row, and one whose row has a password.
  for (const [sub, email, isVerified] of [
    ["mallory", "eve@example.com", false],
    ["eve@example.com", "", false],
    ["mallory", "mallory@example.com", true],
    ["pat", "", false],
  ] as const) {
    const { status, me } = await comes({ sub, email, isVerified });
    expect([sub, status, me]).toEqual([sub, 403, expect.objectContaining({ authenticated: false })]);
  }
  // The answer to another browser's login, and one that is used twice.
  const lured = new Visitor(served.origin);
  expect((await lured.ask(eve.back)).status).toBe(403);
  expect((await eve.visitor.ask(eve.back)).status).toBe(403);
  expect((await lured.ask("/oauth/with?to=https://evil.test/")).status).toBe(400);
});

const whole: (title: string, run: () => Promise<void>) => void =
  process.env.SBX_LOAD === "full" ? test : () => undefined;

whole("a bridge of another build goes on while it has sessions, and is replaced once it has none", async () => {
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
  const told = `build ${build.trim()}; another is installed, and follows soon after no session runs, process`;
  expect((await act(project, state, ["status"])).stdout).toContain(told);
  expect(await (await ask(second, "GET", "held")).json()).toMatchObject({ state: "running" });
  await ask(second, "DELETE", "held");
  const isReplaced = async () =>
    /bridge {2}build another, process \d+, has no sessions/.test((await act(project, state, ["status"])).stdout);
  // It looks when a connection to the bridge has been silent for a minute.
  await until("the new bridge", isReplaced, 180_000);
  expect(await second.stop()).toBe(0);
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
  // Whatever the caller's PATH is, the one command that is allowed can't exist.
  const allowed = await post("/run", { cmd: "/dev/null/nothing", env: { PATH: served.state } });
  expect([allowed.status, await allowed.json()]).toEqual([422, expect.objectContaining({ error: "cmd_not_found" })]);
  expect((await post("/sessions/bash/input", { text: "7", enter: true })).status).toBe(200);
  expect(await served.exited).toBe(7);
  expect((await act(project, served.state, ["status"])).stdout).toMatch(
    /^server {2}does not run\nbridge {2}does not run\n/,
  );
});

test("with --readonly people look on, and a login of a server that gave more is none", async () => {
  const state = stateFolder();
  const first = await Served.start(project, [], { state });
  const visitor = new Visitor(first.origin);
  await visitor.exchange(first.key);
  await visitor.follow();
  const token = await first.token();
  await ask(first, "PUT", "seen", { cmd: "cat" });
  const shared = await ask(first, "POST", "seen/share", { role: "driver", guests: true, seconds: 600 });
  const { ticket } = (await shared.json()) as { ticket: string };
  const files = await fetch(`${first.origin}/v1/sandbox`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
  });
  expect(files.status).toBe(502);
  await first.stop();
  const second = await Served.start(project, ["--readonly", "--", "cat"], { state, port: first.port });
  expect(await visitor.me()).toMatchObject({ authenticated: false });
  expect((await visitor.ask("/api/me/renew", {})).status).toBe(401);
  const run = { method: "POST", headers: { Authorization: `Bearer ${token}` }, body: '{"cmd":"id"}' };
  expect((await fetch(`${second.origin}/api/sandboxes/home/run`, run)).status).toBe(401);
  const link = `${second.origin.replace("http", "ws")}/attach?sandbox=home&session=seen&ticket=${ticket}`;
  expect(await answerOf(link)).toBe("bye");

  const viewer = new Visitor(second.origin);
  await viewer.exchange(second.key);
  await viewer.follow();
  expect(await viewer.me()).toMatchObject({ scopes: ["sandbox:connect"] });
  const seen = await viewer.ask("/api/sandboxes/home/sessions/cat");
  expect(await seen.json()).toMatchObject({ state: "running", cmd: "cat" });
  const typed = await viewer.send("/api/sandboxes/home/sessions/cat/input", JSON.stringify({ text: "x" }));
  expect([typed.status, await typed.json()]).toEqual([403, expect.objectContaining({ error: "insufficient_scope" })]);
  expect((await viewer.send("/api/sandboxes/home/run", JSON.stringify({ cmd: "true" }))).status).toBe(403);
});

test("a copy of the stopped server's folder is a backup, with recordings, and touches nothing of the original", async () => {
  const [state, copied] = [stateFolder(), stateFolder()];
  const env = { RECORDING: "on", METRICS_TOKEN: "a token for metrics" };
  const first = await Served.start(project, [], { state, env });
  const visitor = new Visitor(first.origin);
  await visitor.exchange(first.key);
  await visitor.follow();
  const wish = JSON.stringify({ cmd: "echo", args: ["on record"], tty: true });
  const made = await visitor.send("/api/sandboxes/home/run", wish);
  const { session } = (await made.json()) as { session: string };
  await ask(first, "PUT", "held", { cmd: "cat" });
  const stored = () => readdirSync(join(state, "recordings"), { recursive: true, withFileTypes: true });
  await until("the segment's file", () => stored().some((entry) => entry.isFile()));
  expect(await first.stop()).toBe(0);
  await run("cp", ["-a", `${state}/.`, copied], project);

  const original = await Served.start(project, [], { state, port: first.port, env });
  const backup = await Served.start(project, [], { state: copied, env });
  expect((await (await ask(backup, "GET", "held")).json()) as object).toMatchObject({ state: "lost" });
  const recording = await ask(backup, "GET", `${session}/recording`);
  expect([recording.status, await recording.text()]).toEqual([200, expect.stringContaining("on record")]);
  const headers = { Authorization: `Bearer ${env.METRICS_TOKEN}` };
  expect(await (await fetch(`${backup.origin}/metrics`, { headers })).text()).toContain("# TYPE ");
  expect((await fetch(`${backup.origin}/healthz`)).status).toBe(200);
  expect((await act(project, copied, ["stop", "--now"])).code).toBe(0);
  expect(await (await ask(original, "GET", "held")).json()).toMatchObject({ state: "running" });
  expect(await visitor.me()).toMatchObject({ authenticated: true });

  // A bridge that dies is started again, with which nothing of its sessions is left; that it dies again and again is told.
  const pids: number[] = [];
  for (let death = 1; death <= 4; death++) {
    if (death === 1 || death === 4) pids.push(await leftIn(original, `left${death}`));
    const { pid: bridge } = JSON.parse(readFileSync(join(state, "bridge.json"), "utf8")) as { pid: number };
    process.kill(bridge, "SIGKILL");
    await until(
      "the bridge to be there again",
      () => original.output.split("bridge is up again").length > death || death > 3,
    );
  }
  expect(await original.exited).toBe(255);
  // Whom it has killed, another process has to reap.
  await until("what sessions left to end", () => !pids.some(isAlive));
  expect(original.output).toContain("Given up after 4 crashes within a minute. The bridge has ended");
  expect((await act(project, state, ["status"])).code).toBe(3);

  // Of a bridge that died beside its server, too.
  const last = await Served.start(project, [], { state, port: first.port });
  const left = await leftIn(last, "left");
  await last.kill();
  process.kill(JSON.parse(readFileSync(join(state, "bridge.json"), "utf8")).pid, "SIGKILL");
  expect(isAlive(left)).toBe(true);
  expect((await act(project, state, ["stop"])).stdout).toBe("Nothing ran\n");
  await until("what it left to end", () => !isAlive(left));
});
