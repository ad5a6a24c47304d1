// A link that delays and loses packets, in front of a server on loopback. See lossy-link.ts, which is the link itself.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, connect as dial, type Socket } from "node:net";
import { join } from "node:path";
import { joinSockets } from "../../../local/src/base/joined-sockets.ts";
import { BIN } from "../../../local/src/base/paths.ts";

/** Addresses reserved for benchmarks (RFC 2544). A server listens at NEAR; a client connects to FAR, over the link. */
export const NEAR = "198.18.77.1";
export const FAR = "198.18.77.2";

export type LinkShape = {
  /** Added to each packet, each way. */
  readonly delayMs: number;
  readonly bytesPerSecond: number;
  /** Share of packets lost, each way: 0.01 is one in a hundred. */
  readonly loss: number;
};

/** What happens to a link: it carries nothing, forgets connections that were idle for so long, or all there are (another address). */
export type LinkEvent = { readonly isHole?: boolean; readonly forgetMs?: number; readonly isMoved?: true };

export type IpLink = { happens(event: LinkEvent): void; close(): Promise<void> };

/** @throws {Error} Without the right to make a network device, or where there are none. */
export async function openIpLink(shape: LinkShape): Promise<IpLink> {
  const program = join(import.meta.dirname, "lossy-link.ts");
  const child = spawn(join(BIN, "bun"), [program, JSON.stringify(shape)], { stdio: ["pipe", "pipe", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += String(chunk);
  });
  const isUp = await Promise.race([
    once(child.stdout, "data").then(() => true),
    once(child, "close").then(() => false),
  ]);
  if (!isUp) throw new Error(`Cannot open the link: ${/(?<=rror: ).*/.exec(errors)?.[0] ?? errors}`);
  return {
    happens: (event) => void child.stdin.write(`${JSON.stringify(event)}\n`),
    close: async () => {
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
    },
  };
}

/** Forwards a port of the link to a server on loopback. @returns Its address over the link. */
export async function bringToLink(target: string, port: number): Promise<{ url: string; close(): void }> {
  const { protocol, hostname, port: behind } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = dial({ port: Number(behind), host: hostname });
    joinSockets(near, far, sockets);
  });
  server.listen(port, NEAR);
  await once(server, "listening");
  return {
    url: `${protocol}//${FAR}:${port}`,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
