// The panes of a tmux session according to `list-panes`: the only source, queried after every change.

import { decodeUtf8 } from "../text/utf8-text.ts";
import { type Cell, panesOf, parseLayout } from "./layout.ts";

export type Pane = Cell & {
  /** tmux's id, such as `%3`. A tmux server never reuses it. */
  readonly id: string;
  /** Its `set -p @name`, else its position in the visible window; "" if it has neither. */
  readonly name: string;
  readonly window: string;
  readonly active: boolean;
};

export type Window = {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  readonly cols: number;
  readonly rows: number;
  /** Whether one pane fills the window and hides the others. */
  readonly zoomed: boolean;
  /** tmux's text; {@link parseLayout} reads it. */
  readonly layout: string;
};

export type PaneList = {
  readonly windows: readonly Window[];
  readonly panes: readonly Pane[];
  /** How many bytes of input tmux has taken, by pane, as stored by the last command that typed. */
  readonly taken: ReadonlyMap<string, number>;
  /** Panes of other sessions on this tmux server: they may move into this one with their content. */
  readonly elsewhere: ReadonlySet<string>;
};

export const NO_PANES: PaneList = { windows: [], panes: [], taken: new Map(), elsewhere: new Set() };

/** Option of a pane in which tmux keeps the count of its input. */
export const TAKEN_OPTION = "@sbx_taken";

const NAME = "[A-Za-z0-9_.-]";
/** Format of each line of `list-panes -a -F`. A program can't inject a title: only `@name` is a name. */
export const PANE_FORMAT = [
  "#{session_id} #{pane_id} #{window_id} #{window_active} #{pane_active}",
  "#{pane_width} #{pane_height} #{pane_left} #{pane_top}",
  "#{window_width} #{window_height} #{window_zoomed_flag}",
  `#{?${TAKEN_OPTION},#{${TAKEN_OPTION}},0}`,
  `#{window_layout} #{s/[^A-Za-z0-9_.-]//:@name}:#{window_name}`,
].join(" ");

const ROW = new RegExp(
  `^(\\$\\d+) (%\\d+) (@\\d+) ([01]) ([01]) (\\d+) (\\d+) (\\d+) (\\d+) (\\d+) (\\d+) ([01]) (\\d+) (\\S+) (${NAME}*):(.*)$`,
);

/**
 * @param session Id of the session whose panes to read.
 * @returns undefined if a line is malformed.
 */
export function readPaneList(lines: readonly Uint8Array[], session: string): PaneList | undefined {
  const windows = new Map<string, Window>();
  const panes: Pane[] = [];
  const taken = new Map<string, number>();
  const elsewhere = new Set<string>();
  for (const line of lines) {
    const [, of, id = "", window = "", windowActive, paneActive, ...rest] = ROW.exec(decodeUtf8(line)) ?? [];
    if (id === "") return undefined;
    if (of !== session) {
      elsewhere.add(id);
      continue;
    }
    const [cols = 0, rows = 0, left = 0, top = 0, windowCols = 0, windowRows = 0, zoomed, count = 0] = rest.map(Number);
    const [, , , , , , , , layout = "", name = "", title = ""] = rest;
    panes.push({ id, name, window, active: paneActive === "1", cols, rows, left, top });
    taken.set(id, count);
    const active = windowActive === "1";
    windows.set(window, {
      id: window,
      name: title,
      active,
      cols: windowCols,
      rows: windowRows,
      zoomed: zoomed === 1,
      layout,
    });
  }
  return withPositionNames({ windows: [...windows.values()], panes, taken, elsewhere });
}

/** The list after `%layout-change` of a fully visible window; unchanged if the text is malformed or about other panes. */
export function withLayout(list: PaneList, window: string, text: string): PaneList {
  const layout = parseLayout(text);
  const known = list.panes.filter((pane) => pane.window === window);
  const cells = new Map(layout === undefined ? [] : panesOf(layout).map((cell) => [cell.pane, cell]));
  if (layout === undefined || cells.size !== known.length || !known.every(({ id }) => cells.has(id))) return list;
  const { cols, rows } = layout;
  return withPositionNames({
    ...list,
    windows: list.windows.map((each) =>
      each.id === window ? { ...each, cols, rows, zoomed: false, layout: text } : each,
    ),
    panes: list.panes.map((pane) => ({ ...pane, ...positionOf(cells.get(pane.id)) })),
  });
}

function positionOf(cell: Cell | undefined): Partial<Cell> {
  return cell === undefined ? {} : { cols: cell.cols, rows: cell.rows, left: cell.left, top: cell.top };
}

// ---- Names -------------------------------------------------------------------------------------------------------

/** Position that a word names in a window: column and row in halves of the size. */
const POSITIONS: Readonly<Record<string, readonly [number, number]>> = {
  left: [0, 1],
  right: [2, 1],
  top: [1, 0],
  bottom: [1, 2],
  "top-left": [0, 0],
  "top-right": [2, 0],
  "bottom-left": [0, 2],
  "bottom-right": [2, 2],
};

/**
 * Finds a pane by id, by name, or by position in the active window, like tmux's `{left}`.
 * @returns undefined if there is none or more than one.
 */
export function findPane(list: PaneList, idOrName: string): Pane | undefined {
  const byId = list.panes.find(({ id }) => id === idOrName);
  if (byId !== undefined) return byId;
  const named = list.panes.filter(({ name }) => name === idOrName && idOrName !== "");
  const seen = named.filter(({ window }) => window === activeWindow(list)?.id);
  if (named.length > 0) return seen.length === 1 || named.length === 1 ? (seen[0] ?? named[0]) : undefined;
  return paneAt(list, idOrName);
}

function activeWindow({ windows }: PaneList): Window | undefined {
  return windows.find(({ active }) => active);
}

/** The pane at the middle of an edge, or at a corner. */
function paneAt(list: PaneList, word: string): Pane | undefined {
  const window = activeWindow(list);
  const place = Object.hasOwn(POSITIONS, word) ? POSITIONS[word] : undefined;
  if (window === undefined || place === undefined) return undefined;
  const x = Math.floor(((window.cols - 1) * place[0]) / 2);
  const y = Math.floor(((window.rows - 1) * place[1]) / 2);
  // As in tmux, the border to the right of a pane or below it belongs to the pane.
  return list.panes.find(
    ({ window: of, left, top, cols, rows }) =>
      of === window.id && left <= x && x <= left + cols && top <= y && y <= top + rows,
  );
}

/** Names each unnamed pane of the active window by its position. */
function withPositionNames(list: PaneList): PaneList {
  const positions = new Map<string, string>();
  if (list.panes.filter(({ window }) => window === activeWindow(list)?.id).length > 1) {
    for (const word of Object.keys(POSITIONS)) {
      const pane = paneAt(list, word);
      if (pane !== undefined && !positions.has(pane.id)) positions.set(pane.id, word);
    }
  }
  const isPosition = (name: string) => name === "" || Object.hasOwn(POSITIONS, name);
  const named = list.panes.map((pane) =>
    isPosition(pane.name) ? { ...pane, name: positions.get(pane.id) ?? "" } : pane,
  );
  return { ...list, panes: named };
}
