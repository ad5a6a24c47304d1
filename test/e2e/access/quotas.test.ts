// How much one address, user, tenant and sandbox may have at a time, over a system whose settings allow little; and what a full disk does.

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { type AddressInfo, createServer, connect as dial, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { exitCode, startCli } from "../support/clients/cli.ts";
import { connect, type Params, refusedHttp, refusedSocket, type TestClient } from "../support/clients/client.ts";
import { cat, newAddress, Visitors } from "../support/clients/visitors.ts";
import { type System, startSystem } from "../support/system/own-system.ts";
import { isAlive, namedInGroup, residentBytes } from "../support/system/processes.ts";
import { fresh, type Person } from "../support/system/system.ts";
import { LIMIT_MS, within } from "../support/system/wait.ts";

const MIB = 1024 * 1024;
const PLACES = 3;
const KNOCKS = process.env.SBX_LOAD === "full" ? 1_000 : 200;

let small: System;
let visitors: Visitors;
const dir = mkdtempSync(join(tmpdir(), "sbx-quotas-"));
/** The sandboxes' disk, which a program can fill. */
const sandboxes = join(dir, "disk");
let isMounted = false;

beforeAll(async () => {
  mkdirSync(sandboxes, { mode: 0o700 });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", sandboxes], { stdio: "pipe" });
    isMounted = true;
  } catch {
    // Only root may. /dev/full then stands for the disk: whatever is written there finds it full.
  }
  small = await startSystem({
    dir,
    bridgeEnv: { SANDBOX_ROOT: sandboxes },
    workerVars: {
      TENANT_CLAIM: "org_id",
      LIMIT_CONNECTIONS_PER_IP: String(PLACES),
      LIMIT_JSON_CONNECTIONS_PER_IP: "2",
      LIMIT_ATTACHES_PER_MINUTE: "5",
      LIMIT_CALLS_PER_MINUTE: "20",
      LIMIT_UNNAMED_SECONDS: "4",
      LIMIT_SANDBOXES: "2",
      LIMIT_SESSIONS: "3",
      LIMIT_CLIENTS: "4",
    },
  });
  visitors = new Visitors(small);
});

afterAll(async () => {
  await small?.stop();
  if (isMounted) execFileSync("umount", [sandboxes]);
  rmSync(dir, { recursive: true, force: true });
});

const TOO_MANY = { code: 4429, retry: "after", seconds: expect.any(Number) };

describe("connections from one address", () => {
  test("are let in up to the limit; one more is told 4429 or 429, and when to come again", async () => {
    const address = newAddress();
    const clients = [];
    for (let i = 0; i < 3; i += 1) clients.push(await visitors.attached(await visitors.person(), cat(), address));
    const { bye, code, reason } = await refusedSocket(await visitors.person(), cat(), visitors.from(address));
    expect([code, bye]).toEqual([4429, expect.objectContaining(TOO_MANY)]);
    expect(reason).toMatch(/address/);
    const refusal = await refusedHttp(await visitors.person(), cat(), visitors.from(address, { protocols: [] }));
    expect([refusal.status, refusal.headers["retry-after"]]).toEqual([429, "10"]);
    // Another address has its own.
    await visitors.attached(await visitors.person());
    await clients[0]?.leave();
    const again = await until(() => tryAttach(address));
    expect(again.messages("hello").length).toBe(1);
  });

  test("a client that crashed leaves its place, and so does one that was refused", async () => {
    const address = newAddress();
    const alice = await visitors.person();
    for (let i = 0; i < 4; i += 1) {
      await refusedSocket(
        await visitors.person(),
        { session: fresh("s"), cmd: "no-such-program" },
        visitors.from(address),
      );
    }
    const clients = [];
    for (let i = 0; i < 3; i += 1) clients.push(await visitors.attached(alice, cat({ sandbox: "one" }), address));
    for (const client of clients) client.drop();
    await until(() => tryAttach(address));
  });

  test("are counted from what is open, when the Worker was killed and nobody gave a place back", async () => {
    const address = newAddress();
    const alice = await visitors.person();
    const clients = [];
    for (let i = 0; i < 3; i += 1) clients.push(await visitors.attached(alice, cat({ sandbox: "one" }), address));
    await small.restartWorker();
    // Within the time that a connection may take from the door to its session.
    const again = await until(() => tryAttach(address), 1_000);
    expect(again.messages("hello").length).toBe(1);
  });

  test("of the json dialect have a limit of their own", async () => {
    const address = newAddress();
    const alice = await visitors.person();
    const url = `/sandbox/terminal?sessionId=one:${fresh("s")}`;
    const json = (who: Person) => upgradeStatus(url, who, address);
    expect([await json(alice), await json(alice), await json(alice)]).toEqual([101, 101, 429]);
    await visitors.attached(alice, cat({ sandbox: "one" }), address);
  });
});

