// One connection to `/attach`, whichever WebSocket it goes over: what it is made with, and what it tells.

import type { ClientSocketEvents } from "sandbox-stdio/core";

/** Larger than any frame or message of the protocol. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

export type LineWish = {
  readonly url: URL;
  readonly token: string | undefined;
  readonly ticket: string | undefined;
  /** Told what the connection that is being made waits for now, in words. */
  readonly stage: (words: string) => void;
};

export interface LineEvents extends ClientSocketEvents {
  /** It holds nothing of the system any more. After `closed`, which may be told twice: the first counts. */
  gone(): void;
}

export interface Line {
  send(message: string | Uint8Array): void;
  /** Says goodbye, if it is open. */
  close(code: number): void;
  /** Drops it at once. */
  terminate(): void;
}

/** Token and ticket go in headers: addresses are logged. */
export function lineHeaders({ token, ticket }: LineWish): Record<string, string> {
  return {
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(ticket === undefined ? {} : { "X-Stdio-Ticket": ticket }),
  };
}
