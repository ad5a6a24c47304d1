// Tracks whether only the length of a client's input is recorded (I11): the client's request, the server's answer, and the
// messages still to send.

export class Secrecy {
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
