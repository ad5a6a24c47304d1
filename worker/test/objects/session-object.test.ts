// The session's Durable Object over a stand-in for the bridge: what can only be shown with its clock, or with what it waits
// for, in a test's hands.
import { env, runInDurableObject } from "cloudflare:test";
import { ServerConnection } from "sandbox-stdio/core";
import { afterEach, expect, test, vi } from "vitest";
import { INNER_HELLO } from "../../../packages/sandbox-stdio/test/support/hello.ts";
import type { Env } from "../../src/env.ts";
import { SessionObject } from "../../src/objects/session-object.ts";
import type { SessionRecord } from "../../src/records/session-store.ts";
import { attach } from "../support/attach.ts";
import { GREETED_SETTINGS, greeting, standInForBridge } from "../support/stand-in-bridge.ts";

const real = env as unknown as Env;

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Runs with a session's object in place of the one that the runtime made: its lasting sockets' events go to that one. */
function withSession(
  run: (object: SessionObject, state: DurableObjectState) => Promise<void>,
  audit: "content" | "off" = "off",
): Promise<void> {
  standInForBridge();
  const stub = real.SESSION.getByName(crypto.randomUUID());
  return runInDurableObject(stub, (_made, state) => {
    const settings = { ...GREETED_SETTINGS, AUDIT: audit };
    return run(new SessionObject(state, { ...real, ...settings }), state);
  });
}

test("a client whose session is ended during its attach is told to come back", () =>
  withSession(async (object) => {
    const sign = crypto.subtle.sign.bind(crypto.subtle);
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    const signing = new Promise<void>((resolve) => {
      vi.spyOn(crypto.subtle, "sign").mockImplementation(async (...args) => {
        resolve();
        await held;
        return sign(...args);
      });
    });
    const client = await attach(object);
    await signing; // The session is there, and the proof to resume it by is being made.
    expect(await object.end()).toBe(true);
    go();
    const greeted = client.next("hello");
    expect(await Promise.race([client.next("bye"), greeted])).toMatchObject({ type: "bye", code: 1012, retry: "now" });
  }));

test("a client whose attach fails half way is told to come back, and not left without an answer", () =>
  withSession(async (object) => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    vi.spyOn(crypto.subtle, "sign").mockRejectedValueOnce(new Error("no key"));
    const client = await attach(object);
    const greeted = client.next("hello");
    expect(await Promise.race([client.next("bye"), greeted])).toMatchObject({
      type: "bye",
      code: 1011,
      retry: "after",
    });
    expect(logged).toHaveBeenCalledOnce();
    const again = await attach(object);
    expect(await again.next("hello")).toMatchObject({ type: "hello", session: "s" });
  }));

test("a client whose attach fails at its end is not left among the others", () =>
  withSession(async (object) => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const attachTo = ServerConnection.prototype.attach;
    vi.spyOn(ServerConnection.prototype, "attach").mockImplementationOnce(function (this: ServerConnection, ...to) {
      attachTo.apply(this, to);
      throw new Error("thrown by the test");
    });
    const client = await attach(object);
    expect(await client.next("bye")).toMatchObject({ code: 1011, retry: "after" });
    const hello = await (await attach(object)).next("hello");
    expect(hello.participants).toEqual([hello.you]);
  }));

test("a client whose message can't be dealt with is told to come back, with its place kept", () =>
  withSession(async (object, state) => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const client = await attach(object);
    const { you } = await client.next("hello");
    const [own] = state.getWebSockets();
    if (own === undefined) throw new Error("no socket");
    object.webSocketMessage(own, JSON.stringify({ type: "ack", offset: 0 }));
    vi.spyOn(ServerConnection.prototype, "receive").mockImplementationOnce(() => {
      throw new Error("thrown by the test");
    });
    object.webSocketMessage(own, new ArrayBuffer(1));
    expect(await client.next("bye")).toMatchObject({ code: 1011, retry: "after" });
    expect(logged).toHaveBeenCalledOnce();
    const { participants } = await (await attach(object)).next("hello");
    expect(participants).toContainEqual(you);
  }));

test("A12: a process whose exit is stored while it makes way is replaced all the same", () =>
  withSession(async (object, state) => {
    const { response, bridge } = greeting();
    vi.mocked(fetch).mockResolvedValueOnce(response);
    const first = await attach(object);
    await first.next("hello");
    // Its exit is told, and not stored yet: what the bridge knows of its commands is on the way.
    bridge.send(JSON.stringify({ type: "exit", code: 3, offset: 0 }));
    await first.next("exit");
    const storedExit = () => state.storage.kv.get<SessionRecord>("session")?.exit;
    expect(storedExit()).toBe(undefined);
    vi.mocked(fetch).mockImplementation(async (_url, init) => {
      if (init?.method !== "DELETE") return greeting("i2").response;
      bridge.close(1001); // Now there is no more to come, and it is stored.
      await expect.poll(storedExit).toBeDefined();
      return new Response(null, { status: 204 });
    });
    const next = await attach(object, false, { ended: "replace", attempt: { life: "later", number: 0 } });
    expect(await next.next("hello")).toMatchObject({ incarnation: "i2" });
  }));

test("H14: clients hear that another server stands in the bridge's place, and the process is kept", () =>
  withSession(async (object) => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const { response, bridge } = greeting();
    vi.mocked(fetch).mockResolvedValueOnce(response);
    const client = await attach(object);
    await client.next("hello");
    vi.mocked(fetch).mockImplementation(async () => new Response("Not Found", { status: 404 }));
    bridge.close(1001);
    const why = "what answers in the bridge's place, with status 404, is no bridge";
    const bye = { type: "bye", code: 1011, reason: why, retry: "never" };
    expect(await client.next("bye")).toEqual(bye);
    // The same to whoever comes then.
    expect(await (await attach(object)).next("bye")).toEqual(bye);

    standInForBridge();
    const back = await attach(object);
    expect(await back.next("hello")).toMatchObject({ incarnation: INNER_HELLO.incarnation });
  }));

test("H14: a session that ends with its last client is forgotten if another server answers for its bridge", () =>
  withSession(async (object) => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const { response, bridge } = greeting();
    vi.mocked(fetch).mockResolvedValueOnce(response);
    const client = await attach(object, true);
    await client.next("hello");
    vi.mocked(fetch).mockImplementation(async () => new Response("Not Found", { status: 404 }));
    bridge.close(1001);
    expect(await client.next("bye")).toMatchObject({ code: 1011, retry: "never" });
    await expect.poll(() => object.describe()).toBe(undefined);
  }));

test("an exception in what is due at some time does not keep what is due later from being done", () =>
  withSession(async (object, state) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    const client = await attach(object);
    await client.next("hello");
    const lastPing = vi.spyOn(state, "getWebSocketAutoResponseTimestamp");
    lastPing.mockImplementationOnce(() => {
      throw new Error("thrown by the test");
    });
    // Nothing has been heard of it: it is to be dropped.
    expect(() => vi.advanceTimersByTime(40_000)).toThrow("thrown by the test");
    vi.advanceTimersByTime(1);
    expect(await client.next("bye")).toMatchObject({ code: 1001, retry: "now" });
  }));

test("a session that nobody comes back to has the deletion of its records set", () =>
  withSession(async (object, state) => {
    const client = await attach(object);
    await client.next("hello");
    await expect.poll(() => state.storage.getAlarm()).toBeGreaterThan(Date.now());
  }, "content"));
