// The options of a connection, and the states that it reports. No platform's types but the WebSocket's.

import type { BodyFields, PROCESS_PARAMS, SIZE_PARAMS } from "../wire/attach-params.ts";
import type { ServerMessage } from "../wire/control.ts";
import type { Asked } from "../wire/fields.ts";
import type { Role } from "../wire/terms.ts";
import type { StdioError } from "./error.ts";

/** A token, or a function that is asked before each connection and when the server says that the token ends soon. */
export type TokenSource = string | (() => string | undefined | Promise<string | undefined>);

/** A WebSocket as used here: the global one of browsers, Workers, Node 22, Bun and Deno fits, and so does the package ws. */
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

/** Where an earlier connection of this client stood: see `Connection.suspend`. */
export type ResumePoint = { readonly session: string; readonly resume: string; readonly offset: number };

/** The program to run, given to no shell; without it, and without `command`, a shell on a PTY. Names and ranges are the table's. */
export type ProcessOptions = Readonly<Asked<BodyFields<typeof PROCESS_PARAMS>> & Asked<BodyFields<typeof SIZE_PARAMS>>>;

export type ConnectOptions = ProcessOptions & {
  /** The sandbox's name. Default: `default`. */
  readonly sandbox?: string;
  /** The session's name: attached to if it is there, else started. Default: a fresh name. */
  readonly session?: string;
  /** In place of `cmd` and `args`: a line for `bash -lc`. */
  readonly command?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The name of this client for the other clients. */
  readonly name?: string;
  /** A `viewer` reads only. Default: `driver`. */
  readonly role?: Role;
  /** If the process of this name has ended, start a new one. */
  readonly ended?: "replace";

  readonly token?: TokenSource;
  /** The ticket by which the session was shared. */
  readonly ticket?: string;
  /** Default: the runtime's own. On Node 20, the one of the package ws. */
  readonly WebSocket?: WebSocketConstructor;
  /** Leaves the session when it aborts. */
  readonly signal?: AbortSignal;
  /** Goes on where an earlier connection stood. */
  readonly resume?: ResumePoint;
  /** With `resume`: the new input repeats the earlier connection's from its first byte. Default: it comes after it. */
  readonly repeatsInput?: boolean;
  /** Failed attempts before the first greeting after which it gives up. Default: 5. Afterwards it never gives up by itself. */
  readonly firstAttempts?: number;

  readonly onState?: (state: ConnectionState) => void;
  /** Output from `from` to `to` is missing. On a PTY a redrawn screen follows. Without it, a gap on pipes is an error. */
  readonly onGap?: (from: number, to: number) => void;
  /** All other messages of the server: arrivals and departures, the keyboard, attention, warnings. */
  readonly onMessage?: (message: ServerMessage) => void;
  /** The PTY has another size, from the output that is read next on. */
  readonly onResize?: (cols: number, rows: number) => void;
};

export type ConnectionState =
  | { readonly phase: "connecting" }
  /** Connected; the container is on its way. */
  | { readonly phase: "starting" }
  /** `isResumed`: no output was missed, and none is repeated. */
  | { readonly phase: "connected"; readonly isResumed: boolean }
  /** `retryAtMs`: since 1970. Absent: at the next input, since the session sleeps. */
  | { readonly phase: "reconnecting"; readonly reason: string; readonly retryAtMs?: number }
  | { readonly phase: "closed"; readonly reason: string; readonly exit?: Exit; readonly error?: StdioError };

/** How the process ended: its own code, or the signal that killed it and 128 plus its number. */
export type Exit = { readonly code: number; readonly signal?: string };
