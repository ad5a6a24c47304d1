// What any client does, whatever it is shown on: attach, count, acknowledge, come back, send again. Sockets, timers and
// chance are handed in; no DOM, no process.

import { AnswererHistory } from "../terminal/answerer-history.ts";
import { lifeName } from "../wire/attach-query.ts";
import { CLOSE, MAX_CONTROL_IN_BYTES, MAX_WINDOW_BYTES, SILENCE_MS, type SignalName } from "../wire/constants.ts";
import {
  type Bye,
  type ClientMessage,
  type Hello,
  PING_TEXT,
  parseServerMessage,
  type ServerMessage,
} from "../wire/control.ts";
import { decodeFrame } from "../wire/frames.ts";
import type { ClientEnd, ClientEvents, ClientOptions, ClientPorts, ClientSocket, ClientState } from "./client-types.ts";
import { InputSender } from "./input-sender.ts";
import { Liveness } from "./liveness.ts";
import { OutputReceiver } from "./output-receiver.ts";
import { followParticipants, mayType, type Participants, participantsOf } from "./participants.ts";
import { backoffMs, decideRetry } from "./retry.ts";
import { Secrecy } from "./secrecy.ts";
import { TypedInput } from "./typed-input.ts";

/** Attached for this long, the next break counts as the first again. */
const STABLE_MS = 5_000;
/** With more output than this not dealt with it does not come back yet; it looks again so often. */
const MAX_UNDEALT_BYTES = 2 * MAX_WINDOW_BYTES;
const UNDEALT_RETRY_MS = 1_000;
/**
 * A server's runtime may answer pings for an object that is stuck or dead: a connection without a greeting for so long is
 * made again. Longer than a container may take to start.
 */
const GREETING_MS = 200_000;
/** A connection that moved bytes was worth making, however short: the next break counts as the second at most. */
const ATTEMPT_AFTER_PROGRESS = 1;

export class StdioClient {
  readonly #ports: ClientPorts;
  readonly #events: ClientEvents;
  readonly #session: string;
  readonly #firstAttempts: number;
  readonly #inbox: OutputReceiver;
  readonly #outbox: InputSender;
  readonly #repeatsInput: boolean;
  #state: ClientState = { phase: "connecting", attempt: 0 };
  #socket: ClientSocket | undefined;
  /** Distinguishes this object from others that have come, or will come, with the same resume. */
  readonly #life: string;
  /** Distinguishes connections: what an old one still reports counts for nothing. */
  #generation = 0;
  #hello: Hello | undefined;
  /** Who holds the keyboard. */
  #people: Participants | undefined;
  #resume: string | undefined;
  #bye: Bye | undefined;
  /** Who answers terminal queries. */
  #answerers: AnswererHistory | undefined;
  #eofAt: number | undefined;
  /** The connection in which the end of input was told last: a new one is told again. */
  #eofSentIn = -1;
  /** Whether somebody else's presence may have been why it was refused: then it is told again when that changes. */
  #isEofRefused = false;
  readonly #secrecy = new Secrecy((on) => this.#control({ type: "secret", on }));
  #attempt = 0;
  #attachedAtMs = 0;
  /** Whether this connection has moved a byte in either direction. */
  #hasMoved = false;
  #size: { cols: number; rows: number } | undefined;
  #cancelRetry: () => void = nothing;
  readonly #liveness: Liveness;
  readonly #typed: TypedInput;
  readonly #keepsKeys: boolean;
  #cancelGreeting: () => void = nothing;

