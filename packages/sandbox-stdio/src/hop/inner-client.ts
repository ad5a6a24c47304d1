// The Durable Object's end of the inner hop. It makes the bridge an upstream of the session: input goes there and stays
// in the client's queue until it is confirmed. So after a break all that is not confirmed is sent again.

import type { InputEntry } from "../input/input-queue.ts";
import type { Snapshot } from "../output/snapshot.ts";
import type { SnapshotSource } from "../output/snapshot-requests.ts";
import type { Frame } from "../server/dialect.ts";
import type { ClientRecord, TerminalSize } from "../session/client-record.ts";
import type { RelaySession } from "../session/relay-session.ts";
import type { Upstream } from "../session/session-types.ts";
import type { Answerer } from "../terminal/answerer-history.ts";
import type { SignalName } from "../wire/constants.ts";
import {
  CLOSE,
  isSendable,
  MAX_CONTROL_OUT_BYTES,
  MAX_FRAME_BYTES,
  MAX_SNAPSHOT_BYTES,
  SILENCE_MS,
} from "../wire/constants.ts";
import { defined } from "../wire/fields.ts";
import { decodeAnswer, decodeFrame, encodeStdin } from "../wire/frames.ts";
import {
  type InnerCommand,
  type InnerMessage,
  MAX_INNER_TEXT_BYTES,
  parseInnerMessage,
  type Question,
} from "../wire/inner-messages.ts";
import { PANE_UNREACHED, type PaneOrder } from "../wire/pane-messages.ts";
import { BridgeCalls, type WriteOutcome, type WriteWish } from "./bridge-calls.ts";
import type { Parking } from "./doorbell.ts";
import { followBridge } from "./follow-bridge.ts";
import { HopAllowance, isAtItsPace } from "./hop-allowance.ts";
import { OrdersUnderway } from "./orders-underway.ts";
import { type InnerHello, reconcile } from "./reconciliation.ts";
import { RelayedAcks } from "./relayed-acks.ts";

const TOO_MANY = "more messages than anybody asked for";

export interface InnerSocket {
  /** The frame is the socket's from here on, which may release its memory. */
  send(frame: Frame): void;
}

export interface InnerClientEvents {
  /** The bridge has greeted: the session is to be made, or is found again by its incarnation. */
  hello(hello: InnerHello): void;
  /** The bridge closes, or sends a message that can't be followed (1008): the connection is of no more use. */
  bye(code: number, reason: string): void;
  /** The bridge keeps the clients' places, and calls when there is news: the object may go. */
  parked?(): void;
  /** The bridge refuses one client. */
  clientBye(client: ClientRecord, code: number, reason: string): void;
}

export class InnerClient implements Upstream, SnapshotSource {
  readonly #events: InnerClientEvents;
  #session: RelaySession | undefined;
  #socket: InnerSocket | undefined;
  /** Whether the bridge has been told of the session's clients on this connection. */
  #isReady = false;
  /** Whether it sent a message that can't be followed: its later messages on this connection do not count. */
  #isFaulty = false;
  #slots = new Map<string, number>();
  #nextSlot = 0;
  /** The description of the next snapshot frame. */
  #snapshot: Omit<Snapshot, "bytes"> | undefined;
  #allowance = new HopAllowance(0);
  readonly #calls: BridgeCalls;
  readonly #acks: RelayedAcks;
  readonly #orders = new OrdersUnderway((command) => this.#say(command));
  /** Whether nothing was said since the bridge was told that the object is about to go. */
  #isParkLast = false;
  /** Whether a shell has marked its commands. */
  isMarked = false;
  /** Whether the bridge calls an object that has parked. */
  callsParked = false;
  heardAtMs = 0;

