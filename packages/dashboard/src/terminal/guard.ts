// The page's questions to a person before it lets the output, or a clipboard, do something: open a link, paste lines that would
// be run at once, copy what a program says. Keeps what is being asked; draws nothing.

import type { IDisposable, Terminal } from "@xterm/xterm";
import { readClipboardWrite } from "../ui/clipboard.ts";
import { type LinkTarget, readLink } from "./links.ts";
import { cleanPaste, countLines, hasLineEnd } from "./paste.ts";
import { type LocalAddress, readLocal, type TextLink } from "./text-links.ts";

export type Question =
  | { readonly kind: "link"; readonly target: LinkTarget }
  /** A link that is not opened, whatever the answer. */
  | { readonly kind: "bad-link"; readonly uri: string }
  /** A path in the output, to be copied. */
  | { readonly kind: "path"; readonly path: string; readonly line: number | undefined }
  /** A server in the sandbox, and where it can be looked at; undefined: nowhere. */
  | {
      readonly kind: "local";
      readonly sandbox: string;
      readonly local: LocalAddress;
      readonly preview: string | undefined;
    }
  | { readonly kind: "paste"; readonly text: string; readonly lines: number };

/** A program wants this on the clipboard. Another one is another object. */
export type ClipboardWish = { readonly text: string; readonly count: number };

export type GuardState = { readonly question: Question | undefined; readonly clipboard: ClipboardWish | undefined };

export type GuardPorts = {
  /** Whether the output that is being drawn was printed before a person was here to be asked. */
  readonly isReplay: () => boolean;
  /** Whether pasted text would reach the process: else there is nothing to ask about. */
  readonly mayType: () => boolean;
  readonly sandbox: string;
  readonly previewOf: (local: LocalAddress) => string | undefined;
};

export class Guard {
  #state: GuardState = { question: undefined, clipboard: undefined };
  readonly #listeners = new Set<() => void>();
  readonly #terminal: Terminal;
  readonly #ports: GuardPorts;
  readonly #disposables: IDisposable[];
  #wishes = 0;
  /** Whether this session's programs may write to the clipboard without being asked about, while the page is there. */
  #mayAlwaysCopy = false;

  /** @param stage The element around the terminal: pastes are caught there, before they reach it. */
  constructor(terminal: Terminal, stage: HTMLElement, ports: GuardPorts) {
    this.#terminal = terminal;
    this.#ports = ports;
    const onPaste = (event: ClipboardEvent) => this.#pasted(event);
    stage.addEventListener("paste", onPaste, true);
    this.#disposables = [
      { dispose: () => stage.removeEventListener("paste", onPaste, true) },
      terminal.parser.registerOscHandler(52, (data) => {
        const text = ports.isReplay() ? undefined : readClipboardWrite(data);
        if (text !== undefined) void this.#wished({ text, count: ++this.#wishes });
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
  followLink(uri: string, isDirect = false): void {
    const local = readLocal(uri);
    if (local !== undefined) {
      this.#followLocal(local, isDirect);
      return;
    }
    const target = readLink(uri);
    // Its text is the address: there is nothing to be shown that was not.
    if (isDirect && target !== undefined) {
      openWindow(target.href);
      return;
    }
    this.#change({ question: target === undefined ? { kind: "bad-link", uri } : { kind: "link", target } });
  }

  /** A path, or an address of the sandbox, was chosen. */
  followText(link: TextLink): void {
    if (link.kind === "local") this.#followLocal(link.local, true);
    else this.#change({ question: { kind: "path", path: link.path, line: link.line } });
  }

  /** The person's answer to the question. To be called from a click: windows may not be opened otherwise. */
  answer(isYes: boolean): void {
    const { question } = this.#state;
    this.#change({ question: undefined });
    if (!isYes || question === undefined) return;
    if (question.kind === "link") openWindow(question.target.href);
    else if (question.kind === "local" && question.preview !== undefined) openWindow(question.preview);
    else if (question.kind === "path") void navigator.clipboard.writeText(question.path).catch(() => undefined);
    else if (question.kind === "paste") this.#terminal.paste(question.text);
  }

  /** Puts the shown text on the clipboard, or forgets it. @returns Whether it is there now. */
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

  /** Puts this on the clipboard, and from here on every text of this session's programs. */
  alwaysCopy(wish: ClipboardWish): Promise<boolean> {
    this.#mayAlwaysCopy = true;
    return this.answerClipboard(wish, true);
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
    this.#listeners.clear();
  }

  /** Pastes the clipboard's text, about which the browser may ask. @returns Whether it let the page have it. */
  async pasteClipboard(): Promise<boolean> {
    try {
      this.#paste(await navigator.clipboard.readText());
      return true;
    } catch {
      // The browser's own settings forbid it, or a person does.
      return false;
    }
  }

  async #wished(wish: ClipboardWish): Promise<void> {
    // Where the browser does not let it, a person's click may.
    if (this.#mayAlwaysCopy && (await this.answerClipboard(wish, true))) return;
    this.#change({ clipboard: wish });
  }

  /** @param isDirect Its text is the address, and a person has chosen it. */
  #followLocal(local: LocalAddress, isDirect: boolean): void {
    const preview = this.#ports.previewOf(local);
    if (isDirect && preview !== undefined) openWindow(preview);
    else this.#change({ question: { kind: "local", sandbox: this.#ports.sandbox, local, preview } });
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
    const isHarmless = this.#terminal.modes.bracketedPasteMode || !hasLineEnd(text) || !this.#ports.mayType();
    if (isHarmless) this.#terminal.paste(text);
    else this.#change({ question: { kind: "paste", text, lines: countLines(text) } });
  }

  #change(change: Partial<GuardState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

function openWindow(href: string): void {
  window.open(href, "_blank", "noopener,noreferrer");
}
