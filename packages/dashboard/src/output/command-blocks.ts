// The commands in the scrollback, by the shell's marks (OSC 133): where each prompt stands, where its output begins and ends, and
// how it ended. Told places; knows no terminal.

/** A place that moves with its line. xterm.js's markers give such lines: -1 once the line is gone. */
export type Place = { readonly marker: { readonly line: number }; readonly column: number };

export type CommandBlock = {
  readonly prompt: Place;
  /** Where the typed command begins; undefined if the shell does not say. */
  readonly line?: Place;
  /** Where its output begins; undefined while nothing has been run. */
  readonly output?: Place;
  /** Where its output ended; undefined while it runs. */
  readonly end?: Place;
  /** Undefined while it runs, or if the shell did not say. */
  readonly exit?: number;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
};

export type MarkOutcome =
  | { readonly kind: "prompt"; readonly block: CommandBlock }
  | { readonly kind: "started"; readonly block: CommandBlock }
  | { readonly kind: "ended"; readonly block: CommandBlock };

/** The oldest go: each keeps markers, which take part in every scrolling. */
const MAX_BLOCKS = 1_000;

export class CommandBlocks {
  #blocks: CommandBlock[] = [];

  /** Oldest first, those whose prompt is gone from the scrollback left out. */
  get list(): readonly CommandBlock[] {
    this.#blocks = this.#blocks.filter(({ prompt }) => prompt.marker.line >= 0);
    return this.#blocks;
  }

  /**
   * Takes the text of an OSC 133.
   * @param here Where the cursor is; asked only where a mark is kept.
   */
  take(text: string, here: () => Place, nowMs: number): MarkOutcome | undefined {
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
        });
      case "D": {
        const exit = /^-?\d{1,9}$/.test(fields[0] ?? "") ? { exit: Number(fields[0]) } : {};
        const isEnd = (block: CommandBlock) =>
          block.output !== undefined && block.end === undefined ? "ended" : undefined;
        return this.#change(isEnd, { end: here, endedAtMs: nowMs, ...exit });
      }
      default:
        return undefined;
    }
  }

  #prompt(place: Place): MarkOutcome {
    const last = this.#blocks.at(-1);
    // A line that was given up, or a prompt that was drawn again.
    if (last !== undefined && last.output === undefined) this.#blocks.pop();
    const block = { prompt: place };
    this.#blocks.push(block);
    if (this.#blocks.length > MAX_BLOCKS) this.#blocks.shift();
    return { kind: "prompt", block };
  }

  #typedFrom(here: () => Place): void {
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
      readonly output?: () => Place;
      readonly end?: () => Place;
    },
  ): MarkOutcome | undefined {
    const last = this.#blocks.at(-1);
    const kind = last === undefined ? undefined : kindOf(last);
    if (last === undefined || kind === undefined) return undefined;
    const places = {
      ...(output === undefined ? {} : { output: output() }),
      ...(end === undefined ? {} : { end: end() }),
    };
    const block = { ...last, ...rest, ...places };
    this.#blocks[this.#blocks.length - 1] = block;
    return { kind, block };
  }
}

/** The line to scroll to for the prompt before, or after, the line at the top; undefined: there is none. */
export function promptFrom(blocks: readonly CommandBlock[], top: number, direction: "before" | "after") {
  const lines = blocks.map(({ prompt }) => prompt.marker.line).filter((line) => line >= 0);
  return direction === "before" ? lines.findLast((line) => line < top) : lines.find((line) => line > top);
}

/** The newest command whose output can be copied, of those whose prompt is not below the line. */
export function copiableAt(blocks: readonly CommandBlock[], line: number): CommandBlock | undefined {
  const has = (block: CommandBlock) => block.output !== undefined && block.output.marker.line >= 0;
  return blocks.findLast((block) => has(block) && block.prompt.marker.line <= line);
}

/** One line of the screen or the scrollback. */
export type TextLine = {
  readonly isWrapped: boolean;
  translateToString(trimRight?: boolean, startColumn?: number, endColumn?: number): string;
};

/**
 * The text between two places, lines that only the width broke joined again.
 * @param end Undefined: to the last line that holds anything.
 */
export function textBetween(
  lineAt: (line: number) => TextLine | undefined,
  length: number,
  from: Place,
  end: Place | undefined,
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
