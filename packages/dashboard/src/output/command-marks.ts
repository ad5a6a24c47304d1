// The shell's marks on one terminal of xterm.js: which commands are in the scrollback, and a mark for each in the margin, in the colour
// of how it ended. No React.

import type { IDecoration, IDisposable, Terminal } from "@xterm/xterm";
import { followXterm, REPORTING_CSI, TerminalModes } from "sandbox-stdio/core";
import type { Texts } from "../texts/texts.ts";
import {
  type CommandBlock,
  CommandBlocks,
  copiableAt,
  type MarkOutcome,
  promptFrom,
  textBetween,
} from "./command-blocks.ts";

export type CommandMarksOptions = {
  readonly words: Texts["command"];
  /** A command has ended that was not replayed. */
  readonly ended: (block: CommandBlock) => void;
  /** One that was not replayed had left the mouse on, or the like: it is off again. */
  readonly leftOn: () => void;
  readonly isReplay: () => boolean;
  /** The person clicked on a command's mark. */
  readonly copied: (text: string) => void;
  readonly now: () => number;
};

type Mark = { block: CommandBlock; readonly decoration: IDecoration | undefined };

export class CommandMarks {
  readonly #terminal: Terminal;
  readonly #options: CommandMarksOptions;
  readonly #blocks = new CommandBlocks();
  readonly #handler: IDisposable;
  /** Of the newest block, whose mark changes as it ends. */
  #newest: Mark | undefined;

  constructor(terminal: Terminal, options: CommandMarksOptions) {
    this.#terminal = terminal;
    this.#options = options;
    this.#handler = terminal.parser.registerOscHandler(133, (text) => {
      // A program on the alternate screen has no scrollback, and its lines go when it ends.
      if (terminal.buffer.active.type === "normal") this.#take(text);
      return true;
    });
    // Later than the handler above, so that it is told first: that one lets nobody else hear.
    followXterm(terminal, new TerminalModes(), REPORTING_CSI, (undo) => {
      terminal.write(undo);
      if (!options.isReplay()) options.leftOn();
    });
  }

  get list(): readonly CommandBlock[] {
    return this.#blocks.list;
  }

  /** Brings the prompt before, or after, the line at the top to the top. @returns Whether there is one. */
  scrollTo(direction: "before" | "after"): boolean {
    const line = promptFrom(this.list, this.#terminal.buffer.active.viewportY, direction);
    if (line === undefined) return false;
    this.#terminal.scrollToLine(line);
    return true;
  }

  /** The output of the newest command that begins on the screen or above it; undefined: there is none. */
  outputInView(): string | undefined {
    const { viewportY } = this.#terminal.buffer.active;
    const isAtBottom = viewportY === this.#terminal.buffer.active.baseY;
    // Scrolled to a prompt, that command is meant; at the bottom, the last.
    const block = copiableAt(this.list, isAtBottom ? Number.POSITIVE_INFINITY : viewportY);
    return block === undefined ? undefined : this.outputOf(block);
  }

  outputOf({ output, end }: CommandBlock): string {
    const { normal } = this.#terminal.buffer;
    return output === undefined ? "" : textBetween((line) => normal.getLine(line), normal.length, output, end);
  }

  /** The typed command; "" if the shell does not say where it began. */
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
      // Its marker is one of this terminal's: `#here` made it.
      const decoration = this.#terminal.registerDecoration({ marker: marker as never, width: 1, layer: "top" });
      const mark: Mark = { block, decoration };
      this.#newest = mark;
      // It is drawn later than printed: newer commands may have come by then.
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
