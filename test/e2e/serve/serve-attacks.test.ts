// What strangers try at a server of `sbx-stdio serve`: keys, passwords, other names, other people's words of who they are, and files.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { isAlive } from "../../../packages/local/src/processes/proc.ts";
import { selfSigned } from "../../../packages/sbx-cli/test/fixture/certificate.ts";
import { run } from "../support/system/installed.ts";
import { listeningPorts } from "../support/system/ports.ts";
import { allProcesses } from "../support/system/processes.ts";
import { AS, act, commandOf, installServe, knock, Served, stateFolder, Visitor } from "../support/system/served.ts";

let project = "";
/** For those who change nothing of it that others look at. */
let shared: Served;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  project = await installServe();
  shared = await Served.start(project, [], { atEnd: (end) => ends.unshift(end) });
});

afterAll(async () => {
  for (const end of ends) await end();
  rmSync(project, { recursive: true, force: true });
});

/** Every file below a folder, and the folder itself. */
const allIn = (dir: string): string[] => [
  dir,
  ...readdirSync(dir, { recursive: true }).map((name) => join(dir, `${name}`)),
];

/** Command lines and environments of all processes that this user can read. */
function processTexts(): string {
  const read = (file: string): string => {
    try {
      return readFileSync(file, "latin1");
    } catch {
      // Ended meanwhile.
      return "";
    }
  };
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.map((pid) => read(`/proc/${pid}/cmdline`) + read(`/proc/${pid}/environ`)).join("\n");
}

test("a key is in no file of the state, no log, no process, and a guess or a second use opens nothing", async () => {
  const served = shared;
  const { key, state } = served;
  rmSync(join(state, "link"));
  const visitor = new Visitor(served.origin);
  expect((await visitor.exchange(`${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`)).status).toBe(403);
  expect((await visitor.exchange(key)).status).toBe(204);
  const again = await new Visitor(served.origin).exchange(key);
  expect([again.status, await again.json()]).toEqual([403, expect.objectContaining({ error: "bad_key" })]);
  await visitor.follow();
  expect(await visitor.me()).toMatchObject({ authenticated: true });
  // No server and no page that is led to from here sees the part of an address behind the #.
  expect((await visitor.ask("/")).headers.get("referrer-policy")).toBe("no-referrer");

  const files = allIn(state).filter((file) => statSync(file).isFile());
  expect(files.length).toBeGreaterThan(8);
  expect(files.filter((file) => readFileSync(file, "latin1").includes(key))).toEqual([]);
  expect(processTexts()).not.toContain(key);
  // In /proc everybody can read command lines.
  const [bridge, session] = ["bridge.json", "session-secret"].map((name) => readFileSync(join(state, name), "utf8"));
  expect(processTexts()).not.toContain(JSON.parse(bridge ?? "").token);
  expect(processTexts()).not.toContain(session?.trim());

  // Nobody else gets into the folder, whatever the modes of sockets in it; files are the owner's too.
  expect(statSync(state).mode & 0o777).toBe(0o700);
  expect(
    files.filter((file) => !file.startsWith(join(state, "state/")) && (statSync(file).mode & 0o077) !== 0),
  ).toEqual([]);
  const open = stateFolder();
  await run("chmod", ["755", open], project);
  const refused = await act(project, open, ["status"]);
  expect([refused.code, refused.stderr]).toEqual([255, expect.stringContaining("others may read it")]);
  await run("chmod", ["700", open], project);
});

/** Only root can be another user. For others this test doesn't exist, as skipped tests fail. */
const testAsRoot = process.getuid?.() === 0 ? test : () => undefined;

