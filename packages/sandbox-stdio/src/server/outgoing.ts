// Sends one client its messages in its dialect, without terminal queries that other parties answer (K6), and announces the end
// of its replay.

import type { ServerMessage } from "../wire/control.ts";
import type { Dialect, Frame, SessionEvent } from "./dialect.ts";
import { QueryGate } from "./query-gate.ts";

/** The socket of a connection. */
export interface ServerSocket {
  /** May keep the frame only in a session with `reuseFrames: false`; otherwise its memory is reused after the call. */
  send(frame: Frame): void;
  close(code: number, reason: string): void;
  /** Whether output should be sent now, as far as the runtime knows. */
  isWritable(): boolean;
}

export class Outgoing {
  readonly #dialect: Dialect;
  readonly #socket: Pick<ServerSocket, "send">;
  /** Set for clients that can't be told who answers terminal queries. */
  readonly #gate: QueryGate | undefined;
  readonly #replay = new Replay();
  readonly #sessionMs: (() => number) | undefined;
  /** The log's offset after the output sent. */
  #offset = 0;
  /** The dialect's state for this connection. */
  #state: unknown;

  /** @param sessionMs Age of the session. Absent for dialects that report no times. */
  constructor(dialect: Dialect, socket: Pick<ServerSocket, "send">, sessionMs?: () => number) {
    this.#dialect = dialect;
    this.#socket = socket;
    this.#gate = dialect.acknowledges ? undefined : new QueryGate(dialect.readsFrameByFrame);
    this.#state = dialect.start;
    this.#sessionMs = sessionMs;
  }

  say(event: SessionEvent): void {
    const { frames, state } = this.#dialect.encode(event, this.#state, this.#sessionMs?.());
    this.#state = state;
    for (const frame of frames) this.#socket.send(frame);
  }

  message(message: ServerMessage): void {
    if (message.type === "hello") this.#replay.begin(message.live - message.offset);
    const held = this.#gate?.note(message);
    if (held !== undefined) this.#output(held);
    if (message.type === "hello") this.#offset = message.offset;
    else if (message.type === "gap") this.#offset = message.to;
    this.say(message);
    if (message.type === "hello") {
      // The screen follows, and replaces the replay.
      const isScreenDue =
        this.#dialect.startsWithScreen === "ifLong" && message.offset > 0 && message.live === message.offset;
      if (!isScreenDue) this.#passed(0);
    } else if (message.type === "gap") this.#passed(message.to - message.from);
  }

  output(frame: Uint8Array, nowMs: number): void {
    const left = this.#gate === undefined ? frame : this.#gate.pass(frame, nowMs);
    this.#offset += frame.length - 1;
    if (left !== undefined) this.#output(left);
    this.#passed(frame.length - 1);
  }

  /** Whether a file is being transferred to the client. */
  get isTransfer(): boolean {
    return this.#gate?.isTransfer === true;
  }

  /** The client may not type any more. */
  endTransfer(): void {
    this.#gate?.endTransfer();
  }

  /** Input of the client, which may type. */
  typed(bytes: Uint8Array, nowMs: number): void {
    this.#gate?.typed(bytes, nowMs);
  }

  /** A redraw of the screen is output for a client that knows no snapshots. */
  snapshot(frame: Uint8Array): void {
    const redraw = this.#gate === undefined ? frame : this.#gate.redraw(frame.subarray(1));
    this.say({ type: "output", frame: redraw, end: this.#offset, isRedraw: true });
    this.#passed(0);
  }

  /** Nothing follows: sends held bytes. */
  flush(): void {
    const held = this.#gate?.flush();
    if (held !== undefined) this.#output(held);
  }

  /** The state to store while the session sleeps, structured-cloneable. Absent if a replay or sequence is unfinished. */
  get parked(): { readonly state: unknown } | undefined {
    return this.#gate?.isAtRest === false || !this.#replay.isOver ? undefined : { state: this.#state };
  }

  /** Resumes at this offset. @param at `me` is the client's id, `answerer` the answerer of terminal queries from there on. */
  resume(
    state: unknown,
    at: { tty: boolean; offset: number; me: string; answerer: { id: string; offset: number } },
  ): void {
    this.#state = state;
    this.#offset = at.offset;
    this.#gate?.resume(at);
  }

  #output(frame: Uint8Array): void {
    this.say({ type: "output", frame, end: this.#offset });
  }

  #passed(logBytes: number): void {
    if (this.#replay.pass(logBytes)) this.say({ type: "live" });
  }
}

/** How much of the log as of the attach the client still lacks. In bytes of the log: fewer may be sent. */
class Replay {
  /** Undefined before the greeting, and once the replay is complete. */
  #left: number | undefined;

  /** The client lacks `bytes` of the log. */
  begin(bytes: number): void {
    this.#left = bytes;
  }

  /** Whether the replay has not begun or is complete. */
  get isOver(): boolean {
    return this.#left === undefined;
  }

  /** `bytes` more were sent or lost. @returns Whether this completes the replay. */
  pass(bytes: number): boolean {
    if (this.#left === undefined) return false;
    this.#left -= bytes;
    if (this.#left > 0) return false;
    this.#left = undefined;
    return true;
  }
}
