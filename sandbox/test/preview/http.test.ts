// A browser's request to a server in the sandbox: how long its answer is waited for.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { PREVIEW_LEAD, PREVIEW_STATUS } from "sandbox-stdio/core";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { answered } from "../../src/preview/http.ts";

let server: Server;
let port = 0;
let heard = "";
let hear: () => void = () => undefined;
let answers = true;

beforeEach(async () => {
  heard = "";
  answers = true;
  server = createServer((request, response) => {
    request.on("data", (chunk: Uint8Array) => {
      heard += Buffer.from(chunk).toString();
      hear();
    });
    request.on("end", () => {
      heard += ".";
      hear();
      if (answers) response.end("all of it");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});

afterEach(() => {
  vi.useRealTimers();
  server.closeAllConnections();
  server.close();
});

/** Asks with a body that comes in pieces. @returns Its answer, and how to say a piece, which resolves when the server has it. */
function ask() {
  let push: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      push = controller;
    },
  });
  const until = (text: string) =>
    new Promise<void>((resolve) => {
      hear = () => heard.endsWith(text) && resolve();
    });
  const request = new Request("http://bridge/preview", { method: "POST", body });
  const call = { host: "127.0.0.1", port, path: "/", method: "POST", headers: new Map() };
  return {
    answer: answered(request, call, false),
    say: (text: string) => {
      const has = until(text);
      push?.enqueue(new TextEncoder().encode(text));
      return has;
    },
    end: () => {
      const has = until(".");
      push?.close();
      return has;
    },
  };
}

test("a body that takes longer than the answer may is no reason to give up: 60 s count from its last byte", async () => {
  const { answer, say, end } = ask();
  for (const piece of ["one", "two", "three"]) {
    await say(piece);
    vi.advanceTimersByTime(59_000);
  }
  await end();
  const response = await answer;
  expect([response.status, await response.text(), heard]).toEqual([200, "all of it", "onetwothree."]);
});

test("a server that has everything and says nothing for 60 s is given up", async () => {
  answers = false;
  const { answer, say, end } = ask();
  await say("one");
  await end();
  vi.advanceTimersByTime(60_000);
  const response = await answer;
  expect([response.status, await response.json()]).toMatchObject([422, { error: "timeout" }]);
});

test.each([
  ["HEAD", 200],
  ["GET", 204],
  ["GET", 205],
  ["GET", 304],
  ["GET", 200],
])(
  "an answer without a body, to %s with %i, has the byte of the bridge's own that was asked for",
  async (method, status) => {
    server.removeAllListeners("request").on("request", (_, response) => response.writeHead(status).end());
    const call = { host: "127.0.0.1", port, path: "/", method, headers: new Map() };
    const response = await answered(new Request("http://bridge/preview"), call, true);
    expect([response.headers.get(PREVIEW_STATUS), response.headers.has(PREVIEW_LEAD)]).toEqual([`${status}`, true]);
    expect((await response.bytes()).length).toBe(1);
  },
);

test("an answer begins with the byte of the bridge's own before the server has said any of its body", async () => {
  server.removeAllListeners("request").on("request", (_, response) => response.writeHead(200).flushHeaders());
  const call = { host: "127.0.0.1", port, path: "/", method: "GET", headers: new Map() };
  const response = await answered(new Request("http://bridge/preview"), call, true);
  const reader = response.body?.getReader();
  expect((await reader?.read())?.value?.length).toBe(1);
  await reader?.cancel();
});
