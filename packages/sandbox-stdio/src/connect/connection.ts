// A process in a sandbox as three web streams, a promise of its exit, and the states of the connection. StdioClient speaks the
// protocol.

import { StdioClient } from "../client/client.ts";
import type { ClientEnd, ClientState } from "../client/client-types.ts";
import { followParticipants, mayType, type Participants, participantsOf } from "../client/participants.ts";
import { cloneBytes } from "../text/utf8-text.ts";
import { MAX_COLS, MAX_ROWS, SIGNALS, type SignalName, STREAM_STDERR } from "../wire/constants.ts";
import { type ClientMessage, type Hello, isSize, type ServerMessage } from "../wire/control.ts";
import { defined } from "../wire/fields.ts";
import { attachQueryOf, baseOf, freshSessionName, protocolsOf } from "./address.ts";
import type {
  ConnectionState,
  ConnectOptions,
  Exit,
  ResumePoint,
  TokenSource,
  WebSocketLike,
} from "./connect-options.ts";
import { StdioError } from "./error.ts";
import { OutputStreams } from "./output-streams.ts";
import { openSocket, webSocketOf } from "./socket.ts";

const FIRST_ATTEMPTS = 5;
/** Most signals and similar messages held until the connection is back; more are refused. */
const MAX_HELD_MESSAGES = 64;

/**
 * Attaches to a session, and starts its process if there is none. Connects in the background, and reconnects after each break
 * without losing or doubling a byte in either direction.
 * @param address The server: `https://HOST`, with any path before `/attach`.
 * @throws {StdioError} `bad_address`, `no_websocket`. Later errors appear on `exited` and the streams.
 */
export function connect(address: string | URL, options: ConnectOptions = {}): Connection {
  return new Connection(address, options);
}

export class Connection {
  /** Strings are written as UTF-8. Closing ends the input (^D on a PTY). Errors with `stdin_closed` after the exit. */
  readonly stdin: WritableStream<Uint8Array | string>;
  /** All output of a PTY. An unread stream holds the process: `cancel()` a stream you don't need. */
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  /** Rejects with a {@link StdioError} if the exit can't be known. Settles together with the last state. */
  readonly exited: Promise<Exit>;
  readonly session: string;

  readonly #options: ConnectOptions;
  readonly #client: StdioClient;
  readonly #output: OutputStreams;
  readonly #input: InputStream;
  readonly #listeners = new Set<(state: ConnectionState) => void>();
  #state: ConnectionState = { phase: "connecting" };
  #participants: Participants | undefined;
  #held: ClientMessage[] = [];
  #hasBeenOpen = false;
  #settle!: { resolve(exit: Exit): void; reject(error: StdioError): void };
  #stopListening: () => void = () => undefined;

