// A bridge that listens on a Unix socket, as that of `serve`.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HEADERS, temporary, testBridge } from "../support/bridge.ts";

test("with a socket it listens there and at no port, and asks for the secret as ever", async () => {
  const socket = join(temporary(), "bridge.sock");
  const bridge = testBridge({ STDIO_SOCKET: socket });
  expect(bridge.url).toBe(`unix:${socket}`);
  const ask = (path: string, headers = {}) => fetch(`http://bridge${path}`, { unix: socket, headers });
  expect((await ask("/sessions?sandbox=any")).status).toBe(401);
  expect(await (await ask("/sessions?sandbox=any", HEADERS)).json()).toMatchObject({ sessions: [] });
  // No port of its own is forbidden to look at.
  const preview = await ask("/preview?sandbox=any&port=1&path=/", HEADERS);
  expect([preview.status, await preview.json()]).toMatchObject([422, { error: "connection_refused" }]);
  await bridge.stop();
  expect(existsSync(socket)).toBe(false);
});
