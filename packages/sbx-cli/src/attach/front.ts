// The front between a session and this side of it: a terminal with a person, or a pipeline.

import type { OutputStream } from "sandbox-stdio/core";

export interface Front {
  /** The first greeting has come: input may be read. @param skip How much of it the session has already. */
  start(skip: number): void;
  output(stream: OutputStream, bytes: Uint8Array, end: number): void;
  /** @see ClientEvents.snapshot */
  snapshot(bytes: Uint8Array, offset: number): void;
  /** Output is missing between two bytes. */
  gap(): void;
  /** The session takes more input. */
  inputDrained(): void;
  /** Keys were pressed while there was no connection, and are gone. */
  discarded(isLineSent: boolean): void;
  /** Whether a full-screen program has the terminal. */
  readonly isFullScreen: boolean;
  /** The process takes no more input. */
  inputClosed(): void;
  /** Nothing follows: output that was held back goes out. */
  finish(): void;
  /** Gives back what it took. Output has been written, or is given up. @param isSudden The process did not end first. */
  close(isSudden: boolean): void;
}
