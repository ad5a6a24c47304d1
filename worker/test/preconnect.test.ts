// H22 in the Durable Object: a connection that is opened before anybody has been let in, and what becomes of it.

import { afterEach, describe, expect, test, vi } from "vitest";
import { INNER_HELLO } from "../../packages/sandbox-stdio/test/hello.ts";
import { makeHop, openSocket } from "./hop-harness.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** As openSocket, and what the bridge was asked. */
function openAsked() {
  const opened = openSocket();
  const asked: unknown[] = [];
  opened.bridge.addEventListener("message", ({ data }) => {
    asked.push(JSON.parse(String(data)));
  });
  return { ...opened, asked };
}

const BEGIN = { type: "begin", query: "session=s&arg=a+b" };

test("H22: nothing is asked on it before a client is there, and then the attach; no other connection is made", async () => {
  let wanted = "too early";
  const { hop, answers, greetings } = makeHop({ attachParams: () => [["session", wanted]] });
  const { socket, bridge, asked } = openAsked();
  const connected = Promise.resolve(socket);
  hop.expect(() => connected);
  await connected;
  wanted = "s";
  const opened = hop.open();
  await expect.poll(() => asked).toEqual([{ type: "begin", query: "session=s" }]);
  bridge.send(JSON.stringify(INNER_HELLO));
  expect((await opened).kind).toBe("open");
  expect(greetings).toEqual(["i1"]);
  expect(answers).toEqual([]);
});

test("H22: a client that comes while it is still being opened waits for it", async () => {
  const { hop, answers } = makeHop();
  const { socket, bridge, asked } = openAsked();
  let connected: (socket: WebSocket) => void = () => undefined;
  hop.expect(
    () =>
      new Promise((resolve) => {
        connected = resolve;
      }),
  );
  const opened = hop.open();
  connected(socket);
  await expect.poll(() => asked).toEqual([BEGIN]);
  bridge.send(JSON.stringify(INNER_HELLO));
  expect((await opened).kind).toBe("open");
  expect(answers).toEqual([]);
});

test("H22: several that are expected have one, and none is opened beside a hop", async () => {
  const { hop } = makeHop();
  const { socket, bridge } = openAsked();
  const connect = vi.fn(async () => socket);
  hop.expect(connect);
  hop.expect(connect);
  expect(connect).toHaveBeenCalledOnce();
  const opened = hop.open();
  hop.expect(connect);
  bridge.send(JSON.stringify(INNER_HELLO));
  await opened;
  hop.expect(connect);
  expect(connect).toHaveBeenCalledOnce();
});

test.each([
  [404, "not_found", { kind: "refused", status: 404, error: "not_found", message: "no" }],
  [503, "stopping", { kind: "unreachable", message: "no", retryAfterSeconds: 10, isStopping: true }],
  [500, "internal", { kind: "unreachable", message: "no", retryAfterSeconds: 3 }],
  [502, "no_bridge", { kind: "refused", status: 502, error: "no_bridge", message: "no" }],
])("H22: a refusal of status %i means what the same answer to an upgrade means", async (status, error, outcome) => {
  const broken = vi.fn(() => true);
  const { hop, answers } = makeHop({ broken });
  const { socket, bridge, closed } = openAsked();
  hop.expect(async () => socket);
  const opened = hop.open();
  bridge.send(JSON.stringify({ type: "refused", status, error, message: "no" }));
  expect(await opened).toEqual(outcome);
  expect(await closed).toBe(1000);
  expect(answers).toEqual([]);
  expect(broken).not.toHaveBeenCalled();
  expect(hop.isOpen).toBe(false);
  // What comes next is made as ever.
  void hop.open();
  expect(answers).toHaveLength(1);
});

