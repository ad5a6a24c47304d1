// The local side of a session: a terminal with a person, or a pipeline.

import type { ClientEnd, OutputStream } from "sandbox-stdio/core";

export interface Front {
  /** After the first greeting, input may be read. @param skip Bytes of input that the session already has. */
  start(skip: number): void;
  output(stream: OutputStream, bytes: Uint8Array, end: number): void;
  /** @see ClientEvents.snapshot */
  snapshot(bytes: Uint8Array, offset: number): void;
  /** Output is missing between two bytes. */
  gap(from: number, to: number): void;
  /** The session has another size. Absent: the local side keeps its own. */
  resize?(cols: number, rows: number): void;
  /** The session accepts more input. */
  inputDrained(): void;
  /** Keys typed while disconnected were discarded. */
  discarded(isLineSent: boolean): void;
  /** Whether a full-screen program uses the alternate screen. */
  readonly isFullScreen: boolean;
  /** The process accepts no more input. */
  inputClosed(): void;
  /** No output follows: writes what was held back. @param end Absent if the time is over. */
  finish(end?: ClientEnd): void;
  /** Restores the terminal and stops reading. @param isSudden Whether the process did not end first. */
  close(isSudden: boolean): void;
}
