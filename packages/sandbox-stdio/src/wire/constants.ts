// The numbers of the protocol: version names, frame types, limits and close codes. PROTOCOL.md explains each.

/** Subprotocol of the outer hop, client to Durable Object (or straight to the bridge). */
export const OUTER_PROTOCOL = "stdio.v1";
/** Subprotocol of the inner hop, Durable Object to bridge. */
export const INNER_PROTOCOL = "stdio.inner.v1";

/** First byte of a binary message from the server: standard output, or everything on a PTY. */
export const STREAM_STDOUT = 0x01;
/** First byte of a binary message from the server: standard error, pipes only. */
export const STREAM_STDERR = 0x02;
/** First byte of a binary message from the server: redraws the screen, does not advance the offset. */
export const STREAM_SNAPSHOT = 0x03;
/** First byte of a binary message to the bridge: (client slot, offset, bytes) of standard input. */
export const INNER_STDIN = 0x10;
/** First byte of a piece of the bridge's answer to a question, on the inner hop. */
export const INNER_ANSWER = 0x11;

export const KIB = 1024;
export const MIB = 1024 * KIB;

/** Most payload bytes of one output frame. Larger frames are cheaper, but a keystroke's echo waits behind them.
 * With headers it fills 64 KiB, Node's socket read size; one byte more and Node joins two reads in new memory. */
export const MAX_FRAME_BYTES = 64 * KIB - 5;
/** Most payload bytes of one snapshot. A complete log that is no longer is replayed instead. */
export const MAX_SNAPSHOT_BYTES = 64 * KIB;
/** Bytes of output that bridge and Durable Object each hold for replay. `logBytes` changes it; the object never holds more. */
export const LOG_BYTES = MIB;
export const MIN_LOG_BYTES = 64 * KIB;
export const MAX_LOG_BYTES = 8 * MIB;
/** Most bytes in flight to one client. With the read-ahead before the process is held, all that a client may still
 * ask for fits in a log of {@link LOG_BYTES}. */
export const MAX_WINDOW_BYTES = 512 * KIB;
/** Share of a smaller log that may be in flight. Smaller than a half, since a frame is a larger part of such a log. */
export const WINDOW_SHARE = 7 / 16;
/** Fewest bytes in flight to one client: below this, acknowledgements cost more than the bytes. */
export const MIN_WINDOW_BYTES = 16 * KIB;
/** A client acknowledges after this many bytes (every full frame) … */
export const ACK_BYTES = MAX_FRAME_BYTES;
/** … or this long after it processed the oldest unacknowledged byte, whichever comes first. */
export const ACK_DELAY_MS = 50;
/** Most input in flight before `stdin_ack`. Beyond it a client stops reading its own input. */
export const MAX_UNACKED_INPUT_BYTES = 256 * KIB;
/** The same for the client that the process was started for, if the client can keep so much (I3b). */
export const MAX_KEPT_INPUT_BYTES = MIB;
/** Most bytes of one stdin frame. */
export const MAX_STDIN_FRAME_BYTES = 64 * KIB;
/** Most bytes of one input frame from a client that can't acknowledge: stock terminals send a paste as one frame. */
export const MAX_FED_FRAME_BYTES = 4 * MIB;
/** Most waiting input of such a client, beside the bytes on their way to the process. */
export const MAX_WAITING_INPUT_BYTES = 4 * MIB;
/** Most waiting input of all such clients of a session. Beyond it each may have {@link MAX_UNACKED_INPUT_BYTES}. */
export const MAX_SHARED_WAITING_INPUT_BYTES = 16 * MIB;
/** Most messages of such a client that may wait between its input. */
export const MAX_FED_MESSAGES = 256;
/** Most UTF-8 bytes of one control message from a client. */
export const MAX_CONTROL_IN_BYTES = 16 * KIB;
/** Most UTF-8 bytes of one control message from a server. */
export const MAX_CONTROL_OUT_BYTES = 64 * KIB;
/** Most bytes of `cmd`, `arg`, `env` and `cwd` in a URL. Cloudflare limits the URL, and Bun the headers, to 16 KiB. */
export const MAX_COMMAND_BYTES = 14 * KIB;
/** Most clients on one session; the next is refused with 1013. */
export const MAX_CLIENTS = 64;
/** How long a share link is valid by default. */
export const DEFAULT_SHARE_SECONDS = 24 * 3600;
/** Most UTF-8 bytes of a participant's name. */
export const MAX_NAME_BYTES = 64;
export const MAX_COLS = 1000;
export const MAX_ROWS = 500;
/** A PTY's size until a client or caller sets one. */
export const DEFAULT_COLS = 80;
export const DEFAULT_ROWS = 24;

