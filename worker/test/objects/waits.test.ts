// Waits at a session whose object leaves memory meanwhile, asked as the Worker asks them: over the core's own end of the inner hop.
import { env, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Env } from "../../src/env.ts";
import { SessionObject } from "../../src/objects/session-object.ts";
import { requestOf, unpackAnswer, type WaitOperation } from "../../src/programs/operations/call.ts";
import { askWaiting } from "../../src/programs/wait-socket.ts";
import { giveClock } from "../support/given-clock.ts";
import { Bridge, LIMIT, open, parked, PARKING_SETTINGS as SETTINGS } from "../support/line-bridge.ts";

const real = env as unknown as Env & Record<string, string>;
const before = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, real[name]]));

const clock = giveClock();

beforeEach(() => void Object.assign(real, SETTINGS));

afterEach(() => {
  Object.assign(real, before);
  vi.restoreAllMocks();
});

type Asked = { readonly from?: number; readonly timeoutMs?: number; readonly subject?: string };

/** A session with a process, and nobody attached. */
class Waited {
  readonly sessionKey = crypto.randomUUID();
  readonly stub = real.SESSION.getByName(this.sessionKey) as unknown as DurableObjectStub<SessionObject>;
  readonly bridge = new Bridge(this.stub);
  /** What those that were asked have come to, by their names. */
  readonly answers = new Map<string, { status: number; body: Readonly<Record<string, unknown>>; atMs: number }>();

  /** As long as somebody is attached, the process is there. */
  async begin(): Promise<{ close(): void }> {
    const client = await open(this.stub, "stdio");
    client.type("begin\n");
    await expect.poll(() => client.output, LIMIT).toBe("got begin\n");
    return client;
  }

