// The Durable Object's end of the inner hop. It makes the bridge an upstream of the session: input goes there and stays
// in the client's queue until it is confirmed, so that after a break all that is not confirmed is sent again.

import type { InputEntry } from "../input/input-queue.ts";
import type { Snapshot } from "../output/snapshot.ts";
import type { SnapshotSource } from "../output/snapshot-requests.ts";
import type { WriteCommand } from "../programs/program-writes.ts";
import type { Frame } from "../server/dialect.ts";
import type { ClientRecord, TerminalSize } from "../session/client-record.ts";
import type { RelaySession } from "../session/relay-session.ts";
import type { Upstream } from "../session/session-types.ts";
import type { Answerer } from "../terminal/answerer-history.ts";
import type { SignalName } from "../wire/constants.ts";
import {
  CLOSE,
  MAX_CONTROL_OUT_BYTES,
  MAX_FRAME_BYTES,
  MAX_SNAPSHOT_BYTES,
  MIB,
  SILENCE_MS,
} from "../wire/constants.ts";
import { decodeAnswer, decodeFrame, encodeStdin } from "../wire/frames.ts";
import {
  type InnerCommand,
  type InnerMessage,
  MAX_INNER_TEXT_BYTES,
  parseInnerMessage,
  type Question,
} from "../wire/inner-messages.ts";
import { HopAllowance } from "./hop-allowance.ts";

export type InnerHello = Extract<InnerMessage, { type: "hello" }>;

/** The connection as the inner client needs it. */
export interface InnerSocket {
  /** The frame is the socket's from here on, which may release its memory. */
  send(frame: Frame): void;
}

export interface InnerClientEvents {
  /** The bridge has greeted: the session is to be made, or is found again by its incarnation. */
  hello(hello: InnerHello): void;
  /** The bridge closes, or says what can't be followed (1008): the connection is of no more use. */
  bye(code: number, reason: string): void;
  /** The bridge refuses one client. */
  clientBye(client: ClientRecord, code: number, reason: string): void;
}

/** Each message costs a Durable Object more than its bytes. So those that set the pace are relayed in steps well under what
 * they may have in flight, and the others, which decide nothing, only now and then. */
const PACE_ACK_BYTES = 2 * MAX_FRAME_BYTES;
const LAZY_ACK_BYTES = 4 * MAX_FRAME_BYTES;
const TOLD_ON: ReadonlySet<InnerMessage["type"]> = new Set([
  "resize",
  "gap",
  "error",
  "bye",
  "attention",
  "title",
  "command_end",
]);
const TOO_MANY = "more messages than anybody asked for";

/** What a program's call to *write* comes to. `fault`: the hop, or the session, was given up before it was known. */
export type WriteOutcome =
  | Extract<InnerMessage, { type: "written" }>
  | Extract<InnerMessage, { type: "unwritten" }>
  | { readonly type: "fault" };

/** As {@link WriteCommand}; without `at` it goes behind what was received. */
export type WriteWish = Omit<WriteCommand, "client" | "at" | "again"> & { readonly at?: number | undefined };

type PendingWrite = {
  readonly wish: WriteWish;
  command: WriteCommand | undefined;
  resolve(outcome: WriteOutcome): void;
};
type PendingAsk = {
  readonly question: Question;
  pieces: Uint8Array[];
  bytes: number;
  resolve(text?: Uint8Array): void;
};

/** A longer answer is none. */
const MAX_ANSWER_BYTES = 4 * MIB;

