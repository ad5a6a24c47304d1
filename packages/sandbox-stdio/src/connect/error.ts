// The one error of this library: of a connection, of its streams, and of calls over HTTP.

export type StdioErrorOptions = {
  /** HTTP status; absent for errors of a connection. */
  readonly status?: number | undefined;
  /** The code that the connection was closed with (`CLOSE` of `sandbox-stdio/protocol`); absent for calls over HTTP. */
  readonly closeCode?: number | undefined;
  /** Seconds after which the server wants to be asked again. */
  readonly retryAfter?: number | undefined;
  /** The fields of the server's answer beside `error` and `message`: `expected`, `holder`, `incarnation`. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
};

/**
 * `code` is a short name for programs: the server's own (`not_found`, `input_gap`, `exited`, …), or one of this library:
 *
 * - `refused`: the server closed the connection for good; `closeCode` says how
 * - `left`: `close()` was called, or the signal aborted
 * - `output_lost`: on pipes, output could not be kept for this reader; the streams end here, nothing is left out silently
 * - `stdin_closed`: the process has ended, or has closed its input; like EPIPE
 * - `not_stdin_holder`: this connection may not type (a viewer, or another client has the keyboard)
 * - `unreachable`: no answer came over HTTP
 * - `lost`: the answer to a start got lost, and the process may have run and been forgotten: it is not started again
 * - `bad_token`, `no_websocket`, `bad_address`: this side was given a value that can't be used
 */
export class StdioError extends Error {
  override readonly name = "StdioError";
  readonly code: string;
  readonly status: number | undefined;
  readonly closeCode: number | undefined;
  readonly retryAfter: number | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, options: StdioErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status;
    this.closeCode = options.closeCode;
    this.retryAfter = options.retryAfter;
    this.details = options.details ?? {};
  }
}