  constructor(options: ClientOptions, ports: ClientPorts, events: ClientEvents) {
    this.#session = options.session;
    this.#resume = options.resume;
    this.#repeatsInput = options.repeatsInput ?? options.offset !== undefined;
    this.#outbox = new InputSender(this.#repeatsInput);
    this.#firstAttempts = options.firstAttempts ?? Number.POSITIVE_INFINITY;
    this.#ports = ports;
    this.#events = events;
    // An offset is this client's own place: without the proof it is nobody's.
    this.#inbox = new OutputReceiver(options.resume === undefined ? undefined : options.offset, {
      events,
      setTimer: (ms, callback) => ports.setTimer(ms, callback),
      ack: (offset) => this.#control({ type: "ack", offset }),
    });
    this.#keepsKeys = options.keepsKeys === true;
    this.#typed = new TypedInput(() => ports.isFullScreen?.() === true);
    this.#liveness = new Liveness({
      setTimer: (ms, callback) => ports.setTimer(ms, callback),
      now: () => ports.now(),
      ping: () => this.#socket?.send(PING_TEXT),
      silent: () => this.#breakOff(`nothing was heard for ${SILENCE_MS / 1000} s`),
      quiet: (isQuiet) => events.quiet?.(isQuiet),
    });
    this.#life = lifeName(options.bornAtMs, ports.random());
  }

  get state(): ClientState {
    return this.#state;
  }

  /** The last greeting. */
  get hello(): Hello | undefined {
    return this.#hello;
  }

  /** What a later life of this client needs: see {@link ClientOptions}. undefined before the first `hello`. */
  get resumePoint(): { session: string; resume: string; offset: number } | undefined {
    if (this.#hello === undefined || this.#resume === undefined) return undefined;
    return { session: this.#session, resume: this.#resume, offset: this.#inbox.dealt };
  }

  /** Input bytes that are written and not yet taken by the process. */
  get unackedInput(): number {
    return this.#outbox.length;
  }

  start(): void {
    this.#connect();
  }

  /** Comes back at once if it is waiting. */
  retryNow(): void {
    if (this.#state.phase === "waiting") this.#connect();
  }

  /** Leaves the session: it lives on, this client's place in it does not. */
  leave(): void {
    if (this.#state.phase === "ended") return;
    this.#socket?.close(CLOSE.normal);
    this.#end({ kind: "left" });
  }

  /** Stops without leaving: the session keeps this client's place, for a later life to take up from its resume point. */
  suspend(): void {
    if (this.#state.phase === "ended") return;
    this.#socket?.abort();
    this.#end({ kind: "left" });
  }

  // ---- Input ---------------------------------------------------------------------------------------------------

  /**
   * Input that must arrive: kept until it is acknowledged, sent again after a break. Keeps a view of `bytes`.
   * @returns Whether more may be written now; if not, `inputDrained` says when.
   */
  write(bytes: Uint8Array): boolean {
    this.#outbox.write(bytes);
    this.#flushInput();
    return this.#outbox.hasRoom;
  }

  /**
   * What a person typed (I4): sent if the connection is up, else discarded, visibly. The rest of a paste that was begun is kept
   * and sent later, and so is everything with {@link ClientOptions.keepsKeys}. @returns Whether it, or the last of it, was written.
   */
  type(bytes: Uint8Array): boolean {
    const isAttached = this.#state.phase === "attached";
    let isWritten = true;
    for (const piece of this.#typed.split(bytes)) {
      const isLineSent = this.#typed.isLineSent;
      isWritten = this.#typed.decide(piece, isAttached || this.#keepsKeys, this.#ports.now()) !== "discard";
      if (isWritten) this.write(piece);
      else this.#events.discarded(piece, isLineSent);
    }
    if (isAttached) this.#liveness.asked();
    if (this.#state.phase === "waiting" && this.#state.retryAtMs === undefined) this.#connect();
    return isWritten;
  }

  /** No input after what has been written. */
  endInput(): void {
    this.#eofAt = this.#outbox.end;
    this.#flushInput();
  }

  /** Whether the session is asked to put only the length of what is written from here on on record. */
  get isSecret(): boolean {
    return this.#secrecy.isOn;
  }

  /** Asks for that, or for the end of it. Holds over breaks, and goes before what is sent again after one. */
  setSecret(on: boolean): void {
    this.#secrecy.set(on, this.#isSettled);
  }

  /** Whether all that was written has been taken, and the connection is up. */
  get #isSettled(): boolean {
    return this.#state.phase === "attached" && this.#outbox.length === 0;
  }

  resize(cols: number, rows: number): void {
    this.#size = { cols, rows };
    this.#control({ type: "resize", cols, rows });
  }

  signal(signal: SignalName): void {
    this.#control({ type: "signal", signal });
    this.#liveness.asked();
  }

  /** Any other message. @returns Whether it was sent: nothing but input is kept for later. */
  send(message: ClientMessage): boolean {
    return this.#control(message);
  }

  // ---- Output --------------------------------------------------------------------------------------------------

  /** Every output byte before `end` has been dealt with: drawn, or written. */
  dealtWith(end: number): void {
    this.#inbox.dealtWith(end);
  }

  /**
   * Whether this client's emulator is the one to answer a terminal query whose last byte stands at `offset` (the count of
   * bytes before that last one, not after it). To be asked when the bytes arrive: a later greeting knows only replay and
   * what comes after it.
   */
  mayAnswer(offset: number): boolean {
    return this.#answerers?.mayAnswer(offset) ?? false;
  }

  /** The first offset after `offset` where {@link mayAnswer} may say something else, as far as is known: infinity if none. */
  nextAnswerChange(offset: number): number {
    return this.#answerers?.nextChange(offset) ?? Number.POSITIVE_INFINITY;
  }

  // ---- Connection ----------------------------------------------------------------------------------------------

  #connect(): void {
    this.#cancelRetry();
    this.#generation += 1;
    const generation = this.#generation;
    this.#bye = undefined;
    this.#inbox.connecting();
    this.#setState({ phase: "connecting", attempt: this.#attempt });
    const resume = new Map([["session", this.#session]]);
    if (this.#resume !== undefined) {
      resume.set("resume", this.#resume);
      if (this.#inbox.received !== undefined) resume.set("offset", String(this.#inbox.received));
      if (this.#outbox.isAnchored) resume.set("stdin", String(this.#outbox.acked));
      else if (!this.#repeatsInput) resume.set("stdin", "new");
    }
    // The first one's as well: where its greeting got lost, the next is of the same client.
    resume.set("attempt", `${this.#life}.${generation}`);
    const isCurrent = () => generation === this.#generation;
    const socket = this.#ports.connect(resume, {
      open: () => isCurrent() && this.#liveness.opened(),
      text: (text) => isCurrent() && this.#text(text),
      binary: (bytes) => isCurrent() && this.#binary(bytes),
      closed: (code, detail, seconds) => isCurrent() && this.#closed(code, detail, seconds),
    });
    if (!isCurrent()) return; // It failed at once, and said so.
    this.#socket = socket;
    this.#liveness.begin();
    this.#awaitGreeting();
  }

  /**
   * Coming back asks for a window's worth of output on top of what has not been dealt with: a client that is stuck, and
   * whose connection keeps breaking, waits with that.
   */
  #comeBack(): void {
    if (this.#inbox.undealtBytes < MAX_UNDEALT_BYTES) this.#connect();
    else this.#cancelRetry = this.#ports.setTimer(UNDEALT_RETRY_MS, () => this.#comeBack());
  }

  #awaitGreeting(): void {
    this.#cancelGreeting();
    const late = `the session has not answered for ${GREETING_MS / 1000} s`;
    this.#cancelGreeting = this.#ports.setTimer(GREETING_MS, () => this.#breakOff(late));
  }

  /** The connection is of no more use. */
  #breakOff(reason: string): void {
    this.#socket?.abort();
    this.#closed(1006, reason);
  }

  #closed(code: number, detail: string, retryAfterSeconds = 0): void {
    this.#generation += 1;
    this.#quiet();
    this.#socket = undefined;
    const wasAttachedFor = this.#state.phase === "attached" ? this.#ports.now() - this.#attachedAtMs : 0;
    if (wasAttachedFor >= STABLE_MS) this.#attempt = 0;
    else if (this.#hasMoved) this.#attempt = Math.min(this.#attempt, ATTEMPT_AFTER_PROGRESS);
    this.#hasMoved = false;
    const bye = this.#bye;
    const reason = bye?.reason || detail || `connection closed with ${code}`;
    const decision = decideRetry(code, bye);
    const isHopeless = this.#hello === undefined && this.#attempt + 1 >= this.#firstAttempts;
    if (decision.kind === "never" || (decision.kind === "backoff" && isHopeless)) {
      this.#end({ kind: "refused", code: bye?.code ?? code, reason });
      return;
    }
    const attempt = this.#attempt;
    if (decision.kind === "on_input") {
      this.#setState({ phase: "waiting", retryAtMs: undefined, reason, attempt });
      return;
    }
    this.#attempt += 1;
    // What the server asks for is kept to, but not over and over: a server that says `now` each time is not hammered.
    const least = decision.kind === "wait" ? decision.ms : retryAfterSeconds * 1000;
    const isTrusted = decision.kind === "wait" && attempt < 3;
    const ms = isTrusted ? least : Math.max(least, backoffMs(attempt, this.#ports.random()));
    this.#cancelRetry = this.#ports.setTimer(ms, () => this.#comeBack());
    this.#setState({ phase: "waiting", retryAtMs: this.#ports.now() + ms, reason, attempt });
  }

  #text(text: string): void {
    this.#liveness.heard();
    const result = parseServerMessage(text);
    if (!result.ok) {
      if (result.fault === "unknown_type") return; // From a newer server.
      this.#breakOff(`the server sent what this client can't read: ${result.detail}`);
      return;
    }
    const { message } = result;
    switch (message.type) {
      case "hello":
        this.#greeted(message);
        return;
      case "stdin_ack":
        if (message.offset > this.#outbox.acked) this.#hasMoved = true;
        this.#outbox.ack(message.offset);
        if (this.#isSettled) this.#secrecy.settled();
        this.#flushInput();
        if (this.#outbox.hasRoom) this.#events.inputDrained();
        return;
      case "gap":
        this.#inbox.gap(message.from, message.to, message.approximate === true, this.#hello?.tty !== false);
        return;
      case "resize":
        this.#inbox.resize(message.cols, message.rows, message.offset);
        return;
      case "answerer":
        this.#answerers?.note(message, this.#inbox.dealt);
        return;
      case "exit": {
        this.#inbox.arrive();
        const { code, signal } = message;
        this.#socket?.close(CLOSE.normal);
        this.#end({ kind: "exit", code, ...(signal === undefined ? {} : { signal }) });
        return;
      }
      case "bye":
        // The end, whether or not a close follows: not every proxy delivers it.
        this.#bye = message;
        // Not with 1000: that would say that this client leaves, and it may be about to come back.
        this.#socket?.abort();
        this.#closed(message.code, message.reason);
        return;
      case "status":
        if (message.status === "starting" && this.#state.phase === "connecting") this.#setState({ phase: "starting" });
        else this.#events.message(message);
        return;
      case "secret":
        if (this.#secrecy.told(message.on, this.#isSettled)) this.#events.message(message);
        return;
      case "pong":
        return;
      default:
        this.#watchEof(message);
        this.#watchRefusal(message);
        this.#events.message(message);
    }
  }

  /** An end of input that was refused, since another driver seemed to be there, is told again when one has gone. */
  #watchEof(message: ServerMessage): void {
    if (message.type === "error" && message.code === "not_stdin_holder") {
      this.#isEofRefused = this.#eofSentIn === this.#generation;
    } else if (this.#isEofRefused && (message.type === "leave" || message.type === "stdin_holder")) {
      this.#isEofRefused = false;
      this.#eofSentIn = -1;
      this.#flushInput();
    }
  }

  /** What is not sent yet of input that is being refused would be refused, too: half a paste is no better than none. */
  #watchRefusal(message: ServerMessage): void {
    if (this.#people !== undefined) this.#people = followParticipants(this.#people, message);
    if (message.type !== "error" || this.#outbox.isAllSent) return;
    // An end of input may be refused to a client whose input is not.
    const isOfInput = message.code === "stdin_closed" || (message.code === "not_stdin_holder" && !this.#isInputTaken);
    if (!isOfInput) return;
    for (const bytes of this.#outbox.dropUnsent()) this.#events.discarded(bytes);
    if (this.#eofAt !== undefined) this.#eofAt = Math.min(this.#eofAt, this.#outbox.end);
  }

  get #isInputTaken(): boolean {
    return this.#people !== undefined && mayType(this.#people);
  }

  #greeted(hello: Hello): void {
    this.#cancelGreeting();
    const isFirst = !this.#outbox.isAnchored;
    const isAhead = hello.stdin > this.#outbox.end && this.#outbox.length > 0;
    if (isAhead && !isFirst && !this.#repeatsInput) {
      // The session has taken input here that this client never wrote, in the place of what it still keeps.
      this.#socket?.abort();
      const reason = "another connection has typed in this client's place";
      this.#end({ kind: "refused", code: CLOSE.conflict, reason });
      return;
    }
    const isResumed = this.#hello !== undefined && this.#hello.incarnation === hello.incarnation;
    this.#hello = hello;
    this.#people = participantsOf(hello);
    this.#resume = hello.resume;
    this.#answerers = new AnswererHistory(hello.you.id, hello.live, hello.answerer);
    this.#inbox.anchor(hello);
    this.#attachedAtMs = this.#ports.now();
    this.#outbox.rewind(hello.stdin);
    if (isFirst && this.#eofAt !== undefined) this.#eofAt += hello.stdin;
    this.#isEofRefused = false;
    // Before whoever hears of the state can write: the session may have forgotten it with this client's place.
    if (this.#secrecy.isHeld) this.#socket?.send(JSON.stringify({ type: "secret", on: true } satisfies ClientMessage));
    this.#setState({ phase: "attached", hello, isResumed });
    const isEmpty = this.#inbox.received === undefined;
    this.#inbox.open(hello);
    if (this.#size !== undefined) this.#control({ type: "resize", ...this.#size });
    // An empty screen has dealt with nothing: what it is sent first, a snapshot perhaps, is acknowledged when it is drawn.
    if (!isEmpty) this.#inbox.acknowledge();
    if (this.#isSettled) this.#secrecy.settled();
    this.#flushInput();
    if (this.#outbox.hasRoom) this.#events.inputDrained();
  }

  #binary(message: Uint8Array): void {
    this.#liveness.heard();
    if (this.#inbox.take(decodeFrame(message))) this.#hasMoved = true;
  }

  #flushInput(): void {
    if (this.#state.phase !== "attached") return;
    for (let frame = this.#outbox.next(); frame !== undefined; frame = this.#outbox.next()) {
      this.#socket?.send(frame);
    }
    if (this.#eofAt !== undefined && this.#outbox.isAllSent && this.#eofSentIn !== this.#generation) {
      this.#eofSentIn = this.#generation;
      this.#control({ type: "eof", offset: this.#eofAt });
    }
  }

  #control(message: ClientMessage): boolean {
    if (this.#state.phase !== "attached") return false;
    const text = JSON.stringify(message);
    if (text.length > MAX_CONTROL_IN_BYTES) throw new RangeError(`Cannot send a message of ${text.length} bytes`);
    this.#socket?.send(text);
    return true;
  }

  #end(end: ClientEnd): void {
    this.#generation += 1;
    this.#quiet();
    this.#cancelRetry();
    this.#socket = undefined;
    this.#setState({ phase: "ended", end });
  }

  #quiet(): void {
    this.#liveness.stop();
    this.#cancelGreeting();
    this.#inbox.disconnected();
  }

  #setState(state: ClientState): void {
    this.#state = state;
    this.#events.state(state);
  }
}

function nothing(): void {
  // Nothing to cancel yet.
}
