// Chooses the PTY output to draw on the person's terminal. Four reasons to look at it: a query that another client answers,
// or that is replayed, must not make this terminal type an answer into the shell; a line of our own must not fall into the
// middle of a sequence; modes that an application left on must be switched off when the terminal is given back; and some
// terminals stand still for hours over a number that no screen can show. The bytes of a file transfer are no terminal's (K6b).

import { FileTransfers, MAX_COLS, MAX_ROWS, QueryFilter, type ScreenSize, withinScreen } from "sandbox-stdio/core";
import { TerminalModes } from "./modes.ts";

/** CAN. */
const BREAK_OFF = Uint8Array.of(0x18);
const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;

export type Drawing = {
  /** The pieces to draw, in order. */
  readonly parts: readonly Uint8Array[];
  /** The output's offset up to which everything is in `parts`, or is not to be drawn. */
  readonly end: number;
};

export class TerminalOutput {
  readonly modes = new TerminalModes();
  readonly #filter: QueryFilter;
  readonly #transfers = new FileTransfers();
  readonly #size: () => ScreenSize;
  readonly #now: () => number;

  /**
   * @param mayAnswer Whether this terminal is the one to answer a query whose last byte stands at this offset.
   * @param size The terminal's.
   * @param now Milliseconds, of a clock that never goes back.
   */
  constructor(
    mayAnswer: (offset: number) => boolean,
    size: () => ScreenSize = () => ({ cols: MAX_COLS, rows: MAX_ROWS }),
    now: () => number = () => performance.now(),
  ) {
    this.#size = size;
    this.#now = now;
    this.#filter = this.#filterFor(mayAnswer);
  }

  /** Whether text of our own may be drawn now without spoiling a sequence. */
  get isBetweenSequences(): boolean {
    return this.#filter.isBetweenSequences && !this.isTransfer;
  }

  /** Whether a file is being sent through this terminal, either way. */
  get isTransfer(): boolean {
    return this.#transfers.isTransfer;
  }

  /** Follows keys, of a person who may type: this terminal may have answered the offer of a file. */
  typed(bytes: Uint8Array): void {
    this.#transfers.typed(bytes, this.#now());
  }

  /** Its person may type no more. */
  endTransfer(): void {
    this.#transfers.reset();
  }

  /**
   * Output that starts at `offset`. Where nothing has to be left out the parts are views of `bytes`.
   * @param live Output that ends before this is replay: a transfer in it is over.
   */
  draw(bytes: Uint8Array, offset: number, live = 0): Drawing {
    const replayed = Math.min(bytes.length, Math.max(0, live - offset));
    const parts = replayed === 0 ? [] : [...this.#drawText(bytes.subarray(0, replayed), offset)];
    let at = replayed;
    for (const piece of at === bytes.length ? [] : this.#transfers.cut(bytes.subarray(at), this.#now())) {
      parts.push(...(piece.isTransfer ? [piece.bytes] : this.#drawText(piece.bytes, offset + at)));
      at += piece.bytes.length;
    }
    return { parts, end: offset + bytes.length - this.#filter.heldBytes };
  }

  #drawText(bytes: Uint8Array, offset: number): readonly Uint8Array[] {
    this.#followShifts(bytes);
    return this.#filter.filter(bytes, offset);
  }

  /** A picture of the whole screen, which stands for everything before it and asks nothing. */
  redraw(snapshot: Uint8Array, offset: number): Drawing {
    const torn = this.#filter.isBetweenSequences ? [] : [BREAK_OFF];
    this.#transfers.reset();
    this.#filter.flush();
    const filter = this.#filterFor(() => false);
    const parts = filter.filter(snapshot, 0);
    this.#followShifts(snapshot);
    return { parts: [...torn, ...parts, filter.flush()], end: offset };
  }

  /** The held-back bytes, since nothing follows: the output has ended, or is missing from here on. */
  flush(): Uint8Array {
    this.#transfers.reset();
    return this.#filter.breakOff();
  }

  #filterFor(mayAnswer: (offset: number) => boolean): QueryFilter {
    return new QueryFilter(
      mayAnswer,
      (sequence) => this.modes.follow(sequence),
      (csi) => withinScreen(csi, this.#size()),
    );
  }

  /** Single bytes that switch the character set: the last one counts. */
  #followShifts(bytes: Uint8Array): void {
    const [shiftedOut, shiftedIn] = [bytes.lastIndexOf(SHIFT_OUT), bytes.lastIndexOf(SHIFT_IN)];
    if (shiftedOut !== shiftedIn) this.modes.shift(shiftedOut > shiftedIn);
  }
}
