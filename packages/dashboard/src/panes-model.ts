// The page's picture of a session's panes: tabs, boxes and borders, from the list that the server sends. No React, no sockets.

import type { PanesMessage } from "sandbox-stdio/core";

type ToldPane = PanesMessage["panes"][number];

/** In percent of the window, so that the page needs no size of a character. */
export type Box = { readonly left: number; readonly top: number; readonly width: number; readonly height: number };

export type PaneBox = Box & { readonly pane: ToldPane };

/** The line to the right of a pane, or below it: dragging it resizes that pane. */
export type Border = Box & { readonly pane: ToldPane; readonly side: "right" | "below" };

export type PanesView = {
  readonly tabs: PanesMessage["windows"];
  readonly panes: readonly PaneBox[];
  readonly borders: readonly Border[];
};

/** The visible panes of the active window. */
export function viewOf({ panes, windows }: PanesMessage): PanesView {
  const window = windows.find(({ active }) => active);
  if (window === undefined) return { tabs: windows, panes: [], borders: [] };
  const { cols, rows } = window;
  // tmux tells of a zoomed window where its other panes were: only the active one is seen.
  const seen = panes.filter((pane) => pane.window === window.id && (!window.zoomed || pane.active));
  const box = (left: number, top: number, width: number, height: number): Box => ({
    left: (100 * left) / cols,
    top: (100 * top) / rows,
    width: (100 * width) / cols,
    height: (100 * height) / rows,
  });
  const borders: Border[] = [];
  for (const pane of window.zoomed ? [] : seen) {
    const { left, top, cols: width, rows: height } = pane;
    if (left + width < cols) borders.push({ pane, side: "right", ...box(left + width, top, 1, height) });
    if (top + height < rows) borders.push({ pane, side: "below", ...box(left, top + height, width, 1) });
  }
  return {
    tabs: windows,
    panes: seen.map((pane) => ({ pane, ...box(pane.left, pane.top, pane.cols, pane.rows) })),
    borders,
  };
}

/** The request after a border was dragged by so many characters; undefined if nothing of the pane would be left. */
export function dragged({ pane, side }: Border, by: number): object | undefined {
  const cols = pane.cols + (side === "right" ? by : 0);
  const rows = pane.rows + (side === "below" ? by : 0);
  return by === 0 || cols < 1 || rows < 1 ? undefined : { type: "resize", pane: pane.id, cols, rows };
}
