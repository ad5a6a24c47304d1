// Passes the messages of one client and one ttyd on to each other, as they are. Reads no more of them than their first
// character: who holds the output, what is input, and what is a change of size. Knows no way to a ttyd.

import { CLOSE, MIB, PLAIN_QUEUE_BYTES, PLAIN_RATE, PLAIN_STALL_MS, type SocketQueue } from "sandbox-stdio/core";
import { closeSocket } from "../base/close-socket.ts";
import { queuedBytes, TELLS_QUEUE } from "../sockets/client-sockets.ts";
import { length, type Message, readFirstMessage } from "./ttyd-token.ts";

/** The events that a relay tells its shell. */
export interface RelayEvents {
  /** The client has typed this: a message's bytes without its first character. A view, to be read at once. */
  input(content: Uint8Array): void;
  /** Both connections are closed, or closing. `code` and `reason` are what the client is told or has said. */
  ended(code: number, reason: string): void;
  /** The connection to the ttyd is gone without a word: whether the ttyd itself still takes connections. */
  isTtydThere(): Promise<boolean>;
}

const [INPUT, RESIZE, PAUSE, RESUME, JSON_DATA] = [0x30, 0x31, 0x32, 0x33, 0x7b];
/** Output goes no faster than this for longer than a moment: a runtime that can't tell what waits must not gather it. */
const BURST_BYTES = PLAIN_RATE / 4;
/** Above this a client has enough waiting, and a ttyd is not sent to, where the runtime can tell. */
const HIGH_WATER_BYTES = PLAIN_QUEUE_BYTES;
/** A ttyd that is told to pause has less than this on its way: one that sends more does not heed it. */
const MAX_QUEUE_BYTES = 8 * MIB;
const LOOK_MS = 20;
/** The SDK's words for a connection to a container that broke. It closes with 1000, as if it had ended well. */
const BROKEN = "WebSocket disconnected without sending Close frame.";

export const NOT_RUNNING = { code: CLOSE.unavailable, reason: "Container not running" } as const;

export class TtydRelay {
  readonly #client: WebSocket;
  readonly #ttyd: WebSocket;
  readonly #events: RelayEvents;
  /** Counts what keeps the connection from being idle: input, output, changes of size. */
  activity = 0;
  #hasEnded = false;
  /** To the client. Characters are taken for bytes: a ttyd says everything in bytes. */
  #sentBytes = 0;
  /** The client has asked for no output: only it asks for more. */
  #isPausedByClient = false;
  /** Output that may go on at once; below nothing, the ttyd is paused until it has grown again. */
  #credit = BURST_BYTES;
  #creditAt = Date.now();
  /** Since when the client has had enough waiting. */
  #fullSince: number | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;

