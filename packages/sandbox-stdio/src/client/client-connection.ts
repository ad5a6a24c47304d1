// The client's current connection: one at a time, watched for silence. Events of older connections are ignored.

import { PING_TEXT } from "../wire/control.ts";
import type { ClientPorts, ClientSocket } from "./client-types.ts";
import { Liveness } from "./liveness.ts";

/**
 * A runtime may answer pings for an object that is stuck or dead, so a connection without a greeting is replaced after this
 * time. Longer than a container may take to start.
 */
const GREETING_MS = 200_000;
/** Close code if none was received. */
const ABNORMAL = 1006;

export interface ClientConnectionEvents {
  text(text: string): void;
  /** The client owns the bytes, which must not change. */
  binary(bytes: Uint8Array): void;
  /** The connection has ended or was broken off. */
  closed(code: number, detail: string, retryAfterSeconds: number): void;
  /** @see ClientEvents.quiet */
  quiet(isQuiet: boolean): void;
}

export class ClientConnection {
  readonly #ports: ClientPorts;
  readonly #events: ClientConnectionEvents;
  /** Distinguishes this client from others with the same `resume`. */
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
      silent: (ms) => this.breakOff(`nothing was heard for ${ms / 1000} s`),
      quiet: (isQuiet) => events.quiet(isQuiet),
    });
  }

  /** @param resume Query parameters from the client; this adds `attempt`. */
  open(resume: Map<string, string>): void {
    this.#number += 1;
    const number = this.#number;
    // Number the first attempt too: if the greeting was lost, the retry is the same client.
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
    if (!isCurrent()) return; // The attempt failed at once and has reported that.
    this.#socket = socket;
    this.#liveness.begin();
    this.#cancelGreeting();
    const late = `the session has not answered for ${GREETING_MS / 1000} s`;
    this.#cancelGreeting = this.#ports.setTimer(GREETING_MS, () => this.breakOff(late));
  }

  /** The server's greeting has arrived. */
  noteGreeting(): void {
    this.#cancelGreeting();
  }

  /** A message was sent whose effect the client awaits. */
  noteAsked(): void {
    this.#liveness.asked();
  }

  /** @see Liveness.time */
  time(told: (ms: number) => void): boolean {
    return this.#liveness.time(told);
  }

  /** A pong has arrived. */
  notePong(): void {
    this.#liveness.ponged();
  }

  /** Drops the message if there is no connection. @see ClientSocket.send for the right to keep a frame. */
  send(message: string | Uint8Array): void {
    this.#socket?.send(message);
  }

  /** Closes with this code; later events are ignored. */
  close(code: number): void {
    this.#socket?.close(code);
    this.#forget();
  }

  /** Drops the connection without waiting for the other side, which may be gone. */
  abort(): void {
    this.#socket?.abort();
    this.#forget();
  }

  /** {@link abort}s a useless connection, and reports it as closed. */
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
