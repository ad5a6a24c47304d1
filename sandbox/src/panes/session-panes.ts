// The panes of one session that runs under tmux: its start, the clients' orders for panes, and its end.

import {
  type ClientRecord,
  clipUtf8,
  isForPane,
  MAX_CONTROL_OUT_BYTES,
  type PaneOrder,
  type PanesMessage,
  seenName,
} from "sandbox-stdio/core";
import { isPaneId, type PaneAction, type PaneList } from "sandbox-stdio/panes";
import type { StartFault } from "../process/command.ts";
import type { TmuxPlace } from "./control-client.ts";
import type { SandboxPanes } from "./sandbox-panes.ts";
import type { SharedPanes } from "./shared-panes.ts";
import { endTmuxSession, findFault, tmuxServer, underTmux } from "./tmux-session.ts";

type Names = { readonly sandbox: string; readonly session: string };
type TerminalSize = { readonly cols: number; readonly rows: number };

export class SessionPanes {
  readonly #all: SandboxPanes;
  readonly #names: Names;
  readonly #place: TmuxPlace;
  readonly #changed: (panes: PanesMessage) => void;
  /** Undefined until tmux has drawn something. */
  #panes: SharedPanes | undefined;

  /** @param changed Called with the panes whenever they change. */
  constructor(
    all: SandboxPanes,
    { sandbox, session }: Names,
    around: Omit<TmuxPlace, "server">,
    changed: (panes: PanesMessage) => void,
  ) {
    this.#all = all;
    this.#names = { sandbox, session };
    this.#place = { ...around, server: tmuxServer(sandbox, session) };
    this.#changed = changed;
  }

  /** The command to start in place of the session's, or why it can't be started. */
  command(words: readonly string[], size: TerminalSize): { cmd: string; args: readonly string[] } | StartFault {
    return findFault(this.#place, words) ?? underTmux(this.#place, this.#names.session, size, words);
  }

  /** To be called when tmux has drawn something: a control client that comes while tmux starts, without a session, makes it end. */
  begun(): void {
    const { sandbox, session } = this.#names;
    this.#panes = this.#all.follow(sandbox, session, this.#place, (list) => this.#changed(panesMessage(list)));
  }

  order(client: ClientRecord, order: PaneOrder): void {
    const refused = (code: string, message: string) => client.tell({ type: "error", code, message });
    carryOut(this.#panes, client.id, order, refused);
  }

  departed(client: ClientRecord): void {
    this.#panes?.giveBack(client.id);
  }

  /** The program of the PTY has ended. Ends all panes: who ends the session means everything that runs in it. */
  ended(): void {
    const { sandbox, session } = this.#names;
    this.#all.end(sandbox, session);
    this.#panes = undefined;
    endTmuxSession(this.#place, session);
  }
}

/** The answer to an order for a pane of a session without panes. */
export const NO_PANES = { type: "error", code: "no_such_pane", message: "this session has no panes" } as const;

/** The most panes, and windows, in a list: control messages have a limit. */
const MAX_LISTED = 256;
/** Programs may give themselves longer names. */
const MAX_NAME_BYTES = 64;

/** As many panes and windows as fit in a message: a longer message would end the connection. */
export function panesMessage({ panes, windows }: PaneList): PanesMessage {
  const named = <Named extends { name: string }>(one: Named) => ({
    ...one,
    name: clipUtf8(seenName(one.name), MAX_NAME_BYTES),
  });
  for (let most = MAX_LISTED; ; most = Math.floor(most / 2)) {
    const message: PanesMessage = {
      type: "panes",
      panes: panes.slice(0, most).map(named),
      windows: windows.slice(0, most).map(({ layout: _, ...window }) => named(window)),
    };
    if (Buffer.byteLength(JSON.stringify(message)) <= MAX_CONTROL_OUT_BYTES) return message;
  }
}

/** The longest text that is typed: a longer text is refused as a whole, as it could arrive in part. */
const MAX_TEXT_BYTES = 16 * 1024;

/**
 * @param owner The client that gave the order. When it leaves, a size that it gave is given back.
 * @param refused Called if the order is refused, now or when tmux has answered.
 */
function carryOut(
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
