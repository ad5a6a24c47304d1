// The local side of `record`: a viewer whose output goes into an asciicast, with its times, sizes and gaps.

import type { ClientEnd, Hello, OutputStream } from "sandbox-stdio/core";
import { CastWriter, NEW_LINE_MODE } from "sandbox-stdio/recording";
import type { Output } from "../base/output.ts";
import type { Front } from "./front.ts";

const nothing = (): undefined => undefined;

export class CastFront implements Front {
  readonly isFullScreen = false;
  readonly #output: Output;
  readonly #fd: number;
  readonly #writer: CastWriter;
  #size: string;
  #hasExited = false;

  constructor(output: Output, fd: number, hello: Hello, idleLimitMs: number | undefined) {
    this.#output = output;
    this.#fd = fd;
    this.#writer = new CastWriter(idleLimitMs === undefined ? {} : { idleLimitMs });
    const { cols, rows, sandbox, session, tty, offset } = hello;
    this.#size = `${cols}x${rows}`;
    const title = `${session} (${sandbox})`;
    this.#write(this.#writer.header({ cols, rows, startMs: Date.now(), title }), offset);
    if (!tty) this.output(1, NEW_LINE_MODE, offset);
  }

  /** Whether the process ended, and the recording says so. */
  get hasExited(): boolean {
    return this.#hasExited;
  }

  output(_stream: OutputStream, bytes: Uint8Array, end: number): void {
    this.#write(this.#writer.event({ kind: "output", bytes, atMs: Date.now() }), end);
  }

  snapshot(bytes: Uint8Array, offset: number): void {
    this.output(1, bytes, offset);
  }

  resize(cols: number, rows: number): void {
    const size = `${cols}x${rows}`;
    // Each greeting tells it.
    if (size !== this.#size) this.#write(this.#writer.event({ kind: "size", cols, rows, atMs: Date.now() }));
    this.#size = size;
  }

  gap(from: number, to: number): void {
    this.#write(this.#writer.event({ kind: "gap", from, to, atMs: Date.now() }));
  }

  finish(end: ClientEnd | undefined): void {
    const atMs = Date.now();
    this.#hasExited = end?.kind === "exit";
    this.#write(end?.kind === "exit" ? this.#writer.event({ ...end, atMs }) : this.#writer.end(atMs));
  }

  #write(lines: string, end?: number): void {
    this.#output.push(this.#fd, Buffer.from(lines), end);
  }

  // A viewer has no input, and takes over no terminal.
  readonly start = nothing;
  readonly inputDrained = nothing;
  readonly discarded = nothing;
  readonly inputClosed = nothing;
  readonly close = nothing;
}
