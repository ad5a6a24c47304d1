// The work of any client, on any display: attach, count, acknowledge, come back, send again. Sockets, timers and
// chance are handed in; no DOM, no process.

import { AnswererHistory } from "../terminal/answerer-history.ts";
import { lifeName } from "../wire/attempt.ts";
import { CLOSE, MAX_CONTROL_IN_BYTES, MIB, type SignalName } from "../wire/constants.ts";
import { type Bye, type ClientMessage, type Hello, parseServerMessage } from "../wire/control.ts";
import { defined } from "../wire/fields.ts";
import { decodeFrame } from "../wire/frames.ts";
import { Attempts } from "./attempts.ts";
import { ClientConnection } from "./client-connection.ts";
import type { ClientEnd, ClientEvents, ClientOptions, ClientPorts, ClientState, KeptInput } from "./client-types.ts";
import { InputDelivery } from "./input-delivery.ts";
import { OutputReceiver } from "./output-receiver.ts";
import { TypedInput } from "./typed-input.ts";

/** With more output than this not dealt with it does not come back yet; it looks again so often. */
const MAX_UNDEALT_BYTES = MIB;
const UNDEALT_RETRY_MS = 1_000;
export class StdioClient {
  readonly #ports: ClientPorts;
  readonly #events: ClientEvents;
  readonly #session: string;
  readonly #output: OutputReceiver;
  readonly #input: InputDelivery;
  readonly #attempts: Attempts;
  #state: ClientState = { phase: "connecting", attempt: 0 };
  readonly #connection: ClientConnection;
  #hello: Hello | undefined;
  #resume: string | undefined;
  #bye: Bye | undefined;
  /** The answerer of terminal queries. */
  #answerers: AnswererHistory | undefined;
  #attachedAtMs = 0;
  #size: { cols: number; rows: number } | undefined;
  #cancelRetry: () => void = () => undefined;
  /** Whether a key has woken a session that slept: that key and those after it are kept until it is there. */
  #isWaking = false;
  readonly #typed: TypedInput;
  readonly #keepsKeys: boolean;

