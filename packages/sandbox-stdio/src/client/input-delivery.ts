// Delivers a client's input: sends it while connected, resends it after a break, ends it, and drops it if it is refused.
// Also announces whether it is secret, before the input itself.

import { MAX_STDIN_FRAME_BYTES, MAX_UNACKED_INPUT_BYTES } from "../wire/constants.ts";
import type { ClientMessage, Hello, ServerMessage } from "../wire/control.ts";
import type { ClientEvents, KeptInput } from "./client-types.ts";
import { InputSender } from "./input-sender.ts";
import { followParticipants, mayType, type Participants, participantsOf, yourAsk } from "./participants.ts";

export interface InputDeliveryPorts {
  readonly events: Pick<ClientEvents, "discarded" | "inputDrained">;
  /** Whether the client is connected and greeted. */
  isAttached(): boolean;
  /** Sends a frame, a view of the written bytes, which never change. Called only while attached. */
  send(frame: Uint8Array): void;
  /** Sends a message if attached. */
  control(message: ClientMessage): void;
}

export class InputDelivery {
  readonly #ports: InputDeliveryPorts;
  readonly #sender: InputSender;
  readonly #isRepeated: boolean;
  readonly #secrecy: Secrecy;
  #eofAt: number | undefined;
  /** Whether this connection has sent the end of input. */
  #isEofSent = false;
  /** Whether the end of input was refused, perhaps because of another client: it is resent when that changes. */
  #isEofRefused = false;
  /** Whether a client left or the keyboard moved since the end of input was sent: the refusal may be older. */
  #hasChanged = false;
  /** @see isClosed */
  #isClosed = false;
  /** The participants, and the holder of the keyboard. */
  #people: Participants | undefined;
  #isSecretForAsk = false;

  /** Input of an earlier life whose bytes are gone: the missing part is reported. */
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

  /** Bytes that the process has not taken yet. */
  get unackedBytes(): number {
    return this.#sender.length;
  }

