// The frames that a line over ws sends, as they are on the wire.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import type { Duplex } from "node:stream";
import { expect, test, vi } from "vitest";
import { WebSocketServer } from "ws";
import { dial } from "../../src/connection/websocket.ts";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const MESSAGE = Buffer.from("some input");

/** The first frame that comes to a server of this name: its mask, and its payload without it. */
async function firstFrame(host: string): Promise<{ mask: Buffer; payload: string }> {
  const server = createServer().listen(0, "0.0.0.0");
  await once(server, "listening");
  const url = new URL(`ws://${host}:${(server.address() as AddressInfo).port}/attach`);
  const nothing = () => undefined;
  const events = { text: nothing, binary: nothing, closed: nothing, gone: nothing };
  const opened = dial(
    { url, token: undefined, ticket: undefined, stage: nothing },
    { ...events, open: () => opened.send(MESSAGE) },
  );
  const [request, socket] = (await once(server, "upgrade")) as [{ headers: Record<string, string> }, Duplex];
  const accept = createHash("sha1").update(`${request.headers["sec-websocket-key"]}${GUID}`).digest("base64");
  const head = [
    "101 Switching Protocols",
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Protocol: stdio.v1",
  ];
  socket.write(`HTTP/1.1 ${head.join("\r\n")}\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
  let frame = Buffer.alloc(0);
  while (frame.length < 6 + MESSAGE.length) frame = Buffer.concat([frame, ...(await once(socket, "data"))]);
  opened.terminate();
  socket.destroy();
  server.close();
  const mask = frame.subarray(2, 6);
  const payload = frame.subarray(6).map((byte, i) => byte ^ (mask[i % 4] ?? 0));
  return { mask, payload: Buffer.from(payload).toString() };
}

test("what others could see on its way is masked by chance; where nobody can, a mask of zeros saves the work", async () => {
  expect(await firstFrame("127.0.0.1")).toEqual({ mask: Buffer.alloc(4), payload: "some input" });
  // This machine too, by an address that does not say so.
  const { mask, payload } = await firstFrame("0.0.0.0");
  expect(payload).toBe("some input");
  expect(mask).not.toEqual(Buffer.alloc(4));
});

test("where this machine gives up the address of a connection, the next message ends it at once", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => "stdio.v1" });
  await once(server, "listening");
  const received: string[] = [];
  server.on("connection", (socket) => void socket.on("message", (message) => void received.push(String(message))));
  const url = new URL(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/attach`);
  const here = vi.spyOn(os, "networkInterfaces");
  const clock = vi.spyOn(Date, "now");
  const nothing = () => undefined;
  const events = { text: nothing, binary: nothing, gone: nothing };
  try {
    const closed = await new Promise((resolve) => {
      const opened = dial(
        { url, token: undefined, ticket: undefined, stage: nothing },
        {
          ...events,
          open: () => {
            clock.mockReturnValue(1e12);
            opened.send("kept");
            here.mockReturnValue({ lo: [] });
            // Too soon to look again.
            opened.send("kept too");
            clock.mockReturnValue(1e12 + 200);
            opened.send("for the next connection");
          },
          closed: (...why) => resolve(why),
        },
      );
    });
    expect(closed).toEqual([1006, "this machine's address has changed"]);
  } finally {
    vi.restoreAllMocks();
    server.close();
  }
  expect(received).not.toContain("for the next connection");
});
