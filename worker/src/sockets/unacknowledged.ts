// The bytes sent to clients that never say that they read, where the runtime does not tell how many wait in their sockets: they may
// all lie in this memory. Bounded for all of them together (W11).

/** Each connection may have this much regardless of others: a screenful does not depend on strangers. */
const OWN_BYTES = 1024 * 1024;

/** The bytes that were sent to one client since its last message. */
export interface Unacknowledged {
  /** Whether more may be sent. */
  readonly isSmall: boolean;
  sent(bytes: number): void;
  /** A message came: the client is taken to read. */
  heard(): void;
  /** The connection is gone, and the runtime has given back what waited. */
  end(): void;
}

export class UnacknowledgedPool {
  readonly #capacityBytes: number;
  #usedBytes = 0;

  /** @param capacityBytes The bytes that all may have beyond their own MiB. */
  constructor(capacityBytes: number) {
    this.#capacityBytes = capacityBytes;
  }

  join(): Unacknowledged {
    let bytes = 0;
    let isEnded = false;
    const set = (next: number) => {
      this.#usedBytes += Math.max(0, next - OWN_BYTES) - Math.max(0, bytes - OWN_BYTES);
      bytes = next;
    };
    const hasRoom = () => this.#usedBytes < this.#capacityBytes;
    return {
      get isSmall() {
        return bytes < OWN_BYTES || hasRoom();
      },
      sent: (count) => {
        if (!isEnded) set(bytes + count);
      },
      heard: () => set(0),
      end: () => {
        isEnded = true;
        set(0);
      },
    };
  }
}

let shared: UnacknowledgedPool | undefined;

/** The one pool of all objects that share this memory. */
export function sharedPool(capacityBytes: number): UnacknowledgedPool {
  shared ??= new UnacknowledgedPool(capacityBytes);
  return shared;
}
