// The way to a container's bridge, over a stand-in for the SDK's object: what its answers mean to a client.
import { env } from "cloudflare:workers";
import type { StartOrder } from "sandbox-stdio/programs";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { orderProcess } from "../../src/bridge/order.ts";
import { askBridge, attachBridge, fetchBridge, isAwake } from "../../src/bridge/upstream.ts";
import type { Env } from "../../src/env.ts";
import { type SandboxObject, useContainers } from "../../src/sandbox/containers.ts";
import type { BridgeQuestion } from "../../src/sandbox/question.ts";
import { sdkContainers } from "../../src/sandbox/sdk/access.ts";
import { containerToken } from "../../src/sandbox/secret.ts";

const KEY = "0123456789abcdef";
const real = env as unknown as Env;
useContainers(sdkContainers);

/** An environment whose containers answer every upgrade with `answer`. */
function withContainer(answer: () => Response | Promise<Response>, isRunning = true) {
  const requests: Request[] = [];
  const asked: [BridgeQuestion, string][] = [];
  const stub = {
    fetch: async (request: Request) => {
      requests.push(request);
      return await answer();
    },
    configure: async () => undefined,
    isRunning: async () => isRunning,
    askBridge: async (question: BridgeQuestion, sandbox: string) => {
      asked.push([question, sandbox]);
      return isRunning ? { status: 200, text: '{"sessions":[]}' } : undefined;
    },
  };
  const namespace = {
    idFromName: (name: string) => real.Sandbox.idFromName(name),
    get: () => stub,
    getByName: () => stub,
  } as unknown as DurableObjectNamespace<SandboxObject>;
  const fake: Env = { ...real, Sandbox: namespace, BRIDGE_URL: "", STDIO_TOKEN: "the deployment's secret" };
  return { env: fake, requests, asked };
}

const ORDER: StartOrder = {
  label: "box",
  session: "s",
  process: { cmd: "cat", args: [], tty: false, env: [], mode: "collaborative", delivery: "lossless", keep: 60 },
  keepExited: 60,
  stdin: "",
  isStdinEnded: false,
};

const json =
  (status: number, body: object, headers: Record<string, string> = {}) =>
  () =>
    Response.json(body, { status, headers });

/** Silences what is logged of what went wrong, which these tests bring about. */
const quiet = () => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
};

afterEach(() => {
  vi.restoreAllMocks();
});

test("an attach goes to the bridge's port as an upgrade of ours, with this sandbox's secret and nothing of a client's", async () => {
  const pair = new WebSocketPair();
  const container = withContainer(() => new Response(null, { status: 101, webSocket: pair[0] }));
  const outcome = await attachBridge(container.env, KEY, [
    ["session", "s"],
    ["arg", "a b"],
    ["arg", "c"],
  ]);
  if (outcome.kind !== "open") throw new Error(outcome.kind);
  expect(outcome.socket.binaryType).toBe("arraybuffer");
  const [request] = container.requests;
  if (request === undefined) throw new Error("Nothing was sent");
  expect(request.url).toBe(`http://bridge/attach?session=s&arg=a+b&arg=c&sandbox=${KEY}`);
  const token = await containerToken(container.env, real.Sandbox.idFromName(KEY));
  expect(Object.fromEntries(request.headers)).toEqual({
    authorization: `Bearer ${token}`,
    "cf-container-target-port": "8080",
    connection: "Upgrade",
    "sec-websocket-protocol": "stdio.inner.v1",
    upgrade: "websocket",
  });
});

test("no two sandboxes have the same secret, and none has the deployment's", async () => {
  const { env: fake } = withContainer(() => new Response());
  const [one, two] = await Promise.all(
    ["one", "two"].map((name) => containerToken(fake, real.Sandbox.idFromName(name))),
  );
  expect(one).toMatch(/^[0-9a-f]{64}$/);
  expect(two).toMatch(/^[0-9a-f]{64}$/);
  expect(one).not.toBe(two);
  await expect(containerToken({ STDIO_TOKEN: "" }, real.Sandbox.idFromName("one"))).rejects.toThrow("STDIO_TOKEN");
});

