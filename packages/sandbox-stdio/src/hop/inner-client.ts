// The Durable Object's end of the inner hop, and the session's upstream. Input stays in the client's queue until the bridge
// confirms it, so unconfirmed input is resent after a break.

import type { InputEntry } from "../input/input-queue.ts";
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
import { decodeAnswer, decodeFrame } from "../wire/frames.ts";
import { type InnerMessage, MAX_INNER_TEXT_BYTES, parseInnerMessage, type Question } from "../wire/inner-messages.ts";
import { PANE_UNREACHED, type PaneOrder } from "../wire/pane-messages.ts";
import {
  addAnswerPiece,
  finishAnswer,
  giveUpCalls,
  repeatCalls,
  settleWrite,
  startQuery,
  startWrite,
} from "./bridge-calls.ts";
import { sendAnswerer, sendAttach, sendHolder, sendInput } from "./bridge-upstream.ts";
import { followBridge } from "./follow-bridge.ts";
import { HopAllowance, isAtBridgePace } from "./hop-allowance.ts";
import {
  type HopState,
  type InnerClientEvents,
  type InnerHello,
  type InnerSocket,
  newHop,
  sendCommand,
  type WriteOutcome,
  type WriteSpec,
} from "./hop-state.ts";
import { reconcile } from "./reconciliation.ts";
import { clearAcks, forgetAcks, relayAck, relayLeader, relayPressure } from "./relayed-acks.ts";
import { failOrders, pongArrived, sendOrder, sendPing } from "./unanswered.ts";
import type { Parking } from "./wakeup.ts";

const TOO_MANY = "too many unsolicited messages";

export class InnerClient implements Upstream, SnapshotSource {
  readonly #hop: HopState;
  /** Whether the shell has marked any commands. */
  isMarked = false;
  /** Whether the bridge can wake a parked object. */
  callsParked = false;
  heardAtMs = 0;

  constructor(events: InnerClientEvents) {
    this.#hop = newHop(events);
  }

  get isReady(): boolean {
    return this.#hop.isReady;
  }

  get silentAtMs(): number {
    return this.heardAtMs + SILENCE_MS;
  }

  /** A connection to the bridge is open. */
  opened(socket: InnerSocket, nowMs: number): void {
    this.closed();
    const hop = this.#hop;
    hop.socket = socket;
    this.heardAtMs = nowMs;
    hop.isFaulty = false;
    hop.snapshot = undefined;
    hop.allowance = new HopAllowance(nowMs);
    hop.slots.clear();
    clearAcks(hop);
  }

