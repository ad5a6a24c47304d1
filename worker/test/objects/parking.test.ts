// A session that is parked while its clients stay, and whose object is then taken out of memory: over the core's own end of the inner
// hop, with a process that answers each line.
import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { dialectNamed } from "sandbox-stdio/core";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Env } from "../../src/env.ts";
import { COUNTER } from "../../src/metrics/report.ts";
import type { SessionObject } from "../../src/objects/session-object.ts";
import { answersPings } from "../../src/sockets/client-sockets.ts";
import { giveClock } from "../support/given-clock.ts";
import { Bridge, LIMIT, open, PARKING_SETTINGS, parked } from "../support/line-bridge.ts";

const real = env as unknown as Env & Record<string, string>;
const SETTINGS = { ...PARKING_SETTINGS, METRICS_TOKEN: "a token of the metrics", METRICS_SECONDS: "3600" };
/** The counters' object stores its sums so much later. */
const COUNTERS_MS = 10_000;
const before = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, real[name]]));

const clock = giveClock();

beforeEach(() => void Object.assign(real, SETTINGS));

afterEach(() => {
  Object.assign(real, before);
  vi.restoreAllMocks();
});

test("H21, H21a: three clients through evictions, with typing and output between: nothing lost, doubled or said", async () => {
  const stub = real.SESSION.getByName(crypto.randomUUID()) as unknown as DurableObjectStub<SessionObject>;
  const bridge = new Bridge(stub);
  const first = await open(stub, "stdio");
  const second = await open(stub, "stdio", "bob");
  const plain = await open(stub, "plain", "cleo");
  const clients = [first, second, plain];
  first.type("begin\n");
  for (const client of clients) await expect.poll(() => client.output, LIMIT).toBe("got begin\n");
  const news = clients.map((client) => client.news);
  let expected = "got begin\n";
  for (let round = 0; round < 12; round += 1) {
    await parked(stub, clock);
    await evictDurableObject(stub, { webSockets: "hibernate" });
    const calls = bridge.calls;
    const line = `${round}\n`;
    if (round % 4 === 3) {
      bridge.write(line);
      expected += line;
      expect(bridge.calls).toBe(calls + 1);
    } else {
      clients[round % 4]?.type(line);
      expected += `got ${line}`;
    }
    for (const client of clients) await expect.poll(() => client.output, LIMIT).toBe(expected);
  }
  expect(clients.map((client) => client.news)).toEqual(news);
  expect(bridge.typed).toBe("begin\n0\n1\n2\n4\n5\n6\n8\n9\n10\n");
  await expect
    .poll(() => [first.acknowledged, second.acknowledged], LIMIT)
    .toEqual(["begin\n0\n4\n8\n".length, "1\n5\n9\n".length]);
  for (const client of clients) client.close();
  // AUDIT=off: what is acknowledged is nowhere on record.
  const stored = await runInDurableObject(stub, (_object, { storage }) => [...storage.kv.list({ prefix: "audit" })]);
  expect(stored).toEqual([]);
});

test("H21: an object that is parked has neither a timer nor an alarm before its clients' tokens end, nor a place in the bridge's way", async () => {
  const stub = real.SESSION.getByName(crypto.randomUUID()) as unknown as DurableObjectStub<SessionObject>;
  const bridge = new Bridge(stub);
  const client = await open(stub, "stdio");
  client.type("x\n");
  await expect.poll(() => client.output, LIMIT).toBe("got x\n");
  await parked(stub, clock);
  expect(bridge.inner).toBeUndefined();
  // The client's token ends in two hours: it is warned a minute before.
  const alarmMs = await runInDurableObject(stub, (_object, { storage }) => storage.getAlarm());
  expect(alarmMs ?? 0).toBeGreaterThan(Date.now() + 3_600_000);
  // An object that has a timer, or anything else under way, is not evicted.
  await evictDurableObject(stub, { webSockets: "hibernate" });
  // A look at it wakes nobody.
  expect(await stub.openConnections([])).toEqual([]);
  expect(bridge.inner).toBeUndefined();
  client.type("y\n");
  await expect.poll(() => client.output, LIMIT).toBe("got x\ngot y\n");
  client.close();
});

test("H20: an object whose last client has left has no timer that keeps it in memory", async () => {
  const stub = real.SESSION.getByName(crypto.randomUUID()) as unknown as DurableObjectStub<SessionObject>;
  const bridge = new Bridge(stub);
  const client = await open(stub, "stdio");
  client.type("x\n");
  await expect.poll(() => client.output, LIMIT).toBe("got x\n");
  client.close();
  await expect.poll(() => bridge.inner, LIMIT).toBeUndefined();
  await expect.poll(() => clock.timers.filter((ms) => ms !== COUNTERS_MS), LIMIT).toEqual([]);
  await evictDurableObject(stub, { webSockets: "hibernate" });
});