  /**
   * Takes both sockets, neither of them accepted.
   * @param early Messages of a client that was accepted before, and has not closed since.
   */
  constructor(client: WebSocket, ttyd: WebSocket, events: RelayEvents, early?: readonly Message[]) {
    this.#client = client;
    this.#ttyd = ttyd;
    this.#events = events;
    client.addEventListener("message", ({ data }) => this.#fromClient(data as Message));
    ttyd.addEventListener("message", ({ data }) => this.#fromTtyd(data as Message));
    client.addEventListener("close", ({ code, reason }) => this.#end(code ?? 1006, reason ?? ""));
    ttyd.addEventListener("close", ({ code, reason }) => void this.#ttydClosed(code ?? 1006, reason ?? ""));
    client.addEventListener("error", () => this.#end(1006, ""));
    ttyd.addEventListener("error", () => void this.#ttydClosed(1006, ""));
    if (early === undefined) client.accept();
    ttyd.accept();
    for (const message of early ?? []) this.#fromClient(message);
  }

  /** The bytes that wait in the client's socket; undefined if the runtime does not tell. */
  get queue(): SocketQueue | undefined {
    return TELLS_QUEUE ? { sent: this.#sentBytes, waiting: queuedBytes(this.#client) } : undefined;
  }

  /** Ends both connections. @param words Said to the client before. */
  close(code: number, reason: string, words: readonly (string | Uint8Array)[] = []): void {
    if (this.#hasEnded) return;
    for (const word of words) send(this.#client, word);
    this.#end(code, reason);
  }

  #fromClient(message: Message): void {
    if (this.#hasEnded) return;
    if (queuedBytes(this.#ttyd) > HIGH_WATER_BYTES) {
      this.#end(CLOSE.policy, "more input waits than the terminal takes");
      return;
    }
    const bytes = typeof message === "string" ? undefined : new Uint8Array(message);
    const kind = bytes === undefined ? (message as string).charCodeAt(0) : bytes[0];
    // A token of ours is not for a program in the sandbox.
    send(this.#ttyd, (kind === JSON_DATA && readFirstMessage(message)?.withoutToken) || message);
    switch (kind) {
      case RESIZE:
        this.activity += 1;
        return;
      case INPUT:
        this.activity += 1;
        this.#events.input((bytes ?? new TextEncoder().encode(message as string)).subarray(1));
        return;
      case PAUSE:
        this.#isPausedByClient = true;
        return;
      case RESUME:
        this.#isPausedByClient = false;
        // The client asks for output that it can't be sent yet.
        if (this.#timer !== undefined) send(this.#ttyd, Uint8Array.of(PAUSE));
    }
  }

  #fromTtyd(message: Message): void {
    if (this.#hasEnded) return;
    send(this.#client, message);
    this.activity += 1;
    // Characters are taken for bytes: a ttyd says everything in bytes.
    const bytes = length(message);
    this.#sentBytes += bytes;
    this.#credit -= bytes;
    if (queuedBytes(this.#client) > MAX_QUEUE_BYTES) {
      this.#end(CLOSE.internal, "the client can't be written to");
      return;
    }
    if (this.#timer !== undefined || (this.#credit > 0 && queuedBytes(this.#client) < HIGH_WATER_BYTES)) return;
    this.#look();
    if (this.#credit > 0 && this.#fullSince === undefined) return;
    send(this.#ttyd, Uint8Array.of(PAUSE));
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  /** Whether output may go on. */
  #look(): void {
    const now = Date.now();
    this.#credit = Math.min(BURST_BYTES, this.#credit + ((now - this.#creditAt) * PLAIN_RATE) / 1000);
    this.#creditAt = now;
    if (queuedBytes(this.#client) < HIGH_WATER_BYTES) this.#fullSince = undefined;
    else this.#fullSince ??= now;
    if (this.#fullSince !== undefined && now - this.#fullSince > PLAIN_STALL_MS) {
      this.#end(CLOSE.internal, "the client can't be written to");
      return;
    }
    if (this.#timer === undefined || this.#credit < BURST_BYTES / 2 || this.#fullSince !== undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (!this.#isPausedByClient) send(this.#ttyd, Uint8Array.of(RESUME));
  }

  async #ttydClosed(code: number, reason: string): Promise<void> {
    if (this.#hasEnded) return;
    if (code !== 1006 && code !== CLOSE.internal && !reason.startsWith(BROKEN)) return this.#end(code, reason);
    const isThere = await this.#events.isTtydThere().catch(() => false);
    if (isThere) this.#end(CLOSE.internal, "the terminal has closed the connection");
    else this.#end(NOT_RUNNING.code, NOT_RUNNING.reason);
  }

  #end(code: number, reason: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#timer !== undefined) clearInterval(this.#timer);
    this.#timer = undefined;
    for (const socket of [this.#client, this.#ttyd]) closeSocket(socket, code, reason);
    this.#events.ended(code, reason);
  }
}

/** A socket that closed just now throws; its close event is on the way and says the rest. */
function send(socket: WebSocket, message: Message | Uint8Array): void {
  try {
    socket.send(message);
  } catch {
    // See above.
  }
}
