// The connection that a client has now: one at a time, watched for silence. Reports of an older one count for nothing.

import { SILENCE_MS } from "../wire/constants.ts";
import { PING_TEXT } from "../wire/control.ts";
import type { ClientPorts, ClientSocket } from "./client-types.ts";
import { Liveness } from "./liveness.ts";

/**
 * A server's runtime may answer pings for an object that is stuck or dead: a connection without a greeting for so long is
 * made again. Longer than a container may take to start.
 */
const GREETING_MS = 200_000;
/** No code was received. */
const ABNORMAL = 1006;

export interface ClientConnectionEvents {
  text(text: string): void;
  /** The bytes are the client's from here on, and stay as they are. */
  binary(bytes: Uint8Array): void;
  /** It has ended, or was broken off. */
  closed(code: number, detail: string, retryAfterSeconds: number): void;
  /** @see ClientEvents.quiet */
  quiet(isQuiet: boolean): void;
}

export class ClientConnection {
  readonly #ports: ClientPorts;
  readonly #events: ClientConnectionEvents;
  /** Distinguishes the client from others that have come, or will come, with the same resume. */
  readonly #life: string;
  readonly #liveness: Liveness;
  #number = 0;
  #socket: ClientSocket | undefined;
  #cancelGreeting: () => void = () => undefined;

  constructor(life: string, ports: ClientPorts, events: ClientConnectionEvents) {
    this.#life = life;
    this.#ports = ports;
    this.#events = events;
    this.#liveness = new Liveness({
      setTimer: (ms, callback) => ports.setTimer(ms, callback),
      now: () => ports.now(),
      ping: () => this.#socket?.send(PING_TEXT),
      silent: () => this.breakOff(`nothing was heard for ${SILENCE_MS / 1000} s`),
      quiet: (isQuiet) => events.quiet(isQuiet),
    });
  }

  /** @param resume The client's parameters for the server; this adds the number of the attempt. */
  open(resume: Map<string, string>): void {
    this.#number += 1;
    const number = this.#number;
    // The first one's as well: where its greeting got lost, the next is of the same client.
    resume.set("attempt", `${this.#life}.${number}`);
    const isCurrent = () => number === this.#number;
    const socket = this.#ports.connect(resume, {
      open: () => isCurrent() && this.#liveness.opened(),
      text: (text) => {
        if (!isCurrent()) return;
        this.#liveness.heard();
        this.#events.text(text);
      },
      binary: (bytes) => {
        if (!isCurrent()) return;
        this.#liveness.heard();
        this.#events.binary(bytes);
      },
      closed: (code, detail, seconds = 0) => isCurrent() && this.#end(code, detail, seconds),
    });
    if (!isCurrent()) return; // It failed at once, and said so.
    this.#socket = socket;
    this.#liveness.begin();
    this.#cancelGreeting();
    const late = `the session has not answered for ${GREETING_MS / 1000} s`;
    this.#cancelGreeting = this.#ports.setTimer(GREETING_MS, () => this.breakOff(late));
  }

  /** The server has greeted. */
  noteGreeting(): void {
    this.#cancelGreeting();
  }

  /** A message was sent, and the client waits for its effect. */
  noteAsked(): void {
    this.#liveness.asked();
  }

  /** @see Liveness.time */
  time(told: (ms: number) => void): boolean {
    return this.#liveness.time(told);
  }

  /** The server has answered a ping. */
  notePong(): void {
    this.#liveness.ponged();
  }

  /** Nothing is sent while there is no connection. @see ClientSocket.send for the right to keep a frame. */
  send(message: string | Uint8Array): void {
    this.#socket?.send(message);
  }

  /** Ends it with this code; its later messages count for nothing. */
  close(code: number): void {
    this.#socket?.close(code);
    this.#forget();
  }

  /** Ends it without waiting for the other side, which may be gone. */
  abort(): void {
    this.#socket?.abort();
    this.#forget();
  }

  /** It is of no more use: {@link abort}, and the client is told that it has closed. */
  breakOff(detail: string, code = ABNORMAL): void {
    this.abort();
    this.#events.closed(code, detail, 0);
  }

  #end(code: number, detail: string, retryAfterSeconds: number): void {
    this.#forget();
    this.#events.closed(code, detail, retryAfterSeconds);
  }

  #forget(): void {
    this.#number += 1;
    this.#liveness.stop();
    this.#cancelGreeting();
    this.#socket = undefined;
  }
}
