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
export function dragged({ pane, side }: Border, by: number) {
  const cols = pane.cols + (side === "right" ? by : 0);
  const rows = pane.rows + (side === "below" ? by : 0);
  return by === 0 || cols < 1 || rows < 1 ? undefined : ({ type: "resize", pane: pane.id, cols, rows } as const);
}

/** The pane that tmux types into: the active one of the active window. */
export function activePane({ panes, windows }: PanesMessage): ToldPane | undefined {
  const window = windows.find(({ active }) => active);
  return panes.find((pane) => pane.window === window?.id && pane.active);
}

/** The nearest pane that way of the same window, where its middle is at the height, or in the column, of this one. */
export function neighbourOf(
  { panes }: PanesMessage,
  id: string,
  way: "left" | "right" | "up" | "down",
): ToldPane | undefined {
  const from = panes.find((pane) => pane.id === id);
  if (from === undefined) return undefined;
  const x = from.left + Math.floor(from.cols / 2);
  const y = from.top + Math.floor(from.rows / 2);
  const isBeside = way === "left" || way === "right";
  /** How far it is that way; negative: it is not. */
  const distance = (pane: ToldPane) => {
    if (way === "left") return from.left - (pane.left + pane.cols);
    if (way === "right") return pane.left - (from.left + from.cols);
    return way === "up" ? from.top - (pane.top + pane.rows) : pane.top - (from.top + from.rows);
  };
  // The line to its right, or below it, is part of a pane.
  const spans = (pane: ToldPane) =>
    isBeside ? pane.top <= y && y <= pane.top + pane.rows : pane.left <= x && x <= pane.left + pane.cols;
  const those = panes.filter((pane) => pane.window === from.window && distance(pane) >= 0 && spans(pane));
  return those.sort((a, b) => distance(a) - distance(b))[0];
}

/** The pane behind this one in its window, and behind the last one the first. */
export function nextPane({ panes }: PanesMessage, id: string): ToldPane | undefined {
  const window = panes.find((pane) => pane.id === id)?.window;
  const those = panes.filter((pane) => pane.window === window);
  const next = those[(those.findIndex((pane) => pane.id === id) + 1) % those.length];
  return next?.id === id ? undefined : next;
}

/** The window behind the active one, and behind the last one the first. */
export function nextWindow({ windows }: PanesMessage): PanesMessage["windows"][number] | undefined {
  const at = windows.findIndex(({ active }) => active);
  return windows.length < 2 ? undefined : windows[(at + 1) % windows.length];
}

/** What of a text can be a window's name. */
export function windowName(text: string): string {
  return text
    .trim()
    .replaceAll(/\s+/g, "-")
    .replaceAll(/[^A-Za-z0-9_.-]/g, "")
    .slice(0, 64);
}

// ---- A pane as a session ---------------------------------------------------------------------------------------------

const MAX_NAME = 64;
const OF_PANE = /\.pane\.\d+$/;

/** The name of a pane's session: the same on every page, so that those who look at a pane share it. */
export function paneSession(session: string, pane: string): string {
  const end = `.pane.${pane.slice(1)}`;
  if (session.length + end.length <= MAX_NAME) return session + end;
  let hash = 0;
  for (let i = 0; i < session.length; i += 1) hash = (Math.imul(hash, 31) + session.charCodeAt(i)) >>> 0;
  const short = `-${hash.toString(36)}${end}`;
  return session.slice(0, MAX_NAME - short.length) + short;
}

/** Whether a session is the page's own, of a pane: the session that it is a pane of stands for it in lists. */
export function isPaneSession(session: string): boolean {
  return OF_PANE.test(session);
}

/** What a pane's session is asked for with: the parameters that say where and as whom, and none that starts something. */
const KEPT = ["sandbox", "mode", "name"];

/** @param wsUrl The address of `/attach` with which the session of the pane was asked for. */
export function paneAddress(wsUrl: string, base: string, session: string, pane: string): string {
  const from = new URL(wsUrl, base);
  const address = new URL(from.pathname, from);
  for (const name of KEPT) for (const value of from.searchParams.getAll(name)) address.searchParams.append(name, value);
  address.searchParams.set("pane", `${session}:${pane.slice(1)}`);
  return address.href;
}