/** A `stdio.v1` client pings when it opens, and then at this interval. */
export const PING_INTERVAL_MS = 15_000;
/** A client that gets no answer for this long after it sent something reports the silence. */
export const QUIET_MS = 3_000;
/** A client that waits for an answer and hears nothing for this long reconnects: the network may have changed under it. */
export const UNANSWERED_MS = 5_000;
/** A peer that has sent nothing for this long counts as vanished. */
export const SILENCE_MS = 40_000;
/** A program counts as gone this long after its last call (R5 of the programs' interface). */
export const PROGRAM_GRACE_MS = 60_000;
/** A program's ask for a person expires after this time (K11). */
export const ASK_MS = 15 * 60_000;
/** Close code of a client whose page is closed or reloaded (R9a). Servers never send it. */
export const PUT_ASIDE_CODE = 4001;
/** How long such a page keeps its place: time enough for a reload. */
export const PUT_ASIDE_GRACE_MS = 3_000;
/** How long a session counts as attended after a client was told the exit: time enough to reconnect. */
export const TOLD_EXIT_GRACE_MS = 2_000;
/** How long a vanished client keeps its cursor, pacing, keyboard and size. */
export const RESUME_GRACE_MS = 30_000;
/** A lossless client whose window stays full for this long is closed with 1011. */
export const STALL_MS = 60_000;
/** Bytes per second at which a plain client's output counts as acknowledged, if no acknowledging client paces. */
export const PLAIN_RATE = 8 * MIB;
/** Nothing is sent to a plain client while more than this waits in its socket. */
export const PLAIN_QUEUE_BYTES = MIB;
/** A plain client is closed with 1011 if it can't be written to, or its socket does not drain, for this long. */
export const PLAIN_STALL_MS = 30_000;
/** A client that has not taken its first byte for this long counts as never connected. */
export const GHOST_MS = 10_000;
/** How long a session lives with no client attached, in seconds, unless its creator sets `keep`. */
export const DEFAULT_KEEP_SECONDS = 30 * 60;
export const MAX_KEEP_SECONDS = 24 * 60 * 60;
/** Longest and default time that output is awaited after the exit, in seconds (`linger`). */
export const MAX_LINGER_SECONDS = 3_600;
export const DEFAULT_LINGER_SECONDS = 1;
/** How long the bridge keeps an exited session's log and status. */
export const EXITED_KEEP_MS = 10 * 60_000;

/** Most UTF-8 bytes of a terminal's title; the rest is cut. */
export const MAX_TITLE_BYTES = 256;
/** Reason of a `bye` 4404 (R4, X7). */
export const LOST_REASON = "process lost";
/** Reason of a `bye` 4404 to the clients of a process whose name another process has taken. */
export const REPLACED_REASON = "another process has taken the name";
/** Reason of a `bye` to clients of a share link whose session was removed. */
export const SESSION_GONE_REASON = "The link's session was removed";

/** Close codes of a WebSocket, the standard ones and ours. */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  policy: 1008,
  tooBig: 1009,
  internal: 1011,
  restart: 1012,
  tryLater: 1013,
  badRequest: 4400,
  unauthenticated: 4401,
  forbidden: 4403,
  notFound: 4404,
  idle: 4408,
  conflict: 4409,
  cannotStart: 4422,
  tooMany: 4429,
  unavailable: 4503,
} as const;

/** The HTTP status that corresponds to one of our close codes, for a client refused before its upgrade. */
export function httpStatusOf(closeCode: number): number {
  if (closeCode >= 4400 && closeCode <= 4599) return closeCode - 4000;
  if (closeCode === CLOSE.tryLater) return 503;
  return closeCode === CLOSE.policy ? 400 : 503;
}

/** Whether a WebSocket can be closed with this code. Reserved codes can't be sent, and the socket would stay open. */
export function isSendable(code: number): boolean {
  return code === CLOSE.normal || (code >= 1001 && code <= 1003) || (code >= 1007 && code <= 1014) || code >= 3000;
}

/** Signals that a client may send. */
export const SIGNALS = [
  "SIGHUP",
  "SIGINT",
  "SIGQUIT",
  "SIGABRT",
  "SIGKILL",
  "SIGUSR1",
  "SIGUSR2",
  "SIGALRM",
  "SIGTERM",
  "SIGCHLD",
  "SIGCONT",
  "SIGSTOP",
  "SIGTSTP",
  "SIGTTIN",
  "SIGTTOU",
  "SIGWINCH",
] as const;
export type SignalName = (typeof SIGNALS)[number];
