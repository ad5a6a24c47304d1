// The options and states of a connection. Uses no platform types except a WebSocket's.

import type { BodyFields, PROCESS_PARAMS, SIZE_PARAMS } from "../wire/attach-params.ts";
import type { ServerMessage } from "../wire/control.ts";
import type { Asked } from "../wire/fields.ts";
import type { Role } from "../wire/terms.ts";
import type { StdioError } from "./error.ts";

/** A token, or a function that is called before each connection and when the token is about to expire. */
export type TokenSource = string | (() => string | undefined | Promise<string | undefined>);

/** A WebSocket as used here. Fits the global one of browsers, Workers, Node 22, Bun and Deno, and the `ws` package. */
export interface WebSocketLike {
  binaryType: string;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  send(message: string | Uint8Array): void;
  close(code?: number): void;
}

export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike;

/** Position of an earlier connection of this client: see `Connection.suspend`. */
export type ResumePoint = { readonly session: string; readonly resume: string; readonly offset: number };

/** The program to run, without a shell. Without `cmd` and `command`: a shell on a PTY. Names and ranges are the table's. */
export type ProcessOptions = Readonly<Asked<BodyFields<typeof PROCESS_PARAMS>> & Asked<BodyFields<typeof SIZE_PARAMS>>>;

export type ConnectOptions = ProcessOptions & {
  /** The sandbox's name. Default: `default`. */
  readonly sandbox?: string;
  /** The session's name: attached to if it exists, else started. Default: a fresh name. */
  readonly session?: string;
  /** Instead of `cmd` and `args`: a line for `bash -lc`. */
  readonly command?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** This client's name, as others see it. */
  readonly name?: string;
  /** A `viewer` only reads. Default: `driver`. */
  readonly role?: Role;
  /** Starts a new process if the one of this name has ended. */
  readonly ended?: "replace";

  readonly token?: TokenSource;
  /** The ticket of a share link. */
  readonly ticket?: string;
  /** Default: the runtime's. On Node 20, pass that of the `ws` package. */
  readonly WebSocket?: WebSocketConstructor;
  /** Leaves the session when it aborts. */
  readonly signal?: AbortSignal;
  /** Continues where an earlier connection stopped. */
  readonly resume?: ResumePoint;
  /** With `resume`: the input repeats the earlier connection's from its first byte. Default: it follows it. */
  readonly repeatsInput?: boolean;
  /** Failed attempts before the first greeting after which it gives up. Default: 5. Later it never gives up. */
  readonly firstAttempts?: number;

  readonly onState?: (state: ConnectionState) => void;
  /** Output from `from` to `to` is missing. On a PTY the redrawn screen follows. Absent: a gap on pipes is an error. */
  readonly onGap?: (from: number, to: number) => void;
  /** All other server messages: participants, keyboard, attention, warnings. */
  readonly onMessage?: (message: ServerMessage) => void;
  /** The PTY's size has changed, from the next output on. */
  readonly onResize?: (cols: number, rows: number) => void;
};

export type ConnectionState =
  | { readonly phase: "connecting" }
  /** Connected; the container is starting. */
  | { readonly phase: "starting" }
  /** `isResumed`: no output was missed or is repeated. */
  | { readonly phase: "connected"; readonly isResumed: boolean }
  /** `retryAtMs`: ms since 1970. Absent: the session sleeps, and the next input reconnects. */
  | { readonly phase: "reconnecting"; readonly reason: string; readonly retryAtMs?: number }
  | { readonly phase: "closed"; readonly reason: string; readonly exit?: Exit; readonly error?: StdioError };

/** How a process ended: its exit code; or the signal that killed it, and 128 plus the signal's number. */
export type Exit = { readonly code: number; readonly signal?: string };