describe("H22: the attach is made as ever", () => {
  /** Attaches by an upgrade, and is greeted. */
  async function attaches({ hop, answers, greetings }: ReturnType<typeof makeHop>, opened = hop.open()) {
    await expect.poll(() => answers.length).toBe(1);
    const { socket, bridge } = openAsked();
    answers[0]?.({ kind: "open", socket });
    bridge.send(JSON.stringify({ ...INNER_HELLO, incarnation: "i2" }));
    expect((await opened).kind).toBe("open");
    expect(greetings).toEqual(["i2"]);
  }

  test("where there is none to be had", async () => {
    const made = makeHop();
    made.hop.expect(async () => undefined);
    await attaches(made);
  });

  test("where it can't be opened", async () => {
    const made = makeHop();
    made.hop.expect(() => Promise.reject(new Error("no way")));
    await attaches(made);
  });

  test("where it has ended before a client came", async () => {
    const made = makeHop();
    const { socket, bridge } = openAsked();
    const ended = new Promise((resolve) => socket.addEventListener("close", resolve));
    made.hop.expect(async () => socket);
    bridge.close(1001);
    await ended;
    await attaches(made);
  });

  test("where it ends before it is answered", async () => {
    const made = makeHop();
    const { socket, bridge, asked } = openAsked();
    made.hop.expect(async () => socket);
    const opened = made.hop.open();
    await expect.poll(() => asked).toEqual([BEGIN]);
    bridge.close(1011);
    await attaches(made, opened);
  });

  test("where a bridge says something before it is asked", async () => {
    const made = makeHop();
    const { socket, bridge, closed } = openAsked();
    made.hop.expect(async () => socket);
    bridge.send(JSON.stringify(INNER_HELLO));
    expect(await closed).toBe(1000);
    await attaches(made);
  });

  test("where it is not open a second after the client has been let in", async () => {
    const made = makeHop();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let given: AbortSignal | undefined;
    made.hop.expect((signal) => {
      given = signal;
      return new Promise(() => undefined);
    });
    vi.advanceTimersByTime(4_500);
    const opened = made.hop.open();
    vi.advanceTimersByTime(999);
    expect(given?.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(given?.aborted).toBe(true);
    vi.useRealTimers();
    await attaches(made, opened);
  });
});

test("H22: one that is not used is closed after 5 s, also if it was opened later; then there may be another", async () => {
  const { hop } = makeHop();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const early = openAsked();
  hop.expect(async () => early.socket);
  await Promise.resolve();
  vi.advanceTimersByTime(5_000);
  expect(await early.closed).toBe(1000);

  const late = openAsked();
  let connected: (socket: WebSocket) => void = () => undefined;
  const slow = () =>
    new Promise<WebSocket>((resolve) => {
      connected = resolve;
    });
  hop.expect(slow);
  vi.advanceTimersByTime(5_000);
  connected(late.socket);
  expect(await late.closed).toBe(1000);
  expect(early.asked).toEqual([]);
  expect(late.asked).toEqual([]);
});

test("H22: a bridge that does not answer what is asked has had its time: no other attach is made for it", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const { hop, answers } = makeHop();
  const { socket, asked } = openAsked();
  hop.expect(async () => socket);
  const opened = hop.open();
  await expect.poll(() => asked).toEqual([BEGIN]);
  vi.setSystemTime(Date.now() + 40_000);
  hop.tick(Date.now());
  expect(await opened).toMatchObject({ kind: "unreachable" });
  expect(answers).toEqual([]);
});

test("H22: what is asked for is what was wanted when the client came", async () => {
  let wanted = "first";
  const { hop } = makeHop({ attachParams: () => [["session", wanted]] });
  const { socket, asked } = openAsked();
  let connected: (socket: WebSocket) => void = () => undefined;
  hop.expect(
    () =>
      new Promise((resolve) => {
        connected = resolve;
      }),
  );
  void hop.open();
  wanted = "second";
  connected(socket);
  await expect.poll(() => asked).toEqual([{ type: "begin", query: "session=first" }]);
});

test("H22: a session that is let go of meanwhile leaves none behind", async () => {
  const { hop, greetings } = makeHop();
  const { socket, bridge, closed } = openAsked();
  hop.expect(async () => socket);
  const opened = hop.open();
  hop.release();
  expect(await opened).toMatchObject({ kind: "unreachable" });
  bridge.send(JSON.stringify(INNER_HELLO));
  expect(await closed).toBe(1001);
  expect(greetings).toEqual([]);
});
