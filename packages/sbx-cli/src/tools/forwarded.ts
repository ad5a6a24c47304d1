// One forwarded TCP connection: a client of its own session, whose input and output are the socket's two directions. A half-close
// is passed on; an error on one side resets the other.

import type { Socket } from "node:net";
import { type ClientEnd, type ClientState, type ServerMessage, StdioClient } from "sandbox-stdio/core";
import type { TokenSource } from "../account/credentials.ts";
import { renewInTime } from "../account/token-renewal.ts";
import { processClock } from "../base/clock.ts";
import { freshSessionName } from "../base/session-names.ts";
import { type Connector, GIVE_UP_SECONDS } from "../connection/connector.ts";

/** Failed attempts before the first greeting. */
const FIRST_ATTEMPTS = 3;

export type ForwardedParts = {
  readonly socket: Socket;
  readonly connector: Connector;
  readonly token: TokenSource;
  /** The attach query without the session. */
  readonly query: readonly (readonly [string, string])[];
  /** The connection to the sandbox was lost, or is back. */
  readonly onLost: (isLost: boolean) => void;
  /** The server does not let the connection in yet, or now does. */
  readonly onHeldUp?: (isHeldUp: boolean, reason: string) => void;
  readonly onDetail: (text: string) => void;
  /** The sandbox is connected for the first time. */
  readonly onBegun?: () => void;
  /** @param fault Why the connection failed. */
  readonly onEnd: (fault?: string) => void;
};

export class Forwarded {
  readonly #parts: ForwardedParts;
  readonly #client: StdioClient;
  #isLost = false;
  #isHeldUp = false;
  #isOver = false;
  #hasBegun = false;

  /** @param parts `socket` is paused, and allows half-close. */
  constructor(parts: ForwardedParts) {
    this.#parts = parts;
    const { socket, connector, query } = parts;
    const session = freshSessionName("tcp");
    this.#client = new StdioClient(
      { session, firstAttempts: FIRST_ATTEMPTS, giveUpMs: GIVE_UP_SECONDS * 1_000, bornAtMs: Date.now() },
      {
        connect: (known, events) => connector.connect([...query, ...known], events),
        ...processClock,
        random: Math.random,
      },
      {
        state: (state) => this.#stateChanged(state),
        output: (_stream, bytes, end) => void socket.write(bytes, () => this.#client.processed(end)),
        snapshot: () => undefined, // A TCP stream has no screen.
        resize: () => undefined,
        // A TCP stream can't continue after a gap.
        gap: (from, to) => this.#breakOff(`${to - from} bytes were lost`),
        message: (message) => this.#message(message),
        discarded: () => undefined, // Only a terminal discards keys.
        inputDrained: () => void socket.resume(),
      },
    );
    socket.on("data", (bytes: Buffer) => {
      if (!this.#client.write(bytes)) socket.pause();
    });
    socket.on("end", () => this.#client.endInput());
    socket.on("error", () => this.#breakOff());
    socket.on("close", () => {
      if (socket.readableEnded && socket.writableFinished) return; // Both have ended: the exit is on its way.
      this.#breakOff();
    });
    this.#client.start();
  }

  /** Resets both sides, so that neither takes it for an orderly end. */
  stop(): void {
    this.#breakOff();
  }

  #stateChanged(state: ClientState): void {
    if (state.phase === "attached") {
      this.#lost(false);
      if (!this.#hasBegun) this.#begun();
    } else if (state.phase === "waiting" && this.#hasBegun) {
      this.#parts.onDetail(`connection lost (${state.reason})`);
      this.#lost(true);
    } else if (state.phase === "waiting") {
      this.#parts.onDetail(`waiting (${state.reason})`);
      this.#heldUp(true, state.reason);
    } else if (state.phase === "ended") this.#ended(state.end);
  }

  #begun(): void {
    this.#hasBegun = true;
    this.#heldUp(false);
    this.#parts.socket.resume();
    this.#parts.onBegun?.();
  }

  #heldUp(isHeldUp: boolean, reason = ""): void {
    if (this.#isHeldUp === isHeldUp) return;
    this.#isHeldUp = isHeldUp;
    this.#parts.onHeldUp?.(isHeldUp, reason);
  }

  #lost(isLost: boolean): void {
    if (this.#isLost === isLost) return;
    this.#isLost = isLost;
    this.#parts.onLost(isLost);
  }

  #message(message: ServerMessage): void {
    const { socket, token, onDetail } = this.#parts;
    if (message.type === "output_end") socket.end();
    else if (message.type === "expiring" && token.isRenewable) {
      const send = (fresh: string) => void (this.#isOver || this.#client.send({ type: "auth", token: fresh }));
      renewInTime(token, message.seconds, send, onDetail);
    } else if (message.type === "error") onDetail(message.message);
  }

  #ended(end: ClientEnd): void {
    const { socket } = this.#parts;
    if (end.kind === "exit" && end.code === 0) {
      socket.end();
      this.#over();
      return;
    }
    const hadBegun = this.#hasBegun;
    const isFault = end.kind === "refused";
    if (!socket.destroyed) socket.resetAndDestroy();
    const reason = isFault ? end.reason.replace(/^connection_refused: /, "") : undefined;
    this.#over(hadBegun && isFault ? `connection aborted: ${reason}` : reason);
  }

  #breakOff(fault?: string): void {
    if (this.#isOver) return;
    this.#client.send({ type: "kill" });
    this.#over(fault);
    this.#client.leave();
    if (!this.#parts.socket.destroyed) this.#parts.socket.resetAndDestroy();
  }

  #over(fault?: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#lost(false);
    this.#heldUp(false);
    this.#parts.onEnd(fault);
  }
}
