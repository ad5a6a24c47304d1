// How much a client still lacks of the log as it was when the client came. Counted in bytes of the log: it may be sent fewer.

export class Replay {
  /** Undefined before the greeting, and once the client has all. */
  #left: number | undefined;

  /** So many bytes are there that the client does not have. */
  begin(bytes: number): void {
    this.#left = bytes;
  }

  /** Whether it has not begun, or the client has all. */
  get isOver(): boolean {
    return this.#left === undefined;
  }

  /** So many more were sent, or are gone. @returns Whether the client has all now, for the first time. */
  pass(bytes: number): boolean {
    if (this.#left === undefined) return false;
    this.#left -= bytes;
    if (this.#left > 0) return false;
    this.#left = undefined;
    return true;
  }
}