  constructor(address: string | URL, options: ConnectOptions) {
    this.#options = options;
    const base = baseOf(address);
    const WebSocket = webSocketOf(options.WebSocket);
    const { resume } = options;
    this.session = resume?.session ?? options.session ?? freshSessionName(Math.random);
    this.exited = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    // The streams and the state report the same, so ignoring this promise must not be an unhandled rejection.
    this.exited.catch(() => undefined);
    this.#output = new OutputStreams((end) => this.#client.processed(end));
    this.stdout = this.#output.stdout.readable;
    this.stderr = this.#output.stderr.readable;
    this.#client = this.#newClient(async (place) => {
      const token = await tokenOf(options.token);
      const url = new URL(`${base.replace(/^http/, "ws")}/attach`);
      for (const [name, value] of attachQueryOf(options)) url.searchParams.append(name, value);
      for (const [name, value] of place) url.searchParams.set(name, value);
      return new WebSocket(url.href, protocolsOf(token, options.ticket));
    });
    this.#input = new InputStream({
      write: (bytes) => this.#write(bytes),
      endInput: () => this.#client.endInput(),
      unacked: () => this.#client.unackedInput,
    });
    this.stdin = this.#input.writable;
    if (options.onState !== undefined) this.#listeners.add(options.onState);
    this.#client.start();
    this.#leaveOn(options.signal);
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Calls back with each state from now on. @returns How to unsubscribe. */
  onState(listener: (state: ConnectionState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The last greeting, as PROTOCOL.md (C2a) describes it; undefined before the first. */
  get hello(): Hello | undefined {
    return this.#client.hello;
  }

  /** Sets the window's size in cells. Survives breaks. @throws {RangeError} */
  resize(cols: number, rows: number): void {
    if (!isSize(cols, rows))
      throw new RangeError(`Cannot resize to ${cols} by ${rows}: at most ${MAX_COLS} by ${MAX_ROWS}`);
    this.#client.resize(cols, rows);
  }

  /** Signals the process group, once the connection is up. @throws {RangeError} */
  signal(signal: SignalName): void {
    if (!SIGNALS.includes(signal)) throw new RangeError(`Cannot send ${signal}: not one of ${SIGNALS.join(", ")}`);
    this.#sendOrHold({ type: "signal", signal });
  }

  /** Ends the process: SIGHUP, SIGTERM, then SIGKILL until it is gone. `exited` reports how. */
  kill(): void {
    this.#sendOrHold({ type: "kill" });
  }

  /** Sends any other message of the protocol, such as for the keyboard. @returns Whether it was sent. */
  send(message: ClientMessage): boolean {
    return this.#client.send(message);
  }

  /** Leaves the session, which lives on. */
  close(): void {
    this.#client.leave();
  }

  /** Stops, but keeps this client's place for 30 s. @returns The point for a later `connect`; undefined before a greeting. */
  suspend(): ResumePoint | undefined {
    const point = this.#client.resumePoint;
    this.#client.suspend();
    return point;
  }

  #newClient(dial: (place: ReadonlyMap<string, string>) => Promise<WebSocketLike>): StdioClient {
    const { resume, repeatsInput = false, firstAttempts = FIRST_ATTEMPTS } = this.#options;
    return new StdioClient(
      {
        session: this.session,
        bornAtMs: Date.now(),
        repeatsInput,
        firstAttempts,
        ...defined({ resume: resume?.resume, offset: resume?.offset }),
      },
      {
        connect: (place, events) => openSocket(() => dial(place), events),
        setTimer: (ms, callback) => {
          const timer = setTimeout(callback, ms);
          return () => clearTimeout(timer);
        },
        now: () => Date.now(),
        random: () => Math.random(),
      },
      {
        state: (state) => this.#follow(state),
        output: (stream, bytes, end) => {
          const { stdout, stderr } = this.#output;
          this.#output.deliver(stream === STREAM_STDERR ? stderr : stdout, bytes, end);
        },
        // Replaces the output that it stands for.
        snapshot: (bytes, offset) => this.#output.deliver(this.#output.stdout, bytes, offset),
        resize: (cols, rows) => this.#options.onResize?.(cols, rows),
        gap: (from, to) => this.#missed(from, to),
        message: (message) => this.#handleMessage(message),
        discarded: () => this.#discarded(),
        inputDrained: () => this.#input.drained(),
      },
    );
  }

  #write(bytes: Uint8Array): boolean {
    const hasRoom = this.#client.write(bytes);
    const { state } = this.#client;
    // Wakes a sleeping session.
    if (state.phase === "waiting" && state.retryAtMs === undefined) this.#client.retryNow();
    return hasRoom;
  }

  #follow(state: ClientState): void {
    switch (state.phase) {
      case "connecting":
        if (!this.#hasBeenOpen && this.#state.phase !== "connecting") this.#setState({ phase: "connecting" });
        return;
      case "starting":
        this.#setState({ phase: "starting" });
        return;
      case "attached":
        this.#hasBeenOpen = true;
        this.#participants = participantsOf(state.hello);
        this.#setState({ phase: "connected", isResumed: state.isResumed });
        if (state.hello.you.role === "viewer") this.#refuseInput();
        for (const message of this.#held.splice(0)) this.#client.send(message);
        return;
      case "waiting": {
        const { reason, retryAtMs } = state;
        this.#setState({ phase: "reconnecting", reason, ...defined({ retryAtMs }) });
        return;
      }
      case "ended":
        this.#ended(state.end);
    }
  }

  #ended(end: ClientEnd): void {
    this.#stopListening();
    if (end.kind === "exit") {
      const { kind: _, ...exit } = end;
      this.#input.exited();
      this.#output.end();
      this.#setState({ phase: "closed", reason: "exited", exit });
      this.#settle.resolve(exit);
      return;
    }
    // A later connection may resume where the readers are now, so they must get no more output.
    if (end.kind === "left") this.#output.drop();
    this.#fail(
      end.kind === "left"
        ? new StdioError("left", "The connection was closed from this side")
        : new StdioError("refused", end.reason, { closeCode: end.code }),
    );
  }

  #fail(error: StdioError): void {
    this.#input.fail(error);
    this.#output.end(error);
    if (this.#state.phase === "closed") return;
    this.#setState({ phase: "closed", reason: error.message, error });
    this.#settle.reject(error);
  }

  #missed(from: number, to: number): void {
    const { onGap } = this.#options;
    if (onGap !== undefined) onGap(from, to);
    else if (this.#client.hello?.tty === false && this.#client.hello.delivery === "lossless") {
      const message = `Output from ${from} to ${to} is no longer held: this reader took too long, or came too late`;
      this.#fail(new StdioError("output_lost", message));
      this.#client.leave();
    }
  }

  #handleMessage(message: ServerMessage): void {
    if (this.#participants !== undefined) this.#participants = followParticipants(this.#participants, message);
    if (message.type === "error") {
      if (message.code === "stdin_closed") this.#input.fail(new StdioError("stdin_closed", message.message));
      // The server may refuse an end of input to a client that may type; the client resends it.
      else if (message.code === "not_stdin_holder" && !this.#mayType) this.#refuseInput();
    }
    if (message.type === "expiring") void this.#sendFreshToken();
    this.#options.onMessage?.(message);
  }

  get #mayType(): boolean {
    return this.#participants === undefined || mayType(this.#participants);
  }

  #discarded(): void {
    // The error message itself arrives after the input it discarded.
    if (this.#client.isInputClosed) this.#input.fail(new StdioError("stdin_closed", "The process takes no more input"));
    else this.#refuseInput();
  }

  #refuseInput(): void {
    this.#input.fail(new StdioError("not_stdin_holder", "This connection may not type: its input was not taken"));
  }

  async #sendFreshToken(): Promise<void> {
    if (typeof this.#options.token !== "function") return;
    try {
      const token = await this.#options.token();
      if (token !== undefined) this.#client.send({ type: "auth", token });
    } catch {
      // Without a fresh token the connection ends with the old one, and reports that.
    }
  }

  #sendOrHold(message: ClientMessage): void {
    if (this.#client.send(message) || this.#client.state.phase === "ended") return;
    if (this.#held.length >= MAX_HELD_MESSAGES)
      throw new RangeError("Cannot hold more messages until the connection is back");
    this.#held.push(message);
  }

  #setState(state: ConnectionState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }

  #leaveOn(signal: AbortSignal | undefined): void {
    if (signal === undefined) return;
    const leave = () => this.close();
    if (signal.aborted) queueMicrotask(leave);
    signal.addEventListener("abort", leave);
    this.#stopListening = () => signal.removeEventListener("abort", leave);
  }
}

