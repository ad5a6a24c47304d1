// Paths and sandbox addresses as links of xterm.js. They open with Ctrl only: a plain click selects, or goes to the program. No React.

import type { IBufferLine, IBufferRange, ILink, ILinkProvider, Terminal } from "@xterm/xterm";
import { findTextLinks, type TextLink } from "./text-links.ts";

export type TextLinkEvents = {
  readonly follow: (link: TextLink) => void;
  /** The link under the pointer; undefined: none. */
  readonly hover: (words: string | undefined) => void;
};

/** Limit of wrapped rows that are read together. */
const MAX_ROWS = 20;

type Cell = { readonly row: number; readonly column: number };
type Text = { readonly text: string; readonly cells: readonly Cell[] };

export function textLinkProvider(terminal: Terminal, events: TextLinkEvents): ILinkProvider {
  return {
    provideLinks(y, callback) {
      const { text, cells } = textAround(terminal, y - 1);
      const links = findTextLinks(text).flatMap(({ start, end, link }): ILink[] => {
        const range = rangeOf(cells, start, end);
        if (range === undefined || range.start.y > y || range.end.y < y) return [];
        const whole = text.slice(start, end);
        return [
          {
            range,
            text: whole,
            decorations: { pointerCursor: false, underline: true },
            activate: (event) => {
              if (isWithCtrl(event)) events.follow(link);
            },
            hover: () => events.hover(whole),
            leave: () => events.hover(undefined),
          },
        ];
      });
      callback(links.length === 0 ? undefined : links);
    },
  };
}

/**
 * When the pointer leaves, as for a dialog, xterm.js drops its link but not its cell: back on that cell it would find no link.
 * @returns Stops that.
 */
export function findLinksAgain(terminal: Terminal, stage: HTMLElement): () => void {
  const forget = () => {
    const { _core: core } = terminal as unknown as {
      readonly _core?: { readonly linkifier?: { _lastBufferCell?: unknown } };
    };
    if (core?.linkifier !== undefined) core.linkifier._lastBufferCell = undefined;
  };
  const stop = new AbortController();
  // Captured, since the event does not bubble from the screen.
  stage.addEventListener("mouseleave", forget, { capture: true, signal: stop.signal });
  return () => stop.abort();
}

/** Ctrl, or Command on a Mac. */
export function isWithCtrl({ ctrlKey, metaKey }: Pick<MouseEvent, "ctrlKey" | "metaKey">): boolean {
  return ctrlKey || metaKey;
}

/** The whole wrapped line, and the cell of each UTF-16 unit. */
function textAround(terminal: Pick<Terminal, "buffer" | "cols">, row: number): Text {
  const buffer = terminal.buffer.active;
  let first = row;
  while (first > 0 && row - first < MAX_ROWS && buffer.getLine(first)?.isWrapped === true) first -= 1;
  let text = "";
  const cells: Cell[] = [];
  for (let at = first; at < first + 2 * MAX_ROWS; at += 1) {
    const line = buffer.getLine(at);
    if (line === undefined || (at > first && !line.isWrapped)) break;
    text += readLine(line, terminal.cols, at, cells);
  }
  return { text, cells };
}

function readLine(line: IBufferLine, cols: number, row: number, cells: Cell[]): string {
  let text = "";
  for (let column = 0; column < cols; column += 1) {
    const cell = line.getCell(column);
    // The second half of a wide character.
    if (cell === undefined || cell.getWidth() === 0) continue;
    const characters = cell.getChars() || " ";
    for (let unit = 0; unit < characters.length; unit += 1) cells.push({ row, column });
    text += characters;
  }
  return text;
}

/** From 1 with an inclusive end, as xterm.js counts. */
function rangeOf(cells: readonly Cell[], start: number, end: number): IBufferRange | undefined {
  const [first, last] = [cells[start], cells[end - 1]];
  if (first === undefined || last === undefined) return undefined;
  return { start: { x: first.column + 1, y: first.row + 1 }, end: { x: last.column + 1, y: last.row + 1 } };
}