testAsRoot(
  "another user of the machine reads no file and process of a server, uses no socket, and gets nothing at its ports",
  async () => {
    const served = shared;
    const { state, pid } = served;
    const facts = JSON.parse(readFileSync(join(state, "bridge.json"), "utf8")) as { pid: number };
    const asOther = async (...words: string[]) =>
      run("setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", "env", "PATH=/usr/bin:/bin", ...words], "/");
    for (const path of [state, join(state, "bridge.json"), ...[pid, facts.pid].map((one) => `/proc/${one}/environ`)]) {
      const { code, stdout, stderr } = await asOther("cat", path);
      expect([path, code, stdout, stderr]).toEqual([path, 1, "", expect.stringContaining("Permission denied")]);
    }
    const knocks = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])";
    for (const socket of ["issuer.sock", "inner.sock", "bridge.sock"])
      expect((await asOther("python3", "-c", knocks, join(state, socket))).stderr).toContain("PermissionError");
    // workerd and the bridge lead groups of their own; the bridge has no port.
    const parts = allProcesses().filter((one) => one.parent === pid || one.pid === facts.pid);
    const groups = parts.map(({ group }) => group);
    const ports = [served.inner, served.origin].map((at) => Number(new URL(at).port));
    expect(new Set(listeningPorts(groups).map(({ port }) => port))).toEqual(new Set(ports));
    const asks =
      "import sys, urllib.request as u\nfor a in sys.argv[1:]:\n  try: print(u.urlopen(a).status)\n  except u.HTTPError as e: print(e.code)";
    const own = [served.inner, served.origin].map((at) => `${at}/api/sandboxes/home/sessions`);
    expect((await asOther("python3", "-c", asks, ...own)).stdout).toBe("401\n401\n");
    // Limits that would limit nothing.
    const words = ["--cgroup", project, "--limit", "pids.max=20", "--link-file", join(project, "link")];
    const refused = await act(project, stateFolder(), words, "12346");
    expect([refused.code, refused.stderr]).toEqual([255, expect.stringContaining("is no cgroup's folder")]);
  },
);

test("a stranger at a port where a bridge listened learns nothing, and is never taken for it", async () => {
  const state = stateFolder();
  const learned: string[] = [];
  const stranger = createServer((request, response) => {
    learned.push(`${request.url} ${request.headers.authorization}`);
    response.end('{"sessions":[],"idleMs":0}');
  });
  await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void stranger.close());
  const { port } = stranger.address() as AddressInfo;
  const file = join(state, "bridge.json");
  const old = (pid: number) =>
    writeFileSync(file, JSON.stringify({ pid, port, token: "secret", build: "old", settings: {} }));

  // Its process id is another program's by now.
  old(process.pid);
  expect((await act(project, state, ["status"])).stdout).toContain("bridge  does not run");
  const served = await Served.start(project, [], { state });
  const { pid } = JSON.parse(readFileSync(file, "utf8")) as { pid: number };
  expect(await served.stop()).toBe(0);
  expect([pid === process.pid, isAlive(pid)]).toEqual([false, false]);

  // It runs, with sessions for all that anybody knows.
  const bridge = spawn("sh", ["-c", "read line", "stdio-ws.js"], { stdio: ["pipe", "ignore", "ignore"] });
  onTestFinished(() => void bridge.kill("SIGKILL"));
  old(bridge.pid ?? 0);
  const refused = await act(project, state, ["--link-file", join(state, "link")], String(served.port));
  expect([refused.code, refused.stderr]).toEqual([255, expect.stringMatching(/an older version.*serve stop --now/)]);
  expect([(await act(project, state, ["stop"])).code, bridge.exitCode]).toEqual([255, null]);
  const ended = once(bridge, "exit");
  expect((await act(project, state, ["stop", "--now"])).stdout).toBe("Stopped\n");
  await ended;
  expect(learned).toEqual([]);
});

