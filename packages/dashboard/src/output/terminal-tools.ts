// Navigation in a terminal: search, commands in the scrollback, scrolling to the bottom. No React.

import type { SearchAddon } from "@xterm/addon-search";
import type { Terminal } from "@xterm/xterm";
import type { Shortcut } from "../terminal/terminal-shortcuts.ts";
import { matchColours } from "../terminal/theme.ts";
import type { Texts } from "../texts/texts.ts";
import { Store } from "../ui/store.ts";
import type { CommandBlock } from "./command-blocks.ts";
import { CommandMarks } from "./command-marks.ts";
import {
  addonSearch,
  EMPTY_SEARCH,
  outcomeAfter,
  outcomeBefore,
  SEARCH_LIMIT,
  type SearchOptions,
  type SearchState,
} from "./search-model.ts";
import type { ShellFacts } from "./shell-facts.ts";

/** `count` tells repetitions of the same text apart. */
export type ToolNotice = { readonly text: string; readonly count: number };

export type ToolsState = {
  readonly isSearching: boolean;
  /** Number of requests for a search: each focuses the field. */
  readonly searches: number;
  readonly search: SearchState;
  /** Whether the newest line is out of view. */
  readonly isScrolledUp: boolean;
  /** The command to which the output at the top of the screen belongs. */
  readonly head: ShownBlock | undefined;
  /** The command that the last jump led to. */
  readonly chosen: ShownBlock | undefined;
  /** Pixels of a row, and of the terminal's whole width and height. */
  readonly size: { readonly row: number; readonly width: number; readonly height: number };
  /** Shown briefly: something was copied, or there was nothing to copy. */
  readonly notice: ToolNotice | undefined;
  /** For screen readers: a command ended. */
  readonly announced: ToolNotice | undefined;
};

export type ShownBlock = {
  readonly of: CommandBlock;
  readonly line: string;
  /** The row of its prompt on the screen; 0 for the command at the top. */
  readonly row: number;
  readonly exit: number | undefined;
  readonly isRunning: boolean;
  /** undefined if it is unknown, or too short to be worth a word. */
  readonly tookMs: number | undefined;
};

const WORTH_MS = 500;
/** A command that would type more than it shows. */
const HAS_CONTROL = /[^\P{Cc}\n\t]/u;

/** Announced length of a command. */
const MAX_ANNOUNCED = 80;

export type TerminalToolsOptions = {
  readonly words: Texts["command"];
  readonly isReplay: () => boolean;
  readonly commandEnded: (block: CommandBlock) => void;
  readonly factsChanged: (facts: ShellFacts) => void;
  /** Text about the connection's latency. */
  readonly latencyText: () => string;
};

export class TerminalTools extends Store<ToolsState> {
  readonly search: ScrollbackSearch;
  readonly commands: CommandMarks;
  readonly #terminal: Terminal;
  readonly #words: Texts["command"];
  readonly #latencyText: () => string;
  readonly #disposables: { dispose(): void }[];
  #shown: readonly (CommandBlock | number | undefined)[] = [];

