// The commands in the scrollback, from the shell's marks (OSC 133): where prompt and output begin and end, and the exit code. Receives
// positions; knows no terminal.

import { defined } from "sandbox-stdio/core";

/** A position that moves with its line, as xterm.js's markers do; line -1 once the line is gone. */
export type Position = { readonly marker: { readonly line: number }; readonly column: number };

export type CommandBlock = {
  readonly prompt: Position;
  /** Start of the typed command; undefined if the shell does not mark it. */
  readonly line?: Position;
  /** The command as the shell said it; undefined if it does not. */
  readonly text?: string;
  /** Start of the output; undefined until a command runs. */
  readonly output?: Position;
  /** End of the output; undefined while it runs. */
  readonly end?: Position;
  /** undefined while it runs, or if the shell does not report it. */
  readonly exit?: number;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
};

export type MarkOutcome =
  | { readonly kind: "prompt"; readonly block: CommandBlock }
  | { readonly kind: "started"; readonly block: CommandBlock }
  | { readonly kind: "ended"; readonly block: CommandBlock };

/** Limit: each block keeps markers, which take part in scrolling. */
const MAX_BLOCKS = 1_000;

export class CommandBlocks {
  #blocks: CommandBlock[] = [];

  /** Oldest first, without those whose prompt has left the scrollback. */
  get list(): readonly CommandBlock[] {
    this.#blocks = this.#blocks.filter(({ prompt }) => prompt.marker.line >= 0);
    return this.#blocks;
  }

  /** Takes the text of an OSC 133. @param here The cursor's position; called only if a mark is kept. */
  take(text: string, here: () => Position, nowMs: number, command?: string): MarkOutcome | undefined {
    const [kind, ...fields] = text.split(";");
    switch (kind) {
      case "A":
        return this.#prompt(here());
      case "B":
        this.#typedFrom(here);
        return undefined;
      case "C":
        return this.#change((block) => (block.output === undefined ? "started" : undefined), {
          output: here,
          startedAtMs: nowMs,
          ...defined({ text: command }),
        });
      case "D": {
        const exit = /^-?\d{1,9}$/.test(fields[0] ?? "") ? Number(fields[0]) : undefined;
        const isEnd = (block: CommandBlock) =>
          block.output !== undefined && block.end === undefined ? "ended" : undefined;
        return this.#change(isEnd, { end: here, endedAtMs: nowMs, ...defined({ exit }) });
      }
      default:
        return undefined;
    }
  }

  #prompt(position: Position): MarkOutcome {
    const last = this.#blocks.at(-1);
    // The earlier line was cancelled, or the prompt was redrawn.
    if (last !== undefined && last.output === undefined) this.#blocks.pop();
    const block = { prompt: position };
    this.#blocks.push(block);
    if (this.#blocks.length > MAX_BLOCKS) this.#blocks.shift();
    return { kind: "prompt", block };
  }

  #typedFrom(here: () => Position): void {
    const last = this.#blocks.at(-1);
    if (last !== undefined && last.output === undefined)
      this.#blocks[this.#blocks.length - 1] = { ...last, line: here() };
  }

  #change(
    kindOf: (block: CommandBlock) => "started" | "ended" | undefined,
    {
      output,
      end,
      ...rest
    }: Omit<CommandBlock, "prompt" | "output" | "end"> & {
      readonly output?: () => Position;
      readonly end?: () => Position;
    },
  ): MarkOutcome | undefined {
    const last = this.#blocks.at(-1);
    const kind = last === undefined ? undefined : kindOf(last);
    if (last === undefined || kind === undefined) return undefined;
    const positions = defined({ output: output?.(), end: end?.() });
    const block = { ...last, ...rest, ...positions };
    this.#blocks[this.#blocks.length - 1] = block;
    return { kind, block };
  }
}

/** The previous or next command with output relative to a line; undefined if there is none. */
export function promptFrom(blocks: readonly CommandBlock[], line: number, direction: "before" | "after") {
  const at = ({ prompt }: CommandBlock) => prompt.marker.line;
  const ran = blocks.filter((block) => block.output !== undefined && at(block) >= 0);
  return direction === "before" ? ran.findLast((block) => at(block) < line) : ran.find((block) => at(block) > line);
}

/** The newest command with output whose prompt is not below the line. */
export function copyableAt(blocks: readonly CommandBlock[], line: number): CommandBlock | undefined {
  const has = (block: CommandBlock) => block.output !== undefined && block.output.marker.line >= 0;
  return blocks.findLast((block) => has(block) && block.prompt.marker.line <= line);
}

/** The command whose output is at a line, below its own prompt. */
export function blockAbove(blocks: readonly CommandBlock[], line: number): CommandBlock | undefined {
  const block = blocks.findLast(({ output, prompt }) => output !== undefined && prompt.marker.line < line);
  return block?.end === undefined || block.end.marker.line > line ? block : undefined;
}

/** A line of the screen or scrollback. */
export type TextLine = {
  readonly isWrapped: boolean;
  translateToString(trimRight?: boolean, startColumn?: number, endColumn?: number): string;
};

/** The text between two positions, with wrapped lines joined. @param end undefined: up to the last non-empty line. */
export function textBetween(
  lineAt: (line: number) => TextLine | undefined,
  length: number,
  from: Position,
  end: Position | undefined,
): string {
  const last = end === undefined ? length - 1 : end.marker.line;
  let text = "";
  for (let row = from.marker.line; row <= last; row += 1) {
    const line = lineAt(row);
    if (line === undefined) break;
    const isContinued = lineAt(row + 1)?.isWrapped === true && row < last;
    const start = row === from.marker.line ? from.column : 0;
    const stop = row === end?.marker.line ? end.column : undefined;
    if (row > from.marker.line && !line.isWrapped) text += "\n";
    text += line.translateToString(!isContinued, start, stop);
  }
  return text.replace(/\s+$/, "");
}