test("forward says why a connection waits that the server does not let in yet, and when none waits any more", async () => {
  const server = createServer((socket) => void socket.on("error", () => undefined)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const child = startCli(await visitors.person(), ["--json", `0:${port}`], "forward", small.origin);
  const sockets: Socket[] = [];
  try {
    let stderr = "";
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const here = (JSON.parse(line.toString()) as { port: number }).port;
    for (let i = 0; i < 3; i += 1) {
      const arrived = once(server, "connection");
      sockets.push(dial(here, "127.0.0.1"));
      await arrived;
    }
    const fourth = once(server, "connection");
    sockets.push(dial(here, "127.0.0.1"));
    await until(async () => stderr.includes("new connections are waiting: too many connections from this address"));
    sockets[0]?.destroy();
    await fourth;
    await until(async () => stderr.includes("new connections are no longer waiting"));
  } finally {
    for (const socket of sockets) socket.destroy();
    child.kill("SIGTERM");
    await exitCode(child);
    server.close();
  }
});

describe("attempts of one user", () => {
  test("are counted over a minute, refused ones too; a client that comes back is not", async () => {
    const alice = await visitors.person();
    const params = cat();
    const first = await visitors.attached(alice, params);
    const resume = String((await first.hello()).resume);
    for (let i = 0; i < 4; i += 1) {
      await refusedSocket(alice, { ...params, cmd: "another" }, visitors.from(newAddress()));
    }
    /** Five a minute: one is made up for every twelve seconds. */
    const tooMany = async (more: Params) => {
      for (let i = 0; i < 5; i += 1) {
        const end = await refusedSocket(alice, { ...params, ...more }, visitors.from(newAddress()));
        if (end.code === 4429) return end;
      }
      return undefined;
    };
    const { bye } = (await tooMany({ cmd: "another" })) ?? {};
    expect(bye).toEqual(expect.objectContaining(TOO_MANY));
    expect(Number(bye?.seconds)).toBeGreaterThan(0);
    expect(Number(bye?.seconds)).toBeLessThanOrEqual(12);
    for (let i = 0; i < 3; i += 1) {
      const back = await connect(alice, { ...params, resume, offset: 0 }, visitors.from(newAddress()));
      expect((await back.hello()).you).toEqual((await first.hello()).you);
    }
    // Nor does a made-up proof let anybody in.
    expect(await tooMany({ resume: "a.b" })).toBeDefined();
    const bob = await visitors.person(alice.org);
    await visitors.attached(bob, params);
  });
});

describe("a client that shows a proof of its own and is refused all the same", () => {
  test("counts as an attempt, and after the limit is not heard any more; one that can come back is", async () => {
    const alice = await visitors.person();
    const [ended, other] = [cat(), cat()];
    const first = await visitors.attached(alice, ended);
    const stale = { ...ended, resume: String((await first.hello()).resume) };
    await first.leave();
    const kept = await visitors.attached(alice, other);
    const codes = [];
    for (let i = 0; i < 8; i += 1) codes.push((await refusedSocket(alice, stale, visitors.from(newAddress()))).code);
    expect(codes.slice(0, 3)).toEqual([4404, 4404, 4404]);
    expect(codes.at(-1)).toBe(4429);
    // They count among the attempts of the same person, of whom another client can still come back.
    expect((await refusedSocket(alice, other, visitors.from(newAddress()))).code).toBe(4429);
    const resume = String((await kept.hello()).resume);
    await (await connect(alice, { ...other, resume, offset: 0 }, visitors.from(newAddress()))).hello();
  });
});

test("R3: calls of the API are counted by person; one too many is told when to come again", async () => {
  const caller = await visitors.person();
  const other = await small.mintToken({ sub: caller.sub, org: caller.org });
  const call = (token: string, path: string) =>
    fetch(`${small.origin}${path}`, { headers: { Authorization: `Bearer ${token}` } });
  const tokens = Array.from({ length: 21 }, (_one, i) => (i % 2 === 0 ? caller.token : other));
  const statuses = await Promise.all(tokens.map(async (token) => (await call(token, "/api/me")).status));
  expect(statuses.sort()).toEqual([...Array(20).fill(200), 429]);
  const response = await call(other, "/api/sandboxes/one/sessions");
  const said = { error: "too_many_calls", message: "Too many calls within a minute" };
  expect([response.status, await response.json()]).toEqual([429, said]);
  const seconds = Number(response.headers.get("Retry-After"));
  expect([seconds >= 1, seconds <= 60]).toEqual([true, true]);
  expect((await call((await visitors.person(caller.org)).token, "/api/me")).status).toBe(200);
  await visitors.attached(caller, cat({ sandbox: "one" }));
});

test("T4a: a refused expression counts among a person's calls", async () => {
  const { token } = await visitors.person();
  const wait = () =>
    fetch(`${small.origin}/api/sandboxes/one/sessions/none/wait`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}` },
      body: JSON.stringify({ until: { match: "\\pL{0,1000}".repeat(90) } }),
    });
  const statuses = await Promise.all(Array.from({ length: 21 }, async () => (await wait()).status));
  expect(statuses.sort()).toEqual([...Array(20).fill(400), 429]);
});

/** What a knock was answered with: `hello`, the code of a `bye`, an HTTP status, or what went wrong. */
function knock(who: Person, session: string, isPlain: boolean, address: string): Promise<string> {
  const url = `${small.origin.replace(/^http/, "ws")}/attach?session=${session}&cmd=cat&keep=0`;
  const headers = { Authorization: `Bearer ${who.token}`, "CF-Connecting-IP": address };
  const socket = new WebSocket(url, isPlain ? [] : ["stdio.v1"], { headers, perMessageDeflate: false });
  return new Promise((resolve) => {
    socket.on("message", (text: Buffer) => {
      const { type, code } = JSON.parse(text.toString()) as { type: string; code?: number };
      if (type === "starting") return;
      resolve(type === "bye" ? String(code) : type);
      // Whoever is let in stays: the places are what the others want.
      if (type === "bye") socket.terminate();
    });
    socket.once("unexpected-response", (_request, response) => {
      response.resume();
      resolve(`HTTP ${response.statusCode}`);
    });
    socket.on("error", (error) => resolve(error.message));
    socket.once("close", () => resolve("closed"));
    knocking.add(socket);
  });
}
const knocking = new Set<WebSocket>();

test("many connections from one address, as fast as they come: as many as the limit says are let in, and others work on", async () => {
  const alice = await visitors.person();
  const params = cat();
  const hers = await visitors.attached(alice, params);
  const mallory = await visitors.person();
  const [session, address] = [fresh("s"), newAddress()];
  const ids = [small.pids.bridge, ...namedInGroup("workerd", small.pids.worker)];
  const before = ids.map(residentBytes);
  const started = Date.now();
  const echoes: number[] = [];
  const typing = (async () => {
    for (let i = 0; i < 10; i += 1) {
      const typed = Date.now();
      hers.type(`echo ${i}\n`);
      await hers.output(`echo ${i}\n`);
      echoes.push(Date.now() - typed);
    }
  })();
  const answers = await within(
    "all answers",
    Promise.all(Array.from({ length: KNOCKS }, (_none, i) => knock(mallory, session, i % 2 === 1, address))),
  );
  await typing;
  const tally: Record<string, number> = {};
  for (const answer of answers) tally[answer] = (tally[answer] ?? 0) + 1;
  const grown = ids.map((pid, i) => Math.round((residentBytes(pid) - (before[i] ?? 0)) / MIB));
  console.log(`${Date.now() - started} ms, slowest echo ${Math.max(...echoes)} ms, grown by ${grown.join(", ")} MiB`);
  // A place is asked for each, in whatever order they come: who is refused is told so in its own way, and nobody else's.
  const { "4429": closed = 0 } = tally;
  expect(tally).toEqual({ hello: PLACES, "4429": closed, "HTTP 429": KNOCKS - PLACES - closed });
  expect(Math.max(...grown)).toBeLessThan(500);
  for (const socket of knocking) socket.terminate();
  const next = await connect(alice, params, visitors.from(newAddress()));
  expect((await next.hello()).incarnation).toBe((await hers.hello()).incarnation);
});

describe("sandboxes and sessions", () => {
  test("of one tenant: a third sandbox is refused until the sessions of another have ended", async () => {
    const org = fresh("org");
    const one = await visitors.attached(await visitors.person(org), cat({ sandbox: "one" }));
    await visitors.attached(await visitors.person(org), cat({ sandbox: "two" }));
    const three = cat({ sandbox: "three" });
    const { bye, reason } = await refusedSocket(await visitors.person(org), three, visitors.from(newAddress()));
    // Nobody knows when one ends: no time after which to come again is made up.
    expect(bye).toEqual({ type: "bye", code: 4429, retry: "never", reason });
    expect(reason).toMatch(/sandboxes/);
    const refusal = await refusedHttp(
      await visitors.person(org),
      three,
      visitors.from(newAddress(), { protocols: [] }),
    );
    expect([refusal.status, JSON.parse(refusal.body).error]).toEqual([429, "too_many_sandboxes"]);
    expect(refusal.headers["retry-after"]).toBeUndefined();
    // In those that are there it goes on, and another tenant has its own.
    await visitors.attached(await visitors.person(org), cat({ sandbox: "two" }));
    await visitors.attached(await visitors.person(), cat({ sandbox: "three" }));
    one.say({ type: "eof" });
    expect((await one.end()).exit?.code).toBe(0);
    const client = await until(async () => tryAttach(newAddress(), await visitors.person(org), three));
    expect(client.messages("hello").length).toBe(1);
  });

  test("of one sandbox: the limit counts sessions that live, whoever is attached", async () => {
    const org = fresh("org");
    const names = [fresh("s"), fresh("s"), fresh("s")];
    for (const session of names)
      (await visitors.attached(await visitors.person(org), cat({ session, keep: 60 }))).drop();
    const more = cat();
    const { bye } = await refusedSocket(await visitors.person(org), more, visitors.from(newAddress()));
    expect([bye?.code, bye?.retry, bye?.seconds]).toEqual([4429, "never", undefined]);
    // Those that are there can be attached to.
    await visitors.attached(await visitors.person(org), { session: names[0] ?? "" });
    const path = `${small.origin}/api/sandboxes/default/sessions/${names[1]}`;
    const headers = { Authorization: `Bearer ${(await visitors.person(org)).token}` };
    expect((await fetch(path, { method: "DELETE", headers })).status).toBe(204);
    await visitors.attached(await visitors.person(org), more);
  });

  test("a process that ended with the bridge takes up no place", async () => {
    const org = fresh("org");
    await visitors.attached(await visitors.person(org), cat({ sandbox: "one" }));
    await visitors.attached(await visitors.person(org), cat({ sandbox: "two" }));
    await small.restartBridge();
    await until(async () => tryAttach(newAddress(), await visitors.person(org), cat({ sandbox: "three" })), 1_000);
  });
});

describe("L7a: a session on pipes whose name its client made up", () => {
  const script = ["-c", "echo pid=$$.; cat"];
  const made = (params: Params): Params => ({ session: fresh("cli"), cmd: "sh", arg: script, ...params });
  const start = async (params: Params) => {
    const who = await visitors.person();
    const client = await visitors.attached(who, made(params));
    return { who, client, pid: Number(/pid=(\d+)\./.exec(await client.output(/pid=\d+\./))?.[1]) };
  };

  test("ends when its client's connection has closed and stays away; with a name of its own it lives on", async () => {
    const named = await start({});
    const unnamed = await start({ unnamed: 1 });
    named.client.drop();
    unnamed.client.drop();
    await until(async () => (isAlive(unnamed.pid) ? undefined : true));
    expect(isAlive(named.pid)).toBe(true);
    const listed = await fetch(`${small.origin}/api/sandboxes/default/sessions`, {
      headers: { Authorization: `Bearer ${unnamed.who.token}` },
    });
    // Its exit may be kept, like any.
    const { sessions } = (await listed.json()) as { sessions: { state: string }[] };
    expect(sessions.filter(({ state }) => state === "running")).toEqual([]);
  });

  test("lives on where its client comes back in time", async () => {
    const { who, client, pid } = await start({ unnamed: 1 });
    const { session, resume } = await client.hello();
    client.drop();
    const back = await connect(
      who,
      { session: String(session), resume: String(resume), offset: 0 },
      visitors.from(newAddress()),
    );
    await back.hello();
    // Left later, this one would end later than the first, had the first one's alarm not been taken back.
    const later = await start({ unnamed: 1 });
    later.client.drop();
    await until(async () => (isAlive(later.pid) ? undefined : true));
    expect(isAlive(pid)).toBe(true);
    await back.leave();
    await until(async () => (isAlive(pid) ? undefined : true));
  });
});

test("on a full disk a session goes on, programs are told, and the disk's own sandbox can be cleaned from within", async () => {
  const alice = await visitors.person();
  const params: Params = { session: fresh("s"), cmd: "bash", arg: ["--norc"], tty: 1, env: "PS1=ready>" };
  const client = await connect(alice, params, visitors.from(newAddress()));
  await client.output("ready>");
  const target = isMounted ? "big" : "/dev/full";
  client.type(`head -c 4M /dev/zero > ${target}; echo "code $?"\n`);
  await client.output(/No space left on device[\s\S]*code 1\r\n/);
  // It goes on, and so does whoever starts something now, in this sandbox or in another on the same disk.
  client.type("echo $((6 * 7))\n");
  await client.output(/\r42\r\n/);
  for (const sandbox of ["default", "another"]) {
    const next = await connect(await visitors.person(), cat({ sandbox }), visitors.from(newAddress()));
    const first = await next.until("an answer", () => next.messages("hello")[0] ?? next.messages("bye")[0]);
    expect(first.type).toBe("hello");
    next.type("served");
    await next.output("served");
  }
  client.type("rm -f big; echo small > small && cat small && echo cleaned\n");
  await client.output(/small\r\ncleaned\r\n/);
  client.type("exit 3\n");
  expect((await client.end()).exit).toMatchObject({ code: 3 });
  expect(readFileSync(small.bridge.logFile, "utf8")).not.toMatch(/error|uncaught|panic/i);
});

/** Attaches; undefined where that is refused. */
async function tryAttach(address: string, who?: Person, params = cat()): Promise<TestClient | undefined> {
  const client = await connect(who ?? (await visitors.person()), params, visitors.from(address));
  const answer = await client.until("an answer", () => client.messages("hello")[0] ?? client.messages("bye")[0]);
  return answer.type === "hello" ? client : undefined;
}

/** Asks again and again: that a place is given back is told from one object to another. */
async function until<T>(ask: () => Promise<T | undefined>, intervalMs = 100): Promise<T> {
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`Nothing came of it within ${LIMIT_MS} ms`);
    await delay(intervalMs);
  }
}

async function upgradeStatus(path: string, who: Person, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      Authorization: `Bearer ${who.token}`,
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
      "CF-Connecting-IP": address,
    };
    const asked = request(`${small.origin}${path}`, { headers });
    asked.once("upgrade", (response) => resolve(response.statusCode ?? 0));
    asked.once("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.once("error", reject);
    asked.end();
  });
}
