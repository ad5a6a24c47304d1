// What a dialect is: two pure functions between a session and one kind of client. The session core knows none of them.

import type { ClientMessage, ServerMessage } from "./control.ts";

/** One WebSocket message: text, or bytes. */
export type Frame = string | Uint8Array;

/** What a session tells a client. An output event carries the whole `stdio.v1` frame, type byte first. */
export type SessionEvent = ServerMessage | { readonly type: "output"; readonly frame: Uint8Array };

/** What a client asks of a session. */
export type ClientCommand = ClientMessage | { readonly type: "stdin"; readonly bytes: Uint8Array };

export type DecodedCommand =
  | { readonly kind: "command"; readonly command: ClientCommand }
  /** Refused, and the socket stays. */
  | { readonly kind: "error"; readonly code: string; readonly message: string }
  /** Forbidden: the socket is closed. */
  | { readonly kind: "close"; readonly code: number; readonly reason: string }
  | { readonly kind: "nothing" };

export interface Dialect {
  readonly name: string;
  /** The WebSocket subprotocol that the server selects, if the dialect has one. */
  readonly subprotocol?: string;
  /** Whether its clients acknowledge output, number their input, and are told `bye`. */
  readonly acknowledges: boolean;
  /** The frames that say this event; none where the dialect has no word for it. */
  encode(event: SessionEvent): readonly Frame[];
  decode(frame: Frame): DecodedCommand;
}
