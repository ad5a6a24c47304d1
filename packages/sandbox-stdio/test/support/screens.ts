// Sessions on a terminal whose screen the test draws.

import type { Snapshot } from "../../src/index.ts";
import { bytes, type FakePeer, output, type Rig, rig } from "./fixtures.ts";

/** What screens are of. */
export const PTY = { tty: true, delivery: "live" } as const;
const LOG_BYTES = 1 << 18;

/** A source of screens that only counts what it is asked for. */
export class CountingSource {
  asked = 0;
  request(): void {
    this.asked += 1;
  }
}

/** A PTY session that has printed more than it holds, and a screen that answers when it is told to. */
export function flooded(
  over: { logBytes?: number } = {},
): Rig & { asked: () => number; answer: (over?: Partial<Snapshot>) => Snapshot } {
  const source = new CountingSource();
  const at = rig(PTY, { logBytes: LOG_BYTES, ...over, screen: source });
  for (let i = 0; i < 6; i += 1) output(at, new Uint8Array(65_536));
  return {
    ...at,
    asked: () => source.asked,
    answer: (over = {}) => {
      const snapshot = { offset: at.log.endOffset, bytes: bytes("screen"), cols: 80, rows: 24, isExact: true, ...over };
      at.session.snapshotReady(snapshot);
      return snapshot;
    },
  };
}

/** What a client was told, each message by its type and each frame as it is. */
export const heard = (peer: FakePeer) => peer.told.map((item) => (Array.isArray(item) ? item : item.type));