  constructor(options: ClientOptions, ports: ClientPorts, events: ClientEvents) {
    this.#session = options.session;
    this.#resume = options.resume;
    this.#attempts = new Attempts(options, () => ports.random());
    this.#input = new InputDelivery(options.repeatsInput ?? options.offset !== undefined, options.keptInput, {
      events,
      isAttached: () => this.#state.phase === "attached",
      send: (frame) => this.#connection.send(frame),
      control: (message) => this.#control(message),
    });
    this.#ports = ports;
    this.#events = events;
    // An offset is this client's own place: without the proof it means nothing.
    this.#output = new OutputReceiver(options.resume === undefined ? undefined : options.offset, {
      events,
      setTimer: (ms, callback) => ports.setTimer(ms, callback),
      ack: (offset) => this.#control({ type: "ack", offset }),
      areTimersLate: () => ports.areTimersLate?.() === true,
    });
    this.#keepsKeys = options.keepsKeys === true;
    this.#typed = options.typed ?? new TypedInput(() => ports.isFullScreen?.() === true);
    this.#connection = new ClientConnection(lifeName(options.bornAtMs, ports.random()), ports, {
      text: (text) => this.#text(text),
      binary: (bytes) => this.#binary(bytes),
      closed: (code, detail, retryAfterSeconds) => this.#closed(code, detail, retryAfterSeconds),
      quiet: (isQuiet) => events.quiet?.(isQuiet),
    });
  }

  get state(): ClientState {
    return this.#state;
  }

  /** The last greeting. */
  get hello(): Hello | undefined {
    return this.#hello;
  }

  /** State that a later life of this client needs: see {@link ClientOptions}. undefined before the first `hello`. */
  get resumePoint(): { session: string; resume: string; offset: number } | undefined {
    if (this.#hello === undefined || this.#resume === undefined) return undefined;
    return { session: this.#session, resume: this.#resume, offset: this.#output.dealt };
  }

  /** Input bytes that are written and not yet taken by the process. */
  get unackedInput(): number {
    return this.#input.unackedBytes;
  }

  /** Whether the process takes no more input, for good. */
  get isInputClosed(): boolean {
    return this.#input.isClosed;
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
    this.#connection.close(CLOSE.normal);
    this.#end({ kind: "left" });
  }

  /**
   * Stops without leaving: the session keeps this client's place, for a later life to take up from its resume point.
   * @returns Input that is not acknowledged ({@link ClientOptions}), if there is any: a copy, without the bytes if they are secret.
   */
  suspend(): KeptInput | undefined {
    if (this.#state.phase !== "ended") {
      this.#connection.abort();
      this.#end({ kind: "left" });
    }
    return this.#input.kept;
  }

  /**
   * Input that must arrive: kept until it is acknowledged, sent again after a break. Keeps a view of `bytes`, which must stay
   * as they are.
   * @returns Whether more may be written now; if not, `inputDrained` says when.
   */
  write(bytes: Uint8Array): boolean {
    this.#input.write(bytes);
    return this.#input.hasRoom;
  }

  /**
   * A person's input (I4): sent if the connection is up, else discarded, visibly. The rest of a paste that was begun is kept
   * and sent later, and so is everything with {@link ClientOptions.keepsKeys}. @returns Whether it, or the last of it, was written.
   */
  type(bytes: Uint8Array): boolean {
    // No connection is missing: there is no session to type into any more.
    if (this.#state.phase === "ended") return false;
    const isAttached = this.#state.phase === "attached";
    const isAsleep = this.#state.phase === "waiting" && this.#state.retryAtMs === undefined;
    this.#isWaking ||= isAsleep;
    const isKept = this.#keepsKeys || this.#isWaking;
    let isWritten = true;
    for (const piece of this.#typed.split(bytes)) {
      const isLineSent = this.#typed.isLineSent;
      isWritten = this.#typed.decide(piece, isAttached || isKept, this.#ports.now()) !== "discard";
      if (isWritten) this.write(piece);
      else this.#events.discarded(piece, isLineSent);
    }
    if (isAttached) this.#connection.noteAsked();
    if (isAsleep) this.#connect();
    return isWritten;
  }

  /** No input after the bytes that have been written. */
  endInput(): void {
    this.#input.end();
  }

  /** Whether the session is asked to put only the length of input from here on on record. */
  get isSecret(): boolean {
    return this.#input.isSecret;
  }

  /** Asks for that, or for the end of it. Holds over breaks, and goes before input that is sent again after one. */
  setSecret(on: boolean): void {
    this.#input.setSecret(on);
  }

  resize(cols: number, rows: number): void {
    this.#size = { cols, rows };
    this.#control({ type: "resize", cols, rows });
  }

  signal(signal: SignalName): void {
    this.#control({ type: "signal", signal });
    this.#connection.noteAsked();
  }

  /** Tells the time of a message to the server and back, in ms, unless the connection ends first. @returns Whether there is one. */
  time(told: (ms: number) => void): boolean {
    return this.#connection.time(told);
  }

  /** Any other message. @returns Whether it was sent: nothing but input is kept for later. */
  send(message: ClientMessage): boolean {
    return this.#control(message);
  }

  /** Every output byte before `end` has been dealt with: drawn, or written. */
  dealtWith(end: number): void {
    this.#output.dealtWith(end);
  }

  /**
   * Whether this client's emulator answers a terminal query whose last byte stands at `offset` (the bytes before that last
   * one). Ask when the bytes arrive: a later greeting knows only replay and output after it.
   */
  mayAnswer(offset: number): boolean {
    return this.#answerers?.mayAnswer(offset) ?? false;
  }

  /** The first offset after `offset` where {@link mayAnswer} may say something else, as far as is known: infinity if none. */
  nextAnswerChange(offset: number): number {
    return this.#answerers?.nextChange(offset) ?? Number.POSITIVE_INFINITY;
  }

  #connect(): void {
    this.#cancelRetry();
    this.#bye = undefined;
    this.#output.connecting();
    this.#input.connect();
    this.#setState({ phase: "connecting", attempt: this.#attempts.count });
    if (this.#state.phase !== "connecting") return; // A listener has ended the client.
    const resume = new Map([["session", this.#session]]);
    if (this.#resume !== undefined) {
      resume.set("resume", this.#resume);
      const { received, dealt } = this.#output;
      if (received !== undefined) resume.set("offset", String(received));
      if (received !== undefined && dealt < received) resume.set("acked", String(dealt));
      if (this.#input.resumeAt !== undefined) resume.set("stdin", this.#input.resumeAt);
    }
    this.#connection.open(resume);
  }

  /** A client that is stuck, and whose connection keeps breaking, waits: coming back asks for another window of output. */
  #comeBack(): void {
    if (this.#output.undealtBytes < MAX_UNDEALT_BYTES) this.#connect();
    else this.#cancelRetry = this.#ports.setTimer(UNDEALT_RETRY_MS, () => this.#comeBack());
  }

  #closed(code: number, detail: string, retryAfterSeconds: number): void {
    this.#output.disconnected();
    const bye = this.#bye;
    const reason = bye?.reason || detail || `connection closed with ${code}`;
    const next = this.#attempts.next({
      code,
      bye,
      retryAfterSeconds,
      attachedMs: this.#state.phase === "attached" ? this.#ports.now() - this.#attachedAtMs : 0,
      wasGreeted: this.#hello !== undefined,
      nowMs: this.#ports.now(),
    });
    if (next.kind === "never") {
      this.#end({ kind: "refused", code: bye?.code ?? code, reason: next.words + reason });
      return;
    }
    const isAsleep = next.kind === "on_input";
    if (!isAsleep) this.#cancelRetry = this.#ports.setTimer(next.ms, () => this.#comeBack());
    const retryAtMs = isAsleep ? undefined : this.#ports.now() + next.ms;
    this.#setState({ phase: "waiting", retryAtMs, reason, attempt: next.attempt });
  }

  #text(text: string): void {
    const result = parseServerMessage(text);
    if (!result.ok) {
      if (result.fault === "unknown_type") return; // From a newer server.
      this.#connection.breakOff(`the server sent what this client can't read: ${result.detail}`);
      return;
    }
    const { message } = result;
    switch (message.type) {
      case "hello":
        this.#greeted(message);
        return;
      case "stdin_ack":
        if (this.#input.ack(message.offset)) this.#attempts.noteProgress();
        return;
      case "gap":
        this.#output.gap(message.from, message.to, message.approximate === true, this.#hello?.tty !== false);
        return;
      case "resize":
        this.#output.resize(message.cols, message.rows, message.offset);
        return;
      case "answerer":
        this.#answerers?.note(message, this.#output.dealt);
        return;
      case "exit": {
        this.#output.arrive();
        const { code, signal } = message;
        this.#connection.close(CLOSE.normal);
        this.#end({ kind: "exit", code, ...defined({ signal }) });
        return;
      }
      case "bye":
        // The end, whether or not a close follows: not every proxy delivers it.
        this.#bye = message;
        // Not with 1000: that would say that this client leaves, and it may be about to come back.
        this.#connection.breakOff(message.reason, message.code);
        return;
      case "status":
        if (message.status === "starting" && this.#state.phase === "connecting") this.#setState({ phase: "starting" });
        else this.#events.message(message);
        return;
      case "secret":
        if (this.#input.tellSecret(message.on)) this.#events.message(message);
        return;
      case "pong":
        this.#connection.notePong();
        return;
      default:
        this.#input.hear(message);
        this.#events.message(message);
    }
  }

  #greeted(hello: Hello): void {
    this.#connection.noteGreeting();
    if (this.#input.isOvertaken(hello)) {
      this.#connection.abort();
      const reason = "another connection has typed in this client's place";
      this.#end({ kind: "refused", code: CLOSE.conflict, reason });
      return;
    }
    const isResumed = this.#hello !== undefined && this.#hello.incarnation === hello.incarnation;
    this.#hello = hello;
    this.#resume = hello.resume;
    this.#answerers = new AnswererHistory(hello.you.id, hello.live, hello.answerer);
    this.#output.anchor(hello);
    this.#attachedAtMs = this.#ports.now();
    this.#input.rewind(hello);
    // Before a listener to the state can write: the session may have forgotten the secrecy with this client's place.
    if (this.#input.isSecretHeld)
      this.#connection.send(JSON.stringify({ type: "secret", on: true } satisfies ClientMessage));
    this.#setState({ phase: "attached", hello, isResumed });
    const isEmpty = this.#output.received === undefined;
    this.#output.open(hello);
    if (this.#size !== undefined) this.#control({ type: "resize", ...this.#size });
    // An empty screen has dealt with nothing: its first output, a snapshot perhaps, is acknowledged when it is drawn.
    if (!isEmpty) this.#output.acknowledge();
    this.#input.resume();
  }

  #binary(message: Uint8Array): void {
    if (this.#output.take(decodeFrame(message))) this.#attempts.noteProgress();
  }

  #control(message: ClientMessage): boolean {
    if (this.#state.phase !== "attached") return false;
    const text = JSON.stringify(message);
    if (text.length > MAX_CONTROL_IN_BYTES) throw new RangeError(`Cannot send a message of ${text.length} bytes`);
    this.#connection.send(text);
    return true;
  }

  #end(end: ClientEnd): void {
    this.#output.disconnected();
    this.#cancelRetry();
    this.#setState({ phase: "ended", end });
  }

  #setState(state: ClientState): void {
    this.#isWaking &&= state.phase === "connecting" || state.phase === "starting";
    this.#state = state;
    this.#events.state(state);
  }
}