export class InnerClient implements Upstream, SnapshotSource {
  readonly #events: InnerClientEvents;
  #session: RelaySession | undefined;
  #socket: InnerSocket | undefined;
  /** Whether the bridge has been told of the session's clients on this connection. */
  #isReady = false;
  /** Whether it said what can't be followed: nothing it says on this connection counts any more. */
  #isFaulty = false;
  #slots = new Map<string, number>();
  #nextSlot = 0;
  /** What was last relayed of each client: offset and window. */
  #relayed = new Map<string, { offset: number; window: number }>();
  /** Who paced when {@link #relayPacer} last looked. */
  #pacing: string | undefined;
  /** What the next snapshot frame is. */
  #snapshot: Omit<Snapshot, "bytes"> | undefined;
  #allowance = new HopAllowance(0);
  /** One for each program: the next waits for its answer. */
  readonly #writes = new Map<string, PendingWrite>();
  readonly #asks = new Map<number, PendingAsk>();
  #nextAsk = 1;
  /** Whether a shell has marked its commands. */
  isMarked = false;
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
    this.#isFaulty = false;
    this.#snapshot = undefined;
    this.#allowance = new HopAllowance(nowMs);
    this.#slots.clear();
    this.#relayed.clear();
  }

  closed(): void {
    this.#socket = undefined;
    this.#isReady = false;
  }

  /**
   * The session is there, found again or made from this greeting: brings its log to where the bridge goes on, tells the
   * bridge who is attached, and sends again what it has not confirmed.
   */
  ready(session: RelaySession, hello: InnerHello): void {
    // One that was here before knows who has left; one made from this greeting has to believe it.
    const isContinued = this.#session === session;
    this.#session = session;
    if (hello.offset < session.log.endOffset) {
      this.#fault(`it goes on at ${hello.offset}, and ${session.log.endOffset} is reached`);
      return;
    }
    this.#isReady = true;
    session.continueAt(hello.offset, { cols: hello.cols, rows: hello.rows });
    session.noteEnd(hello.live);
    // Before the bridge hears who has left, or it would answer from there on, and not from where that was.
    this.answerer(session.answererToTell);
    for (const id of hello.gone ?? []) session.noteGone(id);
    for (const known of hello.clients) {
      const client = session.client(known.id);
      // A client that can't come back has nothing to be kept for.
      const hasLeft = client === undefined && (isContinued || known.acknowledges === false);
      if (hasLeft) this.#say({ type: "detach", client: known.id, how: "left" });
      else session.restore(known);
      if (client?.presence.phase === "absent" && !known.isAbsent) {
        this.#say({ type: "detach", client: known.id, how: "vanished" });
      }
    }
    session.holderChanged(session.keyboard.holder);
    const present = [...session.clients].filter((client) => client.isPresent);
    for (const client of present) this.#attach(client);
    const { isExclusive, holder } = session.keyboard;
    // Before any input: the holder's would be refused. So would what was typed before a handover: it goes as its holder's.
    let told = isExclusive ? undefined : holder;
    if (told !== undefined) this.holder(told);
    for (const { client, entry } of byTurn(present)) {
      if (isExclusive && entry.kind !== "refused" && told !== client.id) {
        told = client.id;
        this.holder(told);
      }
      this.input(client, entry);
    }
    if (told !== holder) this.holder(holder);
    if (session.isScreenAsked) this.request();
    this.isMarked = hello.marked === true;
    for (const [id, pending] of this.#writes) this.#sayWrite(id, pending);
    for (const [id, pending] of this.#asks) this.#sayAsk(id, pending);
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
    if (this.#writes.has(client.id)) throw new Error("Cannot write: another write of this program is not answered");
    let resolve: (outcome: WriteOutcome) => void = () => undefined;
    const answer = new Promise<WriteOutcome>((resolved) => {
      resolve = resolved;
    });
    const pending: PendingWrite = { wish, command: undefined, resolve };
    this.#writes.set(client.id, pending);
    if (this.#isReady) this.#sayWrite(client.id, pending);
    const withdraw = () => {
      if (pending.command !== undefined || this.#writes.get(client.id) !== pending) return;
      this.#writes.delete(client.id);
      resolve({ type: "fault" });
    };
    return { answer, withdraw };
  }

  /** Asks the process's bridge. Resolves with undefined where there is no answer, or {@link forget} is called. */
  ask(question: Question): { readonly answer: Promise<Uint8Array | undefined>; readonly forget: () => void } {
    const id = this.#nextAsk++;
    const answer = new Promise<Uint8Array | undefined>((resolve) => {
      const pending: PendingAsk = { question, pieces: [], bytes: 0, resolve };
      this.#asks.set(id, pending);
      if (this.#isReady) this.#sayAsk(id, pending);
    });
    return { answer, forget: () => this.#answered(id, undefined) };
  }

  /** Nothing is answered any more: the process has ended, or is lost, or nobody keeps the hop. */
  giveUpCalls(): void {
    for (const pending of this.#writes.values()) pending.resolve({ type: "fault" });
    this.#writes.clear();
    for (const id of [...this.#asks.keys()]) this.#answered(id, undefined);
  }

  #sayWrite(id: string, pending: PendingWrite): void {
    const received = this.#session?.client(id)?.input.received ?? 0;
    const again = pending.command === undefined ? {} : { again: true };
    // Where it begins is settled once: what an earlier hop may have brought through counts by now.
    pending.command ??= { ...pending.wish, client: id, at: pending.wish.at ?? received };
    this.#say({ type: "write", ...pending.command, ...again });
  }

  #writeAnswered(outcome: Exclude<WriteOutcome, { type: "fault" }>): void {
    const pending = this.#writes.get(outcome.client);
    this.#writes.delete(outcome.client);
    pending?.resolve(outcome);
  }

  #sayAsk(id: number, pending: PendingAsk): void {
    pending.pieces = [];
    pending.bytes = 0;
    this.#say({ type: "ask", id, ...pending.question });
  }

  #answerPiece(id: number, bytes: Uint8Array): void {
    const pending = this.#asks.get(id);
    if (pending === undefined) return;
    pending.bytes += bytes.length;
    if (pending.bytes > MAX_ANSWER_BYTES) this.#answered(id, undefined);
    // The frame's memory is the runtime's own for each message.
    else pending.pieces.push(bytes);
  }

  #answered(id: number, text: Uint8Array | undefined): void {
    const pending = this.#asks.get(id);
    this.#asks.delete(id);
    pending?.resolve(text);
  }

  #answerDone(id: number, isOk: boolean): void {
    const pending = this.#asks.get(id);
    if (pending === undefined) return;
    const whole = new Uint8Array(isOk ? pending.bytes : 0);
    let at = 0;
    for (const piece of isOk ? pending.pieces : []) {
      whole.set(piece, at);
      at += piece.length;
    }
    this.#answered(id, isOk ? whole : undefined);
  }

  ping(): void {
    this.#say({ type: "ping" });
  }

  /** Something has come on the newest connection: frames of an earlier one must not be handed in. */
  receive(frame: Frame, nowMs: number): void {
    this.heardAtMs = nowMs;
    if (this.#isFaulty) return;
    if (typeof frame !== "string") {
      const piece = decodeAnswer(frame);
      if (piece !== undefined) {
        if (frame.length > 1 + MAX_FRAME_BYTES) this.#fault(`a frame of ${frame.length} bytes`);
        else this.#answerPiece(piece.id, piece.bytes);
        return;
      }
      const output = decodeFrame(frame);
      const maxBytes = output.kind === "snapshot" ? MAX_SNAPSHOT_BYTES : MAX_FRAME_BYTES;
      if (frame.length > 1 + maxBytes) {
        this.#fault(`a frame of ${frame.length} bytes`);
        return;
      }
      const session = this.#isReady ? this.#session : undefined;
      if (output.kind === "output" && session?.exit === undefined) session?.frameArrived(frame, output.stream);
      else if (output.kind === "snapshot") {
        if (this.#snapshot !== undefined) session?.snapshotReady({ ...this.#snapshot, bytes: output.bytes });
        this.#snapshot = undefined;
      }
      return;
    }
    const result = parseInnerMessage(frame, this.#isReady ? MAX_CONTROL_OUT_BYTES : MAX_INNER_TEXT_BYTES);
    if (result.ok) {
      if (this.#isToldOn(result.message) && !this.#allowance.take(nowMs)) this.#fault(TOO_MANY);
      else this.#message(result.message);
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
    this.#resend(client);
    this.#relayPacer();
  }

  #attach(client: ClientRecord): void {
    const slot = this.#nextSlot++;
    this.#slots.set(client.id, slot);
    this.#relayed.set(client.id, { offset: client.acked, window: client.windowBytes });
    this.#say({
      type: "attach",
      client: client.id,
      slot,
      name: client.name,
      role: client.role,
      kind: client.kind,
      admin: client.isAdmin,
      delivery: client.delivery,
      acknowledges: client.acknowledges,
      ...(client.holdsAlone ? { alone: true } : {}),
      acked: client.acked,
      window: client.windowBytes,
      ...(client.size ?? {}),
    });
  }

  #resend(client: ClientRecord): void {
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
    if (!this.#isReady) return;
    const last = this.#relayed.get(client.id);
    const pacer = this.#session?.pacer;
    // The slowest lossless driver paces, and which one that is the bridge can tell only if it knows of all.
    const mayPace = client === pacer || (client.delivery === "lossless" && client.role === "driver");
    const step = mayPace ? Math.min(PACE_ACK_BYTES, client.windowBytes / 4) : LAZY_ACK_BYTES;
    if (last === undefined || client.acked - last.offset >= step) this.#relayAck(client);
    if (client !== pacer || pacer.id !== this.#pacing) this.#relayPacer();
  }

  /**
   * Who paces may have changed just now: the bridge must know where that one stands, or it waits for the one before, and
   * holds the process for ever.
   */
  #relayPacer(): void {
    const pacer = this.#session?.pacer;
    this.#pacing = pacer?.id;
    if (pacer === undefined) return;
    const known = this.#relayed.get(pacer.id);
    if (known?.offset !== pacer.acked || known.window !== pacer.windowBytes) this.#relayAck(pacer);
  }

  departed(client: ClientRecord, how: "left" | "vanished"): void {
    this.#slots.delete(client.id);
    this.#relayed.delete(client.id);
    if (!this.#isReady) return; // The next greeting lists it, and then the bridge is told.
    this.#say({ type: "detach", client: client.id, how });
    this.#relayPacer();
  }

  holder(id: string): void {
    if (!this.#isReady) return;
    this.#say({ type: "stdin_holder", id });
    this.#relayPacer();
  }

  answerer({ id, offset }: Answerer): void {
    if (this.#isReady) this.#say({ type: "answerer", id, offset });
  }

  // ---- Inside --------------------------------------------------------------------------------------------------

  #relayAck(client: ClientRecord): void {
    this.#relayed.set(client.id, { offset: client.acked, window: client.windowBytes });
    this.#say({ type: "ack", client: client.id, offset: client.acked, window: client.windowBytes });
  }

  #say(command: InnerCommand): void {
    this.#socket?.send(JSON.stringify(command));
  }

  #fault(detail: string): void {
    this.#isFaulty = true;
    this.#isReady = false;
    this.#events.bye(CLOSE.policy, `Cannot follow the bridge: ${detail}`);
  }

  /** Whether clients are told of it at the bridge's own pace: not in a window, and not once for each thing that they said. */
  #isToldOn(message: InnerMessage): boolean {
    if (message.type !== "stdin_ack") return TOLD_ON.has(message.type);
    const input = this.#session?.client(message.client)?.input;
    return input !== undefined && message.offset > input.received;
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
    // What is said before the greeting is about nothing.
    const session = this.#isReady ? this.#session : undefined;
    switch (message.type) {
      case "resize":
        session?.sizeChanged({ cols: message.cols, rows: message.rows });
        return;
      case "gap":
        if (session !== undefined && message.to < session.log.endOffset) this.#fault(`a gap to ${message.to}`);
        else session?.skipped(message.to);
        return;
      case "exit": {
        const { code, signal } = message;
        session?.exited({ code, ...(signal === undefined ? {} : { signal }) });
        return;
      }
      case "answered":
        session?.bridgeAnswered(message.offset);
        return;
      case "stdin_ack": {
        const client = session?.client(message.client);
        if (client === undefined) return;
        // The first one is also the answer to the attach.
        session?.attachAnswered(client);
        session?.takenUpTo(client, message.offset);
        return;
      }
      case "error": {
        const client = session?.client(message.client);
        client?.peer?.send({ type: "error", code: message.code, message: message.message });
        return;
      }
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
        if (session !== undefined) this.#writeAnswered(message);
        return;
      case "answer":
        this.#answerDone(message.id, message.ok);
        return;
      case "command_end":
        session?.commandEnded({ to: message.to, ...(message.exit === undefined ? {} : { exit: message.exit }) });
        return;
      case "attention": {
        const { type, ...attention } = message;
        session?.attention(attention);
        return;
      }
      case "title":
        if (session !== undefined) session.title = message.title;
        return;
      case "no_snapshot":
        session?.snapshotReady(undefined);
        return;
      case "pong":
        return;
    }
  }
}

/** Whether a WebSocket may be closed with it: the reserved ones can't be sent, and the socket would stay open. */
function isSendable(code: number): boolean {
  return code === CLOSE.normal || (code >= 1001 && code <= 1003) || (code >= 1007 && code <= 1014) || code >= 3000;
}

type Waiting = { readonly client: ClientRecord; readonly entry: InputEntry; readonly turn: number };

/** All input that waits, in the order of the keyboard's turns; each client's own stays in its order. */
function byTurn(clients: readonly ClientRecord[]): Waiting[] {
  const waiting = clients.flatMap((client) => {
    let turn = 0;
    return client.input.entries.map((entry) => {
      if (entry.kind === "bytes") turn = entry.turn;
      return { client, entry, turn };
    });
  });
  return waiting.sort((a, b) => a.turn - b.turn);
}
