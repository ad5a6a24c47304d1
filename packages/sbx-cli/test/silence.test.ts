// Requests to a server that takes them and says nothing end.

import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { sandbox } from "sandbox-stdio/client";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { fetchUnlessSilent } from "../src/silence.ts";
import { Terminal } from "./fixture/tmux.ts";

let asked = 0;
/** Silent, but where it is asked for the session `slow`: its answer begins at once, and ends later. */
const server = http.createServer((request, response) => {
  asked += 1;
  if (request.url?.includes("slow") !== true) return;
  response.write(" ");
  setTimeout(() => response.end('{"state":"running"}'), 100);
});
beforeAll(() => once(server.listen(0, "127.0.0.1"), "listening"));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const at = (ms: number, retries: number) => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return sandbox(url, { retries, fetch: fetchUnlessSilent(ms) });
};

test("an answer that does not begin in time is a failure, and is not waited for a second time", async () => {
  asked = 0;
  const failure = await at(60, 1)
    .session("s")
    .describe()
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "unreachable", message: expect.stringMatching(/: no answer for 0 s$/) });
  expect(asked).toBe(1);
});

test("one that has begun may take its time", async () => {
  expect(await at(60, 0).session("slow").describe()).toEqual({ state: "running" });
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
        // Said again only after 8 s.
        const told = terminal.screen().match(/sbx-stdio: waiting for .*\([2-7] s so far\)/g) ?? [];
        expect(told.length).toBeGreaterThanOrEqual(words.length);
      },
      { timeout: 240_000, interval: 200 },
    );
    terminal.run("kill -9 $(jobs -p)");
  } finally {
    terminal.close();
  }
});
