// The Durable Object's end of the inner hop. It makes the bridge an upstream of the session: input goes there and stays
// in the client's queue until it is confirmed, so that after a break all that is not confirmed is sent again.

import type { ClientRecord, TerminalSize } from "./client-record.ts";
import type { SignalName } from "./constants.ts";
import { MAX_FRAME_BYTES, SILENCE_MS } from "./constants.ts";
import type { Frame } from "./dialect.ts";
import { decodeFrame, encodeStdin } from "./frames.ts";
import { type InnerCommand, type InnerMessage, parseInnerMessage } from "./inner.ts";
import type { InputEntry } from "./input.ts";
import type { Session, Upstream } from "./session.ts";

export type InnerHello = Extract<InnerMessage, { type: "hello" }>;

/** The connection as the inner client needs it. */
export interface InnerSocket {
  send(frame: Frame): void;
}

export interface InnerClientEvents {
  /** The bridge has greeted: the session is to be made, or is found again by its incarnation. */
  hello(hello: InnerHello): void;
  /** The bridge closes, and why. */
  bye(code: number, reason: string): void;
  /** The bridge refuses one client. */
  clientBye(client: ClientRecord, code: number, reason: string): void;
}

/** Acknowledgements of clients that do not set the pace are relayed only now and then: they decide nothing. */
const LAZY_ACK_BYTES = 4 * MAX_FRAME_BYTES;

export class InnerClient implements Upstream {
  readonly #events: InnerClientEvents;
  #session: Session | undefined;
  #socket: InnerSocket | undefined;
  /** Whether the bridge has been told of the session's clients on this connection. */
  #isReady = false;
  #slots = new Map<string, number>();
  #nextSlot = 0;
  /** What was last relayed of each client: offset and window. */
  #relayed = new Map<string, { offset: number; window: number }>();
  heardAtMs = 0;

  constructor(events: InnerClientEvents) {
    this.#events = events;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  get silentAtMs(): number {
    return this.heardAtMs + SILENCE_MS;
  }

  /** A connection to the bridge is open. */
  opened(socket: InnerSocket, nowMs: number): void {
    this.#socket = socket;
    this.heardAtMs = nowMs;
    this.#isReady = false;
    this.#slots.clear();
    this.#relayed.clear();
  }

  closed(): void {
    this.#socket = undefined;
    this.#isReady = false;
  }

  /** The session is there: tells the bridge who is attached, and sends again what it has not confirmed. */
  ready(session: Session, hello: InnerHello): void {
    this.#session = session;
    this.#isReady = true;
    session.noteEnd(hello.live);
    for (const known of hello.clients) session.restore(known);
    for (const client of session.clients) {
      if (client.presence.phase !== "absent") this.attached(client);
    }
    if (session.floor.holder !== hello.holder) this.holder(session.floor.holder);
  }

  ping(): void {
    this.#say({ type: "ping" });
  }

  receive(frame: Frame, nowMs: number): void {
    this.heardAtMs = nowMs;
    if (typeof frame !== "string") {
      const output = decodeFrame(frame);
      if (output.kind === "output" && this.#session !== undefined) this.#session.frameArrived(frame, output.stream);
      return;
    }
    const result = parseInnerMessage(frame);
    if (!result.ok) {
      if (result.fault === "unknown_type") return; // A newer bridge may say more.
      throw new Error(`Cannot read the bridge: ${result.detail}`);
    }
    this.#message(result.message);
  }

  // ---- Upstream ------------------------------------------------------------------------------------------------

  attached(client: ClientRecord): void {
    if (!this.#isReady) return;
    const slot = this.#nextSlot++;
    this.#slots.set(client.id, slot);
    this.#relayed.set(client.id, { offset: client.acked, window: client.windowBytes });
    this.#say({
      type: "attach",
      client: client.id,
      slot,
      name: client.name,
      role: client.role,
      admin: client.isAdmin,
      delivery: client.delivery,
      acknowledges: client.acknowledges,
      acked: client.acked,
      window: client.windowBytes,
      ...(client.size ?? {}),
    });
    for (const entry of client.input.entries) this.input(client, entry);
  }

  input(client: ClientRecord, entry: InputEntry): void {
    const slot = this.#slots.get(client.id);
    if (!this.#isReady || slot === undefined) return; // Kept in the queue; sent when the hop is back.
    if (entry.kind === "eof") this.#say({ type: "eof", client: client.id, offset: entry.end });
    else if (entry.kind === "bytes") this.#socket?.send(encodeStdin(slot, entry.start, entry.bytes));
    // No bytes at an offset ahead: the bridge counts those before it as refused.
    else this.#socket?.send(encodeStdin(slot, entry.end, new Uint8Array(0)));
  }

  signal(client: ClientRecord, signal: SignalName): void {
    if (this.#isReady) this.#say({ type: "signal", client: client.id, signal });
  }

  resize(client: ClientRecord | undefined, size: TerminalSize): void {
    if (this.#isReady && client !== undefined) this.#say({ type: "resize", client: client.id, ...size });
  }

  kill(client: ClientRecord): void {
    if (this.#isReady) this.#say({ type: "kill", client: client.id });
  }

  acked(client: ClientRecord): void {
    const session = this.#session;
    if (!this.#isReady || session === undefined) return;
    const last = this.#relayed.get(client.id);
    const pacer = session.pacer;
    if (client === pacer || last === undefined || client.acked - last.offset >= LAZY_ACK_BYTES) this.#relayAck(client);
    // Who paces may have changed just now: the bridge needs to know where that one stands.
    if (pacer !== undefined && pacer !== client) {
      const known = this.#relayed.get(pacer.id);
      if (known?.offset !== pacer.acked || known.window !== pacer.windowBytes) this.#relayAck(pacer);
    }
  }

  departed(client: ClientRecord, how: "left" | "vanished"): void {
    this.#slots.delete(client.id);
    this.#relayed.delete(client.id);
    if (this.#isReady) this.#say({ type: "detach", client: client.id, how });
  }

  holder(id: string): void {
    if (this.#isReady) this.#say({ type: "stdin_holder", id });
  }

  // ---- Inside --------------------------------------------------------------------------------------------------

  #relayAck(client: ClientRecord): void {
    this.#relayed.set(client.id, { offset: client.acked, window: client.windowBytes });
    this.#say({ type: "ack", client: client.id, offset: client.acked, window: client.windowBytes });
  }

  #say(command: InnerCommand): void {
    this.#socket?.send(JSON.stringify(command));
  }

  #message(message: InnerMessage): void {
    const session = this.#session;
    switch (message.type) {
      case "hello":
        this.#events.hello(message);
        return;
      case "resize":
        session?.sizeChanged({ cols: message.cols, rows: message.rows });
        return;
      case "gap":
        session?.skipped(message.to);
        return;
      case "exit": {
        const { code, signal } = message;
        session?.exited({ code, ...(signal === undefined ? {} : { signal }) });
        return;
      }
      case "stdin_ack": {
        const client = session?.client(message.client);
        if (client !== undefined) session?.takenUpTo(client, message.offset);
        return;
      }
      case "error": {
        const client = session?.client(message.client);
        client?.peer?.send({ type: "error", code: message.code, message: message.message });
        return;
      }
      case "bye": {
        if (message.client === undefined) {
          this.#events.bye(message.code, message.reason);
          return;
        }
        const client = session?.client(message.client);
        if (client !== undefined) this.#events.clientBye(client, message.code, message.reason);
        return;
      }
      case "pong":
        return;
    }
  }
}
