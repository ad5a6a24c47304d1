// The server's side of one client's WebSocket: decodes messages by its dialect, calls the session, and sends the session's
// messages. Tracks a connection's phases; knows the socket only as `ServerSocket`.

import { type BudgetLimits, DEFAULT_BUDGET } from "../session/budget.ts";
import type { ClientRecord } from "../session/client-record.ts";
import type { Peer } from "../session/presence.ts";
import type { SessionCore } from "../session/session-core.ts";
import type { AttachRequest, AttachResult } from "../session/session-types.ts";
import { clipUtf8 } from "../text/utf8-text.ts";
import {
  CLOSE,
  KIB,
  MAX_SHARED_WAITING_INPUT_BYTES,
  MAX_WAITING_INPUT_BYTES,
  PUT_ASIDE_CODE,
  SILENCE_MS,
} from "../wire/constants.ts";
import type { Bye, ServerMessage } from "../wire/control.ts";
import { defined } from "../wire/fields.ts";
import type { Begin, ClientCommand, Dialect, Frame } from "./dialect.ts";
import { Outgoing, type ServerSocket } from "./outgoing.ts";
import { Spending } from "./spending.ts";

/** Most bytes that a client may send before its session is ready. */
const MAX_EARLY_BYTES = 256 * KIB;
/** A client that is not told when to begin or to wait may send as much as may wait later. */
const MAX_EARLY_FED_BYTES = MAX_WAITING_INPUT_BYTES + MAX_EARLY_BYTES;
/** Cost of a frame beside its bytes. */
const FRAME_COST_BYTES = 16;

/** Keeps a client's frames, within limits, until its session is ready. */
class EarlyFrames {
  readonly #frames: Frame[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** All frames, in order of arrival. */
  get all(): readonly Frame[] {
    return this.#frames;
  }

  /**
   * Keeps the frame, whose bytes must not change.
   * @param isTold Whether the dialect tells its clients when to begin.
   * @param sharedBytes Waiting bytes of all connections of the session, including this frame's.
   * @returns Whether the client may go on; if not, it has sent too much.
   */
  push(frame: Frame, isTold: boolean, sharedBytes: () => number): boolean {
    this.#frames.push(frame);
    this.#bytes += frame.length + FRAME_COST_BYTES;
    if (this.#bytes <= MAX_EARLY_BYTES) return true;
    return !isTold && this.#bytes <= MAX_EARLY_FED_BYTES && sharedBytes() <= MAX_SHARED_WAITING_INPUT_BYTES;
  }
}

/** Most UTF-8 bytes of a WebSocket's close reason. */
const MAX_REASON_BYTES = 123;
const STDIN_BEFORE_HELLO = "stdin came before hello";

/** A connection's calls to its shell. */
export interface ConnectionHooks {
  /** A fresh token has arrived. */
  auth?(token: string): void;
  /** A client that speaks first has done so; attach it now. */
  begin?(begin: Begin): void;
  /** {@link ServerConnection.earlyBytes} of all connections of the session. Absent: only this connection's count. */
  earlyBytes?(): number;
  /** Does something later. Absent: at once. */
  later?(ms: number, act: () => void): void;
  /** Age of the session, for dialects that report times. Absent: no time passes. */
  sessionMs?(): number;
  /** The client is told of an error, or that its connection is closed. */
  told?(said: { readonly type: "error" | "bye"; readonly code: string | number; readonly text: string }): void;
}

/** Stored state of a connection whose session sleeps. */
export type ParkedConnection = { readonly state: unknown; readonly stdinOffset: number; readonly mayType: boolean };

type Phase =
  | { readonly phase: "opening"; readonly early: EarlyFrames }
  | { readonly phase: "attached"; readonly session: SessionCore; readonly client: ClientRecord }
  | { readonly phase: "ended" };

export class ServerConnection implements Peer {
  readonly dialect: Dialect;
  readonly #socket: ServerSocket;
  readonly #hooks: ConnectionHooks;
  #phase: Phase = { phase: "opening", early: new EarlyFrames() };
  readonly #outgoing: Outgoing;
  /** When the client last sent something. */
  heardAtMs: number;
  /** Counts output, authorized input and resizes. While the count stands still, the connection is idle. */
  activity = 0;
  readonly #spending: Spending;
  #isGreeted = false;
  /** Position in the client's input on this connection, set by its greeting. */
  #stdinOffset = 0;
  /** Whether a client that speaks first has yet to do so. */
  #isSilent: boolean;
  /** Whether the client's socket has closed. */
  #isClosed = false;
  /** Whether the client has paused its output. */
  isPaused = false;

