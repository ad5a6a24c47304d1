// A sandbox may be this machine, as with `npm start`: then its port may be the one that is listened on here, and each connection
// would come back as another, without end. One connection of our own finds that out.

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Server, type Socket } from "node:net";
import { within } from "../connection/endings.ts";

const PROBE_MS = 5_000;
const MARK_BYTES = 16;

/** Passes a connection on to the sandbox. @param told Called when it is there, and when it can't be. @returns What breaks it off. */
type PassOn = (socket: Socket, told: () => void) => () => void;

/** Whether a connection to what listens here comes back to it; and those that others made meanwhile, paused. */
export type Found = { readonly leadsBack: boolean; readonly others: readonly Socket[] };

/** @param port Of what listens here. The server pauses what it accepts. */
export async function probeLoop(server: Server, address: string, port: number, passOn: PassOn): Promise<Found> {
  const accepted: Socket[] = [];
  let told: () => void = () => undefined;
  const settled = new Promise<void>((resolve) => {
    told = resolve;
  });
  const take = (socket: Socket) => void accepted.push(socket);
  server.on("connection", take);
  const own = connect({ host: reachable(address), port });
  own.on("error", () => undefined); // It is broken off at the end.
  await once(own, "connect");
  const isOwn = ({ remotePort }: Socket) => remotePort === own.localPort;
  while (!accepted.some(isOwn)) await once(server, "connection");
  const breakOff = accepted.filter(isOwn).map((socket) => passOn(socket, told));
  await within(PROBE_MS, settled);
  // What the bridge has connected to waits to be accepted, if it is this listener.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const others = accepted.filter((socket) => !isOwn(socket));
  const leadsBack = others.length > 0 && (await comesOut(own, others));
  server.off("connection", take);
  own.destroy();
  for (const end of breakOff) end();
  return { leadsBack, others };
}

/** Whether what is written into one comes out of another. */
async function comesOut(own: Socket, others: readonly Socket[]): Promise<boolean> {
  const mark = randomBytes(MARK_BYTES);
  own.write(mark);
  const found = others.map(async (socket) => {
    const bytes = await firstBytes(socket);
    if (bytes?.equals(mark) !== true) throw new Error("Another's connection");
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

/** Its first bytes, which it still has afterwards. */
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

/** Where a listener on all addresses is reached. */
function reachable(address: string): string {
  if (address === "0.0.0.0") return "127.0.0.1";
  return address === "::" ? "::1" : address;
}
