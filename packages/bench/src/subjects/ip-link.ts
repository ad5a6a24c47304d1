// A link that delays and loses packets, in front of a server on loopback. See lossy-link.ts, which is the link itself.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, connect as dial, type Socket } from "node:net";
import { join } from "node:path";
import { joinSockets } from "../../../local/src/base/joined-sockets.ts";
import { BIN } from "../../../local/src/base/paths.ts";

/** Addresses that are kept for benchmarks (RFC 2544): a server is at NEAR, and is reached over the link by the name of FAR. */
export const NEAR = "198.18.77.1";
export const FAR = "198.18.77.2";

export type LinkShape = {
  /** Each way. */
  readonly delayMs: number;
  readonly bytesPerSecond: number;
  /** Of packets, each way; 0.01 is one of a hundred. */
  readonly loss: number;
};

/** What happens to a link: it carries nothing, forgets connections that were idle for so long, or all there are (another address). */
export type LinkEvent = { readonly isHole?: boolean; readonly forgetMs?: number; readonly isMoved?: true };

export type IpLink = { happens(event: LinkEvent): void; close(): Promise<void> };

/** @throws {Error} Without the right to make a network device, or where there are none. */
export async function openIpLink(shape: LinkShape): Promise<IpLink> {
  const program = join(import.meta.dirname, "lossy-link.ts");
  const child = spawn(join(BIN, "bun"), [program, JSON.stringify(shape)], { stdio: ["pipe", "pipe", "pipe"] });
  let complaint = "";
  child.stderr.on("data", (chunk) => {
    complaint += String(chunk);
  });
  const isUp = await Promise.race([
    once(child.stdout, "data").then(() => true),
    once(child, "close").then(() => false),
  ]);
  if (!isUp) throw new Error(`no link: ${/(?<=rror: ).*/.exec(complaint)?.[0] ?? complaint}`);
  return {
    happens: (event) => void child.stdin.write(`${JSON.stringify(event)}\n`),
    close: async () => {
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
    },
  };
}

/** Has a server on loopback be reached over the link. @returns Its address there. */
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
