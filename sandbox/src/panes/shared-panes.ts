// The panes of one session: the output of each, for all its readers, and one control client for all panes.

import { type ActionResult, type PaneAction, type PaneList, type PanesPorts, PanesSession } from "sandbox-stdio/panes";
import type { StartFault } from "../process/process.ts";
import { ControlClient, type TmuxPlace } from "./control-client.ts";
import { type PaneFollower, PaneOutput, shownSize } from "./pane-output.ts";
import { giveBackWindow } from "./tmux-session.ts";

/** How much is kept of panes without readers. Beyond it they are left to tmux, which is asked for the screen when a reader comes. */
const LIMITS = {
  /** Screens, about 4 MB each. The pane whose reader left first is given up first. */
  unreadScreens: 16,
  /** Output of one pane: a flood costs processor time. */
  unreadBytes: 64 * 1024 * 1024,
};

export class SharedPanes {
  readonly #tmux: TmuxPanes;
  readonly #place: TmuxPlace;
  readonly #limits: typeof LIMITS;
  /** By pane, but for panes that are left to tmux. Those whose readers left last come last. */
  readonly #outputs = new Map<string, PaneOutput>();
  /** Panes that are left to tmux. */
  readonly #left = new Set<string>();
  /** By window that was given a size: the client that gave it. */
  readonly #sized = new Map<string, unknown>();

