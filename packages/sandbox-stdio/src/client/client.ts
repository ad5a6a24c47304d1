// The protocol logic of any client, for any display: attach, count, acknowledge, reconnect, resend. Sockets, timers and
// randomness are passed in; no DOM, no process.

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

/** With more unprocessed output than this, the client does not reconnect yet, and checks again at this interval. */
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
  /** Whether a key has woken a sleeping session: that key and later ones are kept until it is attached. */
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
    // An offset is valid only for the client that the proof identifies.
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

  /** What a later life of this client needs: see {@link ClientOptions}. undefined before the first `hello`. */
  get resumePoint(): { session: string; resume: string; offset: number } | undefined {
    if (this.#hello === undefined || this.#resume === undefined) return undefined;
    return { session: this.#session, resume: this.#resume, offset: this.#output.processedTo };
  }

  /** Input bytes that the process has not taken yet. */
  get unackedInput(): number {
    return this.#input.unackedBytes;
  }

  /** Whether the process takes no more input. */
  get isInputClosed(): boolean {
    return this.#input.isClosed;
  }

  start(): void {
    this.#connect();
  }

  /** Reconnects at once if it is waiting. */
  retryNow(): void {
    if (this.#state.phase === "waiting") this.#connect();
  }

  /** Leaves the session, which lives on without this client. */
  leave(): void {
    if (this.#state.phase === "ended") return;
    this.#connection.close(CLOSE.normal);
    this.#end({ kind: "left" });
  }

  /**
   * Stops without leaving: the session keeps this client's place for a later life.
   * @returns A copy of unacknowledged input ({@link ClientOptions}), if any; without the bytes if they are secret.
   */
  suspend(): KeptInput | undefined {
    if (this.#state.phase !== "ended") {
      this.#connection.abort();
      this.#end({ kind: "left" });
    }
    return this.#input.kept;
  }

  /**
   * Writes input that must arrive: kept until it is acknowledged, resent after a break. Keeps a view of `bytes`, which must not
   * change.
   * @returns Whether more may be written now; if not, wait for `inputDrained`.
   */
  write(bytes: Uint8Array): boolean {
    this.#input.write(bytes);
    return this.#input.hasRoom;
  }

  /**
   * Writes a person's input (I4): sent if connected, else visibly discarded. The rest of a paste that was begun is kept and sent
   * later, as is everything with {@link ClientOptions.keepsKeys}. @returns Whether it, or its last part, was written.
   */
  type(bytes: Uint8Array): boolean {
    // The session has ended, so this is not an outage to report.
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

  /** Ends the input after the bytes written so far. */
  endInput(): void {
    this.#input.end();
  }

  /** Whether the session is asked to record only the length of input. */
  get isSecret(): boolean {
    return this.#input.isSecret;
  }

  /** Switches that. Survives breaks, and is sent before input that is resent. */
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

  /** Measures a round trip to the server, in ms, unless the connection ends first. @returns Whether there is a connection. */
  time(told: (ms: number) => void): boolean {
    return this.#connection.time(told);
  }

  /** Sends any other message. @returns Whether it was sent; only input is kept for later. */
  send(message: ClientMessage): boolean {
    return this.#control(message);
  }

  /** Every output byte before `end` has been processed: drawn or written. */
  processed(end: number): void {
    this.#output.processed(end);
  }

  /**
   * Whether this client's emulator answers a terminal query whose last byte is at `offset`. Ask when the bytes arrive: a later
   * greeting covers only its replay and the output after it.
   */
  mayAnswer(offset: number): boolean {
    return this.#answerers?.mayAnswer(offset) ?? false;
  }

  /** The first known offset after `offset` where {@link mayAnswer} may change; infinity if none. */
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
      const { received, processedTo } = this.#output;
      if (received !== undefined) resume.set("offset", String(received));
      if (received !== undefined && processedTo < received) resume.set("acked", String(processedTo));
      if (this.#input.resumeAt !== undefined) resume.set("stdin", this.#input.resumeAt);
    }
    this.#connection.open(resume);
  }

  /** A stuck client whose connection keeps breaking waits: each reconnection requests another window of output. */
  #reconnect(): void {
    if (this.#output.unprocessedBytes < MAX_UNDEALT_BYTES) this.#connect();
    else this.#cancelRetry = this.#ports.setTimer(UNDEALT_RETRY_MS, () => this.#reconnect());
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
    if (!isAsleep) this.#cancelRetry = this.#ports.setTimer(next.ms, () => this.#reconnect());
    const retryAtMs = isAsleep ? undefined : this.#ports.now() + next.ms;
    this.#setState({ phase: "waiting", retryAtMs, reason, attempt: next.attempt });
  }

  #text(text: string): void {
    const result = parseServerMessage(text);
    if (!result.ok) {
      if (result.fault === "unknown_type") return; // The server is newer.
      this.#connection.breakOff(`the server sent an invalid message: ${result.detail}`);
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
        this.#answerers?.note(message, this.#output.processedTo);
        return;
      case "exit": {
        this.#output.arrive();
        const { code, signal } = message;
        this.#connection.close(CLOSE.normal);
        this.#end({ kind: "exit", code, ...defined({ signal }) });
        return;
      }
      case "bye":
        // A `bye` is final even without a close, which not every proxy forwards.
        this.#bye = message;
        // Don't close with 1000: that means leaving, and this client may reconnect.
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
        this.#input.handle(message);
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
    this.#output.greeted();
    this.#attachedAtMs = this.#ports.now();
    this.#input.rewind(hello);
    // Before a listener can write: the session may have forgotten the secrecy together with this client's place.
    if (this.#input.isSecretHeld)
      this.#connection.send(JSON.stringify({ type: "secret", on: true } satisfies ClientMessage));
    this.#setState({ phase: "attached", hello, isResumed });
    const isEmpty = this.#output.received === undefined;
    this.#output.open(hello);
    if (this.#size !== undefined) this.#control({ type: "resize", ...this.#size });
    // An empty screen has nothing to acknowledge until its first output is drawn.
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