test.each([
  { status: 503, headers: { "Retry-After": "10" }, seconds: 10 },
  { status: 503, headers: {}, seconds: 3 },
  { status: 500, headers: { "Retry-After": "soon" }, seconds: 3 },
  { status: 429, headers: { "Retry-After": "7" }, seconds: 7 },
  // Longer than a timer can wait: it would be over at once, again and again.
  { status: 503, headers: { "Retry-After": "1e12" }, seconds: 300 },
  { status: 503, headers: { "Retry-After": "Infinity" }, seconds: 300 },
])("a container that answers $status with $headers is to be tried again after $seconds s", async (given) => {
  quiet();
  const body = { code: "INTERNAL_ERROR", message: "Container is starting.", context: { error: "inner words" } };
  const container = withContainer(json(given.status, body, given.headers));
  const isAsked = Number("Retry-After" in given.headers ? given.headers["Retry-After"] : 0) > 0;
  expect(await attachBridge(container.env, KEY, [])).toEqual({
    kind: "unreachable",
    message: "Container is starting.",
    retryAfterSeconds: given.seconds,
    ...(isAsked ? { isAskedToWait: true } : {}),
  });
});

test("what is no JSON is told in the platform's words, a little of them", async () => {
  quiet();
  const container = withContainer(() => new Response("x".repeat(1000), { status: 500 }));
  expect(await attachBridge(container.env, KEY, [])).toEqual({
    kind: "unreachable",
    message: "x".repeat(200),
    retryAfterSeconds: 3,
  });
});

test.each([200, 400, 404, 410])(
  "another server in the bridge's place, which answers %i, is not tried again",
  async (status) => {
    quiet();
    const container = withContainer(() => new Response("Not the page that you look for", { status }));
    expect(await attachBridge(container.env, KEY, [["incarnation", "one"]])).toEqual({
      kind: "refused",
      status: 502,
      error: "no_bridge",
      message: `what answers in the bridge's place, with status ${status}, is no bridge`,
    });
  },
);

test.each([408, 425, 429, 500, 503])("a plain %i is to be tried again", async (status) => {
  quiet();
  const container = withContainer(() => new Response("starting", { status }));
  expect(await attachBridge(container.env, KEY, [])).toEqual({
    kind: "unreachable",
    message: "starting",
    retryAfterSeconds: 3,
  });
});

test.each(["0", "Wed, 21 Oct 2026 07:28:00 GMT"])("whoever says Retry-After: %s is asked again", async (when) => {
  quiet();
  const container = withContainer(() => new Response("later", { status: 403, headers: { "Retry-After": when } }));
  expect(await attachBridge(container.env, KEY, [])).toEqual({
    kind: "unreachable",
    message: "later",
    retryAfterSeconds: 3,
  });
});

test("an answer that breaks off is to be tried again", async () => {
  quiet();
  const broken = () => new ReadableStream({ start: (controller) => controller.error(new Error("inner words")) });
  const container = withContainer(() => new Response(broken(), { status: 503 }));
  expect(await attachBridge(container.env, KEY, [])).toMatchObject({ kind: "unreachable", message: "no way to it" });
});

test("a refusal whose words don't come in time is to be tried again: the hop may be silent behind its status", async () => {
  quiet();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let outcome: ReturnType<typeof attachBridge> | undefined;
  await new Promise<void>((resolve) => {
    const silent = new ReadableStream({ pull: () => resolve() }, { highWaterMark: 0 });
    const container = withContainer(() => new Response(silent, { status: 404 }));
    outcome = attachBridge(container.env, KEY, []);
  });
  vi.advanceTimersByTime(5_000);
  expect(await outcome).toMatchObject({ kind: "unreachable", retryAfterSeconds: 3 });
});

test("a way that fails without an answer is to be tried again, and its error stays in the log", async () => {
  quiet();
  const container = withContainer(() => Promise.reject(new Error("inner words")));
  expect(await attachBridge(container.env, KEY, [])).toEqual({
    kind: "unreachable",
    message: "no way to it",
    retryAfterSeconds: 3,
  });
});

