// A client's input until the process has it: sent while the connection is up, sent again after a break, ended, and dropped if
// it is refused. Also whether it is secret, which is told before it.

import { MAX_STDIN_FRAME_BYTES, MAX_UNACKED_INPUT_BYTES } from "../wire/constants.ts";
import type { ClientMessage, Hello, ServerMessage } from "../wire/control.ts";
import type { ClientEvents, KeptInput } from "./client-types.ts";
import { InputSender } from "./input-sender.ts";
import { followParticipants, mayType, type Participants, participantsOf, yourAsk } from "./participants.ts";
import { Secrecy } from "./secrecy.ts";

export interface InputDeliveryPorts {
  readonly events: Pick<ClientEvents, "discarded" | "inputDrained">;
  /** Whether the client is greeted and connected. */
  isAttached(): boolean;
  /** Sends a frame, a view of the written bytes, which stay as they are. Called only while the client is attached. */
  send(frame: Uint8Array): void;
  /** Sends a message if the client is attached. */
  control(message: ClientMessage): void;
}

export class InputDelivery {
  readonly #ports: InputDeliveryPorts;
  readonly #sender: InputSender;
  readonly #isRepeated: boolean;
  readonly #secrecy: Secrecy;
  #eofAt: number | undefined;
  /** Whether this connection has told the end of input. */
  #isEofSent = false;
  /** Whether another client's presence may have been why it was refused: then it is told again when that changes. */
  #isEofRefused = false;
  /** Whether a client has gone, or the keyboard has moved, since the end of input was told: the refusal may be older. */
  #hasChanged = false;
  /** @see isClosed */
  #isClosed = false;
  /** The participants, and the holder of the keyboard. */
  #people: Participants | undefined;
  #isSecretForAsk = false;

  /** Input of an earlier life, without its bytes: what of it is missing is told. */
  #forgotten: KeptInput | undefined;
  /** @see isOvertaken */
  #isOvertaken = false;

  /**
   * @param isRepeated @see ClientOptions.repeatsInput
   * @param kept @see ClientOptions.keptInput
   */
  constructor(isRepeated: boolean, kept: KeptInput | undefined, ports: InputDeliveryPorts) {
    this.#ports = ports;
    this.#isRepeated = isRepeated;
    this.#sender = new InputSender(isRepeated);
    if (kept?.bytes === undefined) this.#forgotten = kept;
    else this.#sender.restore(kept);
    this.#secrecy = new Secrecy((on) => ports.control({ type: "secret", on }));
  }

  /** Bytes that are written and not yet taken by the process. */
  get unackedBytes(): number {
    return this.#sender.length;
  }

