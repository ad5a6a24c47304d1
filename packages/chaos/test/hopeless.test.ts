// Runs that can't come to anything end early and say why.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { Ground } from "../src/ground.ts";
import { Run } from "../src/run.ts";

/** A server that refuses everybody, and a run against it. */
async function refused(): Promise<{ run: Run; ground: Ground; lines: string[] }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  server.on("upgrade", (_request, socket) => {
    socket.on("error", () => undefined);
    const body = '{"error":"expired","message":"The token has expired"}';
    socket.end(`HTTP/1.1 401 Unauthorized\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
  });
  const { port } = server.address() as AddressInfo;
  const lines: string[] = [];
  const run = new Run({
    ...{ seed: 1, cuts: 10, aborts: 0, kills: 0, reloads: 0, parallel: 4, speed: 1 },
    ...{ sessionBytes: 1_000, limitMs: 60_000, stuckMs: 60_000 },
    pauseMs: 0,
    log: (line) => lines.push(line),
  });
  const ground: Ground = {
    attachUrl: new URL(`http://127.0.0.1:${port}/attach`),
    token: "none",
    proxyPort: port,
    program: () => ({ cmd: "true", args: [] }),
    close: () => Promise.resolve(),
  };
  return { run, ground, lines };
}

test("a server that refuses every session is asked for a few, and its answer is shown", async () => {
  const { run, ground, lines } = await refused();
  expect(await run.on(ground)).toBe(false);
  const refusals = lines.filter((line) => line.includes("refused with"));
  expect(new Set(refusals.map((line) => line.replace(/^! session s1-\d+: /, "")))).toEqual(
    new Set(['refused with 4401: HTTP 401 {"error":"expired","message":"The token has expired"}']),
  );
  expect(refusals.length).toBeGreaterThanOrEqual(20);
  expect(refusals.length).toBeLessThan(20 + 4);
});

test("a server of the run's own that has ended ends the run", async () => {
  const { run, ground, lines } = await refused();
  expect(await run.on({ ...ground, failed: Promise.resolve("The Worker has ended (code 1)") })).toBe(false);
  expect(lines).toContain("! session s1-0: The Worker has ended (code 1)");
});
