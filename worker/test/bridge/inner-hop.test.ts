// The Durable Object's connection to the bridge while it is being made: what becomes of it when nobody needs it any more,
// or when nobody answers.

import { env, runInDurableObject } from "cloudflare:test";
import { PING_TEXT } from "sandbox-stdio/core";
import { afterEach, expect, test, vi } from "vitest";
import { INNER_HELLO } from "../../../packages/sandbox-stdio/test/support/hello.ts";
import { sendQuietly } from "../../src/bridge/inner-hop.ts";
import type { Env } from "../../src/env.ts";
import { makeHop, openSocket } from "../support/hop-harness.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A hop whose bridge has greeted. */
async function greetedHop() {
  const { hop, answers } = makeHop();
  const opened = hop.open();
  const { socket, bridge } = openSocket();
  answers[0]?.({ kind: "open", socket });
  bridge.send(JSON.stringify(INNER_HELLO));
  await opened;
  return { hop, answers, socket, bridge };
}

test("attempts under way are shared", async () => {
  const { hop, answers, greetings } = makeHop();
  const opened = [hop.open(), hop.open()];
  expect(answers.length).toBe(1);
  const { socket, bridge } = openSocket();
  answers[0]?.({ kind: "open", socket });
  bridge.send(JSON.stringify(INNER_HELLO));
  expect((await Promise.all(opened)).map((outcome) => outcome.kind)).toEqual(["open", "open"]);
  expect(greetings).toEqual(["i1"]);
});

test("the bridge is pinged each 15 s, and by all objects at the same moments", async () => {
  const { hop, answers } = makeHop();
  const opened = hop.open();
  const { socket, bridge } = openSocket();
  const heard: unknown[] = [];
  bridge.addEventListener("message", ({ data }) => heard.push(data));
  vi.useFakeTimers({ toFake: ["Date"], now: 100_420 });
  answers[0]?.({ kind: "open", socket });
  bridge.send(JSON.stringify(INNER_HELLO));
  await opened;
  expect(hop.nextTickMs()).toBe(115_000);
  hop.tick(114_999);
  expect(hop.nextTickMs()).toBe(115_000);
  hop.tick(115_003);
  expect(hop.nextTickMs()).toBe(130_000);
  await expect.poll(() => heard).toEqual([PING_TEXT]);
});

test("an attach that was under way when the hop was let go of is given up, and the next one is made anew", async () => {
  const { hop, answers, greetings } = makeHop();
  const first = hop.open();
  hop.release();
  const second = hop.open();
  expect(answers.length).toBe(2);

  const old = openSocket();
  answers[0]?.({ kind: "open", socket: old.socket });
  old.bridge.send(JSON.stringify(INNER_HELLO));
  expect(await first).toMatchObject({ kind: "unreachable" });
  expect(await old.closed).toBe(1001);
  expect(greetings).toEqual([]);

  const { socket, bridge } = openSocket();
  answers[1]?.({ kind: "open", socket });
  bridge.send(JSON.stringify({ ...INNER_HELLO, incarnation: "i2" }));
  expect((await second).kind).toBe("open");
  expect(greetings).toEqual(["i2"]);
});

test("who waits for a greeting hears when the hop is let go of", async () => {
  const { hop, answers } = makeHop();
  const opened = hop.open();
  const { socket } = openSocket();
  answers[0]?.({ kind: "open", socket });
  await Promise.resolve();
  hop.release();
  expect(await opened).toMatchObject({ kind: "unreachable" });
});

test("a bridge that does not answer is waited for 40 s, and what it says later is not heard", async () => {
  vi.useFakeTimers();
  const { hop, answers, greetings } = makeHop();
  let outcome: unknown;
  const opened = hop.open().then((one) => {
    outcome = one;
  });
  await vi.advanceTimersByTimeAsync(39_999);
  expect(outcome).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(outcome).toMatchObject({ kind: "unreachable" });
  await opened;
  vi.useRealTimers();

  const { socket, closed } = openSocket();
  answers[0]?.({ kind: "open", socket });
  expect(await closed).toBe(1001);
  expect(greetings).toEqual([]);
});