  /** @see StdioClient.suspend */
  get kept(): KeptInput | undefined {
    const kept = this.#sender.kept;
    if (kept !== undefined && this.#isOvertaken) return { offset: undefined, length: kept.length };
    if (this.#forgotten === undefined && (kept === undefined || !this.isSecretHeld)) return kept;
    // One count for both: nothing written since was sent before the greeting, which covers the earlier input.
    const { offset, length } = this.#forgotten ?? { offset: kept?.offset, length: 0 };
    return { offset, length: length + (kept?.length ?? 0) };
  }

  get hasRoom(): boolean {
    return this.#sender.hasRoom;
  }

  /** Where a new connection says that this input continues; undefined: after the input that the session has. */
  get resumeAt(): string | undefined {
    if (this.#sender.isAnchored) return String(this.#sender.acked);
    return this.#isRepeated ? undefined : "new";
  }

  /** Keeps a view of `bytes`, which must not change until they are acknowledged. */
  write(bytes: Uint8Array): void {
    this.#sender.write(bytes);
    this.#flush();
  }

  /** Ends the input after the bytes written so far. */
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

  /** The session reports whether this input is secret. @returns Whether that changed. */
  tellSecret(on: boolean): boolean {
    return this.#secrecy.told(on, this.#isSettled);
  }

  /** Whether to announce secrecy before anything is written: the session may have forgotten it. */
  get isSecretHeld(): boolean {
    return this.#secrecy.isHeld;
  }

  /** A new connection begins. */
  connect(): void {
    this.#isEofSent = false;
  }

  /** Whether the session has other input in the place of input that is still kept here. */
  isOvertaken(hello: Hello): boolean {
    const isAhead = hello.stdin > this.#sender.end && this.#sender.length > 0;
    this.#isOvertaken = isAhead && this.#sender.isAnchored && !this.#isRepeated;
    return this.#isOvertaken;
  }

  /** Whether the process takes no more input. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Continues as the greeting says; nothing is sent before {@link resume}. */
  rewind(hello: Hello): void {
    const isFirst = !this.#sender.isAnchored;
    this.#people = participantsOf(hello);
    // The keyboard was given back while this client was away.
    if (this.#isSecretForAsk && hello.holder !== hello.you.id) this.#followAsk(false);
    this.#sender.windowBytes = hello.inputWindow ?? MAX_UNACKED_INPUT_BYTES;
    this.#sender.rewind(hello.stdin);
    this.#reportMissing(hello.stdin);
    if (isFirst && this.#eofAt !== undefined) this.#eofAt += hello.stdin;
    this.#isEofRefused = false;
  }

  #reportMissing(settled: number): void {
    if (this.#forgotten === undefined) return;
    const { offset = settled, length } = this.#forgotten;
    this.#forgotten = undefined;
    const missing = Math.max(0, offset + length - Math.max(offset, settled));
    if (missing > 0) this.#ports.events.discarded(new Uint8Array(missing));
  }

  /** The client is attached: sends waiting input. */
  resume(): void {
    if (this.#isSettled) this.#secrecy.settled();
    this.#flush();
    if (this.#sender.hasRoom) this.#ports.events.inputDrained();
  }

  /** The session has taken the input before `offset`. @returns Whether that is new. */
  ack(offset: number): boolean {
    const isNew = offset > this.#sender.acked;
    this.#sender.ack(offset);
    this.resume();
    return isNew;
  }

  /** Handles any other message that may concern this input. */
  handle(message: ServerMessage): void {
    this.#handleEofRefusal(message);
    this.#handleRefusal(message);
    if (message.type === "ask_state") this.#followAsk(message.answer === "expired");
  }

  /** Resends an end of input that was refused because of another driver, once a driver has gone. */
  #handleEofRefusal(message: ServerMessage): void {
    if (message.type === "error" && message.code === "not_stdin_holder") this.#isEofRefused = this.#isEofSent;
    else if (message.type === "leave" || message.type === "stdin_holder") this.#hasChanged = true;
    if (!this.#isEofRefused || !this.#hasChanged) return;
    this.#isEofRefused = false;
    this.#isEofSent = false;
    this.#flush();
  }

  /**
   * Input for a secret ask is secret until the ask ends (K13), but not if it expires: the person may still be typing.
   */
  #followAsk(isExpired: boolean): void {
    const isAsked = this.#people !== undefined && yourAsk(this.#people)?.secret === true;
    if (isAsked && !this.isSecret) {
      this.#isSecretForAsk = true;
      this.setSecret(true);
    } else if (!isAsked && this.#isSecretForAsk) {
      this.#isSecretForAsk = false;
      if (!isExpired) this.setSecret(false);
    }
  }

  /** While input is refused, the unsent rest is dropped: it would be refused too, and half a paste is useless. */
  #handleRefusal(message: ServerMessage): void {
    const wasTaken = this.#isTaken;
    if (this.#people !== undefined) this.#people = followParticipants(this.#people, message);
    if (this.#isTaken && !wasTaken) this.#flush();
    if (message.type === "error" && message.code === "stdin_closed") this.#isClosed = true;
    if (message.type !== "error" || this.#sender.isAllSent) return;
    // The server may refuse an end of input to a client that may still type.
    const isOfInput = message.code === "stdin_closed" || (message.code === "not_stdin_holder" && !this.#isTaken);
    if (isOfInput) this.#discardUnsent();
  }

  #discardUnsent(): void {
    for (const bytes of this.#sender.dropUnsent()) this.#ports.events.discarded(bytes);
    if (this.#eofAt !== undefined) this.#eofAt = Math.min(this.#eofAt, this.#sender.end);
  }

  /** Whether this client believes that it may type. If not, it sends at most one frame, which is refused (L10b). */
  get #isTaken(): boolean {
    return this.#people !== undefined && mayType(this.#people);
  }

  /** Whether everything written has been taken, and the connection is up. */
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

/**
 * Tracks whether only the length of a client's input is recorded (I11): the client's request, the server's answer, and the
 * messages still to send.
 */
class Secrecy {
  /**
   * `unknown`: not requested yet, but an earlier life may have done so. `ending`: ends once no secret input is left that might be
   * resent.
   */
  #phase: "unknown" | "off" | "on" | "ending" = "unknown";
  readonly #send: (on: boolean) => void;

  /** @param say Tells the server, if connected. */
  constructor(say: (on: boolean) => void) {
    this.#send = say;
  }

  get isOn(): boolean {
    return this.#phase === "on";
  }

  /** Whether input that may be resent is secret: the server is told first, since it may have forgotten. */
  get isHeld(): boolean {
    return this.#phase === "on" || this.#phase === "ending";
  }

  /** Requests secrecy or its end. @param isSettled Whether no input is left that might be resent. */
  set(on: boolean, isSettled: boolean): void {
    if (on === this.isOn) return;
    const wasHeld = this.isHeld;
    this.#phase = on ? "on" : "ending";
    if (on && !wasHeld) this.#send(true);
    if (isSettled) this.settled();
  }

  /** The server reports whether input is secret. @returns Whether {@link isOn} changed. */
  told(on: boolean, isSettled: boolean): boolean {
    const wasOn = this.isOn;
    if (!on) this.#phase = "off";
    else if (this.#phase === "unknown") this.#phase = "on";
    else if (this.#phase === "off") {
      // The request to end it was lost with a connection.
      this.#phase = "ending";
      if (isSettled) this.settled();
    }
    return this.isOn !== wasOn;
  }

  /** No input is left that might be resent, and the server can be told. */
  settled(): void {
    if (this.#phase !== "ending") return;
    this.#phase = "off";
    this.#send(false);
  }
}
