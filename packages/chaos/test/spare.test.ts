// A session in which nothing moves: its connections are left alone, and only then is it stuck.

import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { OPEN_PLAN } from "../src/faults.ts";
import { Run } from "../src/run.ts";

test("a session that stands still is broken no more, and has failed if it stands still for as long again", async () => {
  // It takes connections and never says a word.
  const server = createServer((socket) => socket.on("error", () => undefined)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot listen");
  const lines: string[] = [];
  const run: Run = new Run({
    seed: 1,
    cuts: 10,
    aborts: 0,
    kills: 0,
    reloads: 0,
    parallel: 1,
    speed: 1,
    sessionBytes: 1_000,
    limitMs: 60_000,
    stuckMs: 100,
    pauseMs: 0,
    log: (line) => {
      lines.push(line);
      if (line.startsWith("!")) run.giveUp("seen");
    },
  });
  const isGood = await run.on({
    attachUrl: new URL(`http://127.0.0.1:${address.port}/attach`),
    token: "none",
    proxyPort: address.port,
    program: () => ({ cmd: "true", args: [] }),
    close: () => Promise.resolve(),
  });
  server.close();
  expect([isGood, run.tally.spared]).toEqual([false, 1]);
  expect(lines[0]).toMatch(/^session s1-0 is left alone: nothing has moved for long, client connecting, 0 bytes out/);
  expect(lines[1]).toMatch(/^! session s1-0: stuck: nothing moved/);
  const { plan, mayBreak } = run.hop("outer");
  expect([plan("s1-0", 7), mayBreak?.("rst", "s1-0")]).toEqual([OPEN_PLAN, false]);
  expect([plan("s1-1", 7) === OPEN_PLAN, mayBreak?.("rst", "s1-1")]).toEqual([false, true]);
});
