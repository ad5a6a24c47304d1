// How a run of the command line ends, and the exit codes. Ends nothing itself: main.ts does.

/** Exit codes that are the command line's own. Everything else is the remote process's. */
export const EXIT = {
  ok: 0,
  usage: 2,
  /** The time that was given is over, as with timeout(1). */
  timeout: 124,
  /** The reader of our output has gone: the code of a program killed by SIGPIPE, 128 + 13. */
  brokenPipe: 141,
  /** No connection, refused, or failed on this side. The same as ssh's. */
  failed: 255,
} as const;

export type Outcome =
  | { readonly kind: "exit"; readonly code: number }
  /** To die by this signal, as a program does that leaves it to its default. */
  | { readonly kind: "signal"; readonly signal: NodeJS.Signals };

type CliErrorOptions = ErrorOptions & { readonly code?: string | undefined; readonly check?: CliError["check"] };

/** Why the command line can't do what was asked: one line for a person, without the program's name. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: number;
  /** What a program knows it by: the server's code where it was the server that refused. */
  readonly code: string;
  /** What a person may look at, for which more is said (advice.ts). */
  readonly check: "login" | "address" | undefined;

  constructor(
    message: string,
    exitCode: number = EXIT.failed,
    { code = "failed", check, ...options }: CliErrorOptions = {},
  ) {
    super(message, options);
    this.exitCode = exitCode;
    this.code = code;
    this.check = check;
  }
}

/** The typed words mean nothing. */
export function usage(message: string): CliError {
  return new CliError(message, EXIT.usage);
}

export const exitWith = (code: number): Outcome => ({ kind: "exit", code });
