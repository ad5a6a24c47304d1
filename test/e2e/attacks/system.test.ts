// What could bring a whole system down, over one of its own: its limits, one address that knocks without a pause, a full disk.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import WebSocket from "ws";
import { type ConnectOptions, connect, type Params } from "../support/clients/client.ts";
import { type System, startSystem } from "../support/system/own-system.ts";
import { namedInGroup, residentBytes } from "../support/system/processes.ts";
import { fresh, type Person } from "../support/system/system.ts";
import { within } from "../support/system/wait.ts";

const MIB = 1024 * 1024;
const LIMIT = 20;
const dir = mkdtempSync(join(tmpdir(), "sbx-attacks-"));
const sandboxes = join(dir, "disk");
let system: System;
let isMounted = false;

beforeAll(async () => {
  mkdirSync(sandboxes, { mode: 0o700 });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", sandboxes], { stdio: "pipe" });
    isMounted = true;
  } catch {
    // Only root may. /dev/full then stands for the disk: whatever is written there finds it full.
  }
  system = await startSystem({
    dir,
    bridgeEnv: { SANDBOX_ROOT: sandboxes },
    workerVars: { TENANT_CLAIM: "org_id", LIMIT_CONNECTIONS_PER_IP: String(LIMIT), LIMIT_ATTACHES_PER_MINUTE: "2000" },
  });
});

afterAll(async () => {
  await system?.stop();
  if (isMounted) execFileSync("umount", [sandboxes]);
  rmSync(dir, { recursive: true, force: true });
});

async function person(): Promise<Person> {
  const [sub, org] = [fresh("person"), fresh("org")];
  return { sub, org, token: await system.mintToken({ sub, org }) };
}
const from = (address: string, options: ConnectOptions = {}): ConnectOptions => ({
  ...options,
  server: system.origin.replace(/^http/, "ws"),
  headers: { "CF-Connecting-IP": address },
});

/** What a knock was answered with: `hello`, the code of a `bye`, an HTTP status, or what went wrong. */
function knock(who: Person, session: string, isPlain: boolean): Promise<string> {
  const url = `${system.origin.replace(/^http/, "ws")}/attach?session=${session}&cmd=cat&keep=0`;
  const headers = { Authorization: `Bearer ${who.token}`, "CF-Connecting-IP": "198.51.100.1" };
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

test("1,000 connections from one address, as fast as they come: as many as the limit says are let in, and others work on", {
  timeout: 120_000,
}, async () => {
  const alice = await person();
  const params: Params = { session: fresh("s"), cmd: "cat" };
  const hers = await connect(alice, params, from("198.51.100.2"));
  await hers.hello();
  const mallory = await person();
  const session = fresh("s");
  const ids = [system.pids.bridge, ...namedInGroup("workerd", system.pids.worker)];
  const before = ids.map(residentBytes);
  const started = Date.now();
  const echoes: number[] = [];
  const typing = (async () => {
    for (let i = 0; i < 20; i += 1) {
      const typed = Date.now();
      hers.type(`echo ${i}\n`);
      await hers.output(`echo ${i}\n`);
      echoes.push(Date.now() - typed);
    }
  })();
  const answers = await within(
    "1,000 answers",
    Promise.all(Array.from({ length: 1_000 }, (_none, i) => knock(mallory, session, i % 2 === 1))),
    100_000,
  );
  await typing;
  const tally: Record<string, number> = {};
  for (const answer of answers) tally[answer] = (tally[answer] ?? 0) + 1;
  const grown = ids.map((pid, i) => Math.round((residentBytes(pid) - (before[i] ?? 0)) / MIB));
  console.log(`${Date.now() - started} ms, slowest echo ${Math.max(...echoes)} ms, grown by ${grown.join(", ")} MiB`);
  // A place is asked for each, in whatever order they come: who is refused is told so in its own way, and nobody else's.
  const { "4429": closed = 0 } = tally;
  expect(tally).toEqual({ hello: LIMIT, "4429": closed, "HTTP 429": 1_000 - LIMIT - closed });
  expect(Math.max(...grown)).toBeLessThan(500);
  for (const socket of knocking) socket.terminate();
  const next = await connect(alice, params, from("198.51.100.3"));
  expect((await next.hello()).incarnation).toBe((await hers.hello()).incarnation);
});

test("on a full disk a session goes on, programs are told, and the disk's own sandbox can be cleaned from within", async () => {
  const alice = await person();
  const params: Params = { session: fresh("s"), cmd: "bash", arg: ["--norc"], tty: 1, env: "PS1=ready>" };
  const client = await connect(alice, params, from("198.51.100.4"));
  await client.output("ready>");
  const target = isMounted ? "big" : "/dev/full";
  client.type(`head -c 4M /dev/zero > ${target}; echo "code $?"\n`);
  await client.output(/No space left on device[\s\S]*code 1\r\n/);
  // It goes on, and so does whoever starts something now, in this sandbox or in another on the same disk.
  client.type("echo $((6 * 7))\n");
  await client.output(/\r42\r\n/);
  for (const sandbox of ["default", "another"]) {
    const next = await connect(await person(), { sandbox, session: fresh("s"), cmd: "cat" }, from("198.51.100.5"));
    const first = await next.until("an answer", () => next.messages("hello")[0] ?? next.messages("bye")[0]);
    expect(first.type).toBe("hello");
    next.type("served");
    await next.output("served");
  }
  client.type("rm -f big; echo small > small && cat small && echo cleaned\n");
  await client.output(/small\r\ncleaned\r\n/);
  client.type("exit 3\n");
  expect((await client.end()).exit).toMatchObject({ code: 3 });
  expect(readFileSync(system.bridge.logFile, "utf8")).not.toMatch(/error|uncaught|panic/i);
});
