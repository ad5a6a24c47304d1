// The layout of a session's panes from the server's list: tabs, boxes and borders. No React, no sockets.

import type { PanesMessage } from "sandbox-stdio/core";

type TmuxPane = PanesMessage["panes"][number];

/** In percent of the window, which needs no character size. */
export type Box = { readonly left: number; readonly top: number; readonly width: number; readonly height: number };

export type PaneBox = Box & { readonly pane: TmuxPane };

/** The line right of a pane or below it; dragging it resizes the pane. */
export type Border = Box & { readonly pane: TmuxPane; readonly side: "right" | "below" };

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
  // For a zoomed window tmux still lists the other panes, of which only the active one is visible.
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

/** The resize request after dragging a border by `by` cells; undefined if nothing of the pane would be left. */
export function dragged({ pane, side }: Border, by: number) {
  const cols = pane.cols + (side === "right" ? by : 0);
  const rows = pane.rows + (side === "below" ? by : 0);
  return by === 0 || cols < 1 || rows < 1 ? undefined : ({ type: "resize", pane: pane.id, cols, rows } as const);
}

/** The active pane of the active window. */
export function activePane({ panes, windows }: PanesMessage): TmuxPane | undefined {
  const window = windows.find(({ active }) => active);
  return panes.find((pane) => pane.window === window?.id && pane.active);
}

/** The nearest pane in a direction that spans this pane's middle row or column. */
export function neighbourOf(
  { panes }: PanesMessage,
  id: string,
  direction: "left" | "right" | "up" | "down",
): TmuxPane | undefined {
  const from = panes.find((pane) => pane.id === id);
  if (from === undefined) return undefined;
  const x = from.left + Math.floor(from.cols / 2);
  const y = from.top + Math.floor(from.rows / 2);
  const isBeside = direction === "left" || direction === "right";
  /** The distance in that direction; negative if it lies elsewhere. */
  const distance = (pane: TmuxPane) => {
    if (direction === "left") return from.left - (pane.left + pane.cols);
    if (direction === "right") return pane.left - (from.left + from.cols);
    return direction === "up" ? from.top - (pane.top + pane.rows) : pane.top - (from.top + from.rows);
  };
  // A pane includes its border at the right and below.
  const spans = (pane: TmuxPane) =>
    isBeside ? pane.top <= y && y <= pane.top + pane.rows : pane.left <= x && x <= pane.left + pane.cols;
  const candidates = panes.filter((pane) => pane.window === from.window && distance(pane) >= 0 && spans(pane));
  return candidates.sort((a, b) => distance(a) - distance(b))[0];
}

/** The next pane of the same window, cyclically. */
export function nextPane({ panes }: PanesMessage, id: string): TmuxPane | undefined {
  const window = panes.find((pane) => pane.id === id)?.window;
  const siblings = panes.filter((pane) => pane.window === window);
  const next = siblings[(siblings.findIndex((pane) => pane.id === id) + 1) % siblings.length];
  return next?.id === id ? undefined : next;
}

/** The next window, cyclically. */
export function nextWindow({ windows }: PanesMessage): PanesMessage["windows"][number] | undefined {
  const at = windows.findIndex(({ active }) => active);
  return windows.length < 2 ? undefined : windows[(at + 1) % windows.length];
}

/** The text as a valid window name. */
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

/** The name of a pane's session: the same on every page, so that viewers of a pane share it. */
export function paneSession(session: string, pane: string): string {
  const end = `.pane.${pane.slice(1)}`;
  if (session.length + end.length <= MAX_NAME) return session + end;
  let hash = 0;
  for (let i = 0; i < session.length; i += 1) hash = (Math.imul(hash, 31) + session.charCodeAt(i)) >>> 0;
  const short = `-${hash.toString(36)}${end}`;
  return session.slice(0, MAX_NAME - short.length) + short;
}

/** Whether the session belongs to a pane; lists show the pane's session instead. */
export function isPaneSession(session: string): boolean {
  return OF_PANE.test(session);
}

/** Parameters that a pane's session keeps: none that starts something. */
const KEPT = ["sandbox", "mode", "name"];

/** @param wsUrl The address of `/attach` of the pane's session. */
export function paneAddress(wsUrl: string, base: string, session: string, pane: string): string {
  const from = new URL(wsUrl, base);
  const address = new URL(from.pathname, from);
  for (const name of KEPT) for (const value of from.searchParams.getAll(name)) address.searchParams.append(name, value);
  address.searchParams.set("pane", `${session}:${pane.slice(1)}`);
  return address.href;
}
