// Tools to find the way in a terminal: search, the commands in the scrollback, the way back to the bottom. One view of it
// for whatever draws it. No React.

import type { Terminal } from "@xterm/xterm";
import type { Shortcut } from "../terminal/terminal-shortcuts.ts";
import type { Texts } from "../texts/texts.ts";
import type { CommandBlock } from "./command-blocks.ts";
import { CommandMarks } from "./command-marks.ts";
import { ScrollbackSearch } from "./scrollback-search.ts";
import { EMPTY_SEARCH, type SearchState } from "./search-model.ts";

/** Another count is another time, of the same words too. */
export type Said = { readonly words: string; readonly count: number };

export type ToolsState = {
  readonly isSearching: boolean;
  /** How often a search was asked for: each time leads to its field. */
  readonly searches: number;
  readonly search: SearchState;
  /** Whether the newest line is below the visible ones. */
  readonly isScrolledUp: boolean;
  /** Said for a moment: something was copied, or there was nothing to. */
  readonly said: Said | undefined;
  /** Said to a screen reader alone: a command has ended. */
  readonly announced: Said | undefined;
};

/** Of a longer command a screen reader is told the beginning. */
const MAX_ANNOUNCED = 80;

export type TerminalToolsOptions = {
  readonly words: Texts["command"];
  readonly isReplay: () => boolean;
  readonly commandEnded: (block: CommandBlock) => void;
  /** How the connection is just now, in words. */
  readonly latencyWords: () => string;
};

export class TerminalTools {
  readonly search: ScrollbackSearch;
  readonly commands: CommandMarks;
  readonly #terminal: Terminal;
  readonly #words: Texts["command"];
  readonly #latencyWords: () => string;
  readonly #listeners = new Set<() => void>();
  readonly #disposables: { dispose(): void }[];
  #state: ToolsState = {
    isSearching: false,
    searches: 0,
    search: EMPTY_SEARCH,
    isScrolledUp: false,
    said: undefined,
    announced: undefined,
  };

  constructor(terminal: Terminal, { words, isReplay, commandEnded, latencyWords }: TerminalToolsOptions) {
    this.#latencyWords = latencyWords;
    this.#terminal = terminal;
    this.#words = words;
    this.search = new ScrollbackSearch(terminal, () => this.#change({ search: this.search.state }));
    this.commands = new CommandMarks(terminal, {
      words,
      isReplay,
      ended: (block) => {
        if (terminal.options.screenReaderMode === true) this.#announce(block);
        commandEnded(block);
      },
      leftOn: () => this.#say(words.leftOn),
      copied: (text) => void this.#copy(text),
      now: () => performance.now(),
    });
    this.#disposables = [
      this.search,
      this.commands,
      // A person's scrolling, and lines that are printed meanwhile.
      terminal.onScroll(() => this.#scrolled()),
      terminal.onWriteParsed(() => this.#scrolled()),
    ];
    // xterm.js does not tell of a wheel's scrolling by onScroll.
    const element = terminal.element?.querySelector(".xterm-scrollable-element") ?? terminal.element;
    const looked = () => requestAnimationFrame(() => this.#scrolled());
    for (const event of ["wheel", "pointerup", "touchmove"])
      element?.addEventListener(event, looked, { passive: true });
    // Not in a frame: a browser would draw one for nothing, and the key's echo would wait for the next one.
    element?.addEventListener("keyup", () => this.#scrolled());
  }

  /** The same object until something changes. */
  readonly getState = (): ToolsState => this.#state;

  /** @returns How to stop listening. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** @returns Whether it is one that is done here. */
  do(shortcut: Shortcut): boolean {
    switch (shortcut) {
      case "search":
        this.#change({ isSearching: true, searches: this.#state.searches + 1 });
        return true;
      case "previous-command":
      case "next-command":
        this.#jump(shortcut === "next-command" ? "after" : "before");
        return true;
      case "copy-output":
        void this.#copy(this.commands.outputInView());
        return true;
      case "to-bottom":
        this.toBottom();
        return true;
      case "latency":
        this.#say(this.#latencyWords());
        return true;
      case "settings":
        return false;
    }
  }

  toBottom(): void {
    this.#terminal.scrollToBottom();
    this.#scrolled();
  }

  closeSearch(): void {
    this.search.close();
    this.#change({ isSearching: false });
  }

  dispose(): void {
    this.#listeners.clear();
    for (const disposable of this.#disposables) disposable.dispose();
  }

  #jump(direction: "before" | "after"): void {
    if (this.commands.scrollTo(direction)) this.#scrolled();
    else if (direction === "after") this.toBottom();
    else this.#say(this.commands.list.length === 0 ? this.#words.unmarked : this.#words.first);
  }

  async #copy(text: string | undefined): Promise<void> {
    if (text === undefined || text === "") {
      this.#say(this.#words.nothingToCopy);
      return;
    }
    try {
      await navigator.clipboard.writeText(text);
      this.#say(this.#words.copied(text.split("\n").length));
    } catch {
      // The browser's own settings forbid it, or the page has no TLS.
      this.#say(this.#words.notCopied);
    }
  }

  #say(words: string): void {
    this.#change({ said: { words, count: (this.#state.said?.count ?? 0) + 1 } });
  }

  #announce(block: CommandBlock): void {
    const line = this.commands.lineOf(block).slice(0, MAX_ANNOUNCED);
    const words = this.#words.announced(line, block.exit);
    this.#change({ announced: { words, count: (this.#state.announced?.count ?? 0) + 1 } });
  }

  #scrolled(): void {
    const { viewportY, baseY } = this.#terminal.buffer.active;
    const isScrolledUp = viewportY < baseY;
    if (isScrolledUp !== this.#state.isScrolledUp) this.#change({ isScrolledUp });
  }

  #change(change: Partial<ToolsState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
