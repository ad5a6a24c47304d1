// A person's open sessions on the page: that of the address alone, all of their tabs on every device, or this window's own tabs beside
// those. It starts with the one session, and asks for the saved tabs when a second pane is opened. No React.

import type { SessionTarget } from "../connection/session-target.ts";
import { Store } from "../ui/store.ts";
import { allTargets, type Layout, NOTHING_OPEN, type PaneId, paneIdOf, tabOf, targetsOf } from "./layout.ts";
import { open } from "./layout-edits.ts";
import { type Kept, merge, withSandbox } from "./layout-kept.ts";
import type { LayoutApi, StoredLayout } from "./layout-remote.ts";
import { type SessionNames, withName } from "./session-names.ts";

export type WorkspaceState = {
  /** Whether only the address's session is open, and nothing is saved. */
  readonly isAlone: boolean;
  readonly layout: Layout;
  /** Sandboxes that this person used, latest first. */
  readonly sandboxes: readonly string[];
  /** This person's names of sessions, as far as loaded. */
  readonly names: SessionNames;
  /** The folders in which sessions were last seen. */
  readonly places: SessionNames;
  /** The number of saved sessions that are not open here. Above 0 this window keeps its own tabs, which other devices do not get. */
  readonly elsewhere: number;
  /** Panes of tabs that were shown, in that order: others need no connection yet. */
  readonly shown: ReadonlySet<PaneId>;
  /** Whether the last save succeeded. */
  readonly isKept: boolean;
  /** What was closed here, latest last. */
  readonly closed: readonly Closed[];
};

/** Closed panes, and the layouts before and after. */
export type Closed = { readonly targets: readonly SessionTarget[]; readonly before: Layout; readonly after: Layout };

const MAX_CLOSED = 10;

const SAVE_DELAY_MS = 1_000;
const RETRY_MS = 15_000;
const NOTHING: Kept = { layout: NOTHING_OPEN, sandboxes: [], names: {}, places: {} };

/** This window's own tabs, over its reloads. */
export type WindowTabs = { read(): Kept | undefined; write(kept: Kept | undefined): void };
const NO_WINDOW: WindowTabs = { read: () => undefined, write: () => undefined };

export class Workspace extends Store<WorkspaceState> {
  readonly #api: LayoutApi;
  readonly #window: WindowTabs;
  /** The server's last known copy. */
  #base: Kept = NOTHING;
  #revision = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #joining: Promise<void> | undefined;
  #isSaving = false;
  #isDisposed = false;

  constructor(api: LayoutApi, target: SessionTarget, window = NO_WINDOW) {
    const own = window.read();
    const isOwn = own !== undefined && tabOf(own.layout, paneIdOf(target)) !== -1;
    const layout = open(isOwn ? own.layout : NOTHING_OPEN, target);
    const { places, names } = isOwn ? own : NOTHING;
    const sandboxes = [target.sandbox];
    super({
      // Until they are counted.
      ...{ isAlone: !isOwn, layout, sandboxes, names, places, elsewhere: isOwn ? 1 : 0 },
      ...{ shown: shownOf(layout, new Set()), isKept: true, closed: [] },
    });
    this.#api = api;
    this.#window = window;
    if (isOwn) this.#joining = this.#join(false);
  }

