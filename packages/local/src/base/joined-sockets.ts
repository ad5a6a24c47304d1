// Two TCP connections of which each passes on what comes on the other, until either ends.
import type { Socket } from "node:net";

/** @param open Holds both for as long as they are open. */
export function joinSockets(near: Socket, far: Socket, open: Set<Socket>): void {
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.setNoDelay(true);
    open.add(one);
    one.pipe(other);
    // A cut is no error of ours; both ends learn of it.
    one.on("error", () => other.destroy());
    one.on("close", () => {
      open.delete(one);
      other.destroy();
    });
  }
}
