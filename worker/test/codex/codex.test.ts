// The parts of codex' exec-server in the Worker that time and policy decide about.
import { evictDurableObject, env as given, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { CodexError } from "sandbox-stdio/codex";
import { afterEach, expect, test, vi } from "vitest";
import { type CodexPlace, type CodexSpec, codexRequest } from "../../src/attach/codex-spec.ts";
import { sessionKey } from "../../src/auth/names.ts";
import { CodexConnection } from "../../src/codex/connection.ts";
import { fileRequest } from "../../src/codex/files.ts";
import { CodexHub, type CodexPorts } from "../../src/codex/hub.ts";
import { nameOf } from "../../src/codex/processes.ts";
import type { Env } from "../../src/env.ts";
import type { SessionObject } from "../../src/objects/session-object.ts";
import { CodexStore } from "../../src/records/codex-store.ts";
import { STDIO_TOKEN } from "../support/secret.ts";

afterEach(() => vi.restoreAllMocks());

const env = given as unknown as Env;
const DAY_MS = 24 * 60 * 60_000;
// What is asked of these parts needs no more of it.
const SPEC = { sandbox: "dev", who: { isAdmin: false } } as unknown as CodexSpec;

const PLACE: CodexPlace = {
  tenant: { issuer: "https://issuer", tenantClaim: "org_id", tenantValue: "org" },
  sandbox: "dev",
  user: undefined,
  actor: { tenant: "org", user: "me", address: "" },
};

/** A session of its client's, as an earlier connection left it. */
const session = (seenMs: number, person = "me") => ({
  person,
  surroundings: { cwd: "file:///" },
  place: PLACE,
  seenMs,
});
const process = (processId: string) => ({
  processId,
  name: nameOf("a", processId),
  hasInput: true,
  sent: 0,
  isClosed: false,
});

test("E2: a day after its last connection a session's processes are ended, in its client's name", async () => {
  const stub = env.SESSION.getByName(crypto.randomUUID());
  await runInDurableObject(stub, async (_, ctx) => {
    const ended: [string, unknown][] = [];
    const SESSION = { getByName: (key: string) => ({ end: async (by: unknown) => void ended.push([key, by]) }) };
    // The hub asks no more of its surroundings for this.
    const hub = new CodexHub({ env: { SESSION }, ctx } as unknown as CodexPorts);
    const store = new CodexStore(ctx.storage.kv);
    store.put("a", session(1_000));
    store.putProcess("a", process("p"));
    store.putProcess("a", { ...process("q"), isClosed: true });
    await hub.tick(DAY_MS + 999);
    expect([ended, hub.dueMs]).toEqual([[], DAY_MS + 1_000]);
    await hub.tick(DAY_MS + 1_000);
    expect(ended).toEqual([[await sessionKey(PLACE.tenant, "dev", nameOf("a", "p")), PLACE.actor]]);
    expect([hub.dueMs, [...ctx.storage.kv.list()]]).toEqual([Number.POSITIVE_INFINITY, []]);
  });
});

test("E2: a session is kept for a day after it was last seen, and its processes with it", async () => {
  const stub = env.SESSION.getByName(crypto.randomUUID());
  await runInDurableObject(stub, (_, { storage: { kv } }) => {
    const store = new CodexStore(kv);
    expect([store.dueMs, store.session("a", 0), store.expire(9e12)]).toEqual([Number.POSITIVE_INFINITY, undefined, []]);
    store.put("a", session(1_000));
    store.putProcess("a", process("p"));
    store.putProcess("a", { ...process("p"), sent: 7 });
    // As a later life of the object finds it.
    const later = new CodexStore(kv);
    expect(later.session("a", DAY_MS)).toEqual(session(1_000));
    expect([...later.processes("a").values()]).toEqual([{ ...process("p"), sent: 7 }]);
    later.seen("a", 5_000);
    expect([later.dueMs, later.expire(DAY_MS + 4_999)]).toEqual([DAY_MS + 5_000, []]);
    expect(later.session("a", DAY_MS + 5_000)).toBeUndefined();
    expect(later.expire(DAY_MS + 5_000)).toEqual([{ place: PLACE, names: [nameOf("a", "p")] }]);
    expect([[...later.processes("a")], later.dueMs]).toEqual([[], Number.POSITIVE_INFINITY]);
  });
});

/** A connection to the object, by a right that ends then. */
async function connect(stub: DurableObjectStub<SessionObject>, expiresAtMs = 9e12): Promise<Client> {
  const own = { persons: [], tokenIds: [] };
  const who = {
    subject: "me",
    name: "Me",
    isGuest: false,
    own,
    ...own,
    mayExec: true,
    isAdmin: false,
    mayCreate: true,
  };
  const pass = { connection: crypto.randomUUID(), address: "a", homeKey: "h" };
  const grant = { ...who, bearer: PLACE.tenant, expiresAtMs, origin: "" };
  const spec: CodexSpec = { ...PLACE, sandboxKey: "k", who: grant, pass, fetches: false };
  const { webSocket } = await stub.fetch(codexRequest(spec));
  if (webSocket === null) throw new Error("no upgrade");
  return new Client(webSocket);
}

class Client {
  readonly heard: { id?: number; result?: object; error?: { code: number } }[] = [];
  closed: { code: number; reason: string } | undefined;
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.accept();
    socket.addEventListener("message", ({ data }) => void this.heard.push(JSON.parse(String(data))));
    socket.addEventListener("close", ({ code, reason }) => {
      this.closed = { code, reason };
    });
  }

  close(): void {
    this.#socket.close(1000, "");
  }

  say(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }

  async ask(id: number, method: string, params: object) {
    this.say({ id, method, params });
    return expect
      .poll(() => this.heard.find((one) => one.id === id))
      .toBeDefined()
      .then(() => this.heard.find((one) => one.id === id));
  }
}

