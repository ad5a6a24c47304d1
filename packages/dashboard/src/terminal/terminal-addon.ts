// An xterm.js addon that puts a connection on a terminal: output is acknowledged when it has been drawn, sizes change
// between the bytes between which they changed; the emulator's own answers are sent only by the one client that is to
// answer. No React, no layout.

import type { IDisposable, ITerminalAddon, Terminal } from "@xterm/xterm";
import { splitUtf8 } from "sandbox-stdio/core";
import type { BrowserConnection } from "../connection/browser-connection.ts";
import { watchQueries } from "./queries.ts";
import { type Look, TerminalLook } from "./terminal-look.ts";

/** The part of a connection that the addon needs; {@link BrowserConnection} is one. */
export type TerminalLink = Pick<
  BrowserConnection,
  "subscribe" | "state" | "type" | "dealtWith" | "mayAnswer" | "nextAnswerChange" | "isReplay" | "mayType"
>;

type Chunk = {
  readonly kind: "bytes";
  readonly bytes: Uint8Array;
  /** Offset after its last byte; undefined where there is nothing to acknowledge. */
  readonly end: number | undefined;
  /** Whether the emulator's answers to its queries are to be sent. */
  readonly mayAnswer: boolean;
  /** Whether it was printed before this client was there: others have dealt with its queries, or never will. */
  readonly isReplay: boolean;
  /** Which client it came to. */
  readonly epoch: number;
};
type Step = Chunk | { readonly kind: "size"; readonly cols: number; readonly rows: number };

