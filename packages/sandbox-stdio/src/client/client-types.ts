// The options of a client, its events and its states.

import type { Hello, ServerMessage } from "../wire/control.ts";
import type { OutputStream } from "../wire/frames.ts";
import type { TypedInput } from "./typed-input.ts";

/** A WebSocket as the client uses it. */
export interface ClientSocket {
  /** May keep the message: the client never changes it, and may resend it on a new socket. */
  send(message: string | Uint8Array): void;
  close(code: number): void;
  /** Drops the connection without waiting for the other side, which may be gone. */
  abort(): void;
}

/** The events of a socket. None follows `closed`. */
export interface ClientSocketEvents {
  open(): void;
  text(text: string): void;
  /** The client owns the bytes, which must not change. */
  binary(bytes: Uint8Array): void;
  /**
   * @param detail Details for people beyond the code: an HTTP status, a network error.
   * @param retryAfterSeconds Retry-After of an HTTP response to the upgrade.
   */
  closed(code: number, detail: string, retryAfterSeconds?: number): void;
}

export interface ClientPorts {
  /** Opens a WebSocket to `/attach` with subprotocol `stdio.v1`. `resume` holds `session` and `attempt`, and once known `resume`,
   * `offset` and `stdin`. The caller adds the process parameters and the credentials. */
  connect(resume: ReadonlyMap<string, string>, events: ClientSocketEvents): ClientSocket;
  /** Calls back once after `ms`. Returns how to cancel it. */
  setTimer(ms: number, callback: () => void): () => void;
  now(): number;
  /** Returns 0 to 1. */
  random(): number;
  /** Whether a full-screen program has the terminal, so that typed text does not form lines. Absent: never. */
  isFullScreen?(): boolean;
  /** Whether timers are throttled, as in a hidden page: acknowledgements then don't wait for one. Absent: never. */
  areTimersLate?(): boolean;
}

/** How the client ended, for good. */
export type ClientEnd =
  | { readonly kind: "exit"; readonly code: number; readonly signal?: string }
  /** The server refused, or no connection could be made: the close code and the reason. */
  | { readonly kind: "refused"; readonly code: number; readonly reason: string }
  /** `StdioClient.leave` was called. */
  | { readonly kind: "left" };

export type ClientState =
  | { readonly phase: "connecting"; readonly attempt: number }
  /** Connected, but the container is still starting. */
  | { readonly phase: "starting" }
  | { readonly phase: "attached"; readonly hello: Hello; readonly isResumed: boolean }
  /** The connection is lost. `retryAtMs` is undefined if the next key press reconnects. */
  | {
      readonly phase: "waiting";
      readonly retryAtMs: number | undefined;
      readonly reason: string;
      readonly attempt: number;
    }
  | { readonly phase: "ended"; readonly end: ClientEnd };

export interface ClientEvents {
  state(state: ClientState): void;
  /**
   * Output, each byte once and in order. `bytes` may be kept but not changed. Once they are processed, call
   * `StdioClient.processed` with `end`.
   */
  output(stream: OutputStream, bytes: Uint8Array, end: number): void;
  /** Redraws the screen as of `offset`. Acknowledge it in the same way. */
  snapshot(bytes: Uint8Array, offset: number): void;
  /** Sets the PTY's size from the byte at `offset` on. */
  resize(cols: number, rows: number, offset: number): void;
  /**
   * Output was lost before the next bytes. `isApproximate`: on a PTY, without an exact snapshot in its place (O8). For a
   * greeting without a gap see `hello.approximate`.
   */
  gap(from: number, to: number, isApproximate: boolean): void;
  /** All other messages: participants, keyboard, errors, warnings. */
  message(message: ServerMessage): void;
  /**
   * Typed keys were discarded, since the connection is down or an earlier part of their line was discarded.
   * @param isLineSent Whether the program already has the start of that line.
   */
  discarded(bytes: Uint8Array, isLineSent?: boolean): void;
  /** True if nothing was heard for 3 s after something was sent, then false. The connection may still be up. */
  quiet?(isQuiet: boolean): void;
  /** More input may be written: see `StdioClient.write`. */
  inputDrained(): void;
}

/** Input that was written but not acknowledged when a life of a client ended. */
export type KeptInput = {
  /** Its start offset; undefined if none of it was sent, or other input has its numbers. */
  readonly offset: number | undefined;
  /** In bytes. */
  readonly length: number;
  /** Absent if they can't be kept: the part that the session lacks is then reported as discarded. */
  readonly bytes?: Uint8Array;
};

export type ClientOptions = {
  /** The session's name. Required, so that a repeated attach never starts a second process. */
  readonly session: string;
  /** From an earlier life: the proof, and the offset up to which output was processed (absent: the screen is empty). */
  readonly resume?: string;
  readonly offset?: number;
  /** When this life began, in ms since 1970, so that a delayed handshake of an earlier life does not take its place. */
  readonly bornAtMs?: number;
  /**
   * Whether a resuming life writes the same input again from `hello.stdin` on (such as a file read again). Otherwise its input is
   * new, and follows input that still waits. Default: whether `offset` is given.
   */
  readonly repeatsInput?: boolean;
  /** From `StdioClient.suspend` of an earlier life that does not repeat its input. Sent as after any break. */
  readonly keptInput?: KeptInput | undefined;
  /** The typed-input state, kept by a caller that replaces one client by another. */
  readonly typed?: TypedInput;
  /** Whether keys typed while the connection is down are sent later instead of discarded (I4). */
  readonly keepsKeys?: boolean;
  /** Failed attempts after which it gives up, if it was never greeted. */
  readonly firstAttempts?: number;
  /** How many ms it tries to reconnect before it gives up; sleep does not count. Default: forever. */
  readonly giveUpMs?: number;
};
