// The panes of a session under tmux: the last list from the server, the focus on this page, and commands. tmux decides: nothing is
// drawn before the server reports it. No React.

import type { ClientMessage, ClientState, PanesMessage, ServerMessage } from "sandbox-stdio/core";
import type { BrowserConnection } from "../connection/browser-connection.ts";
import { setTimer } from "../connection/browser-socket.ts";
import { Store } from "../ui/store.ts";
import { activePane, viewOf } from "./panes-model.ts";

export type SessionPanesState = {
  /** The server's last list; undefined if the session has no panes, as far as is known. */
  readonly list: PanesMessage | undefined;
  /** The focused pane on this page. */
  readonly focus: string | undefined;
  /** Panes that were visible here and still exist: only those are connected. */
  readonly opened: ReadonlySet<string>;
};

/** The used part of {@link BrowserConnection}. */
export type PanesConnection = {
  readonly mayType: boolean;
  subscribe(listener: {
    state(state: ClientState): void;
    message(message: ServerMessage): void;
    reset(): void;
  }): unknown;
  send(message: ClientMessage): void;
  /** @returns Cancels. */
  after(ms: number, act: () => void): () => void;
};

/** How long the focus may differ from tmux's active pane, while the command is under way or lost. */
const SYNC_MS = 3_000;

/** Error codes that refuse a command. */
const REFUSALS: ReadonlySet<string> = new Set(["pane_refused", "no_such_pane", "not_stdin_holder"]);
const NONE: SessionPanesState = { list: undefined, focus: undefined, opened: new Set() };

export class SessionPanes extends Store<SessionPanesState> {
  readonly #connection: PanesConnection;
  /** The pane that tmux was asked to activate, until it has. */
  #wanted: string | undefined;
  #cancelCheck: (() => void) | undefined;
  /** Whether tmux was asked a second time for the focused pane. */
  #isRetried = false;

  static of(connection: BrowserConnection): SessionPanes {
    return new SessionPanes({
      get mayType() {
        return connection.mayType;
      },
      subscribe: (listener) => connection.subscribe(listener),
      send: (message) => connection.client?.send(message),
      after: setTimer,
    });
  }

  constructor(connection: PanesConnection) {
    super(NONE);
    this.#connection = connection;
    connection.subscribe({
      state: ({ phase }) => {
        // A command under way may be lost. An ended session has no panes.
        this.#wanted = undefined;
        if (phase === "ended") this.state = NONE;
      },
      message: (message) => this.#onMessage(message),
      reset: () => {
        this.state = NONE;
      },
    });
  }

  get mayType(): boolean {
    return this.#connection.mayType;
  }

  /** Focuses a pane of any window, and makes it active for everybody. */
  focus(pane: string): void {
    const { list, focus } = this.state;
    if (list === undefined || focus === pane || !list.panes.some(({ id }) => id === pane)) return;
    this.change({ focus: pane });
    this.#isRetried = false;
    if (this.#connection.mayType) this.#want(pane);
  }

  /** Shows another window. */
  show(window: string): void {
    const pane = this.state.list?.panes.find((one) => one.window === window && one.active);
    if (pane !== undefined) this.focus(pane.id);
  }

  split(pane: string, across: "right" | "below"): void {
    this.#send({ type: "pane", action: "split", pane, across });
  }

  act(action: "close" | "zoom" | "break", pane: string): void {
    this.#send({ type: "pane", action, pane });
  }

  swap(pane: string, other: string): void {
    if (pane !== other) this.#send({ type: "pane", action: "swap", pane, with: other });
  }

  /** Moves a pane to another window, beside its active pane. */
  joinWindow(pane: string, window: string): void {
    const { list } = this.state;
    const beside = list?.panes.find((one) => one.window === window && one.active);
    const isThere = list?.panes.some((one) => one.window === window && one.id === pane);
    if (beside === undefined || isThere === true) return;
    this.#send({ type: "pane", action: "join", pane, with: beside.id, across: "right" });
  }

  /** Renames a window; with "" tmux names it after its program. */
  rename(window: string, name: string): void {
    this.#send({ type: "pane", action: "rename_window", window, name });
  }

  /** Moves a window to another one's position. */
  moveWindow(window: string, to: string): void {
    if (window !== to) this.#send({ type: "pane", action: "move_window", window, with: to });
  }

  newWindow(): void {
    this.#send({ type: "pane", action: "new_window" });
  }

  resize(pane: string, cols: number, rows: number): void {
    this.#connection.send({ type: "resize", pane, cols, rows });
  }

  #send(message: ClientMessage): void {
    // What the command activates gets the focus.
    this.#wanted = undefined;
    this.#connection.send(message);
    this.#checkSoon();
  }

  #want(pane: string): void {
    this.#wanted = pane;
    this.#connection.send({ type: "pane", action: "select", pane });
    this.#checkSoon();
  }

  get #active(): string | undefined {
    const { list } = this.state;
    return list && activePane(list)?.id;
  }

  /** Checks later whether focus and tmux agree: a lost command is not reported. */
  #checkSoon(): void {
    this.#cancelCheck?.();
    this.#cancelCheck = this.#connection.after(SYNC_MS, () => {
      this.#cancelCheck = undefined;
      const { focus } = this.state;
      const active = this.#active;
      // A viewer has an own focus, and a reconnecting client receives the list.
      if (!this.#connection.mayType || focus === undefined || active === undefined || focus === active) return;
      if (!this.#isRetried) {
        this.#isRetried = true;
        this.#want(focus);
        return;
      }
      // tmux decides.
      this.#wanted = undefined;
      this.change({ focus: active });
    });
  }

  #onMessage(message: ServerMessage): void {
    if (message.type === "error" && REFUSALS.has(message.code)) this.#refused();
    if (message.type !== "panes") return;
    if (message.panes.length === 0) {
      this.state = NONE;
      return;
    }
    const before = this.state;
    const active = activePane(message)?.id;
    const wasActive = before.list === undefined ? undefined : activePane(before.list)?.id;
    const isThere = message.panes.some(({ id }) => id === before.focus);
    if (active === this.#wanted || !isThere) this.#wanted = undefined;
    // An older list does not move the focus, nor one with the same active pane.
    const stays = isThere && (this.#wanted !== undefined || active === wasActive);
    const seen = viewOf(message).panes.map(({ pane }) => pane.id);
    const opened = message.panes.map(({ id }) => id).filter((id) => before.opened.has(id) || seen.includes(id));
    const focus = stays ? before.focus : active;
    this.state = { list: message, focus, opened: new Set(opened) };
    if (focus === active) this.#isRetried = false;
    else if (this.#cancelCheck === undefined) this.#checkSoon();
  }

  #refused(): void {
    if (this.#wanted === undefined || this.state.list === undefined) return;
    this.#wanted = undefined;
    this.change({ focus: this.#active });
  }
}
