// H22 at a container's object: a connection for a client that has not been let in neither starts a container nor counts as a use of it.

import { env, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import type { Env } from "../src/env.ts";
import { PORT_HEADER } from "../src/sandbox/native/access.ts";
import { Sandbox as NativeSandbox } from "../src/sandbox/native/sandbox.ts";
import { UsualSandbox, withStdio } from "../src/sandbox/sdk/sandbox.ts";

const real = env as unknown as Env;
const SdkSandbox = withStdio(UsualSandbox);

/** A container, and what is done with it. */
function containerOf(running: boolean) {
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
        return new Response(null, { status: 101, webSocket: new WebSocketPair()[0] });
      },
    }),
  };
  return { container, done };
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
