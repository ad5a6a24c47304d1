// One pane's input on its way to tmux. Each byte is typed once even if the control client is lost, since tmux keeps the count.

import { type CommandLine, type } from "./commands.ts";

/** Most bytes of one `send-keys`: each is a word of the command. */
const MAX_TYPED_BYTES = 512;
/** Most commands in flight to tmux. */
const MAX_TYPED_COMMANDS = 8;
/** Most unconfirmed bytes of a pane; beyond it `write` takes less. */
const MAX_PANE_INPUT_BYTES = 64 * 1024;

export class PaneInput {
  readonly #pane: string;
  /** Unconfirmed input, oldest first, in pieces of at most one command. */
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  /** How many of the pieces are in flight. */
  #sent = 0;
  /** Count of confirmed bytes. */
  #taken: number;

  /** @param taken The count of this pane's input that tmux has stored. */
  constructor(pane: string, taken: number) {
    this.#pane = pane;
    this.#taken = taken;
  }

  get taken(): number {
    return this.#taken;
  }

  /** How many bytes {@link write} would take now. */
  get room(): number {
    return MAX_PANE_INPUT_BYTES - this.#bytes;
  }

  /** @returns How many bytes were copied. */
  write(bytes: Uint8Array): number {
    const length = Math.min(bytes.length, MAX_PANE_INPUT_BYTES - this.#bytes);
    for (let at = 0; at < length; at += MAX_TYPED_BYTES) {
      this.#pieces.push(new Uint8Array(bytes.subarray(at, Math.min(length, at + MAX_TYPED_BYTES))));
    }
    this.#bytes += length;
    return length;
  }

  /** The next command; undefined if enough are in flight or nothing is left. */
  next(): CommandLine | undefined {
    const piece = this.#pieces[this.#sent];
    if (piece === undefined || this.#sent >= MAX_TYPED_COMMANDS) return undefined;
    let count = this.#taken;
    for (let i = 0; i <= this.#sent; i++) count += this.#pieces[i]?.length ?? 0;
    this.#sent++;
    return type(this.#pane, piece, count);
  }

  /** tmux has run the oldest command in flight. @returns The number of its bytes. */
  confirm(): number {
    const piece = this.#pieces.shift();
    if (piece === undefined || this.#sent === 0)
      throw new Error(`Cannot confirm input of ${this.#pane}: none was sent`);
    this.#sent--;
    this.#bytes -= piece.length;
    this.#taken += piece.length;
    return piece.length;
  }

  /** There is a new control client: drops bytes that tmux has taken meanwhile. @returns Their number. */
  restore(taken: number): number {
    const before = this.#taken;
    this.#sent = 0;
    while (this.#pieces.length > 0 && this.#taken < taken) {
      const piece = this.#pieces.shift();
      this.#taken += piece?.length ?? 0;
      this.#bytes -= piece?.length ?? 0;
    }
    return this.#taken - before;
  }
}
