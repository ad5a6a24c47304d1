// The input of clients on its way to the process: which client may type, which input counts as taken, and the news for each client.

import type { InputEntry } from "../input/input-queue.ts";
import { planWrite, type WritePlan, type WriteRequest } from "../programs/writers.ts";
import { encodeUtf8 } from "../text/utf8-text.ts";
import {
  CLOSE,
  MAX_KEPT_INPUT_BYTES,
  MAX_SHARED_WAITING_INPUT_BYTES,
  MAX_STDIN_FRAME_BYTES,
  MAX_UNACKED_INPUT_BYTES,
  MAX_WAITING_INPUT_BYTES,
} from "../wire/constants.ts";
import type { ClientMessage } from "../wire/control.ts";
import type { PaneInputCommand } from "../wire/pane-messages.ts";
import type { ClientRecord } from "./client-record.ts";
import type { Clients } from "./clients.ts";
import type { InputFate, InputRecorder } from "./input-recorder.ts";
import type { Keyboard } from "./keyboard.ts";
import type { Upstream } from "./session-types.ts";

/** Acknowledgements of input wait this long for more, so that a keystroke's does not delay its echo. */
const INPUT_ACK_DELAY_MS = 20;
/**
 * To a client at the far end of the inner hop so much is acknowledged at once: such a message costs its object as much as one
 * of input. Where that keeps a record, it stores input in pieces of this length.
 */
const RELAYED_ACK_BYTES = MAX_UNACKED_INPUT_BYTES / 2;
/** Pieces of one client's input that may wait: small ones are gathered, so that only a fault comes to so many. */
const MAX_UNACKED_INPUT_ENTRIES = 4096;
const TOO_MUCH_WAITS = `more than ${MAX_WAITING_INPUT_BYTES} bytes of input wait`;
const TOO_MUCH_WAITS_HERE = `more than ${MAX_SHARED_WAITING_INPUT_BYTES} bytes of this session's input wait`;
const tooMuch = (client: ClientRecord) => `more than ${client.inputWindow} bytes of input wait`;

/** The calls of input to its session. */
export interface InputReceiverPorts {
  /** Whether a repeated end of input is passed on: the bridge may have refused the first. */
  readonly repeatsEof: boolean;
  readonly tty: boolean;
  readonly keyboard: Keyboard;
  readonly clients: Clients;
  readonly upstream: Upstream;
  readonly now: () => number;
  /** Input that it has not stored is not acknowledged. */
  readonly recorder?: InputRecorder | undefined;
  hasExited(): boolean;
  /** Whether this is a terminal's answer that is taken although its client does not hold the keyboard. */
  mayReport(client: ClientRecord, bytes: Uint8Array): boolean;
  /** The client whose end of input counts on pipes, if it is a driver, even if other drivers are here. */
  creator(): string;
  /** Follows a message that waited between pieces of input. */
  follow(client: ClientRecord, message: ClientMessage): void;
  /** A program's input may have been taken, or stored. */
  settled(client: ClientRecord): void;
  /** Some of the input that waits has been taken in. */
  fed(client: ClientRecord): void;
  /** Closes a client that breaks a rule. */
  refuse(client: ClientRecord, code: number, reason: string): void;
}

export class InputReceiver {
  readonly #ports: InputReceiverPorts;
  #isClosed = false;

  constructor(ports: InputReceiverPorts) {
    this.#ports = ports;
  }