const PERSON = JSON.stringify([PLACE.tenant.issuer, PLACE.tenant.tenantValue, PLACE.tenant.issuer, "me"]);

/** An object that knows the session `a` of whoever {@link connect}s. */
async function known() {
  const stub = env.SESSION.getByName(crypto.randomUUID()) as unknown as DurableObjectStub<SessionObject>;
  await runInDurableObject(stub, (_, { storage }) => new CodexStore(storage.kv).put("a", session(Date.now(), PERSON)));
  // As a later life finds it.
  await evictDurableObject(stub, { webSockets: "close" });
  return stub;
}

const RESUME = { clientName: "test", resumeSessionId: "a" };

test("E2: an idle client's object needs no memory, and goes on with it as if nothing had been", async () => {
  const stub = await known();
  const client = await connect(stub);
  expect((await client.ask(1, "initialize", RESUME))?.result).toMatchObject({ sessionId: "a" });
  client.say({ method: "initialized" });
  for (let id = 2; id < 5; id += 1) {
    // It would not be let go with a timer, a call or a socket of the usual kind.
    await evictDurableObject(stub, { webSockets: "hibernate" });
    const { error } = (await client.ask(id, "process/read", { processId: "p" })) ?? {};
    expect(error).toEqual({ code: -32600, message: "there is no such process in this session" });
  }
  await evictDurableObject(stub, { webSockets: "hibernate" });
  const second = await connect(stub);
  await second.ask(1, "initialize", RESUME);
  await expect.poll(() => client.closed?.code).toBe(1000);
  expect(second.closed).toBeUndefined();
});

test("E1: an idle client whose right ends is closed with 1008, by the alarm if its object is out of memory", async () => {
  const stub = await known();
  const endMs = Date.now() + 3_600_000;
  const client = await connect(stub, endMs);
  await client.ask(1, "initialize", RESUME);
  await evictDurableObject(stub, { webSockets: "hibernate" });
  await expect.poll(() => runInDurableObject(stub, (_, { storage }) => storage.getAlarm())).toBe(endMs);
  vi.spyOn(Date, "now").mockReturnValue(endMs + 1);
  await runDurableObjectAlarm(stub);
  await expect.poll(() => client.closed).toEqual({ code: 1008, reason: "token expired" });
});

test("E2: a client that leaves while its object is out of memory has a day from then", async () => {
  const stub = await known();
  const client = await connect(stub);
  await client.ask(1, "initialize", RESUME);
  await evictDurableObject(stub, { webSockets: "hibernate" });
  const leftMs = Date.now() + 3_600_000;
  vi.spyOn(Date, "now").mockReturnValue(leftMs);
  client.close();
  const seen = () => runInDurableObject(stub, (_, { storage }) => new CodexStore(storage.kv).session("a", 0)?.seenMs);
  await expect.poll(seen).toBe(leftMs);
});

test("what is not answered yet has a bound in bytes, beside one request", async () => {
  const said: { id: number; error?: { code: number } }[] = [];
  const socket = { send: (text: string) => void said.push(JSON.parse(text)) } as unknown as WebSocket;
  const answers: (() => void)[] = [];
  const request = () => new Promise<object>((resolve) => void answers.push(() => resolve({})));
  const handler = { request, heard: () => undefined, answered: () => undefined, ended: () => undefined };
  const connection = new CodexConnection(socket, { spec: SPEC, session: undefined }, handler);
  const ask = (id: number, length: number) =>
    connection.received(JSON.stringify({ id, method: "m", params: "x".repeat(length) }));
  ask(1, 9_000_000);
  ask(2, 1);
  expect(said).toMatchObject([{ id: 2, error: { code: -32000 } }]);
  answers.shift()?.();
  await expect.poll(() => said.at(-1)).toEqual({ id: 1, result: {} });
  for (let id = 3; id < 12; id += 1) ask(id, 1_000_000);
  expect([answers.length, said.at(-1)]).toMatchObject([8, { id: 11, error: { code: -32000 } }]);
});

test("E3: the name of a process's session is made of the session's id and the process's", () => {
  const name = nameOf("0".repeat(32), "p");
  expect(name).toMatch(/^codex-[0-9a-f]{20}$/);
  expect(nameOf("1".repeat(32), "p")).not.toBe(name);
});

test("E6: with COMMAND_ALLOW reading and writing need entries of their own", async () => {
  const path = "file:///tmp/a";
  const outcome = async (allowed: string, method: string) => {
    // Nothing answers there: what is let through fails otherwise.
    const bridge = { BRIDGE_URL: "http://127.0.0.1:9", STDIO_TOKEN };
    const params = { path, dataBase64: "" };
    const asked = fileRequest({ ...env, ...bridge, COMMAND_ALLOW: allowed }, undefined, SPEC, "s", method, params);
    const error: unknown = await asked.catch((one: unknown) => one);
    return error instanceof CodexError ? error.message : error;
  };
  const refused = expect.stringContaining("is not among those that may be");
  const reached = expect.stringContaining("can't be reached");
  expect(await outcome("bash", "fs/readFile")).toEqual(refused);
  expect(await outcome("bash, fs:read", "fs/readFile")).toEqual(reached);
  expect(await outcome("bash, fs:read", "fs/writeFile")).toEqual(refused);
  expect(await outcome("bash, fs:write", "fs/remove")).toEqual(reached);
  expect(await outcome("", "fs/writeFile")).toEqual(reached);
});
