// Input as a web stream: a write resolves when the window has room for more, and the close when everything has been taken.

import { cloneBytes } from "../text/utf8-text.ts";
import { StdioError } from "./error.ts";

export interface InputPorts {
  /** Keeps a view of `bytes`. @returns Whether more may be written now. */
  write(bytes: Uint8Array): boolean;
  endInput(): void;
  /** Number of unacknowledged bytes. */
  unacked(): number;
}

export class InputStream {
  readonly writable: WritableStream<Uint8Array | string>;
  readonly #ports: InputPorts;
  #controller: WritableStreamDefaultController | undefined;
  /** The pending write or close. */
  #waiting: { readonly isClosing: boolean; resolve(): void; reject(error: StdioError): void } | undefined;
  #failure: StdioError | undefined;

  constructor(ports: InputPorts) {
    this.#ports = ports;
    const encoder = new TextEncoder();
    this.writable = new WritableStream<Uint8Array | string>({
      start: (controller) => {
        this.#controller = controller;
      },
      write: (chunk) => {
        // Copy: the bytes are kept until they are acknowledged, and the caller may reuse its memory.
        const bytes = typeof chunk === "string" ? encoder.encode(chunk) : cloneBytes(chunk);
        if (bytes.length > 0 && !this.#ports.write(bytes)) return this.#wait(false);
        return undefined;
      },
      close: () => {
        this.#ports.endInput();
        return this.#ports.unacked() === 0 ? undefined : this.#wait(true);
      },
      // No `abort`: input that broke off has not ended, so the process is not told.
    });
  }

  /** Input was acknowledged, and there is room. */
  drained(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || (waiting.isClosing && this.#ports.unacked() > 0)) return;
    this.#waiting = undefined;
    waiting.resolve();
  }

  /** The process has ended. A pending close succeeds, as on a pipe. */
  exited(): void {
    const waiting = this.#waiting;
    if (waiting?.isClosing === true) {
      this.#waiting = undefined;
      waiting.resolve();
    } else this.fail(new StdioError("stdin_closed", "The process has ended and takes no more input"));
  }

  /** Fails the stream. */
  fail(error: StdioError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#controller?.error(error);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(error);
  }

  #wait(isClosing: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting = { isClosing, resolve, reject };
    });
  }
}
