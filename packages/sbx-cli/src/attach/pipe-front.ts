// The local side of a pipeline: standard input goes to the process byte for byte, stdout and stderr come back separately.

import type { Readable } from "node:stream";
import { type OutputStream, STREAM_STDERR, type StdioClient } from "sandbox-stdio/core";
import type { Notices } from "../base/notices.ts";
import type { Output } from "../base/output.ts";
import { printable, printedEnd } from "../base/printed-screen.ts";
import { StdinPump } from "../base/stdin.ts";
import type { Front } from "./front.ts";
import type { WrittenFile } from "./written-file.ts";

const STDOUT = 1;
const STDERR = 2;
const NO_BYTES = new Uint8Array(0);

export type PipeFrontParts = {
  readonly client: StdioClient;
  readonly output: Output;
  readonly notices: Notices;
  /** Absent for a viewer. */
  readonly input: Readable | undefined;
  /** Output that an earlier run wrote after it last saved its position. */
  readonly written: WrittenFile | undefined;
  /** Reading the input failed before its end. */
  readonly onInputCut: () => void;
};

export class PipeFront implements Front {
  readonly #parts: PipeFrontParts;
  readonly #pump: StdinPump | undefined;

  constructor(parts: PipeFrontParts) {
    this.#parts = parts;
    const { client, notices, input, onInputCut } = parts;
    if (input === undefined) return;
    this.#pump = new StdinPump(input, {
      bytes: (bytes) => {
        const hasRoom = client.write(bytes);
        client.retryNow(); // Input wakes a sleeping session.
        return hasRoom;
      },
      end: () => client.endInput(),
      failed: (error) => {
        notices.say(`standard input: ${error.message}`);
        onInputCut();
        client.endInput();
      },
    });
  }

  readonly isFullScreen = false;

  start(skip: number): void {
    this.#pump?.start(skip);
  }

  output(stream: OutputStream, bytes: Uint8Array, end: number): void {
    const { output, written } = this.#parts;
    if (stream === STREAM_STDERR) this.#print(STDERR, bytes, end);
    else if (written === undefined || written.isDone) this.#print(STDOUT, bytes, end);
    else {
      const { again, rest } = written.match(bytes);
      output.push(STDOUT, again);
      output.push(STDOUT, rest, end);
    }
  }

  snapshot(bytes: Uint8Array, offset: number): void {
    this.#print(STDOUT, bytes, offset);
  }

  /** On a terminal, output is drawn as a replay (K6d). */
  #print(fd: 1 | 2, bytes: Uint8Array, end: number): void {
    const { output } = this.#parts;
    const parts = printable(fd, bytes);
    for (const part of parts.slice(0, -1)) output.push(fd, part);
    output.push(fd, parts.at(-1) ?? NO_BYTES, end);
  }

  gap(): void {
    // The attachment reports gaps.
  }

  inputDrained(): void {
    this.#pump?.resume();
  }

  discarded(): void {
    // Only a terminal discards keys.
  }

  inputClosed(): void {
    this.#pump?.refuse();
  }

  finish(): void {
    for (const { fd, bytes } of printedEnd()) this.#parts.output.push(fd, bytes);
  }

  close(): void {
    this.#pump?.stop();
  }
}
