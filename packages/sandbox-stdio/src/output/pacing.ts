// The client that sets the pace of the process: its unacknowledged bytes decide when the bridge stops reading the process.

import { MAX_FRAME_BYTES } from "../wire/constants.ts";
import type { Delivery, Role } from "../wire/terms.ts";

/** The fields of one client that pacing looks at. */
export type Paced = {
  readonly id: string;
  /** Attached, or vanished and still in its grace. Only such a client sets the pace. */
  readonly isPresent: boolean;
  /** A program reads by calls and sets no pace. Absent: it is none. */
  readonly isProgram?: boolean;
  readonly role: Role;
  readonly delivery: Delivery;
  /** Whether it acknowledges; a plain or foreign client paces only where no such client does. */
  readonly acknowledges: boolean;
  readonly acked: number;
  readonly windowBytes: number;
};

/**
 * The client that sets the pace: the slowest lossless driver, else the holder, else the fastest live driver, else, where the
 * session is lossless, the fastest viewer. Those that acknowledge go before those that do not.
 * @param delivery The session's, not a client's: a live one waits for no viewer, even if the viewer acknowledges.
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
      // Lossless drivers: the slowest one. All others: the fastest.
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

/** Whether the process is to be held: the pacing client has its window and one frame more still to deal with. */
export function isWindowSpent(
  flowLeader: Pick<Paced, "acked" | "windowBytes">,
  endOffset: number,
  frameBytes = MAX_FRAME_BYTES,
): boolean {
  return endOffset - flowLeader.acked >= flowLeader.windowBytes + frameBytes;
}
