// Runs that can't come to anything end early and say why, and a session in which nothing moves is left alone.

import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { OPEN_PLAN } from "../src/faults.ts";
import type { Ground } from "../src/ground.ts";
import { Run } from "../src/run.ts";

/** A run of `parallel` sessions against this server. */
async function against(
  server: Server,
  parallel: number,
  stuckMs: number,
  heard: (line: string, run: Run) => void = () => undefined,
) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const lines: string[] = [];
  const run: Run = new Run({
    ...{ seed: 1, cuts: 10, aborts: 0, kills: 0, losses: 0, reloads: 0, parallel, speed: 1 },
    ...{ isMixed: false, sessionBytes: 1_000, limitMs: 60_000, stuckMs, pauseMs: 0 },
    log: (line) => {
      lines.push(line);
      heard(line, run);
    },
  });
  const ground: Ground = {
    ...{ attachUrl: new URL(`http://127.0.0.1:${port}/attach`), token: "none", proxyPort: port },
    program: () => ({ cmd: "true", args: [] }),
    close: () => Promise.resolve(),
  };
  return { run, ground, lines };
}

function refusing(): Server {
  const server = createHttpServer();
  server.on("upgrade", (_request, socket) => {
    socket.on("error", () => undefined);
    const body = '{"error":"expired","message":"The token has expired"}';
    socket.end(`HTTP/1.1 401 Unauthorized\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
  });
  return server;
}

test("a server that refuses every session is asked for a few, and its answer is shown", async () => {
  const { run, ground, lines } = await against(refusing(), 4, 60_000);
  expect(await run.on(ground)).toBe(false);
  const refusals = lines.filter((line) => line.includes("refused with"));
  expect(new Set(refusals.map((line) => line.replace(/^! session s1-\d+: /, "")))).toEqual(
    new Set(['refused with 4401: HTTP 401 {"error":"expired","message":"The token has expired"}']),
  );
  expect(refusals.length).toBeGreaterThanOrEqual(20);
  expect(refusals.length).toBeLessThan(20 + 4);
});

test("a server of the run's own that has ended ends the run", async () => {
  const { run, ground, lines } = await against(refusing(), 4, 60_000);
  expect(await run.on({ ...ground, failed: Promise.resolve("The Worker has ended (code 1)") })).toBe(false);
  expect(lines).toContain("! session s1-0: The Worker has ended (code 1)");
});

test("a session that stands still is broken no more, and has failed if it stands still for as long again", async () => {
  // This server takes connections and never answers.
  const silent = createServer((socket) => socket.on("error", () => undefined));
  const { run, ground, lines } = await against(silent, 1, 100, (line, run) => {
    if (line.startsWith("!")) run.giveUp("seen");
  });
  expect([await run.on(ground), run.tally.spared]).toEqual([false, 1]);
  expect(lines[0]).toMatch(/^session s1-0 is left alone: nothing has moved for long, client connecting, 0 bytes out/);
  expect(lines[1]).toMatch(/^! session s1-0: stuck: nothing moved/);
  const { plan, mayBreak } = run.hop("outer");
  expect([plan("s1-0", 7), mayBreak?.("rst", "s1-0")]).toEqual([OPEN_PLAN, false]);
  expect([plan("s1-1", 7) === OPEN_PLAN, mayBreak?.("rst", "s1-1")]).toEqual([false, true]);
});