test.each([400, 401, 404, 409, 422])("a refusal of the bridge itself with %i is final", async (status) => {
  quiet();
  const container = withContainer(json(status, { error: "a_reason", message: "said so" }));
  expect(await attachBridge(container.env, KEY, [])).toEqual({
    kind: "refused",
    status,
    error: "a_reason",
    message: "said so",
  });
});

test.each([`x${"y".repeat(64)}`, "not_found\u001b]0;title\u0007", "two words", "", 404])(
  "what answers in the bridge's place gets no %j passed on as the code of a refusal",
  async (error) => {
    quiet();
    const container = withContainer(json(404, { error, message: "said so" }));
    expect(await attachBridge(container.env, KEY, [])).toMatchObject({ kind: "refused", error: "no_bridge" });
    const ordering = withContainer(json(409, { error, message: "said so" }));
    expect(await orderProcess(ordering.env, KEY, ORDER)).toMatchObject({
      ok: false,
      refusal: { error: "unavailable" },
    });
  },
);

test("a process whose container does not run is lost, and no container is started to hear it", async () => {
  const container = withContainer(() => new Response(null, { status: 500 }), false);
  expect(await attachBridge(container.env, KEY, [["incarnation", "one"]])).toEqual({
    kind: "refused",
    status: 404,
    error: "not_found",
    message: "process lost: the container that it ran in is gone",
  });
  expect(container.requests).toEqual([]);
});

test("a new process starts the container", async () => {
  const pair = new WebSocketPair();
  const container = withContainer(() => new Response(null, { status: 101, webSocket: pair[0] }), false);
  expect((await attachBridge(container.env, KEY, [])).kind).toBe("open");
});

test("a secret that can be guessed opens no bridge, and is said to be too short", async () => {
  const message = "This server is not set up: STDIO_TOKEN must have at least 16 characters";
  for (const BRIDGE_URL of ["", "http://127.0.0.1:1"]) {
    for (const STDIO_TOKEN of ["", "fifteen-letters"]) {
      const container = withContainer(() => new Response());
      const outcome = await attachBridge({ ...container.env, BRIDGE_URL, STDIO_TOKEN }, KEY, []);
      expect(outcome).toEqual({ kind: "refused", status: 500, error: "misconfigured", message });
      expect(container.requests).toEqual([]);
    }
  }
});

test("a bridge behind a binding is asked there, by whatever asks it, and at no address", async () => {
  const asked: string[] = [];
  const ask = async (url: string, { headers }: RequestInit) => {
    asked.push(`${url} ${new Headers(headers).get("Authorization")}`);
    return Response.json({ sessions: [] });
  };
  const STDIO_TOKEN = "a secret of the bridge's";
  const local = { ...withContainer(() => new Response()).env, BRIDGE_URL: "http://bridge", STDIO_TOKEN };
  const env = { ...local, BRIDGE: { fetch: ask } as unknown as Fetcher };
  vi.spyOn(globalThis, "fetch").mockRejectedValue(new Error("no address is asked"));
  expect((await fetchBridge(env, KEY, "/x", {})).status).toBe(200);
  expect(await askBridge(env, KEY, { ask: "sessions", session: "s" })).toMatchObject({ status: 200 });
  expect(asked).toEqual([
    `http://bridge/x Bearer ${STDIO_TOKEN}`,
    `http://bridge/sessions?sandbox=${KEY}&session=s Bearer ${STDIO_TOKEN}`,
  ]);
});

test("a question reaches the bridge of a container that runs, and starts none", async () => {
  const running = withContainer(() => new Response());
  const answer = await askBridge(running.env, KEY, { ask: "sessions", session: "s" });
  expect(answer).toEqual({ status: 200, text: '{"sessions":[]}' });
  expect(running.asked).toEqual([[{ ask: "sessions", session: "s" }, KEY]]);
  expect(await isAwake(running.env, KEY)).toBe(true);

  const stopped = withContainer(() => new Response(), false);
  expect(await askBridge(stopped.env, KEY, { ask: "end", session: "s" })).toBeUndefined();
  expect(await isAwake(stopped.env, KEY)).toBe(false);
  expect(stopped.requests).toEqual([]);
});
