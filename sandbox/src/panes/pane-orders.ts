// Turns the clients' orders about panes, by id or name, into tmux's commands; and makes the list of panes for clients.

import {
  clipUtf8,
  isForPane,
  MAX_CONTROL_OUT_BYTES,
  type PaneOrder,
  type PanesMessage,
  seenName,
} from "sandbox-stdio/core";
import { isPaneId, type PaneAction, type PaneList } from "sandbox-stdio/panes";
import type { SharedPanes } from "./shared-panes.ts";

/** A control message has its limit, and no client looks at more. */
const MAX_TOLD = 256;
/** Bytes of a name. A program may give itself a longer one. */
const MAX_NAME_BYTES = 64;

/** The first of them that fit in a message: a longer one would end the connection, and so would the next. */
export function panesMessage({ panes, windows }: PaneList): PanesMessage {
  const named = <Named extends { name: string }>(one: Named) => ({
    ...one,
    name: clipUtf8(seenName(one.name), MAX_NAME_BYTES),
  });
  for (let most = MAX_TOLD; ; most = Math.floor(most / 2)) {
    const message: PanesMessage = {
      type: "panes",
      panes: panes.slice(0, most).map(named),
      windows: windows.slice(0, most).map(({ layout: _, ...window }) => named(window)),
    };
    if (Buffer.byteLength(JSON.stringify(message)) <= MAX_CONTROL_OUT_BYTES) return message;
  }
}

/** Input that tmux has no room for: the rest of the text is refused as a whole, or it would arrive in part. */
const MAX_TEXT_BYTES = 16 * 1024;

/**
 * @param owner The client that wants it: a size that it gave is given back when it goes.
 * @param refused Told why not, now or when tmux has answered.
 */
export function carryOut(
  panes: SharedPanes | undefined,
  owner: string,
  order: PaneOrder,
  refused: (code: string, message: string) => void,
): void {
  const session = panes?.session;
  const meant = session?.find(order.pane ?? "");
  const isPaneNeeded = order.type !== "pane" || isForPane(order.action);
  if (panes === undefined || session === undefined || (isPaneNeeded && meant === undefined)) {
    refused("no_such_pane", `there is no pane "${order.pane ?? ""}", or more than one`);
    return;
  }
  const pane = meant?.id ?? "";
  if (order.type === "stdin") {
    const bytes = Buffer.from(order.data);
    if (bytes.length > MAX_TEXT_BYTES || !session.hasRoom(pane, bytes.length))
      refused("pane_refused", "too much input waits");
    else session.write(pane, bytes);
    return;
  }
  const other = order.type === "pane" ? session.find(order.with ?? "")?.id : undefined;
  const action = actionOf(order, pane, other, session.list);
  if (action === undefined) refused("pane_refused", "the order lacks a part");
  else panes.act(action, owner, (result) => result.ok || refused("pane_refused", seenName(result.error)));
}

function actionOf(
  order: Exclude<PaneOrder, { type: "stdin" }>,
  pane: string,
  other: string | undefined,
  { windows }: PaneList,
): PaneAction | undefined {
  const { cols, rows } = order;
  if (order.type === "resize") return { action: "resize", pane, cols: order.cols, rows: order.rows };
  switch (order.action) {
    case "split":
      return { action: "split", pane, across: order.across ?? "right" };
    case "swap":
      return other !== undefined && isPaneId(other) ? { action: "swap", pane, with: other } : undefined;
    case "join":
      if (other === undefined || !isPaneId(other)) return undefined;
      return { action: "join", pane, with: other, across: order.across ?? "right" };
    case "name":
      return { action: "name", pane, name: order.name ?? "" };
    case "new_window":
      return { action: "new_window" };
    case "rename_window":
      if (order.window === undefined) return undefined;
      return { action: "rename_window", window: order.window, name: order.name ?? "" };
    case "move_window": {
      const from = windows.findIndex(({ id }) => id === order.window);
      const to = windows.findIndex(({ id }) => id === order.with);
      if (order.window === undefined || order.with === undefined || from < 0 || to < 0) return undefined;
      return { action: "move_window", window: order.window, with: order.with, isBefore: to < from };
    }
    case "resize_window":
      if (order.window === undefined || cols === undefined || rows === undefined) return undefined;
      return { action: "resize_window", window: order.window, cols, rows };
    case "close":
    case "select":
    case "zoom":
    case "break":
      return { action: order.action, pane };
  }
}
