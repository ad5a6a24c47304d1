// Each request that the Worker makes to a container, by each way to it: from its object's stub through the SDK's own code, and ours, to
// what listens in the container. Only the container is a stand-in.

import { env } from "cloudflare:workers";
import { ARCHIVE_PATH, MIB, PREVIEW_PREFIX, PREVIEW_STATUS } from "sandbox-stdio/core";
import { orderBody, type StartOrder } from "sandbox-stdio/programs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { orderProcess } from "../../src/bridge/order.ts";
import { askBridge, attachBridge, fetchBridge, isAwake } from "../../src/bridge/upstream.ts";
import type { Env } from "../../src/env.ts";
import type { PreviewPass } from "../../src/preview/pass.ts";
import { passOn } from "../../src/preview/proxy.ts";
import { type ContainerWay, type SandboxObject, useContainers } from "../../src/sandbox/containers.ts";
import { nativeContainers } from "../../src/sandbox/native/access.ts";
import { sdkContainers } from "../../src/sandbox/sdk/access.ts";
import { askTtyd, openTtyd } from "../../src/terminal/upstream.ts";
// Its first use would load all of the Worker, in the middle of a test.
import "../support/entry.ts";
import { STDIO_TOKEN } from "../support/secret.ts";
import { blockStartsOf, listenIn, START_PATH } from "../support/stand-in-container.ts";

