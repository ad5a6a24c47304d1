// How the command line ends, and its exit codes. main.ts ends the process.

/** Our own exit codes. All others are the remote process's. */
export const EXIT = {
  ok: 0,
  usage: 2,
  /** Timed out, as timeout(1). */
  timeout: 124,
  /** The reader of our output has gone: 128 + SIGPIPE. */
  brokenPipe: 141,
  /** Not connected, refused, or a local error, as ssh. */
  failed: 255,
} as const;

export type Outcome =
  | { readonly kind: "exit"; readonly code: number }
  /** Die by this signal, as a program with the default handler. */
  | { readonly kind: "signal"; readonly signal: NodeJS.Signals };

type CliErrorOptions = ErrorOptions & { readonly code?: string | undefined; readonly check?: CliError["check"] };

/** A failure for a person to read: one line, without the program's name. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: number;
  /** For programs; the server's code if the server refused. */
  readonly code: string;
  /** What advice to add (server-errors.ts). */
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

/** Wrong usage. */
export function usage(message: string): CliError {
  return new CliError(message, EXIT.usage);
}

export const exitWith = (code: number): Outcome => ({ kind: "exit", code });
