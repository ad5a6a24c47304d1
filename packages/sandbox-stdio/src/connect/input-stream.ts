// Input as a web stream: a write is over when the window of unacknowledged bytes has room for more, and the closing is over
// when all has been taken.

import { StdioError } from "./error.ts";

export interface InputPorts {
  /** Keeps a view of `bytes`. @returns Whether more may be written now. */
  write(bytes: Uint8Array): boolean;
  endInput(): void;
  /** Bytes that are not acknowledged. */
  unacked(): number;
}

export class InputStream {
  readonly writable: WritableStream<Uint8Array | string>;
  readonly #ports: InputPorts;
  #controller: WritableStreamDefaultController | undefined;
  /** The write or the closing that waits, with the callbacks of its promise. */
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
        // A copy: the bytes are kept until they are acknowledged, and the caller may use its memory again.
        const bytes = typeof chunk === "string" ? encoder.encode(chunk) : new Uint8Array(chunk);
        if (bytes.length > 0 && !this.#ports.write(bytes)) return this.#wait(false);
        return undefined;
      },
      close: () => {
        this.#ports.endInput();
        return this.#ports.unacked() === 0 ? undefined : this.#wait(true);
      },
      // An input that broke off is no input that ended: the process is not told.
    });
  }

  /** Something was acknowledged, and there is room. */
  drained(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || (waiting.isClosing && this.#ports.unacked() > 0)) return;
    this.#waiting = undefined;
    waiting.resolve();
  }

  /** The process has ended. An input that had been written to its end is content with that, as a pipe's is. */
  exited(): void {
    const waiting = this.#waiting;
    if (waiting?.isClosing === true) {
      this.#waiting = undefined;
      waiting.resolve();
    } else this.fail(new StdioError("stdin_closed", "The process has ended: its input goes nowhere"));
  }

  /** No more can be written. */
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
