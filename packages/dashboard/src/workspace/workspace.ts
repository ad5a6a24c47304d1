// A person's open sessions on the page: that of the address alone, or all of their tabs on every device. It starts with the one session
// and loads the tabs when a second pane is opened. No React.

import type { SessionTarget } from "../connection/session-target.ts";
import { Store } from "../ui/store.ts";
import { allTargets, type Layout, NOTHING_OPEN, type PaneId, paneIdOf, targetsOf } from "./layout.ts";
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
const NOTHING: Kept = { layout: NOTHING_OPEN, sandboxes: [], names: {} };

export class Workspace extends Store<WorkspaceState> {
  readonly #api: LayoutApi;
  /** The server's last known copy. */
  #base: Kept = NOTHING;
  #revision = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #joining: Promise<void> | undefined;
  #isSaving = false;
  #isDisposed = false;

  constructor(api: LayoutApi, target: SessionTarget) {
    const sandboxes = [target.sandbox];
    const layout = open(NOTHING_OPEN, target);
    super({ isAlone: true, layout, sandboxes, names: {}, shown: shownOf(layout, new Set()), isKept: true, closed: [] });
    this.#api = api;
  }

  /** Loads this person's tabs, with the current session among them. Once. */
  join(): Promise<void> {
    this.#joining ??= this.#join();
    return this.#joining;
  }

  /** Changes the layout, after loading the tabs. */
  async edit(change: (layout: Layout) => Layout): Promise<void> {
    if (this.state.isAlone) await this.join();
    this.#edit(change);
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
    if (this.state.isAlone) await this.#readNames();
  }

  /** Names a session for this person; "" removes the name. */
  async rename(target: SessionTarget, name: string): Promise<void> {
    const id = paneIdOf(target);
    if (!this.state.isAlone) {
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
    if (this.state.isAlone && there?.kept !== undefined) this.#show({ names: there.kept.names });
    return there;
  }

  /** Saves pending changes now: the page may be closing. */
  flush(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    void this.#save(true);
  }

  dispose(): void {
    this.flush();
    this.#isDisposed = true;
    this.forgetListeners();
  }

  async #join(): Promise<void> {
    const there = await this.#api.read();
    const mine = this.state;
    if (there !== undefined) this.#revision = there.revision;
    this.#base = there?.kept ?? NOTHING;
    let { layout } = this.#base;
    const [target] = mine.layout.tabs.map(({ root }) => root).filter((root) => root.kind === "pane");
    if (target !== undefined) layout = open(layout, target.target);
    const sandboxes = [...new Set([...mine.sandboxes, ...this.#base.sandboxes])];
    const { names } = this.#base;
    this.#changed({ isAlone: false, layout, sandboxes, names, isKept: there !== undefined });
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
    if (!this.state.isAlone) this.#saveIn(SAVE_DELAY_MS);
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
    const { layout, sandboxes, names } = this.state;
    const sent: Kept = { layout, sandboxes, names };
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
