// A person who waits is told why and how long, wherever a connection stands still: before it, in it, and for the session.

import { once } from "node:events";
import net from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { cleanEnv, startCli } from "../fixture/cli.ts";

/** Takes connections, and says nothing. */
const silent = net.createServer();
/** Opens WebSockets, and greets nobody. */
const unready = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => "stdio.v1" });
const portOf = (server: { address(): unknown }) => (server.address() as net.AddressInfo).port;

beforeAll(async () => {
  if (unready.address() === null) await once(unready, "listening");
  await once(silent.listen(0, "127.0.0.1"), "listening");
});
afterAll(() => {
  silent.close();
  unready.close();
});

const answer = /^sbx-stdio: connected to 127\.0\.0\.1:\d+: waiting for a response \(\d+ s so far/m;

test.each<[string, () => string[], RegExp]>([
  ["a server that does not answer", () => [`http://127.0.0.1:${portOf(silent)}`], answer],
  [
    "one that does not speak TLS",
    () => [`https://127.0.0.1:${portOf(silent)}`],
    /^sbx-stdio: connected to 127\.0\.0\.1:\d+: waiting for TLS \(\d+ s so far/m,
  ],
  [
    "a session that does not begin",
    () => [`http://127.0.0.1:${portOf(unready)}`],
    /^sbx-stdio: connected to 127\.0\.0\.1:\d+: waiting for the session \(\d+ s so far/m,
  ],
  [
    "a token command that takes its time",
    () => [`http://127.0.0.1:${portOf(silent)}`, "--token-command", "exec sleep 60"],
    /^sbx-stdio: waiting for an access token \(\d+ s so far/m,
  ],
])("%s is told as that", async (_what, words, line) => {
  const child = startCli([...words(), "--", "true"], { env: cleanEnv(), stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  await new Promise<void>((resolve) => {
    child.stderr?.on("data", (chunk: Buffer) => {
      said += chunk;
      if (line.test(said)) resolve();
    });
    child.once("close", () => resolve());
  });
  child.kill("SIGKILL");
  expect(said).toMatch(line);
});
