// A13: a connection to a port of the loopback in a process's place, with real servers.

import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { ChildProcess, ExitStatus, StartFault } from "../../src/process/process.ts";
import { connectTcp } from "../../src/process/tcp.ts";
import { Collector, eventually } from "../support/process-harness.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(onSocket: (socket: Socket) => void, host = "127.0.0.1"): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    onSocket(socket);
  });
  servers.push(server);
  server.listen(0, host);
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

type Connection = { child: ChildProcess; sink: Collector; ended: Promise<void>; exited: Promise<ExitStatus> };

function connect(port: number): Connection | StartFault {
  const sink = new Collector();
  const ended = Promise.withResolvers<void>();
  const exited = Promise.withResolvers<ExitStatus>();
  const child = connectTcp(port, sink, {
    onWritable: () => undefined,
    onOutputEnd: ended.resolve,
    onExit: exited.resolve,
  });
  return "fault" in child ? child : { child, sink, ended: ended.promise, exited: exited.promise };
}

function connection(port: number): Connection {
  const outcome = connect(port);
  if ("fault" in outcome) throw new Error(outcome.detail);
  return outcome;
}

/** Not by `for await`, which destroys the socket behind the end. */
function read(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  return once(socket, "end").then(() => text);
}

test("A13: bytes go both ways, and each direction ends by itself", async () => {
  let heard: Promise<string> | undefined;
  const port = await serve((socket) => {
    socket.end("hello");
    heard = read(socket);
  });
  const { child, sink, ended, exited } = connection(port);
  await ended;
  expect(sink.text()).toBe("hello");
  expect(child.write(new TextEncoder().encode("after your end"))).toBe(14);
  child.closeStdin();
  expect(await exited).toEqual({ code: 0 });
  expect(await heard).toBe("after your end");
});

test("A13b: the end of input comes first, and what the server says after it is read", async () => {
  const port = await serve((socket) => void read(socket).then((text) => socket.end(text.toUpperCase())));
  const { child, sink, exited } = connection(port);
  child.write(new TextEncoder().encode("abc"));
  child.closeStdin();
  expect(await exited).toEqual({ code: 0 });
  expect(sink.text()).toBe("ABC");
});

test("A13: a few bytes and the end at once are both seen", async () => {
  const port = await serve((socket) => socket.end("x"));
  for (let round = 0; round < 50; round += 1) {
    const { child, sink, ended, exited } = connection(port);
    await ended;
    expect(sink.text()).toBe("x");
    child.closeStdin();
    await exited;
  }
});

test("A13a: a port that nothing listens on is refused at once; ::1 is tried where 127.0.0.1 refuses", async () => {
  const port = await serve((socket) => socket.end("six"), "::1");
  const { child, sink, exited } = connection(port);
  child.closeStdin();
  await exited;
  expect(sink.text()).toBe("six");
  servers.splice(0)[0]?.close();
  await eventually(() => "fault" in connect(port));
  expect(connect(port)).toEqual({
    fault: "connection_refused",
    detail: `Cannot connect to port ${port} of the sandbox: nothing listens there`,
  });
});

test("A13c: a connection that the server resets ends with 1, also in the middle of a write", async () => {
  const sockets: Socket[] = [];
  const port = await serve((socket) => sockets.push(socket));
  const first = connection(port);
  await eventually(() => sockets.length === 1);
  sockets[0]?.resetAndDestroy();
  expect(await first.exited).toEqual({ code: 1 });
  const second = connection(port);
  await eventually(() => sockets.length === 2);
  second.child.write(new Uint8Array(10_000_000));
  sockets[1]?.resetAndDestroy();
  expect(await second.exited).toEqual({ code: 1 });
});

test("A13c: what is broken off here reaches the server as a reset, not as an end", async () => {
  const errors: unknown[] = [];
  const port = await serve((socket) => {
    socket.on("error", (error) => errors.push("code" in error && error.code));
    socket.on("end", () => errors.push("end"));
    socket.write("up");
    socket.resume();
  });
  const { child, sink, exited } = connection(port);
  await sink.until(/up/);
  child.signalAll("SIGHUP");
  expect(await exited).toEqual({ code: 129, signal: "SIGHUP" });
  await eventually(() => errors.length > 0);
  expect(errors).toEqual(["ECONNRESET"]);
});

test("A13: a connection that is held reads nothing, and the server is held back with it", async () => {
  let socket: Socket | undefined;
  const port = await serve((one) => {
    socket = one;
    for (let sent = 0; sent < 64; sent += 1) one.write(new Uint8Array(1_000_000));
    one.end();
  });
  const { child, sink, ended } = connection(port);
  child.hold();
  await eventually(() => (socket?.writableLength ?? 0) > 0);
  expect(sink.totalBytes).toBe(0);
  child.release();
  await ended;
  expect(sink.totalBytes).toBe(64_000_000);
  child.closeStdin();
});
