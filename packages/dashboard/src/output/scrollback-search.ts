// The search in one terminal's scrollback, by xterm.js's addon, which is loaded when first needed. No React.

import type { SearchAddon } from "@xterm/addon-search";
import type { Terminal } from "@xterm/xterm";
import { matchColours } from "../terminal/theme.ts";
import {
  addonSearch,
  EMPTY_SEARCH,
  outcomeAfter,
  outcomeBefore,
  SEARCH_LIMIT,
  type SearchOptions,
  type SearchState,
} from "./search-model.ts";

export class ScrollbackSearch {
  #state = EMPTY_SEARCH;
  readonly #terminal: Terminal;
  readonly #changed: () => void;
  #addon: Promise<SearchAddon> | undefined;
  /** The options of the last search. */
  #found: SearchOptions | undefined;
  #isDisposed = false;

  /** @param changed Called when {@link state} changes. */
  constructor(terminal: Terminal, changed: () => void) {
    this.#terminal = terminal;
    this.#changed = changed;
  }

  get state(): SearchState {
    return this.#state;
  }

  /** Searches upwards from the selection for a new term or with new options. */
  async find(term: string, options: SearchOptions): Promise<void> {
    const outcome = outcomeBefore(term, options);
    this.#change({ term, options, outcome });
    if (outcome.kind === "searching") await this.#run("previous", true);
    else (await this.#addon)?.clearDecorations();
  }

  async next(): Promise<void> {
    if (this.#canFind()) await this.#run("next", false);
  }

  async previous(): Promise<void> {
    if (this.#canFind()) await this.#run("previous", false);
  }

  /** Removes the highlights. The last match stays selected, and the term is kept. */
  close(): void {
    void this.#addon?.then((addon) => addon.clearDecorations());
    this.#change({ outcome: { kind: "nothing-asked" } });
  }

  dispose(): void {
    this.#isDisposed = true;
  }

  #canFind(): boolean {
    return outcomeBefore(this.#state.term, this.#state.options).kind === "searching";
  }

  async #run(direction: "next" | "previous", isIncremental: boolean): Promise<void> {
    const query = this.#state;
    this.#addon ??= this.#load();
    const addon = await this.#addon;
    // The query changed meanwhile, or the terminal is gone.
    if (this.#isDisposed || query.term !== this.#state.term || query.options !== this.#state.options) return;
    const decorations = matchColours(this.#terminal.options.theme?.background);
    const { term, regex } = addonSearch(query.term, query.options);
    const options = { regex, caseSensitive: query.options.isCaseSensitive, decorations };
    // The addon would treat other options as the same search, and go to the next match.
    if (query.options !== this.#found) addon.clearDecorations();
    this.#found = query.options;
    const isFound =
      direction === "next"
        ? addon.findNext(term, options)
        : addon.findPrevious(term, { ...options, incremental: isIncremental });
    if (!isFound) this.#change({ outcome: outcomeAfter(-1, 0) });
  }

  async #load(): Promise<SearchAddon> {
    const { SearchAddon } = await import("@xterm/addon-search");
    const addon = new SearchAddon({ highlightLimit: SEARCH_LIMIT });
    if (this.#isDisposed) return addon;
    this.#terminal.loadAddon(addon);
    addon.onDidChangeResults(({ resultIndex, resultCount }) => {
      this.#change({ outcome: outcomeAfter(resultIndex, resultCount) });
    });
    return addon;
  }

  #change(change: Partial<SearchState>): void {
    this.#state = { ...this.#state, ...change };
    this.#changed();
  }
}
