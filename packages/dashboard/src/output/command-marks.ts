// The shell's marks on one terminal: the commands in the scrollback, and a mark in the margin for each, coloured by its exit. No React.

import type { IDecoration, IDisposable, Terminal } from "@xterm/xterm";
import { followXterm, REPORTING_CSI, TerminalModes } from "sandbox-stdio/core";
import { KeyboardProtocol } from "../keys/keyboard-protocol.ts";
import { readCommandLine } from "../terminal/shell-marks.ts";
import type { Texts } from "../texts/texts.ts";
import {
  blockAbove,
  type CommandBlock,
  CommandBlocks,
  copyableAt,
  type MarkOutcome,
  promptFrom,
  textBetween,
} from "./command-blocks.ts";
import { afterMark, NO_FACTS, type ShellFacts } from "./shell-facts.ts";

export type CommandMarksOptions = {
  readonly words: Texts["command"];
  /** A live command ended. */
  readonly ended: (block: CommandBlock) => void;
  /** A live command left mouse reports or the like on; they were reset. */
  readonly leftOn: () => void;
  readonly isReplay: () => boolean;
  /** The shell's directory or command changed. */
  readonly factsChanged: (facts: ShellFacts) => void;
  /** A command's mark was clicked. */
  readonly copied: (text: string) => void;
  readonly now: () => number;
};

/** In the scroll bar, which is drawn on a canvas: seen on light and dark. */
const FAILED = "#e5484d";

type Mark = { block: CommandBlock; readonly decoration: IDecoration | undefined };

export class CommandMarks {
  readonly #terminal: Terminal;
  readonly #options: CommandMarksOptions;
  readonly #blocks = new CommandBlocks();
  readonly #disposables: IDisposable[];
  #facts = NO_FACTS;
  /** The line that the shell said to run next. */
  #next: string | undefined;
  /** The newest block's mark, which changes as the command ends. */
  #newest: Mark | undefined;
  /** The prompt of the command that the last jump led to, and the frame around its line. */
  #chosen: { readonly prompt: CommandBlock["prompt"]; readonly frame: IDecoration | undefined } | undefined;

  constructor(terminal: Terminal, options: CommandMarksOptions) {
    this.#terminal = terminal;
    this.#options = options;
    this.#disposables = [
      terminal.parser.registerOscHandler(133, (text) => {
        // The alternate screen has no scrollback, and its lines vanish with the program.
        if (terminal.buffer.active.type === "normal") this.#take(text);
        this.#learn("133", text);
        return true;
      }),
      terminal.parser.registerOscHandler(633, (text) => {
        this.#next = readCommandLine(text) ?? this.#next;
        this.#learn("633", text);
        // Uploads and downloads listen too.
        return false;
      }),
      terminal.onData(() => this.forgetChosen()),
    ];
    // Registered after the handler above and so called first; that one consumes the sequence.
    const told = () => (options.isReplay() ? undefined : options.leftOn());
    const undone = (undo: string) => {
      terminal.write(undo);
      told();
    };
    followXterm(terminal, new TerminalModes(), REPORTING_CSI, undone, () => {
      KeyboardProtocol.dropOf(terminal);
      told();
    });
  }

  get list(): readonly CommandBlock[] {
    return this.#blocks.list;
  }

  /** Chooses the previous or next command, and scrolls to its prompt. @returns Whether there is one. */
  scrollTo(direction: "before" | "after"): boolean {
    const { viewportY, baseY } = this.#terminal.buffer.active;
    // At the bottom several prompts may be in view: the way back begins with the newest command.
    const top = viewportY === baseY && direction === "before" ? Number.POSITIVE_INFINITY : viewportY;
    const block = promptFrom(this.list, this.chosenInView?.prompt.marker.line ?? top, direction);
    if (block === undefined) return false;
    this.#terminal.scrollToLine(block.prompt.marker.line);
    this.#choose(block);
    return true;
  }

  /** The output of the chosen command, else of the newest that begins on the screen or above it. */
  outputInView(): string | undefined {
    const { viewportY, baseY } = this.#terminal.buffer.active;
    const block =
      this.chosenInView ?? copyableAt(this.list, viewportY === baseY ? Number.POSITIVE_INFINITY : viewportY);
    return block === undefined ? undefined : this.outputOf(block);
  }

  /** The command whose output is at the top of the screen. */
  get blockAtTop(): CommandBlock | undefined {
    const { active } = this.#terminal.buffer;
    if (active.type !== "normal") return undefined;
    const block = blockAbove(this.list, active.viewportY);
    // What a program that reads keys draws is no output that goes by.
    const isDrawn = block?.end === undefined && active.viewportY === active.baseY;
    return isDrawn && this.#terminal.modes.bracketedPasteMode ? undefined : block;
  }

  /** The command that the last jump led to; undefined once a person has scrolled it out of view. */
  get chosenInView(): CommandBlock | undefined {
    const prompt = this.#chosen?.prompt;
    const { type, viewportY } = this.#terminal.buffer.active;
    const line = prompt?.marker.line ?? -1;
    if (type !== "normal" || line < viewportY || line >= viewportY + this.#terminal.rows) return undefined;
    return this.list.find((block) => block.prompt === prompt);
  }

  /** Whether the shell waits for a command. */
  get isAtPrompt(): boolean {
    const last = this.list.at(-1);
    return last !== undefined && last.output === undefined;
  }

  /** The process has ended, and with it the command that ran: nothing else says so. */
  processEnded(exit: number): void {
    const text = `D;${exit}`;
    const outcome = this.#blocks.take(text, () => this.#here(), this.#options.now());
    if (outcome !== undefined) this.#show(outcome);
    this.#learn("133", text);
  }

  forgetChosen(): void {
    this.#chosen?.frame?.dispose();
    this.#chosen = undefined;
  }

  outputOf({ output, end }: CommandBlock): string {
    const { normal } = this.#terminal.buffer;
    return output === undefined ? "" : textBetween((line) => normal.getLine(line), normal.length, output, end);
  }

  /** The typed command; "" if the shell does not mark it. */
  lineOf({ text, line, output }: CommandBlock): string {
    if (text !== undefined) return text;
    const { normal } = this.#terminal.buffer;
    if (line === undefined || output === undefined || line.marker.line < 0) return "";
    return textBetween((row) => normal.getLine(row), normal.length, line, output);
  }

  dispose(): void {
    this.forgetChosen();
    for (const disposable of this.#disposables) disposable.dispose();
  }

  #choose({ prompt }: CommandBlock): void {
    this.forgetChosen();
    // As in `#show`.
    const frame = this.#terminal.registerDecoration({ marker: prompt.marker as never, width: this.#terminal.cols });
    frame?.onRender((element) => element.classList.add("sbx-command-chosen"));
    this.#chosen = { prompt, frame };
  }

  #learn(kind: "133" | "633", text: string): void {
    const facts = afterMark(this.#facts, kind, text, this.#next);
    if (text.startsWith("C")) this.#next = undefined;
    if (facts === this.#facts) return;
    this.#facts = facts;
    this.#options.factsChanged(facts);
  }

  #take(text: string): void {
    const outcome = this.#blocks.take(text, () => this.#here(), this.#options.now(), this.#next);
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
    if (kind === "ended" && block.exit !== undefined && block.exit !== 0) {
      // As in `#show` above: seen in the scroll bar.
      const overviewRulerOptions = { color: FAILED, position: "left" } as const;
      this.#terminal.registerDecoration({ marker: block.prompt.marker as never, overviewRulerOptions });
    }
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