test("five tries a minute are all that an address has, whatever it says of itself; a proxy's word counts if it is named", async () => {
  const lies = (index: number) => ({
    "X-Forwarded-For": `203.0.113.${index}`,
    "X-Real-IP": `203.0.113.${index}`,
    "CF-Connecting-IP": `203.0.113.${index}`,
    "True-Client-IP": `203.0.113.${index}`,
    Forwarded: `for=203.0.113.${index}`,
  });
  const served = await Served.start(project);
  const statuses: number[] = [];
  for (let index = 0; index < 7; index++) {
    statuses.push((await new Visitor(served.origin, lies(index)).exchange("x".repeat(43))).status);
  }
  expect(statuses).toEqual([403, 403, 403, 403, 403, 429, 429]);
  const { headers } = await new Visitor(served.origin).exchange("y".repeat(43));
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  // Guesses keep nobody out who has the right key.
  expect((await new Visitor(served.origin).exchange(served.key)).status).toBe(204);
  await served.stop();

  const words = ["--trust-proxy", "127.0.0.1", "--origin", "https://host.test"];
  const behind = await Served.start(project, words);
  const tries = async (forwarded: string): Promise<number[]> => {
    const found: number[] = [];
    for (let index = 0; index < 6; index++) {
      const headers = {
        "X-Forwarded-For": forwarded.replace("N", String(index)),
        "CF-Connecting-IP": `203.0.113.${index}`,
      };
      // By the proxy's own way: people use its name.
      const answer = await knock(behind.port, {
        path: "/key",
        headers: { Host: "host.test", Origin: "https://host.test", ...headers },
        form: { key: "x".repeat(43) },
      });
      found.push(answer.status);
    }
    return found;
  };
  // What stands before the proxy's own word is the caller's.
  expect(await tries("203.0.113.N, 198.51.100.7")).toEqual([403, 403, 403, 403, 403, 429]);
  expect(await tries("198.51.100.1N")).toEqual([403, 403, 403, 403, 403, 403]);
});

test("a password opens with its role alone; guessing is limited, and a new password ends earlier logins", async () => {
  const served = await Served.start(project);
  const port = String(served.port);
  const set = `printf 'correct horse' | ${commandOf(project)} serve user alice --role viewer ${AS.join(" ")} --port ${port} --state ${served.state}`;
  expect((await run("sh", ["-c", set], project)).stdout).toMatch(/^alice may log in, as viewer/);
  const alice = new Visitor(served.origin);
  const wrong = await alice.login({ user: "alice", password: "correct hors" });
  expect([wrong.status, await wrong.text()]).toEqual([
    403,
    expect.stringContaining("The name or the password is wrong"),
  ]);
  const nobody = await alice.login({ user: "mallory", password: "x" });
  expect([nobody.status, await nobody.text()]).toEqual([
    403,
    expect.stringContaining("The name or the password is wrong"),
  ]);
  await alice.login({ user: "alice", password: "correct horse" });
  expect(await alice.me()).toMatchObject({ authenticated: true, subject: "alice", scopes: ["sandbox:connect"] });
  expect(await (await alice.ask("/api/me/renew", {})).json()).toMatchObject({ authenticated: true });

  for (let index = 0; index < 2; index++) await alice.login({ user: "alice", password: "x" });
  const late = await alice.login({ user: "alice", password: "correct horse" });
  expect([late.status, await late.text()]).toEqual([429, expect.stringContaining("Too many tries")]);

  // A new password ends what came by the old one.
  expect((await run("sh", ["-c", set], project)).stdout).toContain("What alice had as viewer ends: logins, links");
  expect((await alice.ask("/api/me/renew", {})).status).toBe(401);
  expect((await act(project, served.state, ["user", "alice", "--remove"], port)).code).toBe(0);
});

