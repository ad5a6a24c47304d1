// The options of a client, the events that it reports, and the states that it goes through.

import type { Hello, ServerMessage } from "../wire/control.ts";
import type { OutputStream } from "../wire/frames.ts";
import type { TypedInput } from "./typed-input.ts";

/** One WebSocket, as the client needs it. */
export interface ClientSocket {
  /** Reads the message until it returns, or keeps it: the client does not change it, and may send it again on a new socket. */
  send(message: string | Uint8Array): void;
  close(code: number): void;
  /** Drops the connection without waiting for the other side: it may be gone. */
  abort(): void;
}

/** The events of a socket. After `closed` it reports nothing more. */
export interface ClientSocketEvents {
  open(): void;
  text(text: string): void;
  /** The bytes are the client's from here on, and must stay as they are. */
  binary(bytes: Uint8Array): void;
  /**
   * @param detail Facts beyond the code, for a person: an HTTP status, a network error.
   * @param retryAfterSeconds The wait that an HTTP answer in place of a connection has asked for.
   */
  closed(code: number, detail: string, retryAfterSeconds?: number): void;
}

export interface ClientPorts {
  /** Opens a WebSocket to `/attach` with subprotocol `stdio.v1`. `resume` holds `session` and `attempt`, and `resume`,
   * `offset` and `stdin` once they are known; the caller adds the description of the process, and the credentials. */
  connect(resume: ReadonlyMap<string, string>, events: ClientSocketEvents): ClientSocket;
  /** Calls back once after so many ms. The result cancels it. */
  setTimer(ms: number, callback: () => void): () => void;
  now(): number;
  /** From 0 to 1. */
  random(): number;
  /** Whether a full-screen program has the terminal: typed text forms no lines then. Absent: never. */
  isFullScreen?(): boolean;
  /** Whether timers come late just now, as in a page out of sight: then acknowledgements do not wait for one. Absent: never. */
  areTimersLate?(): boolean;
}

/** How it ended, for good. */
export type ClientEnd =
  | { readonly kind: "exit"; readonly code: number; readonly signal?: string }
  /** The server said no, or the connection could not be made: the close code and why. */
  | { readonly kind: "refused"; readonly code: number; readonly reason: string }
  /** `StdioClient.leave` was called. */
  | { readonly kind: "left" };

export type ClientState =
  | { readonly phase: "connecting"; readonly attempt: number }
  /** Connected, and the container is still on its way. */
  | { readonly phase: "starting" }
  | { readonly phase: "attached"; readonly hello: Hello; readonly isResumed: boolean }
  /** The connection is lost. `retryAtMs` is undefined where it comes back at the next key. */
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
   * Output, each byte once and in order. `bytes` may be kept, and not changed. When they have been dealt with, call
   * `StdioClient.dealtWith` with `end`.
   */
  output(stream: OutputStream, bytes: Uint8Array, end: number): void;
  /** Redraws the screen as it stood at `offset`. To be dealt with likewise. */
  snapshot(bytes: Uint8Array, offset: number): void;
  /** The PTY has this size from the byte at `offset` on. */
  resize(cols: number, rows: number, offset: number): void;
  /**
   * So much output was lost before the next bytes: never silently. `isApproximate`: on a PTY, and no exact snapshot stands
   * for it (O8); of a greeting without a gap, `hello.approximate` says so.
   */
  gap(from: number, to: number, isApproximate: boolean): void;
  /** Everything else that the server says: presence, keyboard, errors, warnings. */
  message(message: ServerMessage): void;
  /**
   * Keys were pressed while the connection is down, or go on with a line that was: they are gone.
   * @param isLineSent The program has the beginning of that line already.
   */
  discarded(bytes: Uint8Array, isLineSent?: boolean): void;
  /** Nothing has been heard for 3 s although something was sent; then that it has. The connection may still be there. */
  quiet?(isQuiet: boolean): void;
  /** More input may be written: see `StdioClient.write`. */
  inputDrained(): void;
}

/** Input that was written and is not acknowledged when a life of a client ends. */
export type KeptInput = {
  /** Where it starts; undefined: nothing of it was sent, or other input has its numbers. */
  readonly offset: number | undefined;
  /** In bytes. */
  readonly length: number;
  /** Absent where they can't be kept: then what the session turns out not to have of them is told as discarded. */
  readonly bytes?: Uint8Array;
};

export type ClientOptions = {
  /** The session's name. Our clients always name it, so that a repeated attach never starts a second process. */
  readonly session: string;
  /** From an earlier life: the proof, and the offset up to which output was dealt with (absent: the screen is empty). */
  readonly resume?: string;
  readonly offset?: number;
  /** When this life began, in ms since 1970: a handshake of an earlier one that was held up does not take its place. */
  readonly bornAtMs?: number;
  /**
   * Whether a life that resumes writes its input again from `hello.stdin` on, byte for byte as the earlier one did (a file
   * that is read again). Else its input is new, and comes after input that still waits. Default: whether `offset` is given.
   */
  readonly repeatsInput?: boolean;
  /** From an earlier life that does not repeat its input: see `StdioClient.suspend`. It is sent as after any break. */
  readonly keptInput?: KeptInput | undefined;
  /** What was typed so far, of a caller that follows one client by another. */
  readonly typed?: TypedInput;
  /** Whether keys that are typed while the connection is down are sent when it is back. Else they are discarded (I4). */
  readonly keepsKeys?: boolean;
  /** Failed attempts before the first `hello` after which it gives up. */
  readonly firstAttempts?: number;
  /**
   * For how many ms it tries to come back before it gives up; sleep does not count. Default: it never gives up.
   */
  readonly giveUpMs?: number;
};
