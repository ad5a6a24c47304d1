// What the bridge says of itself: the trace of a session that is asked for, and its log at a level.

import { once } from "node:events";
import { expect, test } from "vitest";
import { type BridgeProcess, refusedStart, SECRET, startBridgeProcess, temporary } from "../support/bridge.ts";
import { PlainClient } from "../support/clients.ts";

const TYPED = "hunter2";

const start = (env: Record<string, string>) => startBridgeProcess({ env: { SANDBOX_ROOT: temporary(), ...env } });

/** Types a line at `head -c 8`, which repeats it and ends. */
async function session({ url }: BridgeProcess, session: string): Promise<void> {
  const query = new URLSearchParams({ session, cmd: "head", tty: "0", arg: "-c" });
  query.append("arg", "8");
  const client = await PlainClient.attach(url, SECRET, query);
  await client.until(() => client.messages.length > 0);
  client.type(`${TYPED}\n`);
  await client.closed;
}

/** Stops the bridge. @returns All that it has said. */
async function linesOf({ child, said }: BridgeProcess): Promise<string[]> {
  child.kill("SIGTERM");
  await once(child, "close");
  return said;
}

test("STDIO_TRACE=SESSION: its trace says what came, was decided and was told, and no content", async () => {
  const bridge = await start({ STDIO_TRACE: "work" });
  await Promise.all([session(bridge, "work"), session(bridge, "other")]);
  const lines = await linesOf(bridge);
  expect(lines.filter((line) => !/^trace \d\d:\d\d:\d\d\.\d{3} default\/work bridge /.test(line))).toEqual([]);
  const words = lines.map((line) => line.replace(/^trace \S+ \S+ bridge /, ""));
  const expected = [
    /^opens #\d+ plain role=driver$/,
    /^decides attach client=\w+ name="" role=driver delivery=lossless acked=0 received=0$/,
    /^tells #\d+ hello .*offset=0 live=0 stdin=0 resume=… window=65536 .*you=\w+/,
    /^hears #\d+ stdin 8 B$/,
    /^decides take what=bytes client=\w+ from=0 to=8$/,
    /^tells #\d+ stdout 8 B$/,
    /^ended: \{"code":0\}, the log ends at 8$/,
    /^tells #\d+ exit code=0 offset=8$/,
    /^#\d+ has closed with 1000$/,
  ];
  // In this order, whatever else is said between.
  let at = -1;
  const missing = expected.filter((line) => {
    const next = words.findIndex((word, i) => i > at && line.test(word));
    if (next >= 0) at = next;
    return next < 0;
  });
  expect({ missing, words: missing.length === 0 ? [] : words }).toEqual({ missing: [], words: [] });
  expect(lines.filter((line) => line.includes(TYPED) || line.includes(SECRET))).toEqual([]);
});

test("without STDIO_TRACE nothing is traced, and nothing is said of sessions that go well", async () => {
  const bridge = await start({});
  await session(bridge, "work");
  expect(await linesOf(bridge)).toEqual([]);
});

test("LOG_LEVEL=info says when sessions start and end", async () => {
  const bridge = await start({ LOG_LEVEL: "info" });
  await session(bridge, "work");
  expect(await linesOf(bridge)).toEqual(["session default/work started", "session default/work ended: code 0"]);
});

test("another LOG_LEVEL is refused at the start, with the ones that there are", async () => {
  const { code, said } = await refusedStart({ STDIO_TOKEN: SECRET, LOG_LEVEL: "loud" });
  expect([code, said]).toEqual([2, "stdio-ws: LOG_LEVEL must be one of error, warn, info, debug\n"]);
});
