// Detects a forwarding loop: with `npm start` the sandbox may be this machine, and the forwarded port the listening one. Then each
// connection would come back as another. A probe connection finds out.

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Server, type Socket } from "node:net";
import { within } from "../connection/endings.ts";

const PROBE_MS = 5_000;
const MARK_BYTES = 16;

/** Forwards a connection. @param settled Called when it is established or has failed. @returns Aborts it. */
type Forward = (socket: Socket, settled: () => void) => () => void;

/** Whether a connection comes back, and the connections that others made meanwhile, paused. */
export type ProbeResult = { readonly isLoop: boolean; readonly others: readonly Socket[] };

/** @param port The listening port. The server pauses accepted connections. */
export async function probeLoop(server: Server, address: string, port: number, forward: Forward): Promise<ProbeResult> {
  const accepted: Socket[] = [];
  let settle: () => void = () => undefined;
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const collect = (socket: Socket) => void accepted.push(socket);
  server.on("connection", collect);
  const own = connect({ host: reachable(address), port });
  own.on("error", () => undefined); // Destroyed at the end.
  await once(own, "connect");
  const isOwn = ({ remotePort }: Socket) => remotePort === own.localPort;
  while (!accepted.some(isOwn)) await once(server, "connection");
  const aborts = accepted.filter(isOwn).map((socket) => forward(socket, settle));
  await within(PROBE_MS, settled);
  // The bridge's connection is accepted now, if it leads to this listener.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const others = accepted.filter((socket) => !isOwn(socket));
  const isLoop = others.length > 0 && (await comesOut(own, others));
  server.off("connection", collect);
  own.destroy();
  for (const abort of aborts) abort();
  return { isLoop, others };
}

/** Whether bytes written into one connection come out of another. */
async function comesOut(own: Socket, others: readonly Socket[]): Promise<boolean> {
  const mark = randomBytes(MARK_BYTES);
  own.write(mark);
  const found = others.map(async (socket) => {
    const bytes = await firstBytes(socket);
    if (bytes?.equals(mark) !== true) throw new Error("Another connection");
  });
  let isSame = false;
  const all = Promise.any(found).then(
    () => {
      isSame = true;
    },
    () => undefined,
  );
  await within(PROBE_MS, all);
  return isSame;
}

/** The first bytes, which stay readable. */
async function firstBytes(socket: Socket): Promise<Buffer | undefined> {
  for (;;) {
    await once(socket, "readable");
    const bytes: unknown = socket.read(MARK_BYTES);
    if (!Buffer.isBuffer(bytes)) {
      if (socket.readableEnded) return undefined;
      continue;
    }
    socket.unshift(bytes);
    return bytes;
  }
}

/** An address that reaches a listener on all addresses. */
function reachable(address: string): string {
  if (address === "0.0.0.0") return "127.0.0.1";
  return address === "::" ? "::1" : address;
}
