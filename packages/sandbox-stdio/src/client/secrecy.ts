// Whether only the length of a client's input is to be on record (I11): the client's wish, the server's word on it,
// and the messages that are still to be sent.

export class Secrecy {
  /**
   * `unknown`: there was no word of it, and an earlier life may have asked for it. `ending`: to be ended once nothing is left that
   * was written in secret and might be sent again.
   */
  #phase: "unknown" | "off" | "on" | "ending" = "unknown";
  readonly #say: (on: boolean) => void;

  /** @param say Tells the server, where it can be told now. */
  constructor(say: (on: boolean) => void) {
    this.#say = say;
  }

  get isOn(): boolean {
    return this.#phase === "on";
  }

  /** Whether it holds of input that may have to be sent again: the server is told before, it may have forgotten. */
  get isHeld(): boolean {
    return this.#phase === "on" || this.#phase === "ending";
  }

  /** Asks for it, or for its end. @param isSettled Whether nothing is left that might be sent again. */
  set(on: boolean, isSettled: boolean): void {
    if (on === this.isOn) return;
    const wasHeld = this.isHeld;
    this.#phase = on ? "on" : "ending";
    if (on && !wasHeld) this.#say(true);
    if (isSettled) this.settled();
  }

  /** The server says whether it holds. @returns Whether {@link isOn} is another than before. */
  told(on: boolean, isSettled: boolean): boolean {
    const wasOn = this.isOn;
    if (!on) this.#phase = "off";
    else if (this.#phase === "unknown") this.#phase = "on";
    else if (this.#phase === "off") {
      // That it was to end got lost with a connection.
      this.#phase = "ending";
      if (isSettled) this.settled();
    }
    return this.isOn !== wasOn;
  }

  /** Nothing is left that might be sent again, and the server can be told. */
  settled(): void {
    if (this.#phase !== "ending") return;
    this.#phase = "off";
    this.#say(false);
  }
}
