// The shell's marks on one terminal: the commands in the scrollback, and a mark in the margin for each, coloured by its exit. No React.

import type { IDecoration, IDisposable, Terminal } from "@xterm/xterm";
import { followXterm, REPORTING_CSI, TerminalModes } from "sandbox-stdio/core";
import type { Texts } from "../texts/texts.ts";
import {
  type CommandBlock,
  CommandBlocks,
  copyableAt,
  type MarkOutcome,
  promptFrom,
  textBetween,
} from "./command-blocks.ts";

export type CommandMarksOptions = {
  readonly words: Texts["command"];
  /** A live command ended. */
  readonly ended: (block: CommandBlock) => void;
  /** A live command left mouse reports or the like on; they were reset. */
  readonly leftOn: () => void;
  readonly isReplay: () => boolean;
  /** A command's mark was clicked. */
  readonly copied: (text: string) => void;
  readonly now: () => number;
};

type Mark = { block: CommandBlock; readonly decoration: IDecoration | undefined };

export class CommandMarks {
  readonly #terminal: Terminal;
  readonly #options: CommandMarksOptions;
  readonly #blocks = new CommandBlocks();
  readonly #handler: IDisposable;
  /** The newest block's mark, which changes as the command ends. */
  #newest: Mark | undefined;

  constructor(terminal: Terminal, options: CommandMarksOptions) {
    this.#terminal = terminal;
    this.#options = options;
    this.#handler = terminal.parser.registerOscHandler(133, (text) => {
      // The alternate screen has no scrollback, and its lines vanish with the program.
      if (terminal.buffer.active.type === "normal") this.#take(text);
      return true;
    });
    // Registered after the handler above and so called first; that one consumes the sequence.
    followXterm(terminal, new TerminalModes(), REPORTING_CSI, (undo) => {
      terminal.write(undo);
      if (!options.isReplay()) options.leftOn();
    });
  }

  get list(): readonly CommandBlock[] {
    return this.#blocks.list;
  }

  /** Scrolls to the previous or next prompt. @returns Whether there is one. */
  scrollTo(direction: "before" | "after"): boolean {
    const line = promptFrom(this.list, this.#terminal.buffer.active.viewportY, direction);
    if (line === undefined) return false;
    this.#terminal.scrollToLine(line);
    return true;
  }

  /** The output of the newest command that begins on the screen or above it. */
  outputInView(): string | undefined {
    const { viewportY } = this.#terminal.buffer.active;
    const isAtBottom = viewportY === this.#terminal.buffer.active.baseY;
    // After scrolling to a prompt, that command is meant; at the bottom, the last one.
    const block = copyableAt(this.list, isAtBottom ? Number.POSITIVE_INFINITY : viewportY);
    return block === undefined ? undefined : this.outputOf(block);
  }

  outputOf({ output, end }: CommandBlock): string {
    const { normal } = this.#terminal.buffer;
    return output === undefined ? "" : textBetween((line) => normal.getLine(line), normal.length, output, end);
  }

  /** The typed command; "" if the shell does not mark it. */
  lineOf({ line, output }: CommandBlock): string {
    const { normal } = this.#terminal.buffer;
    if (line === undefined || output === undefined || line.marker.line < 0) return "";
    return textBetween((row) => normal.getLine(row), normal.length, line, output);
  }

  dispose(): void {
    this.#handler.dispose();
  }

  #take(text: string): void {
    const outcome = this.#blocks.take(text, () => this.#here(), this.#options.now());
    if (outcome === undefined) return;
    this.#show(outcome);
    if (outcome.kind === "ended" && !this.#options.isReplay()) this.#options.ended(outcome.block);
  }

  #here() {
    const marker = this.#terminal.registerMarker(0);
    return { marker, column: this.#terminal.buffer.active.cursorX };
  }

  #show({ kind, block }: MarkOutcome): void {
    if (kind === "prompt") {
      const { marker } = block.prompt;
      // The marker comes from `#here`, so it is one of xterm.js's.
      const decoration = this.#terminal.registerDecoration({ marker: marker as never, width: 1, layer: "top" });
      const mark: Mark = { block, decoration };
      this.#newest = mark;
      // Rendered later than parsed: newer commands may have come by then.
      decoration?.onRender((element) => this.#draw(element, mark.block));
      return;
    }
    if (this.#newest === undefined) return;
    this.#newest.block = block;
    const element = this.#newest.decoration?.element;
    if (element !== undefined) this.#draw(element, block);
  }

  #draw(element: HTMLElement, block: CommandBlock): void {
    const { words } = this.#options;
    element.classList.add("sbx-command-mark");
    element.dataset.state =
      block.output === undefined ? "prompt" : block.end === undefined ? "running" : block.exit === 0 ? "good" : "bad";
    if (block.output !== undefined && block.end !== undefined && block.exit === undefined)
      element.dataset.state = "ended";
    element.title = block.end === undefined ? "" : words.ended(block.exit);
    element.onclick = block.output === undefined ? null : () => this.#options.copied(this.outputOf(block));
  }
}