const CAN = 0x18;
/** Ends whatever sequence was cut off, then clears screen, scrollback and modes (RIS). */
const START_OVER = Uint8Array.of(CAN, 0x1b, 0x63);
/** Reports that a person's hand causes without meaning to type: the mouse, and the focus coming and going. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are terminal sequences
const REPORT = /^\x1b\[(?:[IO]$|M|<|\d+;\d+;\d+M)/;

export class StdioAddon implements ITerminalAddon {
  readonly #link: TerminalLink;
  readonly #encoder = new TextEncoder();
  #terminal: Terminal | undefined;
  #look: Look | undefined;
  #dress: TerminalLook | undefined;
  #disposables: IDisposable[] = [];
  /** Steps that wait until a change of size is applied, which waits until the bytes before it are drawn. */
  readonly #steps: Step[] = [];
  /** Output that the terminal has and has not drawn, oldest first. */
  readonly #drawing: Chunk[] = [];
  /**
   * The start of a character whose end has not come: xterm.js loses U+2026 and its like when they come in two writes. It
   * counts as drawn, shows nothing until it is whole, and goes before whatever is written next.
   */
  #tail: Uint8Array = new Uint8Array(0);
  /** The terminal is dealing with something that it may answer: its next output, before anything else happens, is an answer. */
  #isAtQuery = false;
  #epoch = 0;
  /** Whether line ends and input are those of pipes: no terminal driver at the other end turns one into the other. */
  #isPipe = false;
  /** Changes each key before it is sent: with a modifier that stays pressed, say. */
  madeOfKey: (text: string) => string = (text) => text;

  /** @param look How the terminal shall look; without it, its own options stay as they are. */
  constructor(link: TerminalLink, look?: Look) {
    this.#link = link;
    this.#look = look;
  }

  set look(look: Look) {
    this.#look = look;
    if (this.#dress !== undefined) this.#dress.look = look;
    else if (this.#terminal !== undefined) this.#wear(this.#terminal, look);
  }

  activate(terminal: Terminal): void {
    this.#terminal = terminal;
    const unsubscribe = this.#link.subscribe({
      state: (state) => {
        if (state.phase !== "attached") return;
        this.#isPipe = !state.hello.tty;
        terminal.options.convertEol = this.#isPipe;
      },
      output: (_stream, bytes, end) => this.#output(bytes, end),
      snapshot: (bytes, offset) => this.#snapshot(bytes, offset),
      resize: (cols, rows) => {
        // Pipes have no size: the window's is as good as any.
        if (!this.#isPipe) this.#push({ kind: "size", cols, rows });
      },
      // The sequence that the gap may have torn must not swallow what comes after it.
      gap: () => this.#push(this.#chunk(Uint8Array.of(CAN), undefined, false)),
      reset: () => this.#reset(),
    });
    this.#disposables = [
      { dispose: unsubscribe },
      { dispose: () => this.#dress?.dispose() },
      watchQueries(terminal, () => this.#atQuery()),
      terminal.onData((text) => this.#sent(text)),
      terminal.onBinary((binary) =>
        this.#type(
          Uint8Array.from(binary, (unit) => unit.charCodeAt(0) & 0xff),
          true,
        ),
      ),
    ];
    if (this.#look !== undefined) this.#wear(terminal, this.#look);
  }

  #wear(terminal: Terminal, look: Look): void {
    this.#dress = new TerminalLook(terminal, look);
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
    this.#disposables = [];
    this.#terminal = undefined;
    this.#steps.length = 0;
  }

  /** Whether the terminal is drawing replay now. To be asked by its parser's handlers. */
  get isDrawingReplay(): boolean {
    return this.#drawing[0]?.isReplay ?? true;
  }

  // ---- From the connection -------------------------------------------------------------------------------------

  /** Cut where the right to answer changes, so that each chunk has one answer to it. */
  #output(bytes: Uint8Array, end: number): void {
    let start = end - bytes.length;
    while (start < end) {
      const until = Math.min(end, this.#link.nextAnswerChange(start));
      const from = bytes.length - (end - start);
      const part = bytes.subarray(from, from + (until - start));
      this.#push(this.#chunk(part, until, this.#link.mayAnswer(start), this.#link.isReplay(start)));
      start = until;
    }
  }

  #snapshot(bytes: Uint8Array, offset: number): void {
    const screen = new Uint8Array(START_OVER.length + bytes.length);
    screen.set(START_OVER);
    screen.set(bytes, START_OVER.length);
    this.#push(this.#chunk(screen, offset, false));
  }

  #reset(): void {
    this.#epoch += 1;
    this.#steps.length = 0;
    this.#push(this.#chunk(START_OVER, undefined, false));
  }

  #chunk(bytes: Uint8Array, end: number | undefined, mayAnswer: boolean, isReplay = true): Chunk {
    return { kind: "bytes", bytes, end, mayAnswer, isReplay, epoch: this.#epoch };
  }

  #push(step: Step): void {
    this.#steps.push(step);
    this.#advance();
  }

  /** Hands on all steps that can be. A new size waits until the output in the old one is drawn. */
  #advance(): void {
    const terminal = this.#terminal;
    if (terminal === undefined) return;
    for (let step = this.#steps[0]; step !== undefined; step = this.#steps[0]) {
      if (step.kind === "size" && this.#drawing.length > 0) return;
      this.#steps.shift();
      if (step.kind === "size") {
        if (step.cols !== terminal.cols || step.rows !== terminal.rows) terminal.resize(step.cols, step.rows);
        continue;
      }
      this.#drawing.push(step);
      const { whole, tail } = splitUtf8(this.#tail, step.bytes);
      this.#tail = tail;
      terminal.write(whole, () => this.#drawn());
    }
  }

  #drawn(): void {
    this.#isAtQuery = false;
    const chunk = this.#drawing.shift();
    if (chunk?.end !== undefined && chunk.epoch === this.#epoch) this.#link.dealtWith(chunk.end);
    if (this.#drawing.length === 0) this.#advance();
  }

  // ---- From the terminal ---------------------------------------------------------------------------------------

  /** The answer comes while the terminal parses. It may stop in the middle of a chunk, and then a key may come. */
  #atQuery(): void {
    this.#isAtQuery = true;
    queueMicrotask(() => {
      this.#isAtQuery = false;
    });
  }

  /** Something to send: the emulator's answer, or a person's typed or pasted text. */
  #sent(text: string): void {
    if (this.#isAtQuery) {
      const isOurs = this.#drawing[0]?.mayAnswer ?? false;
      if (isOurs && this.#link.mayType) this.#link.type(this.#encoder.encode(text));
      return;
    }
    const isReport = REPORT.test(text);
    const key = isReport ? text : this.madeOfKey(text);
    this.#type(this.#encoder.encode(this.#isPipe ? key.replaceAll("\r", "\n") : key), isReport);
  }

  /** Keys that can't be sent are told to the person; a mouse that moves meanwhile is no loss. */
  #type(bytes: Uint8Array, isReport: boolean): void {
    if (isReport && !this.#link.mayType) return;
    this.#link.type(bytes);
  }
}