test("other names for this machine are refused, by the page, the issuer and the inner address; so are forms of other pages", async () => {
  const served = shared;
  const linkFile = join(project, "another-link");
  await act(project, served.state, ["link", "--link-file", linkFile], String(served.port));
  const [, key = ""] = readFileSync(linkFile, "utf8").trim().split("#key=");
  const innerPort = Number(new URL(served.inner).port);
  const asked = async (port: number, path: string, headers: Record<string, string>) =>
    (await knock(port, { path, headers })).status;
  for (const path of ["/", "/api/me", "/healthz", "/oauth/authorize", "/.well-known/jwks.json", "/interaction/x"]) {
    expect([path, await asked(served.port, path, { Host: `evil.test:${served.port}` })]).toEqual([path, 403]);
  }
  expect(await asked(innerPort, "/healthz", { Host: `evil.test:${innerPort}` })).toBe(403);
  expect(await asked(innerPort, "/healthz", { Host: `127.0.0.1:${innerPort}` })).toBe(200);
  for (const path of ["/", "/login", "/key", "/interaction/x", "/device", "/oauth/authorize"]) {
    expect([path, await asked(innerPort, path, { Host: `127.0.0.1:${innerPort}` })]).toEqual([path, 404]);
  }
  // Two ports name no host.
  for (const port of [served.port, innerPort])
    expect(await asked(port, "/", { Host: "a:1:80" })).toBe(port === innerPort ? 403 : 400);
  const host = `localhost:${served.port}`;
  const form = { key };
  for (const Origin of ["https://evil.test", "null", `http://127.0.0.1:${served.port}`]) {
    const answer = await knock(served.port, { path: "/key", headers: { Host: host, Origin }, form });
    expect([Origin, answer.status]).toEqual([Origin, 403]);
  }
  // Host names in the headers of an unnamed proxy have no effect.
  const lies = {
    "X-Forwarded-Host": "evil.test",
    "X-Forwarded-Proto": "https",
    Forwarded: "host=evil.test;proto=https",
  };
  const { path, response } = await new Visitor(served.origin, lies).follow();
  expect([path, response.status, (await response.text()).includes("evil.test")]).toEqual([
    expect.stringMatching(/^\/interaction\//),
    200,
    false,
  ]);
  // The cookie of a login opens nothing at the inner address.
  const visitor = new Visitor(served.origin);
  expect((await visitor.exchange(key)).status).toBe(204);
  await visitor.follow();
  expect(await visitor.me()).toMatchObject({ authenticated: true });
  const own = { Host: `127.0.0.1:${innerPort}`, Cookie: visitor.cookie };
  expect(await asked(innerPort, "/api/sandboxes/home/sessions", own)).toBe(401);
});

test("beyond this machine it starts with TLS alone, and then its cookies are for https", async () => {
  const state = stateFolder();
  const refused = await act(project, state, ["--bind", "0.0.0.0", "--link-file", join(state, "link")], "12345");
  expect([refused.code, refused.stderr]).toEqual([255, expect.stringContaining("--insecure")]);
  const { cert, key } = selfSigned(new Date(Date.now() + 3_600_000));
  const [certFile, keyFile] = [join(project, "cert.pem"), join(project, "key.pem")];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  const words = ["--bind", "127.0.0.1", "--tls-cert", certFile, "--tls-key", keyFile];
  const served = await Served.start(project, words);
  const origin = `https://127.0.0.1:${served.port}`;
  expect(served.link.startsWith(`${origin}/?sandbox=home#key=`)).toBe(true);
  const agent = new Agent({ ca: cert });
  const cookiesOf = (path: string, key?: string) =>
    new Promise<[string[], string]>((resolve, reject) => {
      const form = key !== undefined && new URLSearchParams({ key }).toString();
      const headers = form && { Origin: origin, "Content-Type": "application/x-www-form-urlencoded" };
      const asked = httpsRequest(
        `${origin}${path}`,
        { agent, ...(headers && { method: "POST", headers }) },
        (response) => {
          response.resume();
          resolve([response.headers["set-cookie"] ?? [], response.headers.location ?? ""]);
        },
      );
      asked.on("error", reject).end(form || undefined);
    });
  // By their names, no page without TLS can plant them.
  const [ours, next] = await cookiesOf("/login");
  expect(ours).toEqual([expect.stringMatching(/^__Host-.*; Secure$/)]);
  expect((await cookiesOf("/key", served.key))[0]).toEqual([expect.stringMatching(/^__Host-sbx_key=.*; Secure$/)]);
  const [issuers] = await cookiesOf(next.replace(origin, ""));
  expect(issuers.length).toBeGreaterThan(0);
  for (const cookie of issuers) expect(cookie).toMatch(/^__Secure-.*; secure;/);
});

test("the link is printed to a terminal, with a code for a telephone, and into no pipe", async () => {
  const state = stateFolder();
  const refused = await act(project, state, [], "12345");
  expect([refused.code, refused.stderr]).toEqual([255, expect.stringContaining("not printed into a pipe")]);
  expect(readdirSync(state)).toEqual([]);
  const served = shared;
  const words = [commandOf(project), "serve", "link", "--port", String(served.port), "--state", served.state];
  const inTerminal = "import pty, sys; pty.spawn(sys.argv[1:])";
  const { stdout: text } = await run("python3", ["-c", inTerminal, ...words], project);
  expect(text).toMatch(/[▀▄█]{20}/);
  const [, key = ""] = /#key=([\w-]{43})/.exec(text) ?? [];
  expect((await new Visitor(served.origin).exchange(key)).status).toBe(204);
});
