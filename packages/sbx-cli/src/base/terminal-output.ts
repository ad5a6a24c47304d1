// Chooses the PTY output to draw on the person's terminal. Five reasons to look at it: a query that another client answers,
// or that is replayed, must not make this terminal type an answer into the shell; a replay rings and copies nothing, and leaves
// the person's own scrollback; a line of our own must not fall into the middle of a sequence; modes that a program left on
// must be switched off; and some terminals stand still for hours over a number that no screen can show. The bytes of a file
// transfer are no terminal's (K6b).

import {
  FileTransfers,
  LeftModes,
  MAX_COLS,
  MAX_ROWS,
  type ProgramMode,
  QueryFilter,
  type ScreenSize,
  type Sequence,
  TerminalModes,
  withinScreen,
} from "sandbox-stdio/core";

/** CAN. */
const BREAK_OFF = Uint8Array.of(0x18);
const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;
const RESET = "c";
const ERASE_SCROLLBACK = /^0*3J$/;

export type Drawing = {
  /** The pieces to draw, in order. */
  readonly parts: readonly Uint8Array[];
  /** The output's offset up to which everything is in `parts`, or is not to be drawn. */
  readonly end: number;
};

export class TerminalOutput {
  readonly modes = new TerminalModes();
  readonly #filter: QueryFilter;
  readonly #left = new LeftModes(this.modes);
  /** Output before this offset is replay. */
  #live = 0;
  /** What a program that has ended had left on, since it was asked for last. */
  #leftOn: readonly ProgramMode[] = [];
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
    this.#filter = this.#filterFor(mayAnswer, () => this.#live);
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
    this.#live = live;
    const replayed = Math.min(bytes.length, Math.max(0, live - offset));
    const parts = replayed === 0 ? [] : [...this.#filterText(this.#filter, bytes.subarray(0, replayed), offset)];
    let at = replayed;
    for (const piece of at === bytes.length ? [] : this.#transfers.cut(bytes.subarray(at), this.#now())) {
      const { bytes: cut, isTransfer } = piece;
      parts.push(...(isTransfer ? [cut] : this.#filterText(this.#filter, cut, offset + at)));
      at += piece.bytes.length;
    }
    return { parts, end: offset + bytes.length - this.#filter.heldBytes };
  }

  #filterText(filter: QueryFilter, bytes: Uint8Array, offset: number): readonly Uint8Array[] {
    const isShifted = this.#followShifts(bytes);
    const parts = filter.filter(bytes, offset);
    // Last: a sequence may have made it forgotten before.
    if (isShifted) this.modes.shift(true);
    return parts;
  }

  /** A picture of the whole screen, which stands for everything before it and asks nothing. */
  redraw(snapshot: Uint8Array, offset: number): Drawing {
    const torn = this.#filter.isBetweenSequences ? [] : [BREAK_OFF];
    this.#transfers.reset();
    this.#filter.flush();
    const filter = this.#filterFor(
      () => false,
      () => Number.POSITIVE_INFINITY,
    );
    const parts = this.#filterText(filter, snapshot, 0);
    return { parts: [...torn, ...parts, filter.flush()], end: offset };
  }

  /** The held-back bytes, since nothing follows: the output has ended, or is missing from here on. */
  flush(): Uint8Array {
    this.#transfers.reset();
    return this.#filter.breakOff();
  }

  /** What programs that have ended since this was asked for last had left on: it has been undone. */
  takeLeftOn(): readonly ProgramMode[] {
    const left = this.#leftOn;
    this.#leftOn = [];
    return left;
  }

  /** The sequence that gives the terminal back as it was found. */
  get resetSequence(): string {
    return this.modes.resetSequence(this.#size().cols);
  }

  #filterFor(mayAnswer: (offset: number) => boolean, replayEnd: () => number): QueryFilter {
    return new QueryFilter(mayAnswer, {
      replayEnd,
      follow: (sequence) => this.#follow(sequence),
      mend: (kind, text, at) => this.#mend(kind, text, at < replayEnd()),
    });
  }

  #follow(sequence: Sequence): string | undefined {
    this.modes.follow(sequence);
    const left = sequence.kind === "osc" ? this.#left.follow(sequence.text) : [];
    if (left.length === 0) return undefined;
    this.#leftOn = left;
    return this.modes.takeBack(left);
  }

  #mend(kind: "csi" | "escape", text: string, isReplay: boolean): string | undefined {
    if (isReplay && kind === "escape" && text === RESET) return this.#startOver();
    if (isReplay && kind === "csi" && ERASE_SCROLLBACK.test(text)) return "";
    return kind === "csi" ? withinScreen(text, this.#size()) : undefined;
  }

  /** In place of a full reset, which would take what the person had on the terminal before: all of it scrolls away instead. */
  #startOver(): string {
    const { rows } = this.#size();
    return `${this.resetSequence}\x1b[${rows}H${"\n".repeat(rows)}\x1b[H`;
  }

  /** Single bytes that switch the character set: the last one counts. @returns Whether it is the other one. */
  #followShifts(bytes: Uint8Array): boolean {
    const [shiftedOut, shiftedIn] = [bytes.lastIndexOf(SHIFT_OUT), bytes.lastIndexOf(SHIFT_IN)];
    if (shiftedOut < shiftedIn) this.modes.shift(false);
    return shiftedOut > shiftedIn;
  }
}
