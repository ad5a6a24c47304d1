// A snapshot, which redraws a terminal's screen. Does not know which part draws it, or why.

/** The screen of a PTY session as it is at one offset of its log. */
export type Snapshot = {
  /** The log goes on from here: never inside an escape sequence or a UTF-8 character. */
  readonly offset: number;
  /** At most 64 KiB of output that, written to any terminal of this size, resets it and draws the screen. No queries. */
  readonly bytes: Uint8Array;
  readonly cols: number;
  readonly rows: number;
  /** False where output was lost or skipped, so that the screen is a good guess only. */
  readonly isExact: boolean;
};