test("a greeting that can't be dealt with ends its connection, and whoever waits for it hears of that", async () => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let isFaulty = true;
  const { hop, answers } = makeHop({
    hello: () => {
      if (isFaulty) throw new Error("thrown by the test");
    },
    broken: () => true,
  });
  const opened = hop.open();
  const first = openSocket();
  answers[0]?.({ kind: "open", socket: first.socket });
  first.bridge.send(JSON.stringify(INNER_HELLO));
  expect(await opened).toMatchObject({ kind: "unreachable" });
  expect(await first.closed).toBe(1001);
  expect(logged).toHaveBeenCalledOnce();
  // Not at once: the next greeting may be no better.
  vi.advanceTimersByTime(999);
  expect(answers.length).toBe(1);
  vi.advanceTimersByTime(1);
  expect(answers.length).toBe(2);
  isFaulty = false;
  const second = openSocket();
  answers[1]?.({ kind: "open", socket: second.socket });
  const again = hop.open();
  second.bridge.send(JSON.stringify(INNER_HELLO));
  expect((await again).kind).toBe("open");
});

test("a container that has to start has longer", async () => {
  vi.useFakeTimers();
  const { hop } = makeHop({ mayStart: () => true });
  let outcome: unknown;
  const opened = hop.open().then((one) => {
    outcome = one;
  });
  await vi.advanceTimersByTimeAsync(149_999);
  expect(outcome).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  await opened;
  expect(outcome).toMatchObject({ kind: "unreachable" });
});

test("a bridge that is to be asked again later is not asked before", async () => {
  vi.useFakeTimers();
  const { hop, answers } = makeHop({ broken: () => true, failed: () => true });
  const opened = hop.open();
  const { socket, bridge } = openSocket();
  answers[0]?.({ kind: "open", socket });
  await expect.poll(() => hop.nextTickMs()).toBeDefined();
  bridge.close(1011);
  await opened;
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.({ kind: "unreachable", message: "starting", retryAfterSeconds: 20, isAskedToWait: true });
  await vi.advanceTimersByTimeAsync(19_900);
  expect(answers.length).toBe(2);
  await vi.advanceTimersByTimeAsync(200);
  expect(answers.length).toBe(3);
  hop.release();
});

test("a connection that broke with nobody there is made again once somebody is, and only one", async () => {
  const { hop, answers, bridge } = await greetedHop();
  hop.keep();
  expect(answers.length).toBe(1);

  bridge.close(1011);
  await expect.poll(() => hop.nextTickMs()).toBeUndefined();
  expect(answers.length).toBe(1);
  hop.keep();
  hop.keep();
  await expect.poll(() => answers.length).toBe(2);
  hop.keep();
  const again = openSocket();
  answers[1]?.({ kind: "open", socket: again.socket });
  await expect.poll(() => hop.nextTickMs()).toBeDefined();
  expect(answers.length).toBe(2);
});

test("a long message arrives whole though its memory is given back, also if it waits for a write", () =>
  runInDurableObject((env as unknown as Env).SESSION.getByName(crypto.randomUUID()), async (_object, { storage }) => {
    const { socket, bridge } = openSocket();
    socket.accept();
    bridge.binaryType = "arraybuffer";
    const arrived = new Promise<ArrayBuffer>((resolve) =>
      bridge.addEventListener("message", ({ data }) => resolve(data)),
    );
    const frame = Uint8Array.from({ length: 65_549 }, (_, index) => index * 7);
    const sent = frame.slice();
    const written = storage.put("something", 1);
    sendQuietly(socket, frame);
    expect(frame.length).toBe(0);
    await written;
    expect(new Uint8Array(await arrived)).toEqual(sent);
  }));

test("H20: who lets go of a broken connection is told, and of a good one is not", async () => {
  for (const [code, isTold] of [
    [1000, false],
    [1011, true],
  ] as const) {
    const { hop, socket, bridge } = await greetedHop();
    const unheard = vi.fn();
    const closed = new Promise((resolve) => socket.addEventListener("close", resolve));
    hop.release(unheard);
    bridge.close(code);
    await closed;
    expect(unheard).toHaveBeenCalledTimes(isTold ? 1 : 0);
  }
});
