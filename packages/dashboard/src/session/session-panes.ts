// The panes of a session that runs under tmux: as the server told them last, which of them has the focus on this page, and a
// person's orders for them. tmux has the last word: nothing is drawn before the server tells it. No React.

import type { ClientMessage, ClientState, PanesMessage, ServerMessage } from "sandbox-stdio/core";
import type { BrowserConnection } from "../connection/browser-connection.ts";
import { setTimer } from "../connection/browser-ports.ts";
import { activePane, viewOf } from "./panes-model.ts";

export type SessionPanesState = {
  /** undefined where the session has no panes, as far as is known. */
  readonly told: PanesMessage | undefined;
  /** The pane that is typed into here. */
  readonly focus: string | undefined;
  /** The panes that were seen here, and are there: only what was looked at is connected. */
  readonly opened: ReadonlySet<string>;
};

/** What is needed of a connection; {@link BrowserConnection} is one. */
export type PanesLink = {
  readonly mayType: boolean;
  subscribe(listener: {
    state(state: ClientState): void;
    message(message: ServerMessage): void;
    reset(): void;
  }): unknown;
  send(message: ClientMessage): void;
  /** @returns How to call it off. */
  after(ms: number, act: () => void): () => void;
};

/** So long the focus here may be on another pane than tmux's active one: the order for it is on its way, or was lost on a hop. */
export const APART_MS = 3_000;

/** Refusals of an order: what it wished for does not come. */
const REFUSALS: ReadonlySet<string> = new Set(["pane_refused", "no_such_pane", "not_stdin_holder"]);
const NONE: SessionPanesState = { told: undefined, focus: undefined, opened: new Set() };

export class SessionPanes {
  readonly #link: PanesLink;
  readonly #listeners = new Set<() => void>();
  #state: SessionPanesState = NONE;
  /** The pane that tmux was asked to make the active one, until it is. */
  #wanted: string | undefined;
  #callOff: (() => void) | undefined;
  /** tmux was asked once more for the pane that has the focus. */
  #isAskedAgain = false;

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

  constructor(link: PanesLink) {
    this.#link = link;
    link.subscribe({
      state: ({ phase }) => {
        // An order that was on its way may be lost. What has ended has no panes.
        this.#wanted = undefined;
        if (phase === "ended") this.#set(NONE);
      },
      message: (message) => this.#told(message),
      reset: () => this.#set(NONE),
    });
  }

  /** The same object until something changes. */
  readonly getState = (): SessionPanesState => this.#state;

  /** @returns How to stop listening. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get mayOrder(): boolean {
    return this.#link.mayType;
  }

  /** A person has gone to a pane, of whichever window: it is to be the active one for everybody. */
  focus(pane: string): void {
    const { told, focus } = this.#state;
    if (told === undefined || focus === pane || !told.panes.some(({ id }) => id === pane)) return;
    this.#set({ ...this.#state, focus: pane });
    this.#isAskedAgain = false;
    if (this.#link.mayType) this.#want(pane);
  }

  /** Shows another window. */
  show(window: string): void {
    const pane = this.#state.told?.panes.find((one) => one.window === window && one.active);
    if (pane !== undefined) this.focus(pane.id);
  }

  split(pane: string, across: "right" | "below"): void {
    this.#order({ type: "pane", action: "split", pane, across });
  }

  act(action: "close" | "zoom" | "break", pane: string): void {
    this.#order({ type: "pane", action, pane });
  }

  swap(pane: string, other: string): void {
    if (pane !== other) this.#order({ type: "pane", action: "swap", pane, with: other });
  }

  /** Takes a pane to another window, beside the pane that is active there. */
  joinWindow(pane: string, window: string): void {
    const { told } = this.#state;
    const beside = told?.panes.find((one) => one.window === window && one.active);
    const isThere = told?.panes.some((one) => one.window === window && one.id === pane);
    if (beside === undefined || isThere === true) return;
    this.#order({ type: "pane", action: "join", pane, with: beside.id, across: "right" });
  }

  /** Gives a window a name; without one tmux names it by what runs there. */
  rename(window: string, name: string): void {
    this.#order({ type: "pane", action: "rename_window", window, name });
  }

  /** Gives a window the place of another. */
  moveWindow(window: string, to: string): void {
    if (window !== to) this.#order({ type: "pane", action: "move_window", window, with: to });
  }

  newWindow(): void {
    this.#order({ type: "pane", action: "new_window" });
  }

  resize(pane: string, cols: number, rows: number): void {
    this.#link.send({ type: "resize", pane, cols, rows });
  }

  #order(message: ClientMessage): void {
    // What it makes active takes the focus.
    this.#wanted = undefined;
    this.#link.send(message);
    this.#watch();
  }

  #want(pane: string): void {
    this.#wanted = pane;
    this.#link.send({ type: "pane", action: "select", pane });
    this.#watch();
  }

  get #active(): string | undefined {
    const { told } = this.#state;
    return told && activePane(told)?.id;
  }

  /** Looks later whether focus and tmux have come together: no list tells of an order that was lost. */
  #watch(): void {
    this.#callOff?.();
    this.#callOff = this.#link.after(APART_MS, () => {
      this.#callOff = undefined;
      const { focus } = this.#state;
      const active = this.#active;
      // A person who may not type has a focus of their own. One who is not connected is told the panes on coming back.
      if (!this.#link.mayType || focus === undefined || active === undefined || focus === active) return;
      if (!this.#isAskedAgain) {
        this.#isAskedAgain = true;
        this.#want(focus);
        return;
      }
      // tmux has the last word.
      this.#wanted = undefined;
      this.#set({ ...this.#state, focus: active });
    });
  }

  #told(message: ServerMessage): void {
    if (message.type === "error" && REFUSALS.has(message.code)) this.#refused();
    if (message.type !== "panes") return;
    if (message.panes.length === 0) {
      this.#set(NONE);
      return;
    }
    const before = this.#state;
    const active = activePane(message)?.id;
    const wasActive = before.told === undefined ? undefined : activePane(before.told)?.id;
    const isThere = message.panes.some(({ id }) => id === before.focus);
    if (active === this.#wanted || !isThere) this.#wanted = undefined;
    // A list from before the own wish was followed moves no focus; nor does one that makes no other pane active.
    const stays = isThere && (this.#wanted !== undefined || active === wasActive);
    const seen = viewOf(message).panes.map(({ pane }) => pane.id);
    const opened = message.panes.map(({ id }) => id).filter((id) => before.opened.has(id) || seen.includes(id));
    const focus = stays ? before.focus : active;
    this.#set({ told: message, focus, opened: new Set(opened) });
    if (focus === active) this.#isAskedAgain = false;
    else if (this.#callOff === undefined) this.#watch();
  }

  #refused(): void {
    if (this.#wanted === undefined || this.#state.told === undefined) return;
    this.#wanted = undefined;
    this.#set({ ...this.#state, focus: this.#active });
  }

  #set(state: SessionPanesState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
