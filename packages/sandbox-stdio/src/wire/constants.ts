// The numbers of the protocol: version names, frame types, limits and close codes. PROTOCOL.md explains each.

/** Subprotocol of the outer hop, client to Durable Object (and client to bridge, where nothing stands between). */
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
/** A piece of the bridge's answer to a question, on the inner hop. */
export const INNER_ANSWER = 0x11;

export const KIB = 1024;
export const MIB = 1024 * KIB;

/** Payload bytes of one output frame at most. A message costs the platform the same at any size, so larger is
 * cheaper; but a keystroke's echo waits behind a frame. With type byte and WebSocket header it has 64 KiB, as much as Node
 * reads from a socket at once. With one byte more Node would put each together from two reads, in new memory. */
export const MAX_FRAME_BYTES = 64 * KIB - 5;
/** Payload bytes of one snapshot at most; and a log that is complete and no longer than this is replayed instead. */
export const MAX_SNAPSHOT_BYTES = 64 * KIB;
/** Bytes of output that bridge and Durable Object each hold for replay, unless `logBytes` says otherwise; the Durable Object
 * never holds more. */
export const LOG_BYTES = MIB;
export const MIN_LOG_BYTES = 64 * KIB;
export const MAX_LOG_BYTES = 8 * MIB;
/** Most bytes in flight to one client, on any link: with what is read before the process is held, all that it may still ask for is
 * in a log of {@link LOG_BYTES}. */
export const MAX_WINDOW_BYTES = 512 * KIB;
/** The same of a smaller log, as a share of it: a frame is more of it. */
export const WINDOW_SHARE = 7 / 16;
/** Fewest bytes in flight to one client: below this the acknowledgements cost more than the bytes. */
export const MIN_WINDOW_BYTES = 16 * KIB;
/** A client acknowledges after this many bytes: each frame of full length … */
export const ACK_BYTES = MAX_FRAME_BYTES;
/** … or this long after the oldest byte not yet acknowledged was dealt with, whichever is first. */
export const ACK_DELAY_MS = 50;
/** Input bytes that a client may have sent and `stdin_ack` has not covered. Beyond it a client stops reading its own input. */
export const MAX_UNACKED_INPUT_BYTES = 256 * KIB;
/** The same of the client that the process was started for, if it says that it keeps so much (I3b). */
export const MAX_KEPT_INPUT_BYTES = MIB;
/** Bytes of one stdin frame at most. */
export const MAX_STDIN_FRAME_BYTES = 64 * KIB;
/** Bytes of one frame of input of a client that can't acknowledge: a paste is one frame to the stock terminals. */
export const MAX_FED_FRAME_BYTES = 4 * MIB;
/** Bytes of such a client's input that may wait beside those on their way to the process. */
export const MAX_WAITING_INPUT_BYTES = 4 * MIB;
/** The same of all such clients of a session together; beyond it each may have {@link MAX_UNACKED_INPUT_BYTES}. */
export const MAX_SHARED_WAITING_INPUT_BYTES = 16 * MIB;
/** Messages of such a client that may wait between its input. */
export const MAX_FED_MESSAGES = 256;
/** UTF-8 bytes of one control message from a client at most. */
export const MAX_CONTROL_IN_BYTES = 16 * KIB;
/** UTF-8 bytes of one control message from a server at most. */
export const MAX_CONTROL_OUT_BYTES = 64 * KIB;
/** Bytes that a process's `cmd`, `arg`, `env` and `cwd` take in a URL at most: each part that carries them has 16 KiB
 * for all of a request's head, Cloudflare for its URL and Bun for its headers too. */
export const MAX_COMMAND_BYTES = 14 * KIB;
/** Clients on one session at most; one more is told 1013. */
export const MAX_CLIENTS = 64;
/** How long a share link is good if its maker does not say. */
export const DEFAULT_SHARE_SECONDS = 24 * 3600;
/** UTF-8 bytes of a participant's name at most. */
export const MAX_NAME_BYTES = 64;
export const MAX_COLS = 1000;
export const MAX_ROWS = 500;
/** A PTY's size until a client or a caller gives one. */
export const DEFAULT_COLS = 80;
export const DEFAULT_ROWS = 24;

/** A `stdio.v1` client sends a ping as soon as it is open and this often. */
export const PING_INTERVAL_MS = 15_000;
/** A client that has sent something and hears nothing for so long says so. */
export const QUIET_MS = 3_000;
/** A peer that has said nothing for this long has vanished. */
export const SILENCE_MS = 40_000;
/** A program has left so long after its last call (R5 of the programs' interface). */
export const PROGRAM_GRACE_MS = 60_000;
/** A program's ask for a person ends after so long (K11). */
export const ASK_MS = 15 * 60_000;
/** A client closes with this if its page is closed or reloaded (R9a). No server does. */
export const PUT_ASIDE_CODE = 4001;
/** A page that has been put aside keeps its place for so long: as long as a reload takes. */
export const PUT_ASIDE_GRACE_MS = 3_000;
/** So long the session of a client that was told the exit counts as attended: as long as a new connection takes. */
export const TOLD_EXIT_GRACE_MS = 2_000;
/** How long a vanished client keeps cursor, pacing, keyboard and size. */
export const RESUME_GRACE_MS = 30_000;
/** A lossless client that leaves its window full for this long is closed with 1011. */
export const STALL_MS = 60_000;
/** The rate at which a plain client's bytes count as acknowledged, if no better client paces: bytes a second. */
export const PLAIN_RATE = 8 * MIB;
/** A plain client is not sent to while its socket has queued more than this. */
export const PLAIN_QUEUE_BYTES = MIB;
/** A plain client is closed with 1011 if it can't be sent to, or nothing leaves its socket, for this long. */
export const PLAIN_STALL_MS = 30_000;
/** A client that has not taken the first byte for this long was never there. */
export const GHOST_MS = 10_000;
/** How long a session with no client attached lives, in seconds, unless its creator says otherwise. */
export const DEFAULT_KEEP_SECONDS = 30 * 60;
export const MAX_KEEP_SECONDS = 24 * 60 * 60;
/** How long output may be awaited after the exit, in seconds (`linger`), and how long it is by default. */
export const MAX_LINGER_SECONDS = 3_600;
export const DEFAULT_LINGER_SECONDS = 1;
/** How long the bridge keeps an exited session's log and status. */
export const EXITED_KEEP_MS = 10 * 60_000;

/** UTF-8 bytes of a terminal's title; the rest of it is cut. */
export const MAX_TITLE_BYTES = 256;
/** The reason of a `bye` 4404 (R4, X7). */
export const LOST_REASON = "process lost";
/** The reason of a `bye` 4404 to the clients of a process whose name another one has taken. */
export const REPLACED_REASON = "another process has taken the name";
/** The reason of a `bye` to those who come by a link whose session was removed. */
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

/** The HTTP status that says the same as one of our close codes, for a client that is refused before its upgrade. */
export function httpStatusOf(closeCode: number): number {
  if (closeCode >= 4400 && closeCode <= 4599) return closeCode - 4000;
  if (closeCode === CLOSE.tryLater) return 503;
  return closeCode === CLOSE.policy ? 400 : 503;
}

/** Whether a WebSocket may be closed with it: the reserved ones can't be sent, and the socket would stay open. */
export function isSendable(code: number): boolean {
  return code === CLOSE.normal || (code >= 1001 && code <= 1003) || (code >= 1007 && code <= 1014) || code >= 3000;
}

/** Signals that a client may send, by POSIX name. */
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