  /** @see SessionCore.stdin */
  stdin(client: ClientRecord, bytes: Uint8Array, offset: number): void {
    // The process's writer may release the bytes while they are taken.
    const { length } = bytes;
    const end = offset + length;
    client.isActive = true;
    const isDuplicate = end < client.input.received || (end === client.input.received && bytes.length > 0);
    const isAllowed = this.#ports.keyboard.mayDrive(client.id).ok || this.#ports.mayReport(client, bytes);
    const isRefused = !isAllowed || this.#isClosed || this.#ports.hasExited();
    const { received } = client.input;
    const record = (fate: InputFate) => {
      if (bytes.length > 0) this.#ports.recorder?.input(client, received, offset, bytes, fate);
    };
    if (isDuplicate) {
      // An earlier life of this object may not have stored input that it passed on (I10). It passed on none of a viewer's.
      record(client.role === "viewer" ? "refused" : "resent");
      return;
    }
    let entry: InputEntry | undefined;
    if (bytes.length === 0 || isRefused) {
      record("refused");
      entry = client.input.refuse(end);
      if (bytes.length > 0) this.#tellRefused(client, isAllowed ? "stdin_closed" : "not_stdin_holder");
    } else {
      entry = client.input.push(offset, bytes, this.#ports.keyboard.turn);
    }
    const isTooMuch = this.#isTooMuch(client);
    if (entry !== undefined && !isTooMuch) this.#ports.upstream.input(client, entry);
    // Now that it is on its way: an echo does not wait for the record. Beside the process, where no record is kept, the bytes
    // may have been released by now.
    if (!isRefused) record("typed");
    if (isTooMuch) this.#ports.refuse(client, CLOSE.policy, tooMuch(client));
    else this.ack(client, false);
    client.peer?.typed?.(length, !isRefused, this.#ports.now());
  }

  /** Text for a pane: it needs the same right as all input, goes on the same record, and has no offsets (B9). */
  pane(client: ClientRecord, order: PaneInputCommand): void {
    const { keyboard, recorder, upstream } = this.#ports;
    const bytes = encodeUtf8(order.data);
    client.isActive = true;
    const isAllowed = keyboard.mayDrive(client.id).ok;
    const isRefused = !isAllowed || this.#ports.hasExited();
    if (isRefused) this.#tellRefused(client, isAllowed ? "stdin_closed" : "not_stdin_holder");
    else upstream.pane(client, order);
    if (bytes.length > 0) recorder?.paneInput(client, order.pane, bytes, isRefused ? "refused" : "typed");
    client.peer?.typed?.(bytes.length, !isRefused, this.#ports.now());
  }

  /**
   * Input of a client that can't be told to wait, in a frame of any length: taken in as the process takes it, at most
   * {@link MAX_UNACKED_INPUT_BYTES} ahead of it.
   */
  feed(client: ClientRecord, bytes: Uint8Array): void {
    const isShort = bytes.length <= MAX_STDIN_FRAME_BYTES;
    if (isShort && client.feed.isEmpty && this.#hasRoom(client)) this.stdin(client, bytes, client.input.received);
    else if (!this.#hasSharedRoom(client, bytes.length)) this.#ports.refuse(client, CLOSE.policy, TOO_MUCH_WAITS_HERE);
    else if (client.feed.push(bytes)) this.pump(client);
    else this.#ports.refuse(client, CLOSE.policy, TOO_MUCH_WAITS);
  }

  /** A message of such a client that counts from its place among the input on. */
  feedMessage(client: ClientRecord, message: ClientMessage): void {
    if (client.feed.isEmpty) this.#ports.follow(client, message);
    else if (!client.feed.pushMessage(message)) this.#ports.refuse(client, CLOSE.policy, "too many messages wait");
  }

  /** Takes in as much as there is room for by now. */
  pump(client: ClientRecord): void {
    const { feed } = client;
    if (feed.isEmpty || feed.isPumping) return;
    feed.isPumping = true;
    try {
      let hasFed = false;
      // Its message may cost it its place.
      while (this.#hasRoom(client) && client.presence.phase !== "gone") {
        const next = feed.shift();
        if (next === undefined) break;
        hasFed = true;
        if (next.kind === "bytes") this.stdin(client, next.bytes, client.input.received);
        else this.#ports.follow(client, next.message);
      }
      if (hasFed) this.#ports.fed(client);
    } finally {
      feed.isPumping = false;
    }
  }

  /** Whether so much more of this client's may wait beside the waiting input of the others. */
  #hasSharedRoom(client: ClientRecord, length: number): boolean {
    if (client.feed.bytes + length <= MAX_UNACKED_INPUT_BYTES) return true;
    let bytes = length;
    for (const other of this.#ports.clients.all) bytes += other.feed.bytes;
    return bytes <= MAX_SHARED_WAITING_INPUT_BYTES;
  }

  #hasRoom(client: ClientRecord): boolean {
    return client.input.received - this.settled(client) < MAX_UNACKED_INPUT_BYTES;
  }

  eof(client: ClientRecord, offset: number): void {
    client.isActive = true;
    const { repeatsEof, upstream } = this.#ports;
    const isAllowed = this.#mayEnd(client);
    if (!isAllowed) {
      this.#tellRefused(client, "not_stdin_holder");
      return;
    }
    if (this.#ports.hasExited()) return;
    const entry = client.input.pushEof(offset) ?? (repeatsEof ? client.input.waitingEof : undefined);
    if (this.#isTooMuch(client)) this.#ports.refuse(client, CLOSE.policy, tooMuch(client));
    else if (entry !== undefined) upstream.input(client, entry);
  }

  /** Whether the end of this client's input counts. Programs are here only while they call: they stand in no client's way. */
  #mayEnd(client: ClientRecord): boolean {
    const { keyboard, clients, tty } = this.#ports;
    if (tty) return keyboard.mayDrive(client.id).ok;
    const isOther = (c: ClientRecord) => c.role === "driver" && c.id !== client.id && !c.isProgram;
    const isOnlyDriver = ![...clients.present()].some(isOther);
    const isOwner = client.id === this.#ports.creator() || client.id === keyboard.holder;
    return client.role === "driver" && (isOwner || isOnlyDriver);
  }

  /** The plan for a program's write, as the session stands now. */
  planWrite(client: ClientRecord, request: WriteRequest): WritePlan {
    const { keyboard, tty } = this.#ports;
    const mayType = keyboard.mayDrive(client.id).ok && (!request.eof || this.#mayEnd(client));
    const isStdinClosed = this.#isClosed || (!tty && client.input.waitingEof !== undefined);
    const state = { hasExited: this.#ports.hasExited(), isStdinClosed, mayType, holder: keyboard.holder };
    return planWrite(client.input, state, request);
  }

  /** Queues the planned bytes. */
  typePlanned(client: ClientRecord, bytes: Uint8Array, eof: boolean): void {
    const { received } = client.input;
    const entry = bytes.length === 0 ? undefined : client.input.push(received, bytes, this.#ports.keyboard.turn);
    if (entry !== undefined) this.#ports.upstream.input(client, entry);
    const end = eof ? client.input.pushEof(client.input.received) : undefined;
    if (end !== undefined) this.#ports.upstream.input(client, end);
    this.ack(client, true);
  }

  /** Whether the client may type, signal and kill; told if not. */
  mayDrive(client: ClientRecord): boolean {
    const result = this.#ports.keyboard.mayDrive(client.id);
    if (!result.ok) this.#tellRefused(client, "not_stdin_holder");
    return result.ok;
  }

  /** @see ProcessSession.wrote */
  take(client: ClientRecord, count: number): void {
    client.input.take(count);
    // A program's call is answered when its input is taken.
    this.ack(client, client.isProgram);
  }

  takeEof(client: ClientRecord): void {
    client.input.takeEof();
    if (!this.#ports.tty) this.#isClosed = true;
    this.ack(client, true);
  }

  /** The process takes no more input. Waiting input is refused. */
  close(): void {
    this.#isClosed = true;
  }

  /** How much of a client's input may be acknowledged: taken, and stored if a record is kept. */
  settled(client: ClientRecord): number {
    return Math.min(client.input.taken, this.#ports.recorder?.storedUpTo(client.id) ?? client.input.taken);
  }

  /**
   * Tells the client how much of its input is settled: a frame's length at once, the rest gathered for a moment. A client with
   * its window full sends as much as it was told of: less than a frame, and what it sends and is told would stay cut for good.
   */
  ack(client: ClientRecord, isDue: boolean): void {
    this.pump(client);
    if (client.isProgram) this.#ports.settled(client);
    const { presence } = client;
    // Before the greeting, which says the same, or without a connection, the client can't be told.
    if (presence.phase !== "greeted" && presence.phase !== "remote") return;
    const { inputAcks } = presence;
    const settled = this.settled(client);
    if (settled <= inputAcks.sent) return;
    const step = presence.phase === "greeted" ? MAX_STDIN_FRAME_BYTES : RELAYED_ACK_BYTES;
    const told = isDue ? settled : settled - (settled % step);
    if (told <= inputAcks.sent) {
      inputAcks.dueMs ??= this.#ports.now() + INPUT_ACK_DELAY_MS;
      return;
    }
    inputAcks.dueMs = told < settled ? this.#ports.now() + INPUT_ACK_DELAY_MS : undefined;
    inputAcks.sent = told;
    // A client that numbers nothing is told nothing; its Durable Object is, which keeps its input until it hears of it (L4).
    if (client.acknowledges || presence.phase === "remote") client.tell({ type: "stdin_ack", offset: told });
  }

  /** When {@link tick} is to be called for this client; undefined while no acknowledgement of its input waits. */
  nextTickMs({ presence }: ClientRecord): number | undefined {
    return presence.phase === "greeted" || presence.phase === "remote" ? presence.inputAcks.dueMs : undefined;
  }

  tick(client: ClientRecord, now: number): void {
    if ((this.nextTickMs(client) ?? Number.POSITIVE_INFINITY) <= now) this.ack(client, true);
  }

  /** Whether a client's input piles up beyond the amount that it may have sent. Waiting input of its earlier life comes on top. */
  #isTooMuch(client: ClientRecord): boolean {
    const { queuedBytes, entries } = client.input;
    const window = client.presence.phase === "remote" ? MAX_KEPT_INPUT_BYTES : client.inputWindow;
    return (
      queuedBytes > Math.min(earlierBytes(client), window) + window + MAX_STDIN_FRAME_BYTES ||
      entries.length > MAX_UNACKED_INPUT_ENTRIES
    );
  }

  #tellRefused(client: ClientRecord, code: "not_stdin_holder" | "stdin_closed"): void {
    const message = code === "stdin_closed" ? "the process takes no more input" : "not stdin holder";
    client.tell({ type: "error", code, message });
  }
}

/** Bytes that an earlier life of the client may have left waiting. The Durable Object enforces the limit for relayed clients. */
function earlierBytes({ presence, input }: ClientRecord): number {
  if (presence.phase === "greeted" || presence.phase === "greeting")
    return Math.max(0, presence.inputStart - input.taken);
  return presence.phase === "opening" ? 0 : MAX_KEPT_INPUT_BYTES;
}
