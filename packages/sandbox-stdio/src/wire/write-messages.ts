// A program's *write* as the inner hop says it (W1): the input, and the answer. hop/program-calls.ts carries it out.

/** Bytes of one call, encoded (W1). */
export const MAX_WRITE_BYTES = 65_536;

/** The modes that the program has set on its terminal. */
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
  /** Latin-1: a character for each byte. */
  readonly bytes?: string | undefined;
  readonly keys?: readonly string[] | undefined;
  readonly paste?: string | undefined;
  readonly enter?: boolean | undefined;
};

/** A write that is typed once, however often it comes (E5). */
export type WriteOnce = {
  readonly id: string;
  readonly hash: string;
  /** Bytes of all the writes that this one begins: they are typed whole or not at all. */
  readonly whole: number;
};

export type WriteCommand = WriteInput & {
  readonly client: string;
  /** Where it begins in the writer's count. */
  readonly at: number;
  readonly eof?: boolean | undefined;
  /** The Durable Object does not know the outcome of this same command on an earlier hop. */
  readonly again?: boolean | undefined;
  readonly once?: WriteOnce | undefined;
};

/** The range that was typed, and the modes of its encoding, so that a record can be made of it. */
export type Written = {
  readonly from: number;
  readonly to: number;
  /** The log's end before the first byte was typed. */
  readonly output: number;
  readonly modes?: InputModes | undefined;
};

/** A writer's last write, so that the session object may repeat the call over a new hop. */
export type LastWrite = Written & { readonly at: number };