  constructor(events: InnerClientEvents) {
    this.#events = events;
    const say = (command: InnerCommand) => this.#say(command);
    this.#acks = new RelayedAcks({ pace: () => this.#session?.pace, say });
    const receivedOf = (id: string) => this.#session?.receivedOf(id) ?? 0;
    this.#calls = new BridgeCalls({ isReady: () => this.#isReady, say, receivedOf });
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  get silentAtMs(): number {
    return this.heardAtMs + SILENCE_MS;
  }

  /** A connection to the bridge is open. */
  opened(socket: InnerSocket, nowMs: number): void {
    this.closed();
    this.#socket = socket;
    this.heardAtMs = nowMs;
    this.#isFaulty = false;
    this.#snapshot = undefined;
    this.#allowance = new HopAllowance(nowMs);
    this.#slots.clear();
    this.#acks.clear();
  }

  closed(): void {
    this.#socket = undefined;
    this.#isReady = false;
    this.#orders.lost();
  }

  /**
   * The session is there, found again or made from this greeting: brings its log to where the bridge goes on, tells the
   * bridge the attached clients; sends again the input that the bridge has not confirmed.
   */
  ready(session: RelaySession, hello: InnerHello): void {
    const isContinued = this.#session === session;
    this.#session = session;
    if (hello.offset < session.log.endOffset) {
      this.#fault(`it goes on at ${hello.offset}, and ${session.log.endOffset} is reached`);
      return;
    }
    this.#isReady = true;
    reconcile(session, hello, {
      upstream: this,
      attach: (client) => this.#attach(client),
      say: (command) => this.#say(command),
      isContinued,
    });
    if (session.isScreenAsked) this.request();
    this.isMarked = hello.marked === true;
    this.callsParked = hello.calls === true;
    this.#calls.repeat();
  }

  // ---- Programs ------------------------------------------------------------------------------------------------

  /**
   * A program writes: said now, or when the hop is back, and again on each hop until it is answered. One at a time.
   * `withdraw`: if it was not said yet, it never will be; if it was, its answer is waited for.
   */
  write(
    client: ClientRecord,
    wish: WriteWish,
  ): { readonly answer: Promise<WriteOutcome>; readonly withdraw: () => void } {
    return this.#calls.write(client, wish);
  }

  /** Asks the bridge. Resolves with undefined where there is no answer, or {@link forget} is called. */
  ask(question: Question): { readonly answer: Promise<Uint8Array | undefined>; readonly forget: () => void } {
    return this.#calls.ask(question);
  }

  /** Nothing is answered any more. */
  giveUpCalls(): void {
    this.#calls.giveUp();
  }

  ping(): void {
    this.#orders.ping();
  }

  /** The object is about to go. {@link InnerClientEvents.parked} says that the bridge has heard. */
  park(parking: Parking): void {
    if (this.#isReady) this.#say({ type: "park", ...parking });
    this.#isParkLast = this.#isReady;
  }

  /**
   * Something has come on the newest connection: frames of an earlier one must not be handed in. A binary frame is this
   * object's from here on, must stay as it is, and may be passed on to clients.
   */
  receive(frame: Frame, nowMs: number): void {
    this.heardAtMs = nowMs;
    if (this.#isFaulty) return;
    if (typeof frame !== "string") {
      const piece = decodeAnswer(frame);
      if (piece !== undefined) {
        if (frame.length > 1 + MAX_FRAME_BYTES) this.#fault(`a frame of ${frame.length} bytes`);
        // The frame's memory is the runtime's own for each message.
        else this.#calls.addPiece(piece.id, piece.bytes);
        return;
      }
      const output = decodeFrame(frame);
      const maxBytes = output.kind === "snapshot" ? MAX_SNAPSHOT_BYTES : MAX_FRAME_BYTES;
      if (frame.length > 1 + maxBytes) {
        this.#fault(`a frame of ${frame.length} bytes`);
        return;
      }
      const session = this.#isReady ? this.#session : undefined;
      if (output.kind === "output" && session?.exit === undefined) {
        session?.appendFrame(frame, output.stream);
        this.#acks.outputCame();
      }
      if (output.kind === "snapshot") {
        if (this.#snapshot !== undefined) session?.snapshotReady({ ...this.#snapshot, bytes: output.bytes });
        this.#snapshot = undefined;
      }
      return;
    }
    const result = parseInnerMessage(frame, this.#isReady ? MAX_CONTROL_OUT_BYTES : MAX_INNER_TEXT_BYTES);
    if (result.ok) {
      const { message } = result;
      const isToldOn = isAtItsPace(message, (id) => this.#session?.client(id)?.input.received);
      if (isToldOn && !this.#allowance.take(frame.length, nowMs)) this.#fault(TOO_MANY);
      else if (message.type !== "attention" || this.#allowance.takeAttention(nowMs)) this.#message(message);
    }
    // A newer bridge may say more.
    else if (result.fault !== "unknown_type") this.#fault(result.detail);
  }

  /** Asks the bridge for a snapshot: now, or, where the hop is broken, when it is back. */
  request(): void {
    if (this.#isReady) this.#say({ type: "snapshot" });
  }

  // ---- Upstream ------------------------------------------------------------------------------------------------

  attached(client: ClientRecord): void {
    if (!this.#isReady) return;
    this.#attach(client);
    // The bridge's own rules may have given it the keyboard just now; these here are the ones that count.
    const floor = this.#session?.keyboard;
    if (floor?.isExclusive) this.holder(floor.holder);
    for (const entry of client.input.entries) this.input(client, entry);
    this.#acks.relayPacer();
  }

  #attach(client: ClientRecord): void {
    const slot = this.#nextSlot++;
    this.#slots.set(client.id, slot);
    this.#acks.begin(client);
    this.#say(attachOf(client, slot));
  }

  input(client: ClientRecord, entry: InputEntry): void {
    const slot = this.#slots.get(client.id);
    if (!this.#isReady || slot === undefined) return; // Kept in the queue; sent when the hop is back.
    if (entry.kind === "eof") this.#say({ type: "eof", client: client.id, offset: entry.end });
    else {
      this.#isParkLast = false;
      // No bytes at an offset ahead: the bridge counts those before it as refused.
      const frame =
        entry.kind === "bytes" ? ([entry.start, entry.bytes] as const) : ([entry.end, new Uint8Array(0)] as const);
      this.#socket?.send(encodeStdin(slot, ...frame));
    }
  }

  pane(client: ClientRecord, order: PaneOrder): void {
    if (this.#isReady) this.#orders.order(client, order);
    else client.tell(PANE_UNREACHED);
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
    if (this.#isReady) this.#acks.relay(client);
  }

  departed(client: ClientRecord, how: "left" | "vanished"): void {
    this.#slots.delete(client.id);
    this.#acks.forget(client.id);
    if (!this.#isReady) return; // The next greeting lists it, and then the bridge is told.
    this.#say({ type: "detach", client: client.id, how });
    this.#acks.relayPacer();
  }

  holder(id: string): void {
    if (!this.#isReady) return;
    this.#say({ type: "stdin_holder", id });
    this.#acks.relayPacer();
  }

  answerer({ id, offset }: Answerer): boolean {
    if (!this.#isReady) return false; // Told with the next greeting.
    this.#say({ type: "answerer", id, offset });
    const isAwaited = id === "";
    if (isAwaited) this.#orders.confirm(() => this.#session?.bridgeHears());
    return isAwaited;
  }

  // ---- Inside --------------------------------------------------------------------------------------------------

  #say(command: InnerCommand): void {
    if (command.type !== "ping") this.#isParkLast = false;
    this.#socket?.send(JSON.stringify(command));
  }

  #fault(detail: string): void {
    this.#isFaulty = true;
    this.#isReady = false;
    this.#events.bye(CLOSE.policy, `Cannot follow the bridge: ${detail}`);
  }

  #message(message: InnerMessage): void {
    if (message.type === "hello") {
      if (this.#isReady) this.#fault("it greets twice");
      else this.#events.hello(message);
      return;
    }
    if (message.type === "bye" && message.client === undefined) {
      this.#events.bye(message.code, message.reason);
      return;
    }
    // A message before the greeting refers to no session.
    const session = this.#isReady ? this.#session : undefined;
    switch (message.type) {
      case "bye": {
        const client = session?.client(message.client ?? "");
        const code = isSendable(message.code) ? message.code : CLOSE.internal;
        if (client !== undefined) this.#events.clientBye(client, code, message.reason);
        return;
      }
      case "snapshot": {
        const { offset, cols, rows, exact } = message;
        this.#snapshot = { offset, cols, rows, isExact: exact };
        return;
      }
      case "written":
      case "unwritten":
        if (session !== undefined) this.#calls.concludeWrite(message);
        return;
      case "answer":
        this.#calls.concludeAsk(message.id, message.ok);
        return;
      case "pong":
        this.#orders.pong();
        return;
      case "calls":
        this.callsParked = true;
        return;
      case "parked":
        // A later command has called it off.
        if (session !== undefined && this.#isParkLast) this.#events.parked?.();
        return;
      case "gap":
        if (session !== undefined && message.to < session.log.endOffset) this.#fault(`a gap to ${message.to}`);
        else session?.skipTo(message.to);
        return;
      default:
        if (session !== undefined) followBridge(session, message);
    }
  }
}

/** How the bridge is told of a client. @param slot The number that stands for it in frames of input on this connection. */
function attachOf(client: ClientRecord, slot: number): Extract<InnerCommand, { type: "attach" }> {
  return {
    type: "attach",
    client: client.id,
    slot,
    name: client.name,
    role: client.role,
    kind: client.kind,
    admin: client.isAdmin,
    delivery: client.delivery,
    acknowledges: client.acknowledges,
    ...defined({ alone: client.holdsAlone || undefined }),
    acked: client.acked,
    window: client.windowBytes,
    ...client.size,
  };
}
