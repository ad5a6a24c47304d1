// A program's *write* on the inner hop (W1): the input and the answer. hop/program-calls.ts executes it.

/** Most encoded bytes of one call (W1). */
export const MAX_WRITE_BYTES = 65_536;

/** Terminal modes set by the program. */
export type InputModes = {
  /** DECCKM: arrows, Home and End are sent with ESC O. */
  readonly applicationCursor: boolean;
  /** DECKPAM: the keypad sends ESC O sequences in place of its characters. */
  readonly applicationKeypad: boolean;
  /** LNM: Enter sends CR LF. */
  readonly newLine: boolean;
  readonly bracketedPaste: boolean;
};

export type WriteInput = {
  /** Latin-1: one character per byte. */
  readonly bytes?: string | undefined;
  readonly keys?: readonly string[] | undefined;
  readonly paste?: string | undefined;
  readonly enter?: boolean | undefined;
};

/** A write that is typed once even if it is sent again (E5). */
export type WriteOnce = {
  readonly id: string;
  readonly hash: string;
  /** Total bytes of the group of writes that this one begins: all are typed, or none. */
  readonly whole: number;
};

export type WriteCommand = WriteInput & {
  readonly client: string;
  /** Start position in the writer's count. */
  readonly at: number;
  readonly eof?: boolean | undefined;
  /** The Durable Object sent this command on an earlier hop and does not know the outcome. */
  readonly again?: boolean | undefined;
  readonly once?: WriteOnce | undefined;
};

/** The range that was typed, and the modes used to encode it, for the record. */
export type Written = {
  readonly from: number;
  readonly to: number;
  /** End of the log before the first byte was typed. */
  readonly output: number;
  readonly modes?: InputModes | undefined;
};

/** A writer's last write, so that the session object can repeat the call on a new hop. */
export type LastWrite = Written & { readonly at: number };
