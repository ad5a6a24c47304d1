// Asks a person before output or clipboard cause an action: opening a link, pasting lines that would run, copying a program's text. Keeps
// the pending questions; draws nothing.

import type { IDisposable, Terminal } from "@xterm/xterm";
import { readClipboardWrite } from "../ui/clipboard.ts";
import { Store } from "../ui/store.ts";
import { type LinkTarget, readLink } from "./links.ts";
import { cleanPaste, countLines, hasLineEnd } from "./paste.ts";
import { type LocalAddress, readLocal, type TextLink } from "./text-links.ts";

export type Question =
  | { readonly kind: "link"; readonly target: LinkTarget }
  /** A link that is never opened. */
  | { readonly kind: "bad-link"; readonly uri: string }
  /** A path in the output; `whole` has its line and column too, to copy. */
  | { readonly kind: "path"; readonly path: string; readonly whole: string }
  /** A server in the sandbox, and its preview if there is one. */
  | {
      readonly kind: "local";
      readonly sandbox: string;
      readonly local: LocalAddress;
      readonly preview: string | undefined;
    }
  | { readonly kind: "paste"; readonly text: string; readonly lines: number };

/** A program's request to copy a text. Each request is another object. */
export type ClipboardRequest = { readonly text: string; readonly count: number };

export type GuardState = { readonly question: Question | undefined; readonly clipboard: ClipboardRequest | undefined };

export type GuardOptions = {
  /** Whether the output being drawn is replay. */
  readonly isReplay: () => boolean;
  /** Whether pasted text would reach the process. */
  readonly mayType: () => boolean;
  readonly sandbox: string;
  readonly previewOf: (local: LocalAddress) => string | undefined;
};

export class Guard extends Store<GuardState> {
  readonly #terminal: Terminal;
  readonly #options: GuardOptions;
  readonly #disposables: IDisposable[];
  #requests = 0;
  /** Whether programs may copy without asking, until the page closes. */
  #mayAlwaysCopy = false;

  /** @param stage The element around the terminal, which receives pastes first. */
  constructor(terminal: Terminal, stage: HTMLElement, options: GuardOptions) {
    super({ question: undefined, clipboard: undefined });
    this.#terminal = terminal;
    this.#options = options;
    const onPaste = (event: ClipboardEvent) => this.#pasted(event);
    stage.addEventListener("paste", onPaste, true);
    this.#disposables = [
      { dispose: () => stage.removeEventListener("paste", onPaste, true) },
      terminal.parser.registerOscHandler(52, (data) => {
        const text = options.isReplay() ? undefined : readClipboardWrite(data);
        if (text !== undefined) void this.#requested({ text, count: ++this.#requests });
        return true;
      }),
    ];
  }

  /** A link was clicked. Its text may differ from its target, which is shown first. */
  followLink(uri: string, isDirect = false): void {
    const local = readLocal(uri);
    if (local !== undefined) {
      this.#followLocal(local, isDirect);
      return;
    }
    const target = readLink(uri);
    // The text is the address itself: no need to ask.
    if (isDirect && target !== undefined) {
      openWindow(target.href);
      return;
    }
    this.change({ question: target === undefined ? { kind: "bad-link", uri } : { kind: "link", target } });
  }

  /** A path or a sandbox address was clicked. */
  followText(link: TextLink): void {
    if (link.kind === "local") this.#followLocal(link.local, true);
    else {
      const whole = [link.path, link.line, link.column].filter((part) => part !== undefined).join(":");
      this.change({ question: { kind: "path", path: link.path, whole } });
    }
  }

  /** Answers the question. Call from a click, or the browser blocks new windows. */
  answer(isYes: boolean): void {
    const { question } = this.state;
    this.change({ question: undefined });
    if (!isYes || question === undefined) return;
    if (question.kind === "link") openWindow(question.target.href);
    else if (question.kind === "local" && question.preview !== undefined) openWindow(question.preview);
    else if (question.kind === "path") void navigator.clipboard.writeText(question.whole).catch(() => undefined);
    else if (question.kind === "paste") this.#terminal.paste(question.text);
  }

  /** Copies the text, or drops the request. @returns Whether it was copied. */
  async answerClipboard(request: ClipboardRequest, isYes: boolean): Promise<boolean> {
    if (this.state.clipboard === request) this.change({ clipboard: undefined });
    if (!isYes) return false;
    try {
      await navigator.clipboard.writeText(request.text);
      return true;
    } catch {
      // Blocked by the browser, or the page is in the background.
      return false;
    }
  }

  /** Copies this text, and later texts of this session's programs without asking. */
  alwaysCopy(request: ClipboardRequest): Promise<boolean> {
    this.#mayAlwaysCopy = true;
    return this.answerClipboard(request, true);
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
    this.forgetListeners();
  }

  /** Pastes the clipboard. The browser may ask. @returns Whether it allowed that. */
  async pasteClipboard(): Promise<boolean> {
    try {
      this.#paste(await navigator.clipboard.readText());
      return true;
    } catch {
      // Blocked by the browser or the person.
      return false;
    }
  }

  async #requested(request: ClipboardRequest): Promise<void> {
    // If the browser blocks it, a click may still allow it.
    if (this.#mayAlwaysCopy && (await this.answerClipboard(request, true))) return;
    this.change({ clipboard: request });
  }

  /** @param isDirect The text is the address, and a person chose it. */
  #followLocal(local: LocalAddress, isDirect: boolean): void {
    const preview = this.#options.previewOf(local);
    if (isDirect && preview !== undefined) openWindow(preview);
    else this.change({ question: { kind: "local", sandbox: this.#options.sandbox, local, preview } });
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
    const isHarmless = this.#terminal.modes.bracketedPasteMode || !hasLineEnd(text) || !this.#options.mayType();
    if (isHarmless) this.#terminal.paste(text);
    else this.change({ question: { kind: "paste", text, lines: countLines(text) } });
  }
}

function openWindow(href: string): void {
  window.open(href, "_blank", "noopener,noreferrer");
}
