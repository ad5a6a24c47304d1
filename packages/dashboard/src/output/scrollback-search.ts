// The search in the scrollback of one terminal: xterm.js's own addon, which comes when it is first needed. No React.

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
  /** The options of the newest search. */
  #found: SearchOptions | undefined;
  #isDisposed = false;

  /** @param changed Told when {@link state} changes. */
  constructor(terminal: Terminal, changed: () => void) {
    this.#terminal = terminal;
    this.#changed = changed;
  }

  get state(): SearchState {
    return this.#state;
  }

  /** Another term, or other options: from the selection on, upwards. */
  async ask(term: string, options: SearchOptions): Promise<void> {
    const outcome = outcomeBefore(term, options);
    this.#change({ term, options, outcome });
    if (outcome.kind === "searching") await this.#find("previous", true);
    else (await this.#addon)?.clearDecorations();
  }

  async next(): Promise<void> {
    if (this.#canFind()) await this.#find("next", false);
  }

  async previous(): Promise<void> {
    if (this.#canFind()) await this.#find("previous", false);
  }

  /** Takes the colours off the screen. The last match stays selected, and the term is known the next time. */
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

  async #find(direction: "next" | "previous", isIncremental: boolean): Promise<void> {
    const asked = this.#state;
    this.#addon ??= this.#load();
    const addon = await this.#addon;
    // Something else was asked for meanwhile, or the terminal is gone.
    if (this.#isDisposed || asked.term !== this.#state.term || asked.options !== this.#state.options) return;
    const decorations = matchColours(this.#terminal.options.theme?.background);
    const { term, regex } = addonSearch(asked.term, asked.options);
    const options = { regex, caseSensitive: asked.options.isCaseSensitive, decorations };
    // The addon takes other options for the same search, and would go on to the next match.
    if (asked.options !== this.#found) addon.clearDecorations();
    this.#found = asked.options;
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