/** @throws {StdioError} `token_failed`. */
async function tokenOf(source: TokenSource | undefined): Promise<string | undefined> {
  if (typeof source !== "function") return source;
  try {
    return await source();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StdioError("token_failed", `Cannot get a token: ${why}`, { cause: error });
  }
}

interface InputPorts {
  /** Keeps a view of `bytes`. @returns Whether more may be written now. */
  write(bytes: Uint8Array): boolean;
  endInput(): void;
  /** Number of unacknowledged bytes. */
  unacked(): number;
}

/** Input as a web stream: a write resolves when the window has room for more, and the close when everything has been taken. */
export class InputStream {
  readonly writable: WritableStream<Uint8Array | string>;
  readonly #ports: InputPorts;
  #controller: WritableStreamDefaultController | undefined;
  /** The pending write or close. */
  #waiting: { readonly isClosing: boolean; resolve(): void; reject(error: StdioError): void } | undefined;
  #failure: StdioError | undefined;

  constructor(ports: InputPorts) {
    this.#ports = ports;
    const encoder = new TextEncoder();
    this.writable = new WritableStream<Uint8Array | string>({
      start: (controller) => {
        this.#controller = controller;
      },
      write: (chunk) => {
        // Copy: the bytes are kept until they are acknowledged, and the caller may reuse its memory.
        const bytes = typeof chunk === "string" ? encoder.encode(chunk) : cloneBytes(chunk);
        if (bytes.length > 0 && !this.#ports.write(bytes)) return this.#wait(false);
        return undefined;
      },
      close: () => {
        this.#ports.endInput();
        return this.#ports.unacked() === 0 ? undefined : this.#wait(true);
      },
      // No `abort`: input that broke off has not ended, so the process is not told.
    });
  }

  /** Input was acknowledged, and there is room. */
  drained(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || (waiting.isClosing && this.#ports.unacked() > 0)) return;
    this.#waiting = undefined;
    waiting.resolve();
  }

  /** The process has ended. A pending close succeeds, as on a pipe. */
  exited(): void {
    const waiting = this.#waiting;
    if (waiting?.isClosing === true) {
      this.#waiting = undefined;
      waiting.resolve();
    } else this.fail(new StdioError("stdin_closed", "The process has ended and takes no more input"));
  }

  /** Fails the stream. */
  fail(error: StdioError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#controller?.error(error);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(error);
  }

  #wait(isClosing: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting = { isClosing, resolve, reject };
    });
  }
}