  wait(
    name: string,
    until: WaitOperation["until"],
    asked: Asked = {},
    signal = new AbortController().signal,
  ): Promise<void> {
    const { from = 0, timeoutMs = 600_000, subject = "alice" } = asked;
    const operation = { type: "wait", until, from, timeoutMs, maxBytes: 8_192 } as const;
    const call = { ...this.#call(subject), operation };
    return askWaiting({ env: real, sessionKey: this.sessionKey, signal }, call).then(
      ({ status, body }) => void this.answers.set(name, { status, body, atMs: Date.now() }),
    );
  }

  /** A program asks for a person. */
  async ask(): Promise<{ status: number; body: Readonly<Record<string, unknown>> }> {
    const operation = { type: "keyboard", writer: "api", do: "ask", reason: "y?", secret: false } as const;
    return unpackAnswer(await this.stub.fetch(requestOf({ ...this.#call("alice"), operation }, undefined)));
  }

  #call(subject: string) {
    const own = { persons: [{ subject }], tokenIds: [] };
    const may = { mayExec: true, isAdmin: false, mayCreate: true };
    const who = { subject, name: subject, isGuest: false, ...may, ...own, own, origin: "" };
    return {
      ...{ sandboxKey: "0123456789abcdef", sandbox: "dev", session: "s", incarnation: "the-only-one" },
      who: { ...who, expiresAtMs: Date.now() + 7_200_000 },
      actor: { tenant: "t", user: subject, address: "" },
      pass: { connection: crypto.randomUUID(), address: "unknown", homeKey: "home" },
      mayStart: false,
    } as const;
  }

  held(): Promise<number> {
    return runInDurableObject(this.stub, (_object, state) => state.getWebSockets("wait").length);
  }

  async sleep(): Promise<void> {
    await parked(this.stub, clock);
    // An object that has a timer, or anything else under way, is not evicted.
    await evictDurableObject(this.stub, { webSockets: "hibernate" });
  }

  get names(): string[] {
    return [...this.answers.keys()].sort();
  }
}

test("H21e: waits of every kind through evictions: each is answered right, none is missed, none early", async () => {
  const at = new Waited();
  const client = await at.begin();
  at.bridge.write("half a nee");
  const asked = [
    at.wait("text", { text: "needle" }),
    at.wait("match", { match: "^(\\w+) is here$", flags: "m" }),
    at.wait("beginning", { match: "^late" }),
    at.wait("behind", { text: "needle" }, { from: 30 }),
    at.wait("never", { text: "never" }),
    at.wait("exit", { exit: true }),
  ];
  await expect.poll(() => at.held(), LIMIT).toBe(6);
  client.close();
  await at.sleep();
  at.bridge.write("dle\n");
  await expect.poll(() => at.names, LIMIT).toEqual(["text"]);
  expect(at.answers.get("text")).toMatchObject({
    status: 200,
    body: {
      outcome: "met",
      offset: 23,
      match: { from: 17, to: 23, text: "needle" },
      output: "got begin\nhalf a needle\n",
    },
  });
  await at.sleep();
  at.bridge.write("late news\nnobody is here\n");
  await expect.poll(() => at.names, LIMIT).toEqual(["match", "text"]);
  expect(at.answers.get("match")?.body).toMatchObject({
    match: { from: 34, to: 48, text: "nobody is here", groups: ["nobody"] },
  });
  await at.sleep();
  at.bridge.write("a needle\n");
  await expect.poll(() => at.names, LIMIT).toEqual(["behind", "match", "text"]);
  expect(at.answers.get("behind")?.body).toMatchObject({ match: { from: 51, to: 57 } });
  await at.sleep();
  at.bridge.exit(7);
  await Promise.all(asked);
  expect(at.answers.get("exit")?.body).toMatchObject({ outcome: "met", exit: { code: 7 } });
  for (const name of ["beginning", "never"]) {
    expect(at.answers.get(name)?.body).toMatchObject({ outcome: "exited", exit: { code: 7 }, offset: 58 });
  }
});

test("H21e: nothing runs in an object with waits for an hour, attached or not, until there is news", async () => {
  const at = new Waited();
  const client = await at.begin();
  const asked = at.wait("news", { text: "news" }, { timeoutMs: 3_600_000 });
  await expect.poll(() => at.held(), LIMIT).toBe(1);
  client.close();
  await parked(at.stub, clock);
  expect(at.bridge.inner).toBeUndefined();
  // The bridge holds the process for those who wait, as it does for those who are attached.
  expect(at.bridge.keptSeconds).toBeGreaterThan(3_500);
  const alarmMs = await runInDurableObject(at.stub, (_object, { storage }) => storage.getAlarm());
  expect(alarmMs ?? Number.POSITIVE_INFINITY).toBeGreaterThan(Date.now() + 3_600_000);
  const handlers = (["fetch", "webSocketMessage", "webSocketClose", "alarm", "called"] as const).map((name) =>
    vi.spyOn(SessionObject.prototype, name),
  );
  await evictDurableObject(at.stub, { webSockets: "hibernate" });
  // A look at it wakes nobody.
  expect(await at.stub.openConnections([])).toEqual([]);
  // Whatever is under way in an object keeps it from being evicted, so a second eviction shows that nothing has begun.
  await evictDurableObject(at.stub, { webSockets: "hibernate" });
  expect(handlers.map(({ mock }) => mock.calls.length)).toEqual([0, 0, 0, 0, 0]);
  expect(at.bridge.inner).toBeUndefined();
  at.bridge.write("news\n");
  await asked;
  expect(at.answers.get("news")?.body).toMatchObject({ outcome: "met", match: { from: 10, to: 14 } });
});

test("H21e: the Worker keeps the time while the object sleeps: idle is met, a time-out is told", async () => {
  const at = new Waited();
  const client = await at.begin();
  const since = Date.now();
  const asked = [
    at.wait("idle", { idleMs: 12_000 }),
    at.wait("timeout", { text: "never" }, { timeoutMs: 12_000 }),
    at.wait("idle again", { idleMs: 14_000 }),
  ];
  await expect.poll(() => at.held(), LIMIT).toBe(3);
  client.close();
  await at.sleep();
  /** Time passes, a tenth of a second at a time, until so many have been answered. */
  const pass = async (count: number) => {
    const answered = () => {
      // The third is due then, and the first two may take long to be answered.
      if (count === 3 || Date.now() < since + 13_000) clock.putForward(100);
      return at.names.length;
    };
    await expect.poll(answered, LIMIT).toBe(count);
  };
  await pass(2);
  for (const name of at.names) expect((at.answers.get(name)?.atMs ?? 0) - since).toBeGreaterThanOrEqual(12_000);
  expect(at.answers.get("timeout")?.body).toMatchObject({ outcome: "timeout", offset: 10, output: "got begin\n" });
  expect(at.answers.get("idle")?.body).toMatchObject({ outcome: "met", offset: 10 });
  expect(at.names).toEqual(["idle", "timeout"]);
  const wroteAt = Date.now();
  // Its hop is open: what is sent on it is sent from within the object.
  await runInDurableObject(at.stub, () => at.bridge.write("busy\n"));
  await pass(3);
  await Promise.all(asked);
  expect((at.answers.get("idle again")?.atMs ?? 0) - wroteAt).toBeGreaterThanOrEqual(14_000);
  expect(at.answers.get("idle again")?.body).toMatchObject({ outcome: "met", offset: 15 });
});

test("H21e, R1: a revocation ends a wait that sleeps, and a caller who goes away leaves none", async () => {
  const at = new Waited();
  const client = await at.begin();
  const gone = new AbortController();
  const revoked = at.wait("revoked", { exit: true }, { subject: "bob" });
  const left = at.wait("left", { exit: true }, {}, gone.signal);
  await expect.poll(() => at.held(), LIMIT).toBe(2);
  client.close();
  await at.sleep();
  await at.stub.revoked({ kind: "sub", value: "bob", atMs: Date.now() }, "home");
  await revoked;
  expect(at.answers.get("revoked")).toMatchObject({ status: 401, body: { error: "revoked" } });
  await at.sleep();
  gone.abort();
  await left;
  await expect.poll(() => at.held(), LIMIT).toBe(0);
});

test("H21e: a wait whose socket ends with its object is an honest 503, for the Worker to ask again", async () => {
  const at = new Waited();
  const client = await at.begin();
  const asked = at.wait("cut", { text: "x" });
  await expect.poll(() => at.held(), LIMIT).toBe(1);
  client.close();
  await parked(at.stub, clock);
  await evictDurableObject(at.stub, { webSockets: "close" });
  await asked;
  expect(at.answers.get("cut")).toMatchObject({ status: 503, body: { error: "unavailable" } });
});

test("K11: an ask is open for 15 minutes with its object awake, and then has expired", async () => {
  const at = new Waited();
  const client = await at.begin();
  const { status, body } = await at.ask();
  expect(status).toBe(200);
  const asked = at.wait("ask", { ask: String(body.ask) }, { timeoutMs: 3_600_000 });
  await expect.poll(() => at.held(), LIMIT).toBe(1);
  expect(await at.ask()).toMatchObject({ status: 409, body: { error: "ask_open" } });
  clock.putForward(14 * 60_000);
  expect(await at.ask()).toMatchObject({ status: 409, body: { error: "ask_open" } });
  clock.putForward(61_000);
  await asked;
  expect(at.answers.get("ask")?.body).toMatchObject({ outcome: "met", answer: "expired" });
  client.close();
});
