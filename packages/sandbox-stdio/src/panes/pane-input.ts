// The input of one pane, on its way to tmux: each byte is typed once, also when the control client is lost in between: tmux itself keeps the count of the bytes that it has taken.

import { type CommandLine, type } from "./commands.ts";

/** Bytes of one `send-keys`: each is a word of the command. */
export const MAX_TYPED_BYTES = 512;
/** Commands on their way to tmux at most. */
export const MAX_TYPED_COMMANDS = 8;
/** Bytes that a pane takes before the first is confirmed; beyond them `write` takes less. */
export const MAX_PANE_INPUT_BYTES = 64 * 1024;

export class PaneInput {
  readonly #pane: string;
  /** Input that tmux has not confirmed, oldest first, in pieces of one command at most. */
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  /** How many of the pieces are on their way. */
  #sent = 0;
  /** The count of bytes that tmux has confirmed. */
  #taken: number;

  /** @param taken The bytes of this pane's input that tmux says it has taken so far. */
  constructor(pane: string, taken: number) {
    this.#pane = pane;
    this.#taken = taken;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Bytes that {@link write} would take now. */
  get room(): number {
    return MAX_PANE_INPUT_BYTES - this.#bytes;
  }

  /** @returns How many bytes it took, copied. */
  write(bytes: Uint8Array): number {
    const length = Math.min(bytes.length, MAX_PANE_INPUT_BYTES - this.#bytes);
    for (let at = 0; at < length; at += MAX_TYPED_BYTES) {
      this.#pieces.push(new Uint8Array(bytes.subarray(at, Math.min(length, at + MAX_TYPED_BYTES))));
    }
    this.#bytes += length;
    return length;
  }

  /** The next command; undefined while enough are on their way, or nothing is left. */
  next(): CommandLine | undefined {
    const piece = this.#pieces[this.#sent];
    if (piece === undefined || this.#sent >= MAX_TYPED_COMMANDS) return undefined;
    let count = this.#taken;
    for (let i = 0; i <= this.#sent; i++) count += this.#pieces[i]?.length ?? 0;
    this.#sent++;
    return type(this.#pane, piece, count);
  }

  /** tmux has run the oldest command that was on its way. @returns The bytes that it took. */
  confirm(): number {
    const piece = this.#pieces.shift();
    if (piece === undefined || this.#sent === 0)
      throw new Error(`Cannot confirm input of ${this.#pane}: none was sent`);
    this.#sent--;
    this.#bytes -= piece.length;
    this.#taken += piece.length;
    return piece.length;
  }

  /** The control client is another one: bytes that tmux has taken meanwhile are not typed again. @returns Their number. */
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
