// The calls of a client's connection to its socket, and to the shell around it.

import type { Begin, Frame } from "./dialect.ts";

/** The socket of a connection. */
export interface ServerSocket {
  /** May keep the frame only in a session with `reuseFrames: false`; else its memory is used again after the call. */
  send(frame: Frame): void;
  close(code: number, reason: string): void;
  /** Whether output should be sent now, as far as the runtime can tell. */
  isWritable(): boolean;
}

/** The calls of a connection to its shell. */
export interface ConnectionHooks {
  /** A fresh token has come. */
  auth?(token: string): void;
  /** A client that speaks first has done so: it is to be attached now. */
  begin?(begin: Begin): void;
  /** The {@link ServerConnection.earlyBytes} of all connections of the session. Without it only this one's count. */
  earlyBytes?(): number;
  /** The client is told of an error, or that its connection is closed. */
  told?(said: { readonly type: "error" | "bye"; readonly code: string | number; readonly text: string }): void;
}