test("H21a: a client that leaves while the session sleeps has left for the others, and for the bridge", async () => {
  const stub = real.SESSION.getByName(crypto.randomUUID()) as unknown as DurableObjectStub<SessionObject>;
  const bridge = new Bridge(stub);
  const first = await open(stub, "stdio");
  const second = await open(stub, "stdio", "bob");
  second.type("x\n");
  for (const client of [first, second]) await expect.poll(() => client.output, LIMIT).toBe("got x\n");
  await parked(stub, clock);
  await evictDurableObject(stub, { webSockets: "hibernate" });
  second.close();
  await expect.poll(() => first.news.filter((text) => text.includes('"leave"')).length, LIMIT).toBe(1);
  await expect.poll(() => [...bridge.session.clients].map(({ name }) => name), LIMIT).toEqual(["alice"]);
  first.close();
});

test("T6a, H21: a revocation reaches the connections of a session that sleeps, and no others of it", async () => {
  const stub = real.SESSION.getByName(crypto.randomUUID()) as unknown as DurableObjectStub<SessionObject>;
  new Bridge(stub);
  const [stays, goes, plain] = [
    await open(stub, "stdio"),
    await open(stub, "stdio", "bob"),
    await open(stub, "plain", "bob"),
  ];
  stays.type("x\n");
  for (const client of [stays, goes, plain]) await expect.poll(() => client.output, LIMIT).toBe("got x\n");
  await parked(stub, clock);
  await evictDurableObject(stub, { webSockets: "hibernate" });
  await stub.revoked({ kind: "sub", value: "bob", atMs: Date.now() }, "home");
  for (const client of [goes, plain]) await expect.poll(() => client.told.at(-1), LIMIT).toBe("closed 4401");
  stays.type("y\n");
  await expect.poll(() => stays.output, LIMIT).toBe("got x\ngot y\n");
  stays.close();
});

test("H21: what a session has counted is reported before its object sleeps", async () => {
  const stub = real.SESSION.getByName(crypto.randomUUID()) as unknown as DurableObjectStub<SessionObject>;
  const received = async () => {
    const text = (await real.COUNTERS?.getByName(COUNTER).read()) ?? "";
    return Number(/^sbx_stdio_received_bytes_total (\d+)$/m.exec(text)?.[1] ?? 0);
  };
  const before = await received();
  new Bridge(stub);
  const client = await open(stub, "stdio");
  const line = `${"x".repeat(5_000)}\n`;
  client.type(line);
  await expect.poll(() => client.output, LIMIT).toBe(`got ${line}`);
  await parked(stub, clock);
  await evictDurableObject(stub, { webSockets: "hibernate" });
  await expect.poll(received, LIMIT).toBeGreaterThan(before + 5_000);
  client.close();
});

test("H21d: the stdio client and the plain one park, and those of other products keep the object awake", () => {
  const names = ["stdio", "plain", "plain-text", "ttyd", "json", "pty", "pty-shared", "addon"];
  const parks = names.filter((name) => dialectNamed(name).acknowledges || answersPings(dialectNamed(name)));
  expect(parks).toEqual(["stdio", "plain"]);
});

test("H21c: after PARK_HOURS the client is told, and a minute later closed as idle", async () => {
  const stub = real.SESSION.getByName(crypto.randomUUID()) as unknown as DurableObjectStub<SessionObject>;
  new Bridge(stub);
  Object.assign(real, { PARK_HOURS: "1" });
  const client = await open(stub, "stdio");
  client.type("x\n");
  await expect.poll(() => client.output, LIMIT).toBe("got x\n");
  await parked(stub, clock);
  const later = async (ms: number) => {
    await runInDurableObject(stub, (_object, { storage }) => {
      const stored = storage.kv.get<{ untilMs: number }>("parked");
      storage.kv.put("parked", { ...stored, untilMs: Date.now() + ms });
    });
    await evictDurableObject(stub, { webSockets: "hibernate" });
    await runDurableObjectAlarm(stub);
  };
  const count = client.news.length;
  await later(30_000);
  await expect.poll(() => client.news.slice(count), LIMIT).toEqual([expect.stringContaining('"code":"idle"')]);
  await later(-1);
  await expect.poll(() => client.news.at(-1), LIMIT).toBe("closed 4408");
});
