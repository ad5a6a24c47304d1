// H22 at a container's object: a connection for a client that has not been let in neither starts a container nor counts as a use of it.

import { env, runInDurableObject } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import type { Env } from "../src/env.ts";
import { preconnectInside } from "../src/sandbox/bridge-inside.ts";
import { PORT_HEADER } from "../src/sandbox/containers.ts";
import { Sandbox as NativeSandbox } from "../src/sandbox/native/sandbox.ts";
import { UsualSandbox, withStdio } from "../src/sandbox/sdk/sandbox.ts";

const real = env as unknown as Env;
const SdkSandbox = withStdio(UsualSandbox);

/** A container, and what is done with it. @param answer Of what listens there. */
function containerOf(running: boolean, answer = async (_request: Request) => upgraded()) {
  const done: string[] = [];
  const container = {
    running,
    start: () => {
      done.push("start");
    },
    monitor: () => new Promise<void>(() => undefined),
    setInactivityTimeout: async () => {
      done.push("limit");
    },
    getTcpPort: (port: number) => ({
      fetch: async (request: Request) => {
        done.push(`${port} ${new URL(request.url).pathname}`);
        return answer(request);
      },
    }),
  };
  return { container, done };
}

function upgraded(): Response {
  return new Response(null, { status: 101, webSocket: new WebSocketPair()[0] });
}

type Fetcher = { fetch(request: Request): Promise<Response> };
type Class = new (ctx: DurableObjectState, env: unknown) => Fetcher;

/** Asks an object of `Class` with such a container. */
async function ask(Class: Class, running: boolean) {
  const { container, done } = containerOf(running);
  const status = await runInDurableObject(real.SESSION.getByName(crypto.randomUUID()), async (_, state) => {
    Object.defineProperty(state, "container", { value: container });
    const object = new Class(state, { ...real, STDIO_TOKEN: "a secret of 16 and more" });
    const headers = { Upgrade: "websocket", [PORT_HEADER]: "8080" };
    done.length = 0;
    const response = await object.fetch(new Request("http://bridge/preconnect?sandbox=box", { headers }));
    return response.status;
  });
  return { status, done };
}

test.each([
  ["the platform's own API", NativeSandbox as unknown as Class],
  ["the SDK", SdkSandbox as unknown as Class],
])("by %s, one that runs is connected to, and nothing else; one that does not stays so", async (_, Class) => {
  expect(await ask(Class, true)).toEqual({ status: 101, done: ["8080 /preconnect"] });
  expect(await ask(Class, false)).toEqual({ status: 503, done: [] });
});

test("what does not answer in 4 s is given up, and so is what the caller does not wait for any more", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const signals: AbortSignal[] = [];
  const silent = ({ signal }: Request) =>
    new Promise<Response>((_, reject) => {
      signals.push(signal);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  const { container } = containerOf(true, silent);
  const headers = { Upgrade: "websocket" };
  const ask = (signal?: AbortSignal) => {
    const init = signal === undefined ? { headers } : { headers, signal };
    return preconnectInside(container as unknown as Container, true, new Request("http://bridge/preconnect", init));
  };
  const late = ask();
  vi.advanceTimersByTime(3_999);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  vi.advanceTimersByTime(1);
  expect((await late).status).toBe(503);

  const caller = new AbortController();
  const left = ask(caller.signal);
  caller.abort();
  expect((await left).status).toBe(503);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  vi.useRealTimers();
});

test("one that is open stays so, whatever becomes of the request", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let given: AbortSignal | undefined;
  const { container } = containerOf(true, async ({ signal }) => {
    given = signal;
    return upgraded();
  });
  const caller = new AbortController();
  const request = new Request("http://bridge/preconnect", { headers: { Upgrade: "websocket" }, signal: caller.signal });
  expect((await preconnectInside(container as unknown as Container, true, request)).status).toBe(101);
  vi.advanceTimersByTime(60_000);
  caller.abort();
  expect(given?.aborted).toBe(false);
  vi.useRealTimers();
});
