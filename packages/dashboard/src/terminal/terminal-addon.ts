// An xterm.js addon that connects a terminal to a session: output is acknowledged once drawn, sizes change at the right byte, and the
// terminal's answers to queries are sent only if this client is the answerer. No React, no layout.

import type { IDisposable, ITerminalAddon, Terminal } from "@xterm/xterm";
import { resizeWithoutParsing, splitUtf8 } from "sandbox-stdio/core";
import type { BrowserConnection } from "../connection/browser-connection.ts";
import { watchQueries } from "./queries.ts";
import { type Look, TerminalLook } from "./terminal-look.ts";

/** The used part of {@link BrowserConnection}. */
export type TerminalLink = Pick<
  BrowserConnection,
  "subscribe" | "state" | "type" | "processed" | "mayAnswer" | "nextAnswerChange" | "isReplay" | "mayType"
>;

type Chunk = {
  readonly kind: "bytes";
  readonly bytes: Uint8Array;
  /** End offset of the output; undefined if there is nothing to acknowledge. */
  readonly end: number | undefined;
  /** Whether to send the terminal's answers. */
  readonly mayAnswer: boolean;
  /** Whether it is replay, whose queries were answered by others or never will be. */
  readonly isReplay: boolean;
  /** Counts clients: chunks of earlier ones are not acknowledged. */
  readonly epoch: number;
};
type Step = Chunk | { readonly kind: "size"; readonly cols: number; readonly rows: number };

const CAN = 0x18;
/** Ends a torn sequence, then resets screen, scrollback and modes (RIS). */
const START_OVER = Uint8Array.of(CAN, 0x1b, 0x63);
/** Reports of mouse, focus and colours: sent without the person typing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are terminal sequences
const REPORT = /^\x1b\[(?:[IO]$|M|<|\?997;|\d+;\d+;\d+M)/;

export class StdioAddon implements ITerminalAddon {
  readonly #link: TerminalLink;
  readonly #encoder = new TextEncoder();
  #terminal: Terminal | undefined;
  #look: Look | undefined;
  #appliedLook: TerminalLook | undefined;
  #disposables: IDisposable[] = [];
  /** Steps that wait for a size change, which waits until earlier bytes are drawn. */
  readonly #steps: Step[] = [];
  /** Output that is written and not yet drawn, oldest first. */
  readonly #drawing: Chunk[] = [];
  /** An incomplete character, held back for the next write: xterm.js loses some, such as U+2026, if they come in two writes. */
  #tail: Uint8Array = new Uint8Array(0);
  /** Whether the terminal's next output is an answer to a query. */
  #isAtQuery = false;
  #epoch = 0;
  /** Whether the session is on pipes, without a terminal driver that translates line ends. */
  #isPipe = false;
  /** Changes keys before they are sent, for sticky modifiers. */
  madeOfKey: (text: string) => string = (text) => text;
  /** Called after each part of a replay. */
  replayDrawn: () => void = () => undefined;

  /** @param look Without it the terminal's own options stay. */
  constructor(link: TerminalLink, look?: Look) {
    this.#link = link;
    this.#look = look;
  }

  set look(look: Look) {
    this.#look = look;
    if (this.#appliedLook !== undefined) this.#appliedLook.look = look;
    else if (this.#terminal !== undefined) this.#applyLook(this.#terminal, look);
  }

  activate(terminal: Terminal): void {
    this.#terminal = terminal;
    resizeWithoutParsing(terminal);
    const unsubscribe = this.#link.subscribe({
      state: (state) => {
        if (state.phase !== "attached") return;
        this.#isPipe = !state.hello.tty;
        terminal.options.convertEol = this.#isPipe;
      },
      output: (_stream, bytes, end) => this.#output(bytes, end),
      snapshot: (bytes, offset) => this.#snapshot(bytes, offset),
      resize: (cols, rows) => {
        // Pipes have no size.
        if (!this.#isPipe) this.#push({ kind: "size", cols, rows });
      },
      // Ends a sequence that the gap may have torn, which would swallow what follows.
      gap: () => this.#push(this.#chunk(Uint8Array.of(CAN), undefined, false)),
      reset: () => this.#reset(),
    });
    this.#disposables = [
      { dispose: unsubscribe },
      { dispose: () => this.#appliedLook?.dispose() },
      watchQueries(terminal, () => this.#atQuery()),
      terminal.onData((text) => this.#sent(text)),
      terminal.onBinary((binary) =>
        this.#type(
          Uint8Array.from(binary, (unit) => unit.charCodeAt(0) & 0xff),
          true,
        ),
      ),
    ];
    if (this.#look !== undefined) this.#applyLook(terminal, this.#look);
  }

  #applyLook(terminal: Terminal, look: Look): void {
    this.#appliedLook = new TerminalLook(terminal, look);
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
    this.#disposables = [];
    this.#terminal = undefined;
    this.#steps.length = 0;
  }

  /** Whether the output being drawn is replay. For handlers of its parser. */
  get isDrawingReplay(): boolean {
    return this.#drawing[0]?.isReplay ?? true;
  }

  // ---- From the connection -------------------------------------------------------------------------------------

  /** Splits output where the right to answer changes. */
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

  /** Runs the steps that can run. A new size waits until output of the old one is drawn. */
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
    if (chunk?.isReplay === true) this.replayDrawn();
    if (chunk?.end !== undefined && chunk.epoch === this.#epoch) this.#link.processed(chunk.end);
    if (this.#drawing.length === 0) this.#advance();
  }

  // ---- From the terminal ---------------------------------------------------------------------------------------

  /** The answer comes during parsing. Parsing may pause within a chunk, and a key may come then. */
  #atQuery(): void {
    this.#isAtQuery = true;
    queueMicrotask(() => {
      this.#isAtQuery = false;
    });
  }

  /** Data from the terminal: an answer, or typed or pasted text. */
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

  /** Sends keys. Reports that can't be sent are dropped without telling the person. */
  #type(bytes: Uint8Array, isReport: boolean): void {
    if (isReport && !this.#link.mayType) return;
    this.#link.type(bytes);
  }
}