  closed(): void {
    this.#hop.socket = undefined;
    this.#hop.isReady = false;
    failOrders(this.#hop);
  }

  /**
   * The session was found or made from this greeting. Moves its log to where the bridge continues, announces the attached
   * clients, and resends unconfirmed input.
   */
  ready(session: RelaySession, hello: InnerHello): void {
    const hop = this.#hop;
    const isContinued = hop.session === session;
    hop.session = session;
    if (hello.offset < session.log.endOffset) {
      this.#fault(`output continues at ${hello.offset}, but has reached ${session.log.endOffset}`);
      return;
    }
    hop.isReady = true;
    reconcile(hop, session, hello, isContinued);
    if (session.isScreenPending) this.request();
    this.isMarked = hello.marked === true;
    this.callsParked = hello.calls === true;
    repeatCalls(hop);
  }

  // ---- Programs ------------------------------------------------------------------------------------------------

  /**
   * Sends a program's write, now or when the hop is back, and again on each hop until it is answered. One at a time.
   * `withdraw` cancels it if it was not sent yet; otherwise its answer is awaited.
   */
  write(
    client: ClientRecord,
    spec: WriteSpec,
  ): { readonly answer: Promise<WriteOutcome>; readonly withdraw: () => void } {
    return startWrite(this.#hop, client, spec);
  }

  /** Queries the bridge. Resolves with undefined if there is no answer, or after `forget`. */
  ask(question: Question): { readonly answer: Promise<Uint8Array | undefined>; readonly forget: () => void } {
    return startQuery(this.#hop, question);
  }

  /** Fails all pending calls. */
  giveUpCalls(): void {
    giveUpCalls(this.#hop);
  }

  ping(): void {
    sendPing(this.#hop);
  }

  /** Announces that the object is about to leave memory. {@link InnerClientEvents.parked} confirms it. */
  park(parking: Parking): void {
    if (this.#hop.isReady) sendCommand(this.#hop, { type: "park", ...parking });
    this.#hop.isParkLast = this.#hop.isReady;
  }

  /**
   * Takes a frame of the newest connection; don't pass frames of earlier ones. The object owns a binary frame, which must not
   * change and may be forwarded to clients.
   */
  receive(frame: Frame, nowMs: number): void {
    this.heardAtMs = nowMs;
    if (this.#hop.isFaulty) return;
    if (typeof frame === "string") this.#receiveText(frame, nowMs);
    else this.#receiveBytes(frame);
  }

  #receiveBytes(frame: Uint8Array): void {
    const hop = this.#hop;
    const piece = decodeAnswer(frame);
    if (piece !== undefined) {
      if (frame.length > 1 + MAX_FRAME_BYTES) this.#fault(`a frame of ${frame.length} bytes`);
      // The runtime allocates memory for each message, so a view may be kept.
      else addAnswerPiece(hop, piece.id, piece.bytes);
      return;
    }
    const output = decodeFrame(frame);
    const maxBytes = output.kind === "snapshot" ? MAX_SNAPSHOT_BYTES : MAX_FRAME_BYTES;
    if (frame.length > 1 + maxBytes) {
      this.#fault(`a frame of ${frame.length} bytes`);
      return;
    }
    const session = hop.isReady ? hop.session : undefined;
    if (output.kind === "output" && session?.exit === undefined) {
      session?.appendFrame(frame, output.stream);
      relayPressure(hop);
    }
    if (output.kind === "snapshot") {
      if (hop.snapshot !== undefined) session?.snapshotReady({ ...hop.snapshot, bytes: output.bytes });
      hop.snapshot = undefined;
    }
  }

  #receiveText(text: string, nowMs: number): void {
    const { isReady, allowance, session } = this.#hop;
    const result = parseInnerMessage(text, isReady ? MAX_CONTROL_OUT_BYTES : MAX_INNER_TEXT_BYTES);
    if (result.ok) {
      const { message } = result;
      const isUnsolicited = isAtBridgePace(message, (id) => session?.client(id)?.input.received);
      if (isUnsolicited && !allowance.take(text.length, nowMs)) this.#fault(TOO_MANY);
      else if (message.type !== "attention" || allowance.takeAttention(nowMs)) this.#message(message);
    }
    // A newer bridge may send more types.
    else if (result.fault !== "unknown_type") this.#fault(result.detail);
  }

  /** Requests a snapshot from the bridge. If the hop is broken, {@link ready} repeats it. */
  request(): void {
    if (this.#hop.isReady) sendCommand(this.#hop, { type: "snapshot" });
  }

  // ---- Upstream ------------------------------------------------------------------------------------------------

  attached(client: ClientRecord): void {
    const hop = this.#hop;
    if (!hop.isReady) return;
    sendAttach(hop, client);
    // The bridge's rules may have given the client the keyboard; the rules here decide.
    const floor = hop.session?.keyboard;
    if (floor?.isExclusive) sendHolder(hop, floor.holder);
    for (const entry of client.input.entries) sendInput(hop, client, entry);
    relayLeader(hop);
  }

  input(client: ClientRecord, entry: InputEntry): void {
    sendInput(this.#hop, client, entry);
  }

  pane(client: ClientRecord, order: PaneOrder): void {
    if (this.#hop.isReady) sendOrder(this.#hop, client, order);
    else client.tell(PANE_UNREACHED);
  }

  signal(client: ClientRecord, signal: SignalName): void {
    if (this.#hop.isReady) sendCommand(this.#hop, { type: "signal", client: client.id, signal });
  }

  resize(client: ClientRecord | undefined, size: TerminalSize): void {
    if (this.#hop.isReady && client !== undefined)
      sendCommand(this.#hop, { type: "resize", client: client.id, ...size });
  }

  kill(client: ClientRecord): void {
    if (this.#hop.isReady) sendCommand(this.#hop, { type: "kill", client: client.id });
  }

  acked(client: ClientRecord): void {
    if (this.#hop.isReady) relayAck(this.#hop, client);
  }

  departed(client: ClientRecord, how: "left" | "vanished"): void {
    const hop = this.#hop;
    hop.slots.delete(client.id);
    forgetAcks(hop, client.id);
    if (!hop.isReady) return; // The next greeting lists the client, and the bridge is told then.
    sendCommand(hop, { type: "detach", client: client.id, how });
    relayLeader(hop);
  }

  holder(id: string): void {
    sendHolder(this.#hop, id);
  }

  answerer(answerer: Answerer): boolean {
    return sendAnswerer(this.#hop, answerer);
  }

  // ---- Inside --------------------------------------------------------------------------------------------------

  #fault(detail: string): void {
    this.#hop.isFaulty = true;
    this.#hop.isReady = false;
    this.#hop.events.bye(CLOSE.policy, `Cannot follow the bridge: ${detail}`);
  }

  #message(message: InnerMessage): void {
    const hop = this.#hop;
    if (message.type === "hello") {
      if (hop.isReady) this.#fault("a second greeting");
      else hop.events.hello(message);
      return;
    }
    if (message.type === "bye" && message.client === undefined) {
      hop.events.bye(message.code, message.reason);
      return;
    }
    // Before the greeting there is no session that a message could concern.
    const session = hop.isReady ? hop.session : undefined;
    switch (message.type) {
      case "bye": {
        const client = session?.client(message.client ?? "");
        const code = isSendable(message.code) ? message.code : CLOSE.internal;
        if (client !== undefined) hop.events.clientBye(client, code, message.reason);
        return;
      }
      case "snapshot": {
        const { offset, cols, rows, exact } = message;
        hop.snapshot = { offset, cols, rows, isExact: exact };
        return;
      }
      case "written":
      case "unwritten":
        if (session !== undefined) settleWrite(hop, message);
        return;
      case "answer":
        finishAnswer(hop, message.id, message.ok);
        return;
      case "pong":
        pongArrived(hop);
        return;
      case "calls":
        this.callsParked = true;
        return;
      case "parked":
        // A later command cancels parking.
        if (session !== undefined && hop.isParkLast) hop.events.parked?.();
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
