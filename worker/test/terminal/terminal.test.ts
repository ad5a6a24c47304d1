// The way to a ttyd in a sandbox's container, over a stand-in for the SDK's object; and the settings of `/terminal/*`.
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Env } from "../../src/env.ts";
import { terminalRoutes } from "../../src/routes/terminal.ts";
import { type SandboxObject, useContainers } from "../../src/sandbox/containers.ts";
import { sdkContainers } from "../../src/sandbox/sdk/access.ts";
import { readTerminalSettings, type TerminalEnv } from "../../src/terminal/settings.ts";
import { askTtyd, openTtyd } from "../../src/terminal/upstream.ts";

const real = env as unknown as Env;
useContainers(sdkContainers);
const ADDRESS = { kind: "container", sandboxKey: "0123456789abcdef", port: 7681 } as const;

/** An environment whose containers answer with `answer`. */
function withContainer(answer: () => Response | Promise<Response>, isRunning = true) {
  const requests: Request[] = [];
  const fetched: [string, number][] = [];
  const stub = {
    fetch: async (request: Request) => {
      requests.push(request);
      return await answer();
    },
    containerFetch: async (request: Request, port: number) => {
      fetched.push([request.url, port]);
      return await answer();
    },
    configure: async () => undefined,
    isRunning: async () => isRunning,
  };
  const named: string[] = [];
  const namespace = {
    idFromName: (name: string) => {
      named.push(name);
      return real.Sandbox.idFromName(name);
    },
    get: () => stub,
    getByName: (name: string) => {
      named.push(name);
      return stub;
    },
  } as unknown as DurableObjectNamespace<SandboxObject>;
  return { env: { ...real, Sandbox: namespace, BRIDGE_URL: "" } satisfies Env, requests, fetched, named };
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a ttyd in a container", () => {
  test("is reached at its port in its own sandbox, as an upgrade of ours with nothing of a client's", async () => {
    const pair = new WebSocketPair();
    const container = withContainer(() => new Response(null, { status: 101, webSocket: pair[0] }));
    const socket = await openTtyd(container.env, ADDRESS);
    expect(socket?.binaryType).toBe("arraybuffer");
    const [request] = container.requests;
    if (request === undefined) throw new Error("Nothing was sent");
    expect(request.url).toBe("http://ttyd/ws");
    expect(Object.fromEntries(request.headers)).toEqual({
      "cf-container-target-port": "7681",
      connection: "Upgrade",
      "sec-websocket-protocol": "tty",
      upgrade: "websocket",
    });
    expect(new Set(container.named)).toEqual(new Set([ADDRESS.sandboxKey]));
  });

  test("is asked for its page and its token at the same port", async () => {
    const container = withContainer(() => new Response('{"token": ""}'));
    expect(await (await askTtyd(container.env, ADDRESS, "/token"))?.text()).toBe('{"token": ""}');
    await askTtyd(container.env, ADDRESS, "/");
    expect(container.fetched).toEqual([
      ["http://ttyd/token", 7681],
      ["http://ttyd/", 7681],
    ]);
  });

  test("is not there where the container does not run, and none is started", async () => {
    const container = withContainer(() => new Response(), false);
    expect(await openTtyd(container.env, ADDRESS)).toBeUndefined();
    expect(await askTtyd(container.env, ADDRESS, "/")).toBeUndefined();
    expect([container.requests, container.fetched]).toEqual([[], []]);
  });

  test.each<[string, () => Response | Promise<Response>]>([
    ["answers without a WebSocket", () => new Response("full", { status: 503 })],
    ["can't be reached", () => Promise.reject(new Error("inner words"))],
  ])("that %s takes no connection", async (_name, answer) => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    expect(await openTtyd(withContainer(answer).env, ADDRESS)).toBeUndefined();
  });

  test("that answers after 10 s is not waited for, and its WebSocket is closed", async () => {
    vi.useFakeTimers();
    let answer: (response: Response) => void = () => undefined;
    const container = withContainer(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const opened = openTtyd(container.env, ADDRESS);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await opened).toBeUndefined();
    vi.useRealTimers();
    const pair = new WebSocketPair();
    pair[1].accept();
    const closed = new Promise<number | null>((resolve) => {
      pair[1].addEventListener("close", ({ code }) => resolve(code ?? null));
    });
    answer(new Response(null, { status: 101, webSocket: pair[0] }));
    expect(await closed).toBe(1001);
  });
});

describe("the settings", () => {
  const local = { BRIDGE_URL: "http://127.0.0.1:1" };
  test.each<[TerminalEnv, unknown]>([
    [{}, undefined],
    [{ TERMINAL_UPSTREAM: "session" }, undefined],
    [{ TERMINAL_UPSTREAM: "ttyd" }, { port: 7681, localUrl: undefined }],
    [{ TERMINAL_UPSTREAM: "ttyd:7000" }, { port: 7000, localUrl: undefined }],
    // Where there are containers, nothing else is reached.
    [
      { TERMINAL_UPSTREAM: "ttyd", TERMINAL_URL: "http://127.0.0.1:2" },
      { port: 7681, localUrl: undefined },
    ],
    [
      { TERMINAL_UPSTREAM: "ttyd", TERMINAL_URL: "http://127.0.0.1:2/{sandbox}/", ...local },
      { port: 7681, localUrl: "http://127.0.0.1:2/{sandbox}" },
    ],
  ])("%o: the ttyd is %o", (given, ttyd) => {
    expect(readTerminalSettings(given)).toEqual({ ttyd });
  });

  test.each<[TerminalEnv, string]>([
    ...["tty", "ttyd:", "ttyd:80", "ttyd:70000", "ttyd:3000", "ttyd:8080", "http://127.0.0.1:1"].map(
      (value): [TerminalEnv, string] => [{ TERMINAL_UPSTREAM: value }, "TERMINAL_UPSTREAM"],
    ),
    [{ TERMINAL_UPSTREAM: "ttyd", ...local }, "TERMINAL_URL"],
    [{ TERMINAL_UPSTREAM: "ttyd", TERMINAL_URL: "http://example.com", ...local }, "TERMINAL_URL"],
  ])("%o is refused, naming %s", (given, name) => {
    expect(() => readTerminalSettings(given)).toThrow(name);
  });
});

describe("the page at a terminal's address", () => {
  test.each([
    ["/terminal/dev", "/?sandbox=dev&session=main"],
    ["/terminal/a%20b?session=c%20d", "/?sandbox=a+b&session=c+d"],
    ["/terminal/a%2520b/", "/?sandbox=a%2520b&session=main"],
    ["/terminal/a%26b%2Fc%3Fd", "/?sandbox=a%26b%2Fc%3Fd&session=main"],
    ["/terminal/%C3%A9", "/?sandbox=%C3%A9&session=main"],
  ])("%s is ours at %s: what it names is encoded once", async (asked, shown) => {
    const answer = await terminalRoutes.request(asked, {}, { ...real, TERMINAL_UPSTREAM: "" });
    expect([answer.status, answer.headers.get("Location")]).toEqual([302, shown]);
  });

  test("names nothing where its bytes are no text", async () => {
    const answer = await terminalRoutes.request("/terminal/%FF", {}, { ...real, TERMINAL_UPSTREAM: "" });
    expect(answer.status).toBe(404);
  });
});
