// A Worker of twenty lines, the seed's: it passes an upgrade on to port 8080 of a container by the SDK's `wsConnect`, and its client
// reads the seed's frames. In the container is a real bridge.

import { env } from "cloudflare:workers";
import { getSandbox } from "@cloudflare/sandbox";
import { expect, inject, test } from "vitest";
import type { Sandbox } from "../support/entry.ts";
import { STDIO_TOKEN } from "../support/secret.ts";
import { listenIn } from "../support/stand-in-container.ts";

type Env = { Sandbox: DurableObjectNamespace<Sandbox> };

/** The seed's own, but that the bridge's secret takes the place of the token, once that was verified. */
async function handleStdioWebSocket(request: Request, env: Env): Promise<Response> {
  const url = new URL(request.url);
  const sandboxId = url.searchParams.get("sandbox") ?? "default";
  const sandbox = getSandbox(env.Sandbox, sandboxId);
  const headers = new Headers(request.headers);
  headers.set("Authorization", `Bearer ${STDIO_TOKEN}`);
  return await sandbox.wsConnect(new Request(request, { headers }), 8080);
}

/** The seed's own. */
function unpack(data: Uint8Array): { streamId: number; payload: Uint8Array } {
  return { streamId: data[0] ?? 0, payload: data.subarray(1) };
}

/** The seed's client of a command, as far as it needs no terminal. */
async function connect(words: readonly string[]) {
  const [cmd = "", ...args] = words;
  const sandbox = crypto.randomUUID();
  listenIn(sandbox, (request) => {
    const { pathname, search } = new URL(request.url);
    return fetch(`${inject("bridgeUrl")}${pathname}${search}`, { headers: request.headers });
  });
  const url = new URL("http://worker/attach");
  url.searchParams.set("sandbox", sandbox);
  url.searchParams.set("cmd", cmd);
  for (const arg of args) url.searchParams.append("arg", arg);
  const headers = { Upgrade: "websocket", Connection: "Upgrade" };
  const { webSocket: ws, status } = await handleStdioWebSocket(new Request(url, { headers }), env as unknown as Env);
  if (!ws) throw new Error(`Refused with ${status}`);
  ws.accept();
  const output = ["", "", ""];
  const exit = new Promise<unknown>((resolve) => {
    ws.addEventListener("message", (ev) => {
      if (typeof ev.data === "string") {
        const msg = JSON.parse(ev.data);
        if (msg.type === "exit") resolve(msg);
        return;
      }
      const { streamId, payload } = unpack(new Uint8Array(ev.data as ArrayBuffer));
      output[streamId] += new TextDecoder().decode(payload);
    });
  });
  const closed = new Promise<number>((resolve) => ws.addEventListener("close", ({ code }) => resolve(code)));
  return { ws, output, exit, closed };
}

test("H1a: bytes go in, both streams come out apart, and then the exit code and the close", async () => {
  const { ws, output, exit, closed } = await connect(["sh", "-c", 'read line; echo "out $line"; echo err >&2; exit 7']);
  ws.send(new TextEncoder().encode("hi\n"));
  expect(await exit).toMatchObject({ code: 7 });
  expect(output).toEqual(["", "out hi\n", "err\n"]);
  expect(await closed).toBe(1000);
});

test("H1a: a size that means nothing on pipes is no fault, and a signal ends the process", async () => {
  const { ws, exit } = await connect(["sleep", "600"]);
  ws.send(JSON.stringify({ type: "resize", cols: 120, rows: 40 }));
  ws.send(JSON.stringify({ type: "signal", signal: "SIGINT" }));
  expect(await exit).toMatchObject({ code: 130, signal: "SIGINT" });
});