  constructor(
    dialect: Dialect,
    socket: ServerSocket,
    nowMs: number,
    hooks: ConnectionHooks = {},
    limits: BudgetLimits = DEFAULT_BUDGET,
  ) {
    this.dialect = dialect;
    this.#outgoing = new Outgoing(dialect, socket, dialect.tellsTimes === true ? hooks.sessionMs : undefined);
    this.#socket = socket;
    this.#hooks = hooks;
    this.heardAtMs = nowMs;
    this.#spending = new Spending(limits, nowMs, (reason) => this.#forbid(reason));
    this.#isSilent = dialect.clientBegins === true;
  }

  get client(): ClientRecord | undefined {
    return this.#phase.phase === "attached" ? this.#phase.client : undefined;
  }

  /** Bytes that wait for the session to be ready. */
  get earlyBytes(): number {
    return this.#phase.phase === "opening" ? this.#phase.early.bytes : 0;
  }

  get isEnded(): boolean {
    return this.#phase.phase === "ended";
  }

  /** Attaches to the session and handles the early frames. @returns The refusal that the client was told, if any. */
  attach(session: SessionCore, request: AttachRequest): Exclude<AttachResult, { ok: true }> | undefined {
    const opening = this.#phase;
    if (opening.phase !== "opening") return undefined;
    this.#outgoing.say({ type: "found", hasExited: session.hasEnded });
    const result = this.#attachTo(session, request);
    if (!result.ok) {
      this.bye(result.code, result.reason, result.retry);
      return result;
    }
    if (this.isEnded) return undefined; // The session had exited, and its log has been sent.
    this.#phase = { phase: "attached", session, client: result.client };
    this.#spending.join(result.client, this.heardAtMs);
    for (const frame of opening.early.all) this.receive(frame, this.heardAtMs);
    return undefined;
  }

