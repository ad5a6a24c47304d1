// A dialect: two pure functions between a session and one kind of client, and rows of the routing table. The session core knows
// no dialect.

import type { TerminalSize } from "../session/client-record.ts";
import type { StartScreen } from "../session/session-types.ts";
import type { AttachQuery, URLSearchParamsLike } from "../wire/attach-query.ts";
import type { ClientMessage, ServerMessage } from "../wire/control.ts";

/** One WebSocket message. */
export type Frame = string | Uint8Array;

/** An event from a session to a client. An output event carries the whole `stdio.v1` frame, type byte first. */
export type SessionEvent =
  | ServerMessage
  | {
      readonly type: "output";
      readonly frame: Uint8Array;
      /** The log's offset after it. */
      readonly end: number;
      /** Set for a snapshot, which replaces everything before it. */
      readonly isRedraw?: boolean;
    }
  /** Before `hello`: describes the session that the client is about to attach to. Not sent. */
  | { readonly type: "found"; readonly hasExited: boolean }
  /** Output from here on is newer than the client's attach. Once, after `hello`; not sent. */
  | { readonly type: "live" }
  /** After `hello` and the initial snapshot, if any. Not sent. */
  | { readonly type: "greeted" };

/** The first message of a client that speaks first. The token is empty or absent if the upgrade carried one. */
export type Begin = { readonly type: "begin"; readonly token?: string; readonly size?: TerminalSize };

/** A client's command to a session. */
export type ClientCommand =
  | ClientMessage
  | { readonly type: "stdin"; readonly bytes: Uint8Array }
  | Begin
  /** Pauses output to this client until `unpause`: its position in the log stays, other clients go on. */
  | { readonly type: "pause" }
  | { readonly type: "unpause" }
  /** Shows that the client is not idle, and has no other effect. */
  | { readonly type: "keep_alive" };

export type DecodedCommand =
  | { readonly kind: "command"; readonly command: ClientCommand }
  /** Refused; the socket stays open. */
  | { readonly kind: "error"; readonly code: string; readonly message: string }
  /** Forbidden: the socket is closed. */
  | { readonly kind: "close"; readonly code: number; readonly reason: string }
  | { readonly kind: "nothing" };

/** The frames for one event (none if the dialect has no equivalent), and the new state. */
export type Encoded<State> = { readonly frames: readonly Frame[]; readonly state: State };

/** @typeParam State The dialect's state for one connection: immutable, replaced on change. */
export interface Dialect<State = unknown> {
  /** Close reasons by code, if its clients expect certain texts. */
  readonly reasons?: Readonly<Record<number, string>>;
  /** Maps our close codes, if its clients know others. */
  closeCode?(code: number, reason: string): number;
  readonly name: string;
  /** Whether its clients acknowledge output and number their input. */
  readonly acknowledges: boolean;
  /** Whether a client that lost its connection can resume. If not, it has left. */
  readonly canResume: boolean;
  /** Whether its clients may decode each message separately: then no message ends inside a character. */
  readonly readsFrameByFrame?: boolean;
  /** Whether no other client may type while its client holds the keyboard, even in collaborative mode. */
  readonly holdsAlone?: boolean;
  /** When clients that know no snapshots start with the screen. `ifLong`: if the log is too long to replay. Absent: never. */
  readonly startsWithScreen?: StartScreen;
  /** Whether it reports times: only then `encode` gets the session's age. */
  readonly tellsTimes?: boolean;
  /** Sent this long after the exit; the connection closes only then. */
  readonly farewell?: { readonly frame: Frame; readonly afterMs: number };
  /** Whether its client speaks first and is attached only then: `decode` returns `begin`. */
  readonly clientBegins?: boolean;
  /** State of a new connection. */
  readonly start: State;
  /** @param sessionMs Age of the session. */
  encode(event: SessionEvent, state: State, sessionMs?: number): Encoded<State>;
  /** The bytes of a command may be a view of the frame. */
  decode(frame: Frame): DecodedCommand;
}

// ---- Routes ------------------------------------------------------------------------------------------------------

/** A request as a route sees it: the decoded parameters of its path, and its query. */
export type RouteRequest = {
  readonly params: Readonly<Record<string, string>>;
  readonly search: URLSearchParamsLike;
};

export type AttachWish =
  | {
      readonly ok: true;
      readonly query: AttachQuery;
      /** Command of a new session if the query names none. An existing session need not match it. */
      readonly command?: readonly [string, ...string[]];
      /** The requested command line, if `query` passes it to a shell: policies on commands apply to it too. */
      readonly line?: string;
      /** The dialect, if the query selects another one than the row's. */
      readonly dialect?: Dialect;
      /** Whether this client may take the keyboard by force if its token allows it. Absent: true. */
      readonly mayForce?: boolean;
    }
  /** `code` is one of our close codes; the HTTP status follows from it. */
  | { readonly ok: false; readonly code: number; readonly error: string; readonly detail: string };

/** One row of the routing table. */
export interface DialectRoute {
  /** In Hono's syntax: `/v1/sandboxes/:id/exec/pty`. Rows may share a path; the subprotocol decides. */
  readonly path: string;
  readonly dialect: Dialect;
  /** Selected if offered. If not required, clients that offer none are accepted too. */
  readonly subprotocol?: { readonly name: string; readonly isRequired: boolean };
  /** By HTTP status; or by accepting, explaining as the dialect can, and closing with a code, since pages see no status. */
  readonly refusal: "status" | "close";
  /**
   * Whether the upgrade's `Origin` must be in ALLOWED_ORIGINS, if that is set. Only here may listed pages attach by the login's
   * cookie.
   */
  readonly checksOrigin?: boolean;
  /**
   * Whether the session is part of a client's authentication: a ticket for another session is answered with 401. Absent: such a
   * client is known but may not attach (403).
   */
  readonly authenticatesSession?: boolean;
  /** Separate limits for this route, if the settings have any. Absent: the default limits. */
  readonly limits?: "json" | "pty";
  /**
   * Whether a session made by this route is forgotten once it has ended and its clients are gone, so that its name starts a new
   * one: these clients know no other name. Absent: its end stays readable for a day.
   */
  readonly isTransient?: boolean;
  /** The session to attach to, and how. `keep` applies if this route makes the session. */
  wish(request: RouteRequest): AttachWish;
}

/**
 * The row for a client that offers these subprotocols; undefined if there is none.
 * @param rows Rows of one path, in order of preference.
 */
export function chooseRoute(rows: readonly DialectRoute[], offered: readonly string[]): DialectRoute | undefined {
  const named = rows.find((row) => row.subprotocol !== undefined && offered.includes(row.subprotocol.name));
  return named ?? (offered.length === 0 ? rows.find((row) => row.subprotocol?.isRequired !== true) : undefined);
}
