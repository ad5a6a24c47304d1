// Filters PTY output for the local terminal: queries that another client answers, or replayed ones, must not make it type; a replay
// must not ring, copy or erase scrollback; our notices must not split a sequence; modes left on are reset; numbers are bounded to
// the screen, since some terminals hang otherwise. The bytes of a file transfer pass unchanged (K6b).

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
  /** The pieces to draw. */
  readonly parts: readonly Uint8Array[];
  /** Offset up to which everything is drawn or filtered out. */
  readonly end: number;
};

export class TerminalOutput {
  readonly modes = new TerminalModes();
  readonly #filter: QueryFilter;
  readonly #left = new LeftModes(this.modes);
  /** Output before this offset is replay. */
  #live = 0;
  /** Modes that an ended program left on, since the last call of {@link takeLeftOn}. */
  #leftOn: readonly ProgramMode[] = [];
  readonly #transfers = new FileTransfers();
  readonly #size: () => ScreenSize;
  readonly #now: () => number;

  /**
   * @param mayAnswer Whether this terminal answers a query whose last byte is at this offset.
   * @param size The terminal's size.
   * @param now Monotonic milliseconds.
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

  /** Whether our own text can be drawn without splitting a sequence. */
  get isBetweenSequences(): boolean {
    return this.#filter.isBetweenSequences && !this.isTransfer;
  }

  /** Whether a file transfer goes through this terminal, either way. */
  get isTransfer(): boolean {
    return this.#transfers.isTransfer;
  }

  /** Follows typed keys: this terminal may have accepted a file transfer. */
  typed(bytes: Uint8Array): void {
    this.#transfers.typed(bytes, this.#now());
  }

  /** The person may no longer type. */
  endTransfer(): void {
    this.#transfers.reset();
  }

  /** Filters output that starts at `offset`. Unchanged parts are views. @param live Output that ends before it is replay. */
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
    // After the filter: a sequence may have reset it.
    if (isShifted) this.modes.shift(true);
    return parts;
  }

  /** A snapshot of the screen, which replaces everything before it. */
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

  /** The held-back bytes, when the output ends or has a gap. */
  flush(): Uint8Array {
    this.#transfers.reset();
    return this.#filter.breakOff();
  }

  /** The modes that ended programs left on since the last call. They have been reset. */
  takeLeftOn(): readonly ProgramMode[] {
    const left = this.#leftOn;
    this.#leftOn = [];
    return left;
  }

  /** The sequence that restores the terminal. */
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

  /** Instead of a full reset, which would erase what was on the terminal before: scrolls it away. */
  #startOver(): string {
    const { rows } = this.#size();
    return `${this.resetSequence}\x1b[${rows}H${"\n".repeat(rows)}\x1b[H`;
  }

  /** Follows the bytes SO and SI. @returns Whether the alternate character set is on. */
  #followShifts(bytes: Uint8Array): boolean {
    const [shiftedOut, shiftedIn] = [bytes.lastIndexOf(SHIFT_OUT), bytes.lastIndexOf(SHIFT_IN)];
    if (shiftedOut < shiftedIn) this.modes.shift(false);
    return shiftedOut > shiftedIn;
  }
}