const real = env as unknown as Env & { readonly NATIVE: DurableObjectNamespace<SandboxObject> };
const WAYS: readonly [string, ContainerWay, DurableObjectNamespace<SandboxObject>][] = [
  ["the SDK", sdkContainers, real.Sandbox],
  ["the platform's own API", nativeContainers, real.NATIVE],
];
const ORDER: StartOrder = {
  label: "box",
  session: "s",
  process: { cmd: "cat", args: [], tty: false, env: [], mode: "collaborative", delivery: "lossless", keep: 60 },
  keepExited: 60,
  stdin: "",
  isStdinEnded: false,
};
const PASS: PreviewPass = {
  tenant: { issuer: "https://id.example", tenantClaim: "sub", tenantValue: "alice" },
  sandbox: "dev",
  port: 5173,
  id: "id",
  subject: "alice",
  isAdmin: false,
  grant: { persons: [{ subject: "alice" }], tokenIds: [] },
  expiresAtMs: Date.now() + 1_000_000,
};
const CREATED_AT = "2026-11-28T00:00:00.000Z";
const ORIGIN = "https://x.preview.example";

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(WAYS)("by %s", (_, way, Sandbox) => {
  let key = "";
  let ours: Env = real;

  beforeEach(() => {
    useContainers(way);
    key = crypto.randomUUID();
    ours = { ...real, Sandbox, BRIDGE_URL: "", STDIO_TOKEN };
  });

  /** As a browser's, which may go away. */
  const preview = (asked: Request) => {
    const request = new Request(asked, { signal: new AbortController().signal });
    const ends = { origin: ORIGIN, port: 5173, cookie: "own" };
    return passOn({ request, pass: PASS, sandboxKey: key, ends }, ours);
  };
  const start = async () => {
    await (await fetchBridge(ours, key, START_PATH, {})).text();
  };

  test("a process is ordered", async () => {
    const asked: unknown[] = [];
    listenIn(key, async (request, port) => {
      asked.push([port, request.method, new URL(request.url).pathname, (await request.text()) === orderBody(ORDER)]);
      const listing = { session: "s", incarnation: "one", state: "running", offset: 0, createdAt: CREATED_AT };
      return Response.json({ sessions: [listing], isNew: true }, { status: 201 });
    });
    expect(await orderProcess(ours, key, ORDER)).toMatchObject({
      ok: true,
      started: { incarnation: "one", isNew: true },
    });
    expect(asked).toEqual([[8080, "POST", "/sessions", true]]);
  });

  test("an order of 4 MiB comes whole, and a redirect of its answer is not followed", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const asked: unknown[] = [];
    listenIn(key, async (request) => {
      asked.push([new URL(request.url).pathname, (await request.text()).length]);
      return Response.redirect("http://elsewhere/", 307);
    });
    expect(await orderProcess(ours, key, { ...ORDER, stdin: "x".repeat(4 * MIB) })).toMatchObject({ ok: false });
    expect(asked).toEqual([["/sessions", orderBody(ORDER).length + 4 * MIB]]);
  });

  test("a refusal of the bridge comes with its status and its words", async () => {
    listenIn(key, () => Response.json({ error: "stopping", message: "it stops" }, { status: 503 }));
    expect(await orderProcess(ours, key, ORDER)).toMatchObject({ ok: false, refusal: { error: "stopping" } });
  });

  test("the inner hop is opened, and what is sent on it comes in both directions", async () => {
    const paths: string[] = [];
    listenIn(key, (request) => {
      paths.push(new URL(request.url).pathname);
      return echoing();
    });
    const outcome = await attachBridge(ours, key, [["session", "s"]], new AbortController().signal);
    if (outcome.kind !== "open") throw new Error(outcome.kind);
    expect(await echoOf(outcome.socket)).toBe("hello");
    expect(paths).toEqual(["/attach"]);
  });

  test("a message of 1 MiB passes whole, and an end with its code, in both directions", async () => {
    const ended: number[] = [];
    listenIn(key, () => {
      const { 0: client, 1: server } = new WebSocketPair();
      server.accept();
      server.addEventListener("message", ({ data }) => {
        server.send(data);
        if (data === "end") server.close(4404, "process lost");
      });
      server.addEventListener("close", ({ code }) => ended.push(code));
      return new Response(null, { status: 101, webSocket: client });
    });
    const open = async () => {
      const outcome = await attachBridge(ours, key, [["session", "s"]]);
      if (outcome.kind !== "open") throw new Error(outcome.kind);
      outcome.socket.accept();
      return outcome.socket;
    };
    const [theirs, mine] = [await open(), await open()];
    const sent = crypto.getRandomValues(new Uint8Array(65_536));
    const long = new Uint8Array(MIB);
    for (let at = 0; at < MIB; at += sent.length) long.set(sent, at);
    const echoed = new Promise<unknown>((resolve) => theirs.addEventListener("message", ({ data }) => resolve(data)));
    theirs.send(long);
    expect(Buffer.compare(Buffer.from((await echoed) as ArrayBuffer), Buffer.from(long))).toBe(0);
    const end = new Promise<[number, string]>((resolve) =>
      theirs.addEventListener("close", ({ code, reason }) => resolve([code, reason])),
    );
    theirs.send("end");
    expect(await end).toEqual([4404, "process lost"]);
    mine.close(1001, "");
    await expect.poll(() => ended).toContain(1001);
  });

  test("the bridge is asked, and whether the container runs", async () => {
    listenIn(key, (request) => Response.json({ said: `${request.method} ${new URL(request.url).pathname}` }));
    expect([await isAwake(ours, key), await askBridge(ours, key, { ask: "sessions" })]).toEqual([false, undefined]);
    await start();
    expect(await isAwake(ours, key)).toBe(true);
    expect((await askBridge(ours, key, { ask: "sessions" }))?.text).toBe('{"said":"GET /sessions"}');
    expect((await askBridge(ours, key, { ask: "end", session: "s" }))?.text).toBe('{"said":"DELETE /sessions/s"}');
  });

  test("an archive is passed on in pieces, to the container and from it", async () => {
    listenIn(key, async (request) => {
      if (request.method === "POST") return new Response(new Uint8Array(4 * MIB).fill(1));
      let bytes = 0;
      for await (const piece of request.body as ReadableStream<Uint8Array>) bytes += piece.length;
      return Response.json({ bytes });
    });
    const { readable, writable } = new IdentityTransformStream();
    const path = `${ARCHIVE_PATH}?sandbox=s`;
    const answered = fetchBridge(ours, key, path, { method: "PUT", body: readable });
    const writer = writable.getWriter();
    for (let at = 0; at < 4; at += 1) await writer.write(new Uint8Array(MIB));
    await writer.close();
    expect(await (await answered).json()).toEqual({ bytes: 4 * MIB });
    const packed = await fetchBridge(ours, key, path, { method: "POST" });
    expect((await packed.arrayBuffer()).byteLength).toBe(4 * MIB);
  });

  test("a container is ended, and the next request starts another", async () => {
    listenIn(key, () => new Response("served"));
    const container = ours.Sandbox.getByName(key);
    await container.endContainer();
    expect(await isAwake(ours, key)).toBe(false);
    await start();
    expect(await isAwake(ours, key)).toBe(true);
    await container.endContainer();
    expect(await isAwake(ours, key)).toBe(false);
    expect(await (await fetchBridge(ours, key, "/sessions", {})).text()).toBe("served");
  });

  test("a ttyd is asked and connected to, at its own port", async () => {
    const ports: number[] = [];
    listenIn(key, (request, port) => {
      ports.push(port);
      return request.headers.has("Upgrade") ? echoing() : new Response("the page");
    });
    await start();
    const address = { kind: "container", sandboxKey: key, port: 7681 } as const;
    expect(await (await askTtyd(ours, address, "/"))?.text()).toBe("the page");
    const socket = await openTtyd(ours, address);
    if (socket === undefined) throw new Error("No connection");
    expect(await echoOf(socket)).toBe("hello");
    expect(ports).toEqual([7681, 7681]);
  });

  test("a preview's request and its answer pass as they come, with both cookies", async () => {
    listenIn(key, async (request) => {
      const { searchParams } = new URL(request.url);
      const headers = new Headers({ [PREVIEW_STATUS]: "418", [`${PREVIEW_PREFIX}content-type`]: "text/x-own" });
      for (const cookie of ["a=1", "b=2"]) headers.append("Set-Cookie", cookie);
      return new Response(`${searchParams.get("method")} ${searchParams.get("path")} ${await request.text()}`, {
        headers,
      });
    });
    await start();
    const body = chunks(["one ", "two ", "three"]);
    const answer = await preview(new Request(`${ORIGIN}/x?y=1`, { method: "PUT", body }));
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([418, "text/x-own"]);
    expect(answer.headers.getSetCookie().map((cookie) => cookie.split(";")[0])).toEqual(["a=1", "b=2"]);
    expect(await answer.text()).toBe("PUT /x?y=1 one two three");
  });

  test("a preview's answer begins while its request still goes on", async () => {
    listenIn(key, ({ body }) => new Response(body, { headers: { [PREVIEW_STATUS]: "200" } }));
    await start();
    const { readable, writable } = new IdentityTransformStream();
    const writer = writable.getWriter();
    const answering = preview(new Request(`${ORIGIN}/`, { method: "POST", body: readable }));
    const first = writer.write(new TextEncoder().encode("first"));
    const reader = (await answering).body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("first");
    await first;
    void writer.write(new TextEncoder().encode("last")).then(() => writer.close());
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("last");
    expect((await reader?.read())?.done).toBe(true);
  });

  test("a preview's WebSocket passes", async () => {
    listenIn(key, () => echoing());
    await start();
    const { webSocket } = await preview(new Request(`${ORIGIN}/`, { headers: { Upgrade: "websocket" } }));
    if (webSocket === null) throw new Error("No connection");
    expect(await echoOf(webSocket)).toBe("hello");
  });

  test("an object for which no container starts any more begins anew, and then one does", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    listenIn(key, () => new Response("here"));
    expect(await isAwake(ours, key)).toBe(false);
    blockStartsOf(key);
    await expect(fetchBridge(ours, key, "/x", {})).rejects.toThrow();
    expect(await (await fetchBridge(ours, key, "/x", {})).text()).toBe("here");
  });

  test("who gives up waits no longer, and an answer that comes then is let go of", async () => {
    let answer: () => void = () => undefined;
    let isAsked = false;
    let isCancelled = false;
    listenIn(key, async (request) => {
      if (new URL(request.url).pathname === "/answer") {
        answer();
        return new Response();
      }
      // A way that carries the signal ends the request itself.
      request.signal.addEventListener("abort", () => {
        isCancelled = true;
      });
      const answered = new Promise<void>((resolve) => {
        answer = resolve;
      });
      isAsked = true;
      await answered;
      return new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(1)),
          cancel: () => {
            isCancelled = true;
          },
        }),
      );
    });
    await start();
    const given = new AbortController();
    const asked = fetchBridge(ours, key, "/slow", { signal: given.signal });
    await expect.poll(() => isAsked).toBe(true);
    given.abort(new Error("given up"));
    await expect(asked).rejects.toThrow("given up");
    await (await fetchBridge(ours, key, "/answer", {})).text();
    await expect.poll(() => isCancelled).toBe(true);
  });

  test("what is given up before it is asked reaches no container", async () => {
    const asked = vi.fn(() => new Response());
    listenIn(key, asked);
    await expect(fetchBridge(ours, key, "/x", { signal: AbortSignal.abort(new Error("given up")) })).rejects.toThrow();
    expect(asked).not.toHaveBeenCalled();
  });
});

test("an object that can't be asked says nothing of its bridge, and fails nobody", async () => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const stub = { askBridge: () => Promise.reject(new Error("Durable Object reset because its code was updated.")) };
  const Sandbox = { getByName: () => stub } as unknown as DurableObjectNamespace<SandboxObject>;
  expect(await askBridge({ ...real, Sandbox, BRIDGE_URL: "" }, "key", { ask: "sessions" })).toBeUndefined();
});

/** Made in the container's object, as all that it answers. */
function echoing(): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  server.addEventListener("message", ({ data }) => server.send(data));
  return new Response(null, { status: 101, webSocket: client });
}

async function echoOf(socket: WebSocket): Promise<unknown> {
  socket.accept();
  const message = new Promise((resolve) => socket.addEventListener("message", ({ data }) => resolve(data)));
  socket.send("hello");
  const said = await message;
  socket.close(1000);
  return said;
}

function chunks(texts: readonly string[]): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  void (async () => {
    for (const text of texts) await writer.write(new TextEncoder().encode(text));
    await writer.close();
  })();
  return readable;
}