  /** The state to store while the session sleeps, structured-cloneable. Absent if something is unfinished. */
  get parked(): ParkedConnection | undefined {
    const kept = this.#outgoing.parked;
    if (kept === undefined || this.client === undefined || this.isPaused || this.#isSilent) return undefined;
    return { ...kept, stdinOffset: this.#stdinOffset, mayType: this.#spending.mayType };
  }

  /** Resumes silently in a session that has slept. Call before it becomes a client's peer. */
  resume({ state, stdinOffset, mayType }: ParkedConnection, at: Parameters<Outgoing["resume"]>[1]): void {
    this.#isGreeted = true;
    this.#isSilent = false;
    this.#stdinOffset = stdinOffset;
    if (mayType) this.#spending.accepted();
    this.#outgoing.resume(state, at);
  }

  /** Its client has resumed. */
  resumed(session: SessionCore, client: ClientRecord): void {
    this.#phase = { phase: "attached", session, client };
    this.#spending.join(client, this.heardAtMs);
  }

  /** Takes a WebSocket message. The session then owns its bytes: it may keep a view or release them. */
  receive(frame: Frame, nowMs: number): void {
    this.heardAtMs = nowMs;
    const phase = this.#phase;
    if (phase.phase === "ended") return;
    const decoded = this.dialect.decode(frame);
    switch (decoded.kind) {
      case "nothing":
        this.#spending.message(nowMs);
        return;
      case "close":
        this.bye(decoded.code, decoded.reason, "never");
        if (phase.phase === "attached") phase.session.leave(phase.client);
        return;
      case "error":
        if (!this.#spending.message(nowMs)) return;
        this.send({ type: "error", code: decoded.code, message: decoded.message });
        return;
      case "command":
        if (decoded.command.type === "ping") this.send({ type: "pong" });
        else if (phase.phase === "opening" && decoded.command.type !== "begin")
          this.#early(phase, frame, decoded.command);
        else this.#execute(phase, decoded.command, nowMs);
    }
  }

  /** Executes a command, unless its client has exceeded its budget. */
  #execute(phase: Exclude<Phase, { phase: "ended" }>, command: ClientCommand, nowMs: number): void {
    // The cost of these two is known only afterwards.
    const isPaidLater = (command.type === "stdin" && "bytes" in command) || command.type === "ack";
    if (!isPaidLater && !this.#spending.message(nowMs)) return;
    if (command.type === "begin") this.#begin(command);
    else if (phase.phase === "attached") this.#command(phase.session, phase.client, command, nowMs);
  }

  /** The client violated the protocol: closes it and gives up its place. */
  #forbid(reason: string): void {
    this.dismiss(CLOSE.policy, reason, "never", "left");
  }

  /** The socket has closed. */
  closed(code: number): void {
    this.#isClosed = true;
    const phase = this.#phase;
    this.#phase = { phase: "ended" };
    if (phase.phase !== "attached" || phase.client.peer !== this) return;
    const how = code === CLOSE.normal ? "left" : code === PUT_ASIDE_CODE ? "put aside" : "vanished";
    phase.session.disconnect(phase.client, how);
  }

  /** The client was silent for too long: it has vanished, and its socket is useless. */
  drop(): void {
    this.dismiss(CLOSE.goingAway, "nothing was heard", "now", "vanished");
  }

  /** Ends the connection from this side. If the client `vanished`, its place is kept for a while. */
  dismiss(code: number, reason: string, retry: Bye["retry"], how: "left" | "vanished"): void {
    const phase = this.#phase;
    this.bye(code, reason, retry);
    if (phase.phase !== "attached" || phase.client.peer !== this) return;
    if (how === "left") phase.session.leave(phase.client);
    else phase.session.vanish(phase.client);
  }

  /** The socket is writable again. */
  drained(): void {
    if (this.#phase.phase !== "attached") return;
    const { session, client } = this.#phase;
    session.drained(client);
  }

  /** When a client that pings or must speak first counts as vanished unless it sends something; else undefined. */
  get silentAtMs(): number | undefined {
    const isAwaited = this.dialect.acknowledges || this.#isSilent;
    return isAwaited && !this.isEnded ? this.heardAtMs + SILENCE_MS : undefined;
  }

  // ---- Peer: from the session to the client --------------------------------------------------------------------

  send(message: ServerMessage): void {
    if (this.isEnded) return;
    if (message.type === "hello") {
      this.#isGreeted = true;
      this.#stdinOffset = message.stdin;
    }
    if (message.type === "error") this.#hooks.told?.({ type: "error", code: message.code, text: message.message });
    this.#outgoing.message(message);
  }

  sendOutput(frame: Uint8Array, nowMs: number): void {
    const phase = this.#phase;
    if (phase.phase === "ended") return;
    this.activity += 1;
    const isTransfer = phase.phase === "attached" && this.#outgoing.isTransfer;
    if (isTransfer && !phase.session.mayDrive(phase.client)) this.#outgoing.endTransfer();
    this.#outgoing.output(frame, nowMs);
  }

  sendSnapshot(frame: Uint8Array): void {
    if (!this.isEnded) this.#outgoing.snapshot(frame);
  }

  greeted(): void {
    if (!this.isEnded) this.#outgoing.say({ type: "greeted" });
  }

  isWritable(): boolean {
    return !this.isPaused && this.#socket.isWritable();
  }

  typed(bytes: number, isAccepted: boolean, nowMs: number): void {
    const phase = this.#phase;
    if (phase.phase === "ended") return;
    if (isAccepted) {
      this.activity += 1;
      this.#spending.accepted();
    } else if (phase.phase === "attached") {
      const from = this.dialect.acknowledges ? this.#stdinOffset - bytes : undefined;
      this.#spending.refused(phase.client, from, bytes, nowMs);
    }
  }

  bye(code: number, reason: string, retry: Bye["retry"], seconds?: number): void {
    if (this.isEnded) return;
    this.#hooks.told?.({ type: "bye", code, text: reason });
    this.#outgoing.flush();
    this.#outgoing.say({ type: "bye", code, reason, retry, ...defined({ seconds }) });
    this.#phase = { phase: "ended" };
    const { dialect } = this;
    const sent = dialect.closeCode?.(code, reason) ?? code;
    this.#socket.close(sent, clipUtf8(dialect.reasons?.[code] ?? reason, MAX_REASON_BYTES));
  }

  finish(): void {
    if (this.isEnded) return;
    this.#phase = { phase: "ended" };
    const { farewell } = this.dialect;
    const close = (): void => this.#socket.close(CLOSE.normal, "");
    if (farewell === undefined) close();
    else {
      const part = (): void => {
        if (this.#isClosed) return;
        this.#socket.send(farewell.frame);
        close();
      };
      if (this.#hooks.later === undefined) part();
      else this.#hooks.later(farewell.afterMs, part);
    }
  }

  // ---- Inside --------------------------------------------------------------------------------------------------

  #attachTo(session: SessionCore, request: AttachRequest): AttachResult {
    try {
      return session.attach(request, this);
    } catch (error) {
      // The client may already be in the session, and no other code would remove it.
      const client = session.client(request.id);
      if (client?.peer === this) session.vanish(client);
      throw error;
    }
  }

  /** Only the first `begin` counts, since its fields describe the attach. */
  #begin(begin: Begin): void {
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#hooks.begin?.(begin);
  }

  #unpause(client: ClientRecord): void {
    this.isPaused = false;
    // The socket was not what blocked it.
    const { greeted } = client;
    if (greeted !== undefined) greeted.reader.blockedSinceMs = undefined;
    this.drained();
  }

  #stdin(session: SessionCore, client: ClientRecord, bytes: Uint8Array, nowMs: number): void {
    if (this.dialect.acknowledges && !this.#isGreeted) {
      this.#forbid(STDIN_BEFORE_HELLO);
      return;
    }
    if (!this.dialect.acknowledges) {
      if (session.mayDrive(client)) this.#outgoing.typed(bytes, nowMs);
      session.feed(client, bytes);
      return;
    }
    const offset = this.#stdinOffset;
    this.#stdinOffset += bytes.length;
    session.stdin(client, bytes, offset);
  }

  #command(session: SessionCore, client: ClientRecord, command: ClientCommand, nowMs: number): void {
    switch (command.type) {
      case "stdin":
        if ("data" in command) session.command(client, command);
        else this.#stdin(session, client, command.bytes, nowMs);
        return;
      case "ack":
        this.#spending.ack(nowMs, session.ack(client, command.offset));
        return;
      case "auth":
        this.#hooks.auth?.(command.token);
        return;
      case "eof":
        if (!this.dialect.acknowledges) session.feedMessage(client, command);
        else session.command(client, { type: "eof", offset: command.offset ?? this.#stdinOffset });
        return;
      case "release_stdin":
      case "grant_stdin":
        this.#spending.yielded();
        session.feedMessage(client, command);
        return;
      case "request_stdin":
      case "force_take":
      case "secret":
        // Queue it behind earlier input, to keep the order for clients that can't acknowledge.
        session.feedMessage(client, command);
        return;
      case "pause":
        this.isPaused = true;
        return;
      case "unpause":
        this.#unpause(client);
        return;
      case "begin":
        return;
      case "keep_alive":
      case "resize":
        // A viewer's message is not activity.
        if (session.mayDrive(client)) this.activity += 1;
        if (command.type === "resize") session.command(client, command);
        return;
      default:
        session.command(client, command);
    }
  }

  #early(opening: Extract<Phase, { phase: "opening" }>, frame: Frame, command: ClientCommand): void {
    if (this.dialect.acknowledges && command.type === "stdin") {
      this.bye(CLOSE.policy, STDIN_BEFORE_HELLO, "never");
      return;
    }
    const sharedBytes = () => this.#hooks.earlyBytes?.() ?? 0;
    if (!opening.early.push(frame, this.dialect.acknowledges, sharedBytes))
      this.bye(CLOSE.policy, "too much came before the session was ready", "never");
  }
}
