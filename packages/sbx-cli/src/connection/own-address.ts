// Notices that this machine has given up the address of a connection, as on another network. Nothing comes back to it any more, and
// no system reports that.

import type { Socket } from "node:net";
import os from "node:os";

/** Listing the addresses takes 0.1 ms, and bulk input is sent in a thousand messages a second. */
const LOOK_MS = 200;

/** @returns Whether the address is gone. */
export function watchOwnAddress({ localAddress }: Pick<Socket, "localAddress">): () => boolean {
  // Not every usable address is listed: 127.0.0.2 is not.
  if (!isOwn(localAddress)) return () => false;
  let lookedAtMs = Date.now();
  return () => {
    const nowMs = Date.now();
    if (Math.abs(nowMs - lookedAtMs) < LOOK_MS) return false;
    lookedAtMs = nowMs;
    return !isOwn(localAddress);
  };
}

function isOwn(address: string | undefined): boolean {
  return Object.values(os.networkInterfaces()).some((all) => all?.some((one) => one.address === address));
}