  /** Brings in this person's saved tabs, with those of this window among them. */
  async join(): Promise<void> {
    await this.#joining;
    if (this.#isShared) return;
    this.#joining = this.#join(true);
    await this.#joining;
  }

  /** Changes the layout. A second pane is kept for other devices, unless other tabs are: those are only counted. */
  async edit(change: (layout: Layout) => Layout): Promise<void> {
    if (this.state.isAlone) {
      this.#joining ??= this.#join(false);
      await this.#joining;
    }
    this.#edit(change);
  }

  /** Remembers in which folder a session is. Kept with the next change, or when the page closes. */
  placed(target: SessionTarget, place: string): void {
    const id = paneIdOf(target);
    if (this.state.places[id] !== place) this.#show({ places: withName(this.state.places, id, place) });
  }

  /** Reopens what was closed last: where it was, if nothing was moved since, else in tabs. */
  reopen(): void {
    const last = this.state.closed.at(-1);
    if (last === undefined) return;
    const { layout } = this.state;
    const isUnmoved = rootsOf(layout) === rootsOf(last.after);
    this.#set(isUnmoved ? last.before : last.targets.reduce(open, layout));
    this.#show({ closed: this.state.closed.slice(0, -1) });
  }

  /** Changes focus, order or sizes, which needs no tabs to be loaded. */
  editHere(change: (layout: Layout) => Layout): void {
    this.#edit(change);
  }

  opened(sandbox: string): void {
    const sandboxes = withSandbox(this.state.sandboxes, sandbox);
    if (sandboxes !== this.state.sandboxes) this.#changed({ sandboxes });
  }

  /** Loads the names of sessions if necessary. */
  async loadNames(): Promise<void> {
    if (!this.#isShared) await this.#readNames();
  }

  /** Names a session for this person; "" removes the name. */
  async rename(target: SessionTarget, name: string): Promise<void> {
    const id = paneIdOf(target);
    if (this.#isShared) {
      this.#changed({ names: withName(this.state.names, id, name) });
      return;
    }
    const there = await this.#readNames();
    const names = withName(this.state.names, id, name);
    this.#show({ names });
    if (there === undefined) return;
    const { kept = NOTHING, revision } = there;
    const answer = await this.#api.keep({ ...kept, names }, revision, false);
    // Another device has saved meanwhile: apply the change to its version.
    if (answer.kind === "other") await this.rename(target, name);
  }

  async #readNames(): Promise<StoredLayout | undefined> {
    const there = await this.#api.read();
    if (!this.#isShared && there?.kept !== undefined) this.#show({ names: there.kept.names });
    return there;
  }

  /** Saves pending changes now: the page may be closing. */
  flush(): void {
    this.#keepOwn();
    const isMoved =
      this.#isShared &&
      allTargets(this.state.layout)
        .map(paneIdOf)
        .some((id) => this.#base.places[id] !== this.state.places[id]);
    if (this.#timer === undefined && !isMoved) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    void this.#save(true);
  }

  dispose(): void {
    this.flush();
    this.#isDisposed = true;
    this.forgetListeners();
  }

  /** Whether the tabs are those of this person on every device. */
  get #isShared(): boolean {
    return !this.state.isAlone && this.state.elsewhere === 0;
  }

  /** @param isWhole Whether other saved tabs come here, too. */
  async #join(isWhole: boolean): Promise<void> {
    const there = await this.#api.read();
    const mine = this.state;
    const kept = there?.kept ?? NOTHING;
    const here = new Set(allTargets(mine.layout).map(paneIdOf));
    const others = allTargets(kept.layout).filter((target) => !here.has(paneIdOf(target)));
    const elsewhere = there === undefined ? mine.elsewhere : others.length;
    const sandboxes = [...new Set([...mine.sandboxes, ...kept.sandboxes])];
    const places = { ...kept.places, ...mine.places };
    if (elsewhere > 0 && !isWhole) {
      this.#changed({ isAlone: false, sandboxes, names: kept.names, places, elsewhere });
      return;
    }
    if (there !== undefined) this.#revision = there.revision;
    this.#base = kept;
    const [only, ...more] = allTargets(mine.layout);
    // One session takes its place among the others.
    const layout =
      only !== undefined && more.length === 0 ? open(kept.layout, only) : merge(NOTHING, mine, kept).layout;
    this.#window.write(undefined);
    this.#changed({
      isAlone: false,
      elsewhere: 0,
      layout,
      sandboxes,
      names: kept.names,
      places,
      isKept: there !== undefined,
    });
  }

  #keepOwn(): void {
    if (this.state.elsewhere > 0) this.#window.write(this.state);
  }

  #edit(change: (layout: Layout) => Layout): void {
    const before = this.state.layout;
    const after = change(before);
    this.#set(after);
    const open = new Set(allTargets(after).map(paneIdOf));
    const targets = allTargets(before).filter((target) => !open.has(paneIdOf(target)));
    if (targets.length === 0) return;
    this.#show({ closed: [...this.state.closed, { targets, before, after }].slice(-MAX_CLOSED) });
  }

  #set(layout: Layout): void {
    if (layout !== this.state.layout) this.#changed({ layout });
  }

  #changed(change: Partial<WorkspaceState>): void {
    this.#show(change);
    if (this.#isShared) this.#saveIn(SAVE_DELAY_MS);
    else this.#keepOwn();
  }

  #show(change: Partial<WorkspaceState>): void {
    const next = { ...this.state, ...change };
    const isSame = next.layout === this.state.layout;
    this.state = isSame ? next : { ...next, shown: shownOf(next.layout, next.shown) };
  }

  #saveIn(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isDisposed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#save(false);
    }, ms);
  }

  async #save(isLast: boolean): Promise<void> {
    if (this.#isSaving) {
      this.#saveIn(SAVE_DELAY_MS);
      return;
    }
    this.#isSaving = true;
    const { layout, sandboxes, names, places } = this.state;
    const sent: Kept = { layout, sandboxes, names, places };
    const answer = await this.#api.keep(sent, this.#revision, isLast);
    this.#isSaving = false;
    if (answer.kind === "failed") {
      this.#show({ isKept: false });
      this.#saveIn(RETRY_MS);
    } else if (answer.kind === "kept") {
      this.#revision = answer.revision;
      this.#base = sent;
      if (!this.state.isKept) this.#show({ isKept: true });
    } else {
      const { revision, kept = NOTHING } = answer.there;
      const merged = merge(this.#base, this.state, kept);
      this.#revision = revision;
      this.#base = kept;
      this.#changed({ ...merged, isKept: true });
    }
  }
}

const rootsOf = ({ tabs }: Layout) => JSON.stringify(tabs.map(({ root }) => root));

function shownOf(layout: Layout, before: ReadonlySet<PaneId>): ReadonlySet<PaneId> {
  const there = new Set(allTargets(layout).map(paneIdOf));
  const tab = layout.tabs[layout.current];
  const seen = tab === undefined ? [] : targetsOf(tab.root).map(paneIdOf);
  const shown = new Set([...[...before].filter((id) => there.has(id)), ...seen]);
  return shown.size === before.size && [...before].every((id) => shown.has(id)) ? before : shown;
}
