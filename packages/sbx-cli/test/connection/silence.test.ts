// Requests to a server that takes them and says nothing end.

import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { sandbox } from "sandbox-stdio/client";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { fetchUnlessSilent, PAUSE_TIMEOUT_MS } from "../../src/connection/silence.ts";
import { Terminal } from "../fixture/tmux.ts";

let asked = 0;
/** What is to happen once a request has come. */
let onRequest: () => void = () => undefined;
/** Silent, but where it is asked for the session `slow`: its answer begins at once, and ends after the time that is waited for others. */
const server = http.createServer((request, response) => {
  asked += 1;
  onRequest();
  if (request.url?.includes("slow") !== true) return;
  response.write(" ");
  setTimeout(() => response.end('{"state":"running"}'), 2 * PATIENCE_MS);
});
const PATIENCE_MS = 60_000;
beforeAll(() => once(server.listen(0, "127.0.0.1"), "listening"));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const at = (retries: number) => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return sandbox(url, { retries, fetch: fetchUnlessSilent(PATIENCE_MS) });
};

afterEach(() => {
  vi.useRealTimers();
  onRequest = () => undefined;
});

test("an answer that does not begin in time is a failure, and is not waited for a second time", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  asked = 0;
  onRequest = () => {
    vi.advanceTimersByTime(PATIENCE_MS);
    vi.useRealTimers();
  };
  const failure = await at(1)
    .session("s")
    .describe()
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "unreachable", message: expect.stringMatching(/: no response for 60 s$/) });
  expect(asked).toBe(1);
});

test("one that has begun may take its time", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const begun = async (...[input, init]: Parameters<typeof fetch>) => {
    const answer = await fetchUnlessSilent(PATIENCE_MS)(input, init);
    // Twice the time that is waited for a beginning, once there is one.
    vi.advanceTimersByTime(2 * PATIENCE_MS);
    return answer;
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await sandbox(url, { retries: 0, fetch: begun }).session("slow").describe()).toEqual({ state: "running" });
});

test("R4: a stream on which nothing comes any more is opened anew, and goes on after its last event", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const event = (id: string, type: string, data: object) =>
    `event: ${type}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
  const seen: (string | undefined)[] = [];
  const streams = http.createServer((request, response) => {
    seen.push(request.headers["last-event-id"] as string | undefined);
    if (seen.length === 1) response.write(event("a.4", "output", { from: 0, next: 4, output: "one\n" }));
    else response.end(event("a.5", "exit", { state: "exited", code: 3, offset: 4 }));
  });
  await once(streams.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(streams.address() as AddressInfo).port}`;
  const events: string[] = [];
  for await (const { type } of sandbox(url, { fetch: fetchUnlessSilent() }).session("s").follow()) {
    events.push(type);
    // The pause counts from the next read, which follows first.
    const pause = () => {
      vi.advanceTimersByTime(PAUSE_TIMEOUT_MS);
      vi.useRealTimers();
    };
    if (type === "output") setImmediate(pause);
  }
  expect([events, seen]).toEqual([
    ["output", "exit"],
    [undefined, "a.4"],
  ]);
  streams.closeAllConnections();
  streams.close();
});

test("a person is told after two seconds what is waited for, by each verb that asks", async () => {
  const terminal = new Terminal();
  try {
    await terminal.shows(/^local\$/m);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port} --session s`;
    const words = ["logs URL", "read URL", "wait URL --exit", "write URL --text x", "run URL -- true"];
    for (const word of words) terminal.run(`"$RUNTIME" "$PROGRAM" ${word.replace("URL", url)} --token t &`);
    await vi.waitFor(
      () => {
        // A busy machine may have said it for the second time, after 8 s.
        const told = terminal.screen().match(/sbx-stdio: waiting for .*\(\d+ s so far\)/g) ?? [];
        expect(told.length).toBeGreaterThanOrEqual(words.length);
      },
      { timeout: 240_000, interval: 200 },
    );
    terminal.run("kill -9 $(jobs -p)");
  } finally {
    terminal.close();
  }
});