  /** @see StdioClient.suspend */
  get kept(): KeptInput | undefined {
    const kept = this.#sender.kept;
    if (kept !== undefined && this.#isOvertaken) return { offset: undefined, length: kept.length };
    if (this.#forgotten === undefined && (kept === undefined || !this.isSecretHeld)) return kept;
    // One count for both: nothing of what was written since was sent before the greeting, which tells of the earlier.
    const { offset, length } = this.#forgotten ?? { offset: kept?.offset, length: 0 };
    return { offset, length: length + (kept?.length ?? 0) };
  }

  get hasRoom(): boolean {
    return this.#sender.hasRoom;
  }

  /** Where a new connection says that this input goes on; undefined: where the session has it. */
  get resumeAt(): string | undefined {
    if (this.#sender.isAnchored) return String(this.#sender.acked);
    return this.#isRepeated ? undefined : "new";
  }

  /** Keeps a view of `bytes` until they are acknowledged: they must stay as they are. */
  write(bytes: Uint8Array): void {
    this.#sender.write(bytes);
    this.#flush();
  }

  /** No input after the bytes that have been written. */
  end(): void {
    this.#eofAt = this.#sender.end;
    this.#flush();
  }

  get isSecret(): boolean {
    return this.#secrecy.isOn;
  }

  setSecret(on: boolean): void {
    // The session would not end it (K13).
    if (!on && this.#isSecretForAsk) return;
    this.#secrecy.set(on, this.#isSettled);
  }

  /** The session says whether this input is secret. @returns Whether the client is to be told. */
  tellSecret(on: boolean): boolean {
    return this.#secrecy.told(on, this.#isSettled);
  }

  /** Whether the session must be told that this input is secret before anything is written: it may have forgotten it. */
  get isSecretHeld(): boolean {
    return this.#secrecy.isHeld;
  }

  /** A new connection is made. */
  connect(): void {
    this.#isEofSent = false;
  }

  /** Whether the session has taken input here that this client never wrote, in the place of input that it still keeps. */
  isOvertaken(hello: Hello): boolean {
    const isAhead = hello.stdin > this.#sender.end && this.#sender.length > 0;
    this.#isOvertaken = isAhead && this.#sender.isAnchored && !this.#isRepeated;
    return this.#isOvertaken;
  }

  /** Whether the process takes no more input, for good. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Goes on as the greeting says; nothing is sent before {@link resume}. */
  rewind(hello: Hello): void {
    const isFirst = !this.#sender.isAnchored;
    this.#people = participantsOf(hello);
    // It was given back while this client was away.
    if (this.#isSecretForAsk && hello.holder !== hello.you.id) this.#hearOfAsk(false);
    this.#sender.windowBytes = hello.inputWindow ?? MAX_UNACKED_INPUT_BYTES;
    this.#sender.rewind(hello.stdin);
    this.#tellForgotten(hello.stdin);
    if (isFirst && this.#eofAt !== undefined) this.#eofAt += hello.stdin;
    this.#isEofRefused = false;
  }

  #tellForgotten(settled: number): void {
    if (this.#forgotten === undefined) return;
    const { offset = settled, length } = this.#forgotten;
    this.#forgotten = undefined;
    const missing = Math.max(0, offset + length - Math.max(offset, settled));
    if (missing > 0) this.#ports.events.discarded(new Uint8Array(missing));
  }

  /** The client is attached: sends the waiting input. */
  resume(): void {
    if (this.#isSettled) this.#secrecy.settled();
    this.#flush();
    if (this.#sender.hasRoom) this.#ports.events.inputDrained();
  }

  /** The session has taken the input before `offset`. @returns Whether that is news. */
  ack(offset: number): boolean {
    const isNews = offset > this.#sender.acked;
    this.#sender.ack(offset);
    this.resume();
    return isNews;
  }

  /** The session says something else, which may be about this input. */
  hear(message: ServerMessage): void {
    this.#hearOfEof(message);
    this.#hearOfRefusal(message);
    if (message.type === "ask_state") this.#hearOfAsk(message.answer === "expired");
  }

  /** An end of input that was refused, since another driver seemed to be there, is told again when one has gone. */
  #hearOfEof(message: ServerMessage): void {
    if (message.type === "error" && message.code === "not_stdin_holder") this.#isEofRefused = this.#isEofSent;
    else if (message.type === "leave" || message.type === "stdin_holder") this.#hasChanged = true;
    if (!this.#isEofRefused || !this.#hasChanged) return;
    this.#isEofRefused = false;
    this.#isEofSent = false;
    this.#flush();
  }

  /**
   * Input for a secret ask is secret (K13). It ends with the ask, but for one whose time is over: its person may be typing.
   */
  #hearOfAsk(isOver: boolean): void {
    const isAsked = this.#people !== undefined && yourAsk(this.#people)?.secret === true;
    if (isAsked && !this.isSecret) {
      this.#isSecretForAsk = true;
      this.setSecret(true);
    } else if (!isAsked && this.#isSecretForAsk) {
      this.#isSecretForAsk = false;
      if (!isOver) this.setSecret(false);
    }
  }

  /** While input is refused, the unsent rest would be refused, too: half a paste is no better than none. */
  #hearOfRefusal(message: ServerMessage): void {
    const wasTaken = this.#isTaken;
    if (this.#people !== undefined) this.#people = followParticipants(this.#people, message);
    if (this.#isTaken && !wasTaken) this.#flush();
    if (message.type === "error" && message.code === "stdin_closed") this.#isClosed = true;
    if (message.type !== "error" || this.#sender.isAllSent) return;
    // The server may refuse an end of input to a client that may type.
    const isOfInput = message.code === "stdin_closed" || (message.code === "not_stdin_holder" && !this.#isTaken);
    if (isOfInput) this.#discardUnsent();
  }

  #discardUnsent(): void {
    for (const bytes of this.#sender.dropUnsent()) this.#ports.events.discarded(bytes);
    if (this.#eofAt !== undefined) this.#eofAt = Math.min(this.#eofAt, this.#sender.end);
  }

  /** As far as this client knows. If not, it has one frame on its way at most, since that is refused (L10b). */
  get #isTaken(): boolean {
    return this.#people !== undefined && mayType(this.#people);
  }

  /** Whether all that was written has been taken, and the connection is up. */
  get #isSettled(): boolean {
    return this.#ports.isAttached() && this.#sender.length === 0;
  }

  #flush(): void {
    if (!this.#ports.isAttached()) return;
    if (this.#isClosed) this.#discardUnsent();
    const windowBytes = this.#isTaken ? undefined : MAX_STDIN_FRAME_BYTES;
    const next = () => this.#sender.next(windowBytes);
    for (let frame = next(); frame !== undefined; frame = next()) this.#ports.send(frame);
    if (this.#eofAt === undefined || !this.#sender.isAllSent || this.#isEofSent) return;
    this.#isEofSent = true;
    this.#hasChanged = false;
    this.#ports.control({ type: "eof", offset: this.#eofAt });
  }
}
