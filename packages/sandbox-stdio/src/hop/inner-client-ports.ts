// What the Durable Object's end of the inner hop needs of its surroundings.

import type { Frame } from "../server/dialect.ts";
import type { ClientRecord } from "../session/client-record.ts";
import type { InnerHello } from "./reconciliation.ts";

export interface InnerSocket {
  /** The frame is the socket's from here on, which may release its memory. */
  send(frame: Frame): void;
}

export interface InnerClientEvents {
  /** The bridge has greeted: the session is to be made, or is found again by its incarnation. */
  hello(hello: InnerHello): void;
  /** The bridge closes, or sends a message that can't be followed (1008): the connection is of no more use. */
  bye(code: number, reason: string): void;
  /** The bridge keeps the clients' places, and calls when there is news: the object may go. */
  parked?(): void;
  /** The bridge refuses one client. */
  clientBye(client: ClientRecord, code: number, reason: string): void;
}
