// The library's one error class, for connections, streams and HTTP calls.

export type StdioErrorOptions = {
  /** HTTP status; absent for connection errors. */
  readonly status?: number | undefined;
  /** Close code of the connection (`CLOSE` of `sandbox-stdio/protocol`); absent for HTTP calls. */
  readonly closeCode?: number | undefined;
  /** Seconds to wait before the next request. */
  readonly retryAfter?: number | undefined;
  /** Fields of the server's response beside `error` and `message`: `expected`, `holder`, `incarnation`. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
};

/**
 * `code` is a short name for programs, either the server's (`not_found`, `input_gap`, `exited`, …) or the library's:
 *
 * - `refused`: the server closed the connection for good; see `closeCode`
 * - `left`: `close()` was called, or the signal aborted
 * - `output_lost`: on pipes, output could not be kept for this reader; the streams end here
 * - `stdin_closed`: the process has ended or closed its input, as with EPIPE
 * - `not_stdin_holder`: this connection may not type (a viewer, or another client has the keyboard)
 * - `unreachable`: no HTTP response
 * - `lost`: the response to a start was lost, and the process may have run and been forgotten, so it is not started again
 * - `bad_token`, `no_websocket`, `bad_address`: the caller passed an unusable value
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
