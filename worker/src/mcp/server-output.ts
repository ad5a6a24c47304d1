// The gateway as a client of its own session: one driver more, which the process waits for as for any lossless client, and which is
// always quick. So no message of the server is lost, however fast it says them.

import {
  CLOSE,
  type ClientRecord,
  type Peer,
  type RelaySession,
  type ServerMessage,
  STREAM_STDOUT,
} from "sandbox-stdio/core";

export interface OutputPorts {
  /** Bytes of standard output, which are the taker's from now on; and where the log goes on behind them. */
  took(pieces: readonly Uint8Array[], logNext: number): void;
  /** A part of the server's output is not in the log any more. */
  lost(): void;
  exited(code: number): void;
  /** No longer attached. @param isGone Whether the process is gone, too. */
  left(isGone: boolean): void;
}

export class ServerOutput implements Peer {
  readonly #session: RelaySession;
  readonly #ports: OutputPorts;
  #client: ClientRecord | undefined;
  #pieces: Uint8Array[] = [];
  #cursor = 0;
  #isDue = false;
  #isEnded = false;

  constructor(session: RelaySession, ports: OutputPorts) {
    this.#session = session;
    this.#ports = ports;
  }

  /** @returns Why it can't; undefined where it is attached. */
  attach(id: string, name: string, offset: number): string | undefined {
    const request = { id, name, role: "driver", isAdmin: false, delivery: "lossless", acknowledges: true } as const;
    const result = this.#session.attach({ ...request, offset, canResume: false, isResume: false, resume: "" }, this);
    if (!result.ok) return result.reason;
    this.#client = result.client;
    return undefined;
  }

  isOf(session: RelaySession | undefined): boolean {
    return !this.#isEnded && this.#session === session;
  }

  leave(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const client = this.#client;
    // Not from within what the session says to it.
    if (client !== undefined) queueMicrotask(() => this.#session.leave(client));
  }

  // ---- As a peer ---------------------------------------------------------------------------------------------------

  send(message: ServerMessage): void {
    if (message.type === "hello") {
      this.#cursor = message.offset;
      if (message.gap !== undefined) this.#ports.lost();
    } else if (message.type === "gap") this.#ports.lost();
    else if (message.type === "exit") {
      this.#flush();
      this.#ports.exited(message.code);
    }
  }

  sendOutput(frame: Uint8Array): void {
    this.#cursor += frame.length - 1;
    if (frame[0] === STREAM_STDOUT) this.#pieces.push(frame.subarray(1));
    if (this.#isDue) return;
    this.#isDue = true;
    // Later, and all there is then: messages that are stored together cost one write.
    queueMicrotask(() => {
      this.#isDue = false;
      this.#flush();
      if (this.#client !== undefined && !this.#isEnded) this.#session.ack(this.#client, this.#cursor);
    });
  }

  sendSnapshot(): void {
    // Only terminals have them.
  }

  isWritable(): boolean {
    return true;
  }

  bye(code: number): void {
    this.#end(code === CLOSE.notFound);
  }

  finish(): void {
    this.#end(true);
  }

  #flush(): void {
    if (this.#isEnded) return;
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#ports.took(pieces, this.#cursor);
  }

  #end(isGone: boolean): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#ports.left(isGone);
  }
}
