// A process has taken the bridge of its sandbox over: whatever that answers, the Worker reads no more of it than it has to, passes
// nothing on that it can't read, and another tenant's session goes on. On a system of its own.
import { mkdtempSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { WebSocket } from "ws";
import { anyFreePort } from "../../../packages/local/src/base/ports.ts";
import { sandboxKey } from "../../../worker/src/auth/names.ts";
import { connect, type TestClient } from "../support/clients/client.ts";
import { HELLO, HostileBridge, type Hostility, pour } from "../support/servers/hostile-bridge.ts";
import { type System, startSystem } from "../support/system/own-system.ts";
import { namedInGroup, residentBytes } from "../support/system/processes.ts";
import { fresh, type Person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const MIB = 1024 * 1024;
const dir = mkdtempSync(join(tmpdir(), "sbx-hostile-"));
let system: System;
let bridge: HostileBridge;
let server: string;
let bystander: TestClient;

beforeAll(async () => {
  const port = await anyFreePort();
  bridge = await HostileBridge.listen(port);
  const workerVars = { TENANT_CLAIM: "org_id", BRIDGE_URL: bridge.url, LIMIT_ATTACHES_PER_MINUTE: "1000" };
  system = await startSystem({ dir, ports: { bridge: port }, workerVars });
  server = system.origin.replace(/^http/, "ws");
});

beforeEach(async () => {
  bystander = await connect(await person(), { cmd: "cat" }, { server });
  await bystander.hello();
});

afterAll(async () => {
  await system?.stop();
  await bridge?.close();
  rmSync(dir, { recursive: true, force: true });
});

async function person(): Promise<Person> {
  const [sub, org] = [fresh("person"), fresh("org")];
  return { sub, org, token: await system.mintToken({ sub, org }) };
}

/** Somebody whose sandbox has this bridge. */
async function withBridge(hostility: Hostility): Promise<Person> {
  const who = await person();
  const tenant = { issuer: system.issuerUrl, tenantClaim: "org_id", tenantValue: who.org } as const;
  bridge.become(await sandboxKey(tenant, "default"), hostility);
  return who;
}

async function expectBystanderServed(): Promise<void> {
  const line = `${fresh("echo")}\n`;
  bystander.type(line);
  await bystander.output(line);
}

const workerBytes = () => {
  return namedInGroup("workerd", system.pids.worker).reduce((sum, pid) => sum + residentBytes(pid), 0);
};

const api = (who: Person, path: string, method = "GET") =>
  fetch(`${system.origin}/api/sandboxes/default/sessions${path}`, {
    method,
    headers: { Authorization: `Bearer ${who.token}` },
  });

/** A session that is known and has nobody attached, so that its bridge is asked how it is. */
async function knownSession(answer: Hostility["answer"]): Promise<Person> {
  const who = await withBridge({ hop: (hop) => hop.send(JSON.stringify(HELLO)), ...(answer && { answer }) });
  const client = await connect(who, { session: "s", cmd: "cat" }, { server });
  await client.hello();
  await client.leave();
  return who;
}

const BASE = { session: "s", incarnation: "hostile", tty: false, cmd: "cat", args: [], clients: 0 };
const listed = (fields: object) =>
  JSON.stringify({ sessions: [{ ...HELLO, session: "s", state: "running", clients: 0, ...fields }] });
const json = (text: string) => (_asked: unknown, response: ServerResponse) => void response.end(text);

describe("asked how a session is, a bridge that answers", () => {
  test.each<[string, Hostility["answer"]]>([
    ["what is no JSON", json("no JSON")],
    ["100,000 lists in each other", json("[".repeat(100_000))],
    ["with a redirect to itself", (asked, response) => void response.writeHead(302, { Location: asked.url }).end()],
    ["by hanging up", (_asked, response) => void response.destroy()],
  ])("%s is taken for one that knows nothing of it", async (_what, answer) => {
    const who = await knownSession(answer);
    const response = await api(who, "/s");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      ...BASE,
      inputOffset: 0,
      createdAt: HELLO.createdAt,
      state: "lost",
      offset: 0,
    });
  });

  test("more than it was asked for has no more than that passed on", async () => {
    const exit = { code: 3, signal: "SIGTERM", note: "more" };
    const who = await knownSession(json(listed({ state: "exited", offset: 7, exit, secret: "x", clients: 9 })));
    expect(await (await api(who, "/s")).json()).toEqual({
      ...{ ...BASE, inputOffset: 0, createdAt: HELLO.createdAt, state: "exited", offset: 7 },
      exit: { code: 3, signal: "SIGTERM" },
    });
  });

  test("is asked nothing at the address that it redirects to, which would be told its secret", async () => {
    const asked: string[] = [];
    const elsewhere = await withBridge({ answer: (request) => void asked.push(String(request.headers.authorization)) });
    const tenant = { issuer: system.issuerUrl, tenantClaim: "org_id", tenantValue: elsewhere.org } as const;
    const Location = `${bridge.url}/sessions?sandbox=${await sandboxKey(tenant, "default")}`;
    const who = await knownSession((_asked, response) => void response.writeHead(307, { Location }).end());
    expect(await (await api(who, "/s")).json()).toMatchObject({ state: "lost" });
    expect(asked).toEqual([]);
  });

  test.each([
    ["without an end", "GET"],
    ["a byte now and then", "GET"],
    ["not at all", "DELETE"],
  ])("%s, to %s, costs no memory and nobody else's time", async (how, method) => {
    let poured = () => 0;
    const who = await knownSession((_asked, response) => {
      if (how === "not at all") return;
      response.writeHead(200, { "Content-Type": "application/json" });
      response.write('{"sessions":[');
      if (how === "without an end") poured = pour(response, Buffer.alloc(256 * 1024, "0,"));
      else {
        const drip = setInterval(() => response.write(" "), 100);
        response.on("close", () => clearInterval(drip));
      }
    });
    const before = workerBytes();
    let isAnswered = false;
    const answered = api(who, "/s", method).finally(() => {
      isAnswered = true;
    });
    while (!isAnswered) {
      await expectBystanderServed();
      expect(poured()).toBeLessThan(64 * MIB);
      await delay(100);
    }
    const response = await answered;
    if (method === "GET") expect(await response.json()).toMatchObject({ state: "lost" });
    else expect(response.status).toBe(204);
    expect(workerBytes() - before).toBeLessThan(150 * MIB);
  });
});

