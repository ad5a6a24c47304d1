// A TCP link of a given rate and delay, in both directions, in front of a loopback server.

import { createServer, connect as dial, type Socket } from "node:net";

export type Link = { readonly url: string; close(): void };

export type LinkOptions = { readonly port: number; readonly bytesPerSecond: number; readonly delayMs: number };

/** How much may be on the link before the sender is held: as much as a queue in a router holds. */
const QUEUE_BYTES = 32 * 1024;

export function openLink(target: string, options: LinkOptions): Promise<Link> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer({ highWaterMark: 16_384 }, (near) => {
    const far = dial({ port: Number(port), host: hostname });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      carry(from, to, options);
      from.on("close", () => to.destroy());
      from.on("error", () => to.destroy());
    }
  });
  return new Promise((resolve) => {
    server.listen(options.port, "127.0.0.1", () => {
      resolve({
        url: `http://127.0.0.1:${options.port}`,
        close: () => {
          server.close();
          for (const socket of sockets) socket.destroy();
        },
      });
    });
  });
}

/** Each chunk leaves when the link has carried those before it, and arrives a delay later. */
function carry(from: Socket, to: Socket, { bytesPerSecond, delayMs }: LinkOptions): void {
  let freeAt = 0;
  let queued = 0;
  from.on("data", (chunk) => {
    const now = performance.now();
    freeAt = Math.max(freeAt, now) + (chunk.length / bytesPerSecond) * 1000;
    queued += chunk.length;
    if (queued > QUEUE_BYTES) from.pause();
    setTimeout(() => {
      queued -= chunk.length;
      if (queued <= QUEUE_BYTES) from.resume();
    }, freeAt - now);
    setTimeout(() => to.writable && to.write(chunk), freeAt - now + delayMs);
  });
}
