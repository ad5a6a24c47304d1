// A dialect: two pure functions between a session and one kind of client, and rows with the routes at which it is
// spoken. The session core knows none of them.

import type { TerminalSize } from "../session/client-record.ts";
import type { StartScreen } from "../session/session-types.ts";
import type { AttachQuery, URLSearchParamsLike } from "../wire/attach-query.ts";
import type { ClientMessage, ServerMessage } from "../wire/control.ts";

/** One WebSocket message: text, or bytes. */
export type Frame = string | Uint8Array;

/** An event that a session tells a client. An output event carries the whole `stdio.v1` frame, type byte first. */
export type SessionEvent =
  | ServerMessage
  | {
      readonly type: "output";
      readonly frame: Uint8Array;
      /** The log's offset behind it. */
      readonly end: number;
      /** Set for a snapshot: it stands for everything before it. */
      readonly isRedraw?: boolean;
    }
  /** Before `hello`: describes the session that the client is about to attach to. Said on no wire. */
  | { readonly type: "found"; readonly hasExited: boolean }
  /** Output from here on was not there when the client came. Said once, after `hello`; on no wire. */
  | { readonly type: "live" }
  /** Behind `hello` and the snapshot that the client starts with, if it has one. On no wire. */
  | { readonly type: "greeted" };

/** The first message of a client that speaks first. The token is empty or absent where the upgrade brought one. */
export type Begin = { readonly type: "begin"; readonly token?: string; readonly size?: TerminalSize };

/** A client's command to a session. */
export type ClientCommand =
  | ClientMessage
  | { readonly type: "stdin"; readonly bytes: Uint8Array }
  | Begin
  /** No more output is to be sent to this client until `unpause`: its place in the log is held, the others go on. */
  | { readonly type: "pause" }
  | { readonly type: "unpause" }
  /** The client wants nothing, and is not idle. */
  | { readonly type: "keep_alive" };

export type DecodedCommand =
  | { readonly kind: "command"; readonly command: ClientCommand }
  /** Refused, and the socket stays. */
  | { readonly kind: "error"; readonly code: string; readonly message: string }
  /** Forbidden: the socket is closed. */
  | { readonly kind: "close"; readonly code: number; readonly reason: string }
  | { readonly kind: "nothing" };

/** The frames for one event, none if the dialect has no word for it; and the state from now on. */
export type Encoded<State> = { readonly frames: readonly Frame[]; readonly state: State };

/** @typeParam State The dialect's state for one connection: a value that is replaced, never changed. */
export interface Dialect<State = unknown> {
  /** Its close reasons by code, if its clients expect their own words in place of ours. */
  readonly reasons?: Readonly<Record<number, string>>;
  /** The code to close with, if its clients know other ones than ours. */
  closeCode?(code: number, reason: string): number;
  readonly name: string;
  /** Whether its clients acknowledge output and number their input. */
  readonly acknowledges: boolean;
  /** Whether a client that lost its connection can come back as itself. One that can't has left. */
  readonly canResume: boolean;
  /** Whether its clients may read each message's bytes as text by itself: then no message ends within a character. */
  readonly readsFrameByFrame?: boolean;
  /** Whether its clients rely on typing alone while they hold the keyboard, even if every driver may type. */
  readonly holdsAlone?: boolean;
  /** When clients that know no snapshots start with the screen: `ifLong`, where the log is too long to be replayed. Absent: never. */
  readonly startsWithScreen?: StartScreen;
  /** Whether it tells times: only then `encode` is told how long the session has run. */
  readonly tellsTimes?: boolean;
  /** Behind the exit: said so much later, and only then is the connection closed. */
  readonly farewell?: { readonly frame: Frame; readonly afterMs: number };
  /** Whether its client speaks first, and is attached only then: `decode` answers `begin`. */
  readonly clientBegins?: boolean;
  /** Its state for a connection that has just been made. */
  readonly start: State;
  /** @param sessionMs How long the session has run. */
  encode(event: SessionEvent, state: State, sessionMs?: number): Encoded<State>;
  /** The bytes of a command may be a view of the frame. */
  decode(frame: Frame): DecodedCommand;
}

// ---- Routes ------------------------------------------------------------------------------------------------------

/** A request as a route reads it: its path's parameters, decoded, and its query. */
export type RouteRequest = {
  readonly params: Readonly<Record<string, string>>;
  readonly search: URLSearchParamsLike;
};

export type AttachWish =
  | {
      readonly ok: true;
      readonly query: AttachQuery;
      /** The command of a new session if the query names none: no wish that a living session could fail. */
      readonly command?: readonly [string, ...string[]];
      /** The command line that was asked for, if `query` has a shell read one: a policy on commands is about it, too. */
      readonly line?: string;
      /** The dialect, if the query asks for another one than the row's. */
      readonly dialect?: Dialect;
      /** Whether this client may take the keyboard by force, if its token allows it. Absent: it may. */
      readonly mayForce?: boolean;
    }
  /** `code` is a close code of ours; the HTTP status follows from it. */
  | { readonly ok: false; readonly code: number; readonly error: string; readonly detail: string };

/** One row of the routing table. */
export interface DialectRoute {
  /** As Hono reads it: `/v1/sandboxes/:id/exec/pty`. Several rows may share one; the subprotocol decides. */
  readonly path: string;
  readonly dialect: Dialect;
  /** Selected if it is offered. Not required: a client that offers none is let in too. */
  readonly subprotocol?: { readonly name: string; readonly isRequired: boolean };
  /** By an HTTP status; or by accepting, saying so as the dialect can, and closing with the code: a page sees no status. */
  readonly refusal: "status" | "close";
  /**
   * Whether the upgrade's `Origin` must be on the list of the setting ALLOWED_ORIGINS, if that is set. Pages on the list may
   * attach by the login's cookie here, and nowhere else.
   */
  readonly checksOrigin?: boolean;
  /**
   * Whether the session is part of a client's authentication here: a ticket for another session is answered with 401.
   * Absent: such a client is known, and may not attach (403).
   */
  readonly authenticatesSession?: boolean;
  /** The limits that hold here, if the settings have some of their own for it. Absent: the usual ones. */
  readonly limits?: "json" | "pty";
  /**
   * Whether a session that this route makes is forgotten once it has ended, its clients have been told and none is left:
   * its name then stands for a new one, since these clients know no other. Absent: its end can be read for a day.
   */
  readonly isTransient?: boolean;
  /** The session to attach to, and how. Its `keep` says how long a session that this route makes lives with no client. */
  wish(request: RouteRequest): AttachWish;
}

/**
 * The row for a client that offers these subprotocols; undefined if none of them is spoken at its path.
 * @param rows Those of one path, in the order of preference.
 */
export function chooseRoute(rows: readonly DialectRoute[], offered: readonly string[]): DialectRoute | undefined {
  const named = rows.find((row) => row.subprotocol !== undefined && offered.includes(row.subprotocol.name));
  return named ?? (offered.length === 0 ? rows.find((row) => row.subprotocol?.isRequired !== true) : undefined);
}
