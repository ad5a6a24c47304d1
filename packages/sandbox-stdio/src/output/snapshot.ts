// A snapshot, which redraws a terminal's screen. Knows nothing of who draws it, or why.

/** The screen of a PTY session at one offset of its log. */
export type Snapshot = {
  /** The log continues here, never inside an escape sequence or a UTF-8 character. */
  readonly offset: number;
  /** At most 64 KiB of output that resets any terminal of this size and draws the screen. Contains no queries. */
  readonly bytes: Uint8Array;
  readonly cols: number;
  readonly rows: number;
  /** False if output was lost or skipped: the screen is then a guess. */
  readonly isExact: boolean;
};
