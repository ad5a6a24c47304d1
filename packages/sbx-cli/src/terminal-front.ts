// A person at a terminal, and a PTY at the other end.

import { MAX_UNACKED_INPUT_BYTES, type OutputStream, type StdioClient } from "@sbx/sandbox-stdio";
import type { Front } from "./front.ts";
import { KeyReader } from "./keys.ts";
import type { Notices } from "./notices.ts";
import type { Output } from "./output.ts";
import { type Drawing, Screen } from "./screen.ts";
import { RawTerminal, sizeOf, type TerminalStreams } from "./tty.ts";

const STDOUT = 1;

export type TerminalFrontParts = {
  readonly client: StdioClient;
  readonly output: Output;
  readonly notices: Notices;
  readonly streams: TerminalStreams;
  readonly isViewer: boolean;
  /** Ctrl+] was pressed, or the terminal is gone. */
  readonly onDetach: () => void;
};

export class TerminalFront implements Front {
  readonly #parts: TerminalFrontParts;
  readonly #screen: Screen;
  readonly #terminal: RawTerminal;
  readonly #keys = new KeyReader();
  readonly #onKeys = (chunk: Buffer) => this.#typed(chunk);
  readonly #onResize = () => this.#resized();
  readonly #onGone = () => this.#parts.onDetach();
  /** Whether this outage's lost keys have been spoken of. */
  #hasToldDiscard = false;
  #farewell = "";

  constructor(parts: TerminalFrontParts) {
    this.#parts = parts;
    const { client, output, notices, streams } = parts;
    this.#screen = new Screen((offset) => client.mayAnswer(offset));
    this.#terminal = new RawTerminal(streams, () => this.#screen.modes.resetSequence() + this.#farewell);
    notices.aim({
      kind: "terminal",
      draw: (text) => {
        if (this.#screen.isBetweenSequences) output.push(STDOUT, Buffer.from(text));
      },
      isAlternate: () => this.#screen.modes.isAlternate,
    });
  }

  /** What was typed before is still in the terminal, and comes now. */
  start(): void {
    const { input, output } = this.#parts.streams;
    this.#terminal.enter();
    input.on("data", this.#onKeys);
    input.once("end", this.#onGone);
    input.once("error", this.#onGone);
    output.on("resize", this.#onResize);
    this.#resized();
  }

  /** The connection is back: the next outage is spoken of again, and a full-screen application is asked to redraw. */
  resumed(): void {
    this.#hasToldDiscard = false;
    if (this.#screen.modes.isAlternate) this.#parts.client.signal("SIGWINCH");
  }

  output(_stream: OutputStream, bytes: Uint8Array, end: number): void {
    this.#draw(this.#screen.draw(bytes, end - bytes.length));
  }

  snapshot(bytes: Uint8Array, offset: number): void {
    this.#draw(this.#screen.redraw(bytes, offset));
  }

  gap(): void {
    this.#parts.output.push(STDOUT, this.#screen.flush());
  }

  inputDrained(): void {
    const { input } = this.#parts.streams;
    if (this.#terminal.isRaw && input.isPaused()) input.resume();
  }

  discarded(): void {
    const { notices } = this.#parts;
    notices.bell();
    if (this.#hasToldDiscard) return;
    this.#hasToldDiscard = true;
    notices.say("not connected: what is typed now is lost (Ctrl+] ends)");
  }

  inputClosed(): void {
    // A PTY has no end of input that could not be followed by more.
  }

  finish(): void {
    this.#parts.output.push(STDOUT, this.#screen.flush());
  }

  close(isSudden: boolean): void {
    const { input, output } = this.#parts.streams;
    input.off("data", this.#onKeys);
    input.off("end", this.#onGone);
    input.off("error", this.#onGone);
    output.off("resize", this.#onResize);
    input.pause();
    // What comes next does not belong on the line of a prompt.
    if (isSudden) this.#farewell = "\r\n";
    this.#terminal.leave();
  }

  #draw({ parts, end }: Drawing): void {
    const { output } = this.#parts;
    for (const part of parts) output.push(STDOUT, part);
    output.push(STDOUT, new Uint8Array(0), end);
  }

  #typed(chunk: Buffer): void {
    const { client, notices, streams, isViewer, onDetach } = this.#parts;
    const { bytes, isDetach } = this.#keys.read(chunk);
    if (bytes.length > 0 && isViewer) notices.bell();
    else if (bytes.length > 0) client.type(bytes);
    if (isDetach) onDetach();
    // A long paste into a program that does not read: the terminal keeps the rest.
    else if (client.unackedInput >= MAX_UNACKED_INPUT_BYTES) streams.input.pause();
  }

  #resized(): void {
    const size = sizeOf(this.#parts.streams.output);
    if (size !== undefined) this.#parts.client.resize(size.cols, size.rows);
  }
}
