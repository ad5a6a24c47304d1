// What the page asks a person before it lets the output, or a clipboard, do something: open a link, paste lines that would
// be run at once, copy what a program says. Keeps what is being asked; draws nothing.

import type { IDisposable, Terminal } from "@xterm/xterm";
import { readClipboardWrite } from "./clipboard.ts";
import { type LinkTarget, readLink } from "./links.ts";
import { cleanPaste, countLines, hasLineEnd } from "./paste.ts";

export type Question =
  | { readonly kind: "link"; readonly target: LinkTarget }
  /** A link that is not opened, whatever the answer. */
  | { readonly kind: "bad-link"; readonly uri: string }
  | { readonly kind: "paste"; readonly text: string; readonly lines: number };

/** A program wants this on the clipboard. Another one is another object. */
export type ClipboardWish = { readonly text: string; readonly count: number };

export type GuardState = { readonly question: Question | undefined; readonly clipboard: ClipboardWish | undefined };

export class Guard {
  #state: GuardState = { question: undefined, clipboard: undefined };
  readonly #listeners = new Set<() => void>();
  readonly #terminal: Terminal;
  readonly #mayType: () => boolean;
  readonly #disposables: IDisposable[];
  #wishes = 0;

  /**
   * @param stage What the terminal is in: pastes are caught there, before they reach it.
   * @param isReplay Whether what is being drawn was printed before anybody was here to be asked.
   * @param mayType Whether what is pasted would reach the process: else there is nothing to ask about.
   */
  constructor(terminal: Terminal, stage: HTMLElement, isReplay: () => boolean, mayType: () => boolean) {
    this.#terminal = terminal;
    this.#mayType = mayType;
    const onPaste = (event: ClipboardEvent) => this.#pasted(event);
    stage.addEventListener("paste", onPaste, true);
    this.#disposables = [
      { dispose: () => stage.removeEventListener("paste", onPaste, true) },
      terminal.parser.registerOscHandler(52, (data) => {
        const text = isReplay() ? undefined : readClipboardWrite(data);
        if (text !== undefined) this.#change({ clipboard: { text, count: ++this.#wishes } });
        return true;
      }),
    ];
  }

  /** The same object until something changes. */
  readonly getState = (): GuardState => this.#state;

  /** @returns How to stop listening. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** A link in the output was clicked. Its text may say anything: where it leads is shown before it is gone to. */
  followLink(uri: string): void {
    const target = readLink(uri);
    this.#change({ question: target === undefined ? { kind: "bad-link", uri } : { kind: "link", target } });
  }

  /** The person's answer to the question. To be called from a click: windows may not be opened otherwise. */
  answer(isYes: boolean): void {
    const { question } = this.#state;
    this.#change({ question: undefined });
    if (!isYes || question === undefined) return;
    if (question.kind === "link") window.open(question.target.href, "_blank", "noopener,noreferrer");
    else if (question.kind === "paste") this.#terminal.paste(question.text);
  }

  /** Puts on the clipboard what was shown, or forgets it. @returns Whether it is there now. */
  async answerClipboard(wish: ClipboardWish, isYes: boolean): Promise<boolean> {
    if (this.#state.clipboard === wish) this.#change({ clipboard: undefined });
    if (!isYes) return false;
    try {
      await navigator.clipboard.writeText(wish.text);
      return true;
    } catch {
      // The browser's own settings forbid it, or the page is not looked at.
      return false;
    }
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
    this.#listeners.clear();
  }

  /** Pastes what is on the clipboard, which the browser may ask about. @returns Whether it let the page have it. */
  async pasteClipboard(): Promise<boolean> {
    try {
      this.#paste(await navigator.clipboard.readText());
      return true;
    } catch {
      // The browser's own settings forbid it, or a person does.
      return false;
    }
  }

  #pasted(event: ClipboardEvent): void {
    if (event.clipboardData === null) return;
    event.preventDefault();
    event.stopPropagation();
    this.#paste(event.clipboardData.getData("text/plain"));
  }

  #paste(pasted: string): void {
    const text = cleanPaste(pasted);
    if (text === "") return;
    const isHarmless = this.#terminal.modes.bracketedPasteMode || !hasLineEnd(text) || !this.#mayType();
    if (isHarmless) this.#terminal.paste(text);
    else this.#change({ question: { kind: "paste", text, lines: countLines(text) } });
  }

  #change(change: Partial<GuardState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