  constructor(terminal: Terminal, options: TerminalToolsOptions) {
    const { words, isReplay, commandEnded, factsChanged, latencyText } = options;
    super({
      isSearching: false,
      searches: 0,
      search: EMPTY_SEARCH,
      isScrolledUp: false,
      head: undefined,
      chosen: undefined,
      size: { row: 0, width: 0, height: 0 },
      notice: undefined,
      announced: undefined,
    });
    this.#latencyText = latencyText;
    this.#terminal = terminal;
    this.#words = words;
    this.search = new ScrollbackSearch(terminal, () => this.change({ search: this.search.state }));
    this.commands = new CommandMarks(terminal, {
      words,
      isReplay,
      factsChanged,
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
      // Scrolling, and output that moves the lines.
      terminal.onScroll(() => this.#scrolled()),
      terminal.onWriteParsed(() => this.#scrolled()),
    ];
    // xterm.js reports a new size before its element has it.
    const observer = new ResizeObserver(([entry]) => {
      const { width = 0, height = 0 } = entry?.contentRect ?? {};
      this.change({ size: { row: height / terminal.rows, width, height } });
    });
    const screen = terminal.element?.querySelector(".xterm-screen");
    if (screen) observer.observe(screen);
    this.#disposables.push({ dispose: () => observer.disconnect() });
    // onScroll does not report scrolling by the wheel.
    const element = terminal.element?.querySelector(".xterm-scrollable-element") ?? terminal.element;
    const moved = () => requestAnimationFrame(() => this.#scrolled());
    for (const event of ["wheel", "pointerup", "touchmove"]) element?.addEventListener(event, moved, { passive: true });
    // Not in an animation frame, for which the key's echo would have to wait.
    element?.addEventListener("keyup", () => this.#scrolled());
  }

  /** @returns Whether the shortcut was handled here. */
  do(shortcut: Shortcut): boolean {
    switch (shortcut) {
      case "search":
        this.change({ isSearching: true, searches: this.state.searches + 1 });
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
        this.#say(this.#latencyText());
        return true;
    }
  }

  copyCommand({ line }: ShownBlock): void {
    void this.#copy(line, this.#words.copiedCommand);
  }

  copyOutput({ of }: ShownBlock): void {
    void this.#copy(this.commands.outputOf(of));
  }

  /** Runs the command once more, if the shell waits for one. */
  runAgain({ line }: ShownBlock): void {
    if (HAS_CONTROL.test(line)) return;
    if (!this.commands.isAtPrompt) {
      this.#say(this.#words.busy);
      return;
    }
    this.toBottom();
    this.#terminal.paste(line);
    this.#terminal.input("\r");
  }

  toBottom(): void {
    this.#terminal.scrollToBottom();
    this.commands.forgetChosen();
    this.#scrolled();
  }

  /** Once all that the process printed is drawn. */
  processEnded(exit: number): void {
    this.#terminal.write("", () => {
      this.commands.processEnded(exit);
      this.#scrolled();
    });
  }

  closeSearch(): void {
    this.search.close();
    this.change({ isSearching: false });
  }

  dispose(): void {
    this.forgetListeners();
    for (const disposable of this.#disposables) disposable.dispose();
  }

  #jump(direction: "before" | "after"): void {
    if (this.commands.scrollTo(direction)) this.#scrolled();
    else if (direction === "after") this.toBottom();
    else this.#say(this.commands.list.length === 0 ? this.#words.unmarked : this.#words.first);
  }

  async #copy(text: string | undefined, said?: string): Promise<void> {
    if (text === undefined || text === "") {
      this.#say(this.#words.nothingToCopy);
      return;
    }
    try {
      await navigator.clipboard.writeText(text);
      this.#say(said ?? this.#words.copied(text.split("\n").length));
    } catch {
      // Blocked by the browser, or no secure context.
      this.#say(this.#words.notCopied);
    }
  }

  #say(text: string): void {
    this.change({ notice: { text, count: (this.state.notice?.count ?? 0) + 1 } });
  }

  #announce(block: CommandBlock): void {
    const line = this.commands.lineOf(block).slice(0, MAX_ANNOUNCED);
    const text = this.#words.announced(line, block.exit);
    this.change({ announced: { text, count: (this.state.announced?.count ?? 0) + 1 } });
  }

  #scrolled(): void {
    const { viewportY, baseY } = this.#terminal.buffer.active;
    const isScrolledUp = viewportY < baseY;
    if (isScrolledUp !== this.state.isScrolledUp) this.change({ isScrolledUp });
    const { blockAtTop: head, chosenInView: chosen } = this.commands;
    const row = (chosen?.prompt.marker.line ?? 0) - viewportY;
    const shown = [head, chosen, chosen && row];
    if (shown.every((each, i) => each === this.#shown[i])) return;
    this.#shown = shown;
    this.change({ head: this.#describe(head, 0), chosen: this.#describe(chosen, row) });
  }

  #describe(of: CommandBlock | undefined, row: number): ShownBlock | undefined {
    const line = of === undefined ? "" : this.commands.lineOf(of);
    if (of === undefined || line === "") return undefined;
    const { exit, end, startedAtMs, endedAtMs } = of;
    const tookMs = startedAtMs === undefined || endedAtMs === undefined ? 0 : endedAtMs - startedAtMs;
    return { of, line, row, exit, isRunning: end === undefined, tookMs: tookMs < WORTH_MS ? undefined : tookMs };
  }
}

/** The search in one terminal's scrollback, by xterm.js's addon, which is loaded when first needed. No React. */
class ScrollbackSearch {
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
