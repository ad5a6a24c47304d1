// The client that sets the pace of the process: its unacknowledged bytes decide when the bridge stops reading the process.

import { MAX_FRAME_BYTES } from "../wire/constants.ts";
import type { Delivery, Role } from "../wire/terms.ts";

/** The fields of a client that pacing uses. */
export type Paced = {
  readonly id: string;
  /** Attached, or vanished within its grace. Other clients don't pace. */
  readonly isPresent: boolean;
  /** Programs read by calls and don't pace. Absent: false. */
  readonly isProgram?: boolean;
  readonly role: Role;
  readonly delivery: Delivery;
  /** Clients that don't acknowledge pace only if no acknowledging client can. */
  readonly acknowledges: boolean;
  readonly acked: number;
  readonly windowBytes: number;
};

/**
 * The client that sets the pace: the slowest lossless driver, else the holder, else the fastest live driver, else (in a
 * lossless session) the fastest viewer. Clients that acknowledge come first.
 * @param delivery The session's: a live session waits for no viewer.
 */
export function findFlowLeader<C extends Paced>(
  clients: Iterable<C>,
  holder: string,
  delivery: Delivery,
): C | undefined {
  let best: C | undefined;
  let bestRank = Number.POSITIVE_INFINITY;
  for (const client of clients) {
    if (!client.isPresent || client.isProgram || (client.role === "viewer" && delivery === "live")) continue;
    const rank = rankOf(client, holder);
    if (best === undefined || rank < bestRank) {
      best = client;
      bestRank = rank;
    } else if (rank === bestRank) {
      const isSlower = client.acked < best.acked;
      // The slowest of the lossless drivers, else the fastest.
      if (client.delivery === "lossless" && client.role === "driver" ? isSlower : client.acked > best.acked)
        best = client;
    }
  }
  return best;
}

function rankOf(client: Paced, holder: string): number {
  const rank = client.role === "driver" ? (client.delivery === "lossless" ? 0 : client.id === holder ? 1 : 2) : 3;
  return client.acknowledges ? rank : rank + 4;
}

/** Whether to hold the process: the flow leader has a window and a frame yet to acknowledge. */
export function isWindowSpent(
  flowLeader: Pick<Paced, "acked" | "windowBytes">,
  endOffset: number,
  frameBytes = MAX_FRAME_BYTES,
): boolean {
  return endOffset - flowLeader.acked >= flowLeader.windowBytes + frameBytes;
}