describe("asked for a session, a bridge that answers", () => {
  test.each<[string, Hostility, number]>([
    ["a redirect to itself", { upgrade: raw("HTTP/1.1 302 Found\r\nLocation: /attach?sandbox=x\r\n\r\n") }, 1011],
    ["an error as an endless text", { upgrade: endless("HTTP/1.1 500 No\r\n\r\n") }, 4503],
    ["an error that nests", { upgrade: raw(`HTTP/1.1 409 No\r\n\r\n${"[".repeat(50_000)}`) }, 1011],
  ])("%s refuses its client, and serves the others", async (_what, hostility, code) => {
    const who = await withBridge(hostility);
    const before = workerBytes();
    const client = await connect(who, { session: "s", cmd: "cat" }, { server });
    const end = client.end();
    await expectBystanderServed();
    expect((await end).code).toBe(code);
    await expectBystanderServed();
    expect(workerBytes() - before).toBeLessThan(150 * MIB);
  });

  function raw(text: string): NonNullable<Hostility["upgrade"]> {
    return (_asked, socket) => {
      socket.end(text);
      return true;
    };
  }

  function endless(head: string): NonNullable<Hostility["upgrade"]> {
    return (_asked, socket) => {
      socket.write(head);
      const more = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(64 * 1024, "x")));
      };
      socket.on("drain", more);
      more();
      return true;
    };
  }
});

describe("on the inner hop, a bridge that sends", () => {
  /** Its hops, each greeted; `then` happens on each. */
  async function hopWith(then: (hop: WebSocket) => void, hello: object = {}) {
    const hops: { readonly closed: Promise<number> }[] = [];
    const who = await withBridge({
      hop: (hop) => {
        hops.push({ closed: new Promise((resolve) => hop.on("close", resolve)) });
        hop.send(JSON.stringify({ ...HELLO, ...hello }));
        // Once its client is attached.
        hop.once("message", () => then(hop));
      },
    });
    return { who, hops };
  }

  const RESIZES = '{"type":"resize","cols":80,"rows":24,"offset":0}';
  test.each<[string, (hop: WebSocket) => void]>([
    ["30 MiB in one frame", (hop) => hop.send(Buffer.alloc(30 * MIB, 1))],
    ["a text over 64 KiB", (hop) => hop.send(`{"type":"later","text":"${"x".repeat(65_536)}"}`)],
    ["20,000 changes of size", (hop) => flood(hop, (i) => RESIZES.replace("24", String(1 + (i % 500))))],
  ])("%s is let go of, and asked again", async (_what, then) => {
    const { who, hops } = await hopWith(then, { tty: true });
    const before = workerBytes();
    const client = await connect(who, { session: "s", cmd: "cat", tty: 1, cols: 80, rows: 24 }, { server });
    await client.hello();
    const closed = await until("a hop", () => hops[0]?.closed);
    expect([1001, 1005, 1006]).toContain(await closed);
    await until("the next one", () => hops.length > 1);
    await expectBystanderServed();
    expect(workerBytes() - before).toBeLessThan(200 * MIB);
    client.drop();
  });

  function flood(hop: WebSocket, message: (i: number) => string | Buffer): void {
    for (let i = 0; i < 20_000; i += 1) hop.send(message(i));
  }

  test("a greeting and a farewell, over and over, is met ever more slowly", async () => {
    const { who, hops } = await hopWith((hop) => hop.close(1000));
    const client = await connect(who, { session: "s", cmd: "cat" }, { server });
    await client.hello();
    await until("the first breaks", () => hops.length >= 20);
    const before = hops.length;
    await delay(3_000);
    expect(hops.length - before).toBeLessThan(40);
    await expectBystanderServed();
    client.drop();
  });

  test("a close with a code that nobody may send has its client told, and closed, all the same", async () => {
    const bye = (client: string) => JSON.stringify({ type: "bye", client, code: 1005, reason: "x".repeat(4_000) });
    const who = await withBridge({
      hop: (hop) => {
        hop.send(JSON.stringify(HELLO));
        hop.on("message", (data) => {
          const said = JSON.parse(String(data)) as { type: string; client: string };
          if (said.type === "attach") hop.send(bye(said.client));
        });
      },
    });
    const client = await connect(who, { session: "s", cmd: "cat" }, { server });
    const { code, bye: told } = await client.end();
    expect(code).toBe(1011);
    expect(told?.code).toBe(1011);
  });
});
