// The panes of one session, and the followers of each: every follower of a pane gets all of it, and one control client serves all.

import type { ActionResult, PaneAction, PaneList } from "sandbox-stdio/panes";
import type { StartFault } from "../process/process.ts";
import type { TmuxPlace } from "./control-client.ts";
import { TmuxPanes } from "./tmux-panes.ts";
import { giveBackWindow } from "./tmux-session.ts";

export interface PaneFollower {
  /** Whether it wants no more for now: a pane is held if no follower wants more. */
  readonly isHeld: boolean;
  /** The bytes are good until this returns. */
  received(bytes: Uint8Array): void;
  /** The pane takes input again. */
  writable(): void;
  /** The size that tmux gives the pane, told with each change of the list. */
  sized(cols: number, rows: number): void;
  gone(): void;
}

export class SharedPanes {
  readonly #tmux: TmuxPanes;
  readonly #place: TmuxPlace;
  readonly #followers = new Map<string, Set<PaneFollower>>();
  /** Windows that have the size of an order, and the order's owner. */
  readonly #sized = new Map<string, unknown>();

  constructor(place: TmuxPlace, name: string, told: { changed(list: PaneList): void; lost(why: string): void }) {
    this.#place = place;
    this.#tmux = new TmuxPanes(place, name, {
      changed: (list) => {
        for (const { id, cols, rows } of list.panes) for (const follower of this.#of(id)) follower.sized(cols, rows);
        told.changed(list);
      },
      lost: told.lost,
      output: (pane, bytes) => {
        for (const follower of this.#of(pane)) follower.received(bytes);
      },
      taken: (pane) => {
        for (const follower of this.#of(pane)) follower.writable();
      },
      closed: (pane) => {
        const followers = this.#of(pane);
        this.#followers.delete(pane);
        for (const follower of followers) follower.gone();
      },
    });
  }

  get session(): TmuxPanes["session"] {
    return this.#tmux.session;
  }

  /** The tmux session must be there, or come soon: until then it is tried again. */
  start(): StartFault | undefined {
    return this.#tmux.start();
  }

  close(): void {
    this.#tmux.close();
  }

  /** @returns False where there is no such pane. The follower's output begins with a redraw. */
  follow(pane: string, follower: PaneFollower): boolean {
    if (this.session.find(pane)?.id !== pane) return false;
    const followers = this.#followers.get(pane) ?? new Set();
    this.#followers.set(pane, followers.add(follower));
    this.heldOrReleased(pane);
    this.session.draw(pane);
    return true;
  }

  unfollow(pane: string, follower: PaneFollower): void {
    this.#followers.get(pane)?.delete(follower);
    this.heldOrReleased(pane);
  }

  /** A follower has changed its mind. One that is behind the others is told what they are: it lets that go, and is redrawn. */
  heldOrReleased(pane: string): void {
    const followers = this.#of(pane);
    if (followers.length > 0 && followers.every(({ isHeld }) => isHeld)) this.session.hold(pane);
    else this.session.release(pane);
  }

  /** A window that `owner` gives a size has it until the owner is gone: see {@link giveBack}. */
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

  /** Its windows are as large again as tmux's own clients make them. */
  giveBack(owner: unknown): void {
    for (const [window, by] of this.#sized) {
      if (by !== owner) continue;
      this.#sized.delete(window);
      if (this.session.list.windows.some(({ id }) => id === window)) giveBackWindow(this.#place, window);
    }
  }

  #of(pane: string): PaneFollower[] {
    return [...(this.#followers.get(pane) ?? [])];
  }
}