  constructor(
    place: TmuxPlace,
    name: string,
    told: { changed(list: PaneList): void; lost(why: string): void },
    limits = LIMITS,
  ) {
    this.#place = place;
    this.#limits = limits;
    this.#tmux = new TmuxPanes(place, name, {
      changed: (list) => {
        this.#take(list);
        told.changed(list);
      },
      lost: told.lost,
      output: (pane, bytes) => this.#received(pane, bytes),
      taken: (pane) => {
        for (const follower of this.#followersOf(pane)) follower.writable();
      },
      closed: (pane) => {
        const followers = this.#followersOf(pane);
        if (followers.length === 0) this.#outputs.get(pane)?.close();
        this.#outputs.delete(pane);
        this.#left.delete(pane);
        for (const follower of followers) follower.gone();
      },
    });
  }

  get session(): TmuxPanes["session"] {
    return this.#tmux.session;
  }

  /** Retries until the tmux session exists. */
  start(): StartFault | undefined {
    return this.#tmux.start();
  }

  close(): void {
    this.#tmux.close();
  }

  /** The output of a pane, for a new reader. @returns undefined if there is no such pane. */
  outputOf(id: string): PaneOutput | undefined {
    const pane = this.session.find(id);
    if (pane?.id !== id) return undefined;
    const output = this.#outputs.get(id) ?? new PaneOutput(shownSize(pane));
    // To the end: the last one to be left to tmux.
    this.#outputs.delete(id);
    this.#outputs.set(id, output);
    this.wanted(id);
    return output;
  }

  /** A reader wants more output of a pane. If the pane was left to tmux, tmux is asked for its screen. */
  wanted(pane: string): void {
    this.#left.delete(pane);
    this.session.release(pane);
  }

  unfollow(pane: string, output: PaneOutput, follower: PaneFollower): void {
    output.followers.delete(follower);
    if (this.#outputs.get(pane) === output) this.#spareMemory();
    else if (output.followers.size === 0) output.close();
  }

  /** @param owner The client. A window that it gives a size keeps that until {@link giveBack}. */
  act(action: PaneAction, owner: unknown, answered: (result: ActionResult) => void): void {
    const { list } = this.session;
    if (action.action === "resize") {
      const { pane, cols, rows } = action;
      const window = list.panes.find(({ id }) => id === pane)?.window;
      const isAlone = list.panes.filter((other) => other.window === window).length === 1;
      if (isAlone && window !== undefined) {
        this.act({ action: "resize_window", window, cols, rows }, owner, answered);
        return;
      }
    }
    if (action.action === "resize_window" && list.windows.some(({ id }) => id === action.window))
      this.#sized.set(action.window, owner);
    this.session.act(action, answered);
  }

  /** The owner has gone: its windows get the size of tmux's own clients again. */
  giveBack(owner: unknown): void {
    for (const [window, by] of this.#sized) {
      if (by !== owner) continue;
      this.#sized.delete(window);
      if (this.session.list.windows.some(({ id }) => id === window)) giveBackWindow(this.#place, window);
    }
  }

  #take({ panes }: PaneList): void {
    for (const pane of panes) {
      const output = this.#outputs.get(pane.id);
      if (output === undefined && !this.#left.has(pane.id)) this.#outputs.set(pane.id, new PaneOutput(shownSize(pane)));
      output?.sized(shownSize(pane));
      for (const follower of this.#followersOf(pane.id)) follower.pump();
    }
  }

  #received(pane: string, bytes: Uint8Array): void {
    const output = this.#outputs.get(pane);
    if (output === undefined) return;
    const wasLarge = output.isLarge;
    output.append(bytes);
    const followers = this.#followersOf(pane);
    for (const follower of followers) follower.pump();
    output.unreadBytes = followers.some(({ isHeld }) => !isHeld) ? 0 : output.unreadBytes + bytes.length;
    if (output.unreadBytes > this.#limits.unreadBytes) this.#leave(pane, output);
    else if (!wasLarge && output.isLarge) this.#spareMemory();
  }

  #spareMemory(): void {
    const unread = [...this.#outputs].filter(([, { followers, isLarge }]) => followers.size === 0 && isLarge);
    for (const [pane, output] of unread.slice(0, -this.#limits.unreadScreens)) this.#leave(pane, output);
  }

  /** Leaves a pane to tmux until its output is {@link wanted}. */
  #leave(pane: string, output: PaneOutput): void {
    this.#left.add(pane);
    this.session.hold(pane);
    if (output.followers.size > 0) return;
    output.close();
    this.#outputs.delete(pane);
  }

  #followersOf(pane: string): PaneFollower[] {
    return [...(this.#outputs.get(pane)?.followers ?? [])];
  }
}

/** The pause before a restart. It doubles each time the control client ends before it has attached. */
const RETRY_MS = 50;
const MAX_RETRY_MS = 5_000;

type TmuxPanesEvents = Omit<PanesPorts, "send" | "lost"> & {
  /** The control client was lost: another is started. */
  lost(why: string): void;
};

/** The panes of one session that runs under tmux, followed by a control client that is restarted whenever it is lost. */
export class TmuxPanes {
  readonly session: PanesSession;
  readonly #place: TmuxPlace;
  readonly #name: string;
  readonly #isTerminal: boolean;
  #client: ControlClient | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #isClosed = false;

  /** @param name The tmux session, which must exist before {@link start}. */
  constructor(place: TmuxPlace, name: string, events: TmuxPanesEvents, isTerminal = false) {
    this.#place = place;
    this.#name = name;
    this.#isTerminal = isTerminal;
    this.session = new PanesSession({
      ...events,
      send: (text) => this.#client?.send(text),
      lost: (why) => {
        events.lost(why);
        // `#ended` follows: two control clients must not type at once.
        this.#client?.end();
      },
    });
  }

  /** The control client's process, or 0. */
  get pid(): number {
    return this.#client?.pid ?? 0;
  }

  start(): StartFault | undefined {
    const events = {
      received: (bytes: Uint8Array) => {
        this.session.receive(bytes);
        if (this.session.isAttached) this.#failures = 0;
      },
      ended: () => this.#ended(),
    };
    const client = ControlClient.start(this.#place, this.#name, events, this.#isTerminal);
    if ("fault" in client) return client;
    this.#client = client;
    this.session.opened();
    return undefined;
  }

  /** The session of tmux has ended, or is given up. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#client?.end();
    this.session.finished();
  }

  #ended(): void {
    this.#client = undefined;
    if (this.#isClosed) return;
    this.session.ended("the control client has ended");
    const delay = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** this.#failures++);
    this.#retry = setTimeout(() => {
      if (!this.#isClosed && this.start() !== undefined) this.#ended();
    }, delay);
  }
}
