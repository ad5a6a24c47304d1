// A browser's request to a server in the sandbox: how long its answer is waited for.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
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
    answer: answered(request, call),
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
