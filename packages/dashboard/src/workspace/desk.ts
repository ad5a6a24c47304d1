// A person's open sessions on the page: the one of an address, or all of their tabs, the same on each device. It begins
// alone; the first thing that needs more than one pane brings the tabs in. No React.

import type { Place } from "../connection/place.ts";
import { allPlaces, type Layout, NOTHING_OPEN, type PaneId, paneIdOf, placesOf } from "./layout.ts";
import { open } from "./layout-edits.ts";
import { type Kept, merge, withSandbox } from "./layout-kept.ts";
import type { LayoutRemote, Remembered } from "./layout-remote.ts";
import { type SessionNames, withName } from "./session-names.ts";

export type DeskState = {
  /** Whether only the session of the address is here, and nothing is kept. */
  readonly isAlone: boolean;
  readonly layout: Layout;
  /** Those that this person had sessions in, the last first. */
  readonly sandboxes: readonly string[];
  /** Those that this person has given to sessions, as far as they were asked for. */
  readonly names: SessionNames;
  /** Panes of tabs that were looked at, in that order: the others need no connection yet. */
  readonly shown: ReadonlySet<PaneId>;
  /** Whether the server has the state from here, as far as is known. */
  readonly isKept: boolean;
};

const KEEP_AFTER_MS = 1_000;
const AGAIN_AFTER_MS = 15_000;
const NOTHING: Kept = { layout: NOTHING_OPEN, sandboxes: [], names: {} };

export class Desk {
  #state: DeskState;
  readonly #remote: LayoutRemote;
  readonly #listeners = new Set<() => void>();
  /** The server's copy when it was last heard of. */
  #base: Kept = NOTHING;
  #revision = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #joining: Promise<void> | undefined;
  #isKeeping = false;
  #isDisposed = false;

  constructor(remote: LayoutRemote, place: Place) {
    this.#remote = remote;
    const sandboxes = [place.sandbox];
    const layout = open(NOTHING_OPEN, place);
    this.#state = { isAlone: true, layout, sandboxes, names: {}, shown: shownOf(layout, new Set()), isKept: true };
  }

  /** The same object until something changes. */
  readonly getState = (): DeskState => this.#state;

  /** @returns How to stop listening. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Brings in the tabs that this person has, and shows the session that was here alone as one of them. Once. */
  join(): Promise<void> {
    this.#joining ??= this.#join();
    return this.#joining;
  }

  /** Changes what is open, after the tabs have come where that makes more than one pane of it. */
  async edit(change: (layout: Layout) => Layout): Promise<void> {
    if (this.#state.isAlone) await this.join();
    this.#set(change(this.#state.layout));
  }

  /** Something that changes no more than where the focus is, or how wide a pane: nothing has to come for that. */
  editHere(change: (layout: Layout) => Layout): void {
    this.#set(change(this.#state.layout));
  }

  opened(sandbox: string): void {
    const sandboxes = withSandbox(this.#state.sandboxes, sandbox);
    if (sandboxes !== this.#state.sandboxes) this.#changed({ sandboxes });
  }

  /** Asks for the names that this person has given to sessions, if they are not here. */
  async askNames(): Promise<void> {
    if (this.#state.isAlone) await this.#readNames();
  }

  /** Gives a session a name for this person; "" takes it back. Alone, nothing else is kept. */
  async rename(place: Place, name: string): Promise<void> {
    const id = paneIdOf(place);
    if (!this.#state.isAlone) {
      this.#changed({ names: withName(this.#state.names, id, name) });
      return;
    }
    const there = await this.#readNames();
    const names = withName(this.#state.names, id, name);
    this.#show({ names });
    if (there === undefined) return;
    const { kept = NOTHING, revision } = there;
    const answer = await this.#remote.keep({ ...kept, names }, revision, false);
    // Another device was faster: once more, over what it has kept.
    if (answer.kind === "other") await this.rename(place, name);
  }

  async #readNames(): Promise<Remembered | undefined> {
    const there = await this.#remote.read();
    if (this.#state.isAlone && there?.kept !== undefined) this.#show({ names: there.kept.names });
    return there;
  }

  /** Keeps unkept changes now: the page may be going. */
  flush(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    void this.#keep(true);
  }

  dispose(): void {
    this.flush();
    this.#isDisposed = true;
    this.#listeners.clear();
  }

  async #join(): Promise<void> {
    const there = await this.#remote.read();
    const mine = this.#state;
    if (there !== undefined) this.#revision = there.revision;
    this.#base = there?.kept ?? NOTHING;
    let { layout } = this.#base;
    const [place] = mine.layout.tabs.map(({ root }) => root).filter((root) => root.kind === "pane");
    if (place !== undefined) layout = open(layout, place.place);
    const sandboxes = [...new Set([...mine.sandboxes, ...this.#base.sandboxes])];
    const { names } = this.#base;
    this.#changed({ isAlone: false, layout, sandboxes, names, isKept: there !== undefined });
  }

  #set(layout: Layout): void {
    if (layout !== this.#state.layout) this.#changed({ layout });
  }

  #changed(change: Partial<DeskState>): void {
    this.#show(change);
    if (!this.#state.isAlone) this.#keepIn(KEEP_AFTER_MS);
  }

  #show(change: Partial<DeskState>): void {
    const next = { ...this.#state, ...change };
    const isSame = next.layout === this.#state.layout;
    this.#state = isSame ? next : { ...next, shown: shownOf(next.layout, next.shown) };
    for (const listener of this.#listeners) listener();
  }

  #keepIn(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isDisposed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#keep(false);
    }, ms);
  }

  async #keep(isLast: boolean): Promise<void> {
    if (this.#isKeeping) {
      this.#keepIn(KEEP_AFTER_MS);
      return;
    }
    this.#isKeeping = true;
    const { layout, sandboxes, names } = this.#state;
    const sent: Kept = { layout, sandboxes, names };
    const answer = await this.#remote.keep(sent, this.#revision, isLast);
    this.#isKeeping = false;
    if (answer.kind === "failed") {
      this.#show({ isKept: false });
      this.#keepIn(AGAIN_AFTER_MS);
    } else if (answer.kind === "kept") {
      this.#revision = answer.revision;
      this.#base = sent;
      if (!this.#state.isKept) this.#show({ isKept: true });
    } else {
      const { revision, kept = NOTHING } = answer.there;
      const merged = merge(this.#base, this.#state, kept);
      this.#revision = revision;
      this.#base = kept;
      this.#changed({ ...merged, isKept: true });
    }
  }
}

function shownOf(layout: Layout, before: ReadonlySet<PaneId>): ReadonlySet<PaneId> {
  const there = new Set(allPlaces(layout).map(paneIdOf));
  const tab = layout.tabs[layout.current];
  const seen = tab === undefined ? [] : placesOf(tab.root).map(paneIdOf);
  const shown = new Set([...[...before].filter((id) => there.has(id)), ...seen]);
  return shown.size === before.size && [...before].every((id) => shown.has(id)) ? before : shown;
}
