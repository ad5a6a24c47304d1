// The terminal on the page: its renderer, its links, how many cells fit, and the frame around a PTY of another size.
// It knows what fits and what the terminal has; what that is told to, its owner decides. No React.

import { FitAddon } from "@xterm/addon-fit";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import { WebLinksAddon } from "@xterm/addon-web-links";
import type { WebglAddon } from "@xterm/addon-webgl";
import type { IDisposable } from "@xterm/xterm";
import { Terminal } from "@xterm/xterm";
import { limitWork, mendEraseToCursor, parseInSlices, parseOnAfterFaults } from "sandbox-stdio/core";
import { clustersIn } from "../ui/clusters.ts";
import { drawImages, MAX_IMAGE_LENGTH } from "./images.ts";
import { InputMethod } from "./input-method.ts";
import { hasSoftwareGl } from "./software-gl.ts";
import { type Look, TerminalLook } from "./terminal-look.ts";
import { isWithCtrl, textLinkProvider } from "./text-link-provider.ts";
import type { TextLink } from "./text-links.ts";
import { MINIMUM_CONTRAST, TERMINAL_OPTIONS } from "./theme.ts";
import { parseUnseen } from "./unseen-writes.ts";

export type Renderer = "webgl" | "dom";
/** `webgl`: also where the processor draws it. */
export type RendererWish = "auto" | Renderer;
export type Cells = { readonly cols: number; readonly rows: number };

export type TerminalViewOptions = {
  /** `auto`: WebGL, and the DOM where there is none, the processor draws it, or its context is lost. */
  readonly renderer: RendererWish;
  /** Its name for a screen reader. */
  readonly label: string;
  readonly look: Look;
  /** Whether it has the size that it is given, whatever fits: its owner places it. */
  readonly isSized?: boolean | undefined;
};

export type TerminalViewEvents = {
  /** So many cells fit now. */
  fits(cells: Cells): void;
  /** The picture has changed: size, frame, renderer. */
  changed(): void;
  /** The pointer is over a link that leads here; undefined: it has left. */
  link(uri: string | undefined): void;
  /** A link was clicked. Direct: with Ctrl, on a text that is the address itself. */
  follow(uri: string, isDirect: boolean): void;
  /** A path, or an address of the sandbox, was clicked with Ctrl. */
  followText(link: TextLink): void;
};

/** The answer to XTVERSION. */
const NAME_AND_VERSION = "\x1bP>|xterm.js(6.0.0)\x1b\\";
/** The space that xterm.js keeps free at the right for its scrollbar. */
const SCROLLBAR_PX = 14;
/** A PTY follows the window within a round trip: only what stays different for longer is framed. */
const FRAME_DELAY_MS = 300;

/** Smaller type can't be read: the rest is scrolled to. */
const MIN_SCALE = 0.35;

export class TerminalView {
  readonly terminal: Terminal;
  readonly #stage: HTMLElement;
  readonly #events: TerminalViewEvents;
  readonly #isSized: boolean;
  readonly #fit = new FitAddon();
  readonly #look: TerminalLook;
  readonly #disposables: IDisposable[] = [];
  #fits: Cells | undefined;
  /** The size of a cell, in pixels, while it was that of the type that was asked for. */
  #cell = { width: 0, height: 0 };
  #renderer: Renderer = "dom";
  /** Settled once the renderer is chosen: its cells have their own size, and so do as many of them as fit. */
  readonly ready: Promise<void>;
  #isFramed = false;
  #hasClusters = false;
  #isDisposed = false;
  /** In its place for the keyboard, where something else is drawn over it. */
  standIn: Pick<TerminalView, "focus" | "joinTabOrder"> | undefined;
  #frame = 0;
  #frameTimer = 0;

  /** @param stage An element with a size of its own and nothing in it. */
  constructor(
    stage: HTMLElement,
    { renderer, label, look, isSized = false }: TerminalViewOptions,
    events: TerminalViewEvents,
  ) {
    this.#stage = stage;
    this.#events = events;
    this.#isSized = isSized;
    this.terminal = new Terminal({
      ...TERMINAL_OPTIONS,
      linkHandler: {
        activate: (_event, uri) => events.follow(uri, false),
        // Which schemes may be followed is decided where all links are.
        allowNonHttpProtocols: true,
        hover: (_event, uri) => events.link(uri),
        leave: () => events.link(undefined),
      },
    });
    const { terminal } = this;
    this.#look = new TerminalLook(terminal, look);
    this.#disposables.push(this.#look);
    terminal.loadAddon(this.#fit);
    terminal.loadAddon(new Unicode11Addon());
    terminal.unicode.activeVersion = "11";
    const hover = { hover: (_: MouseEvent, uri: string) => events.link(uri), leave: () => events.link(undefined) };
    terminal.loadAddon(new WebLinksAddon((event, uri) => events.follow(uri, isWithCtrl(event)), hover));
    const follow = (link: TextLink) => events.followText(link);
    terminal.registerLinkProvider(textLinkProvider(terminal, { follow, hover: (words) => events.link(words) }));
    mendEraseToCursor(terminal);
    limitWork(terminal, MAX_IMAGE_LENGTH);
    this.#disposables.push(drawImages(terminal));
    parseOnAfterFaults(terminal, reportError);
    parseInSlices(terminal, () => performance.now());
    parseUnseen(terminal);
    // Programs ask at their start what a terminal is, and xterm.js does not say.
    terminal.parser.registerCsiHandler({ prefix: ">", final: "q" }, (params) => {
      if (params[0] === 0) terminal.input(NAME_AND_VERSION, false);
      return true;
    });
    terminal.open(stage);
    const method = new InputMethod(terminal);
    this.#disposables.push(method);
    terminal.attachCustomKeyEventHandler((event) => method.key(event) && this.#isForTerminal(event));
    terminal.textarea?.setAttribute("aria-label", label);
    // It would be a stop of its own before the field.
    terminal.element?.setAttribute("tabindex", "-1");
    // Before the first change of size, which would else look like a size of another client's making.
    this.#disposables.push(terminal.onResize(() => this.#resized()));
    this.#measure();
    if (this.#fits !== undefined) terminal.resize(this.#fits.cols, this.#fits.rows);
    this.ready =
      renderer === "webgl" || (renderer === "auto" && !hasSoftwareGl()) ? this.#useWebgl() : Promise.resolve();
    const observer = new ResizeObserver(() => this.#measureSoon());
    observer.observe(stage);
    this.#disposables.push({ dispose: () => observer.disconnect() });
  }

  /** How many cells fit; undefined while the stage is not laid out. */
  get fits(): Cells | undefined {
    return this.#fits;
  }

  get renderer(): Renderer {
    return this.#renderer;
  }

  /** Whether the terminal is smaller or larger than the size that fits, and framed. */
  get isFramed(): boolean {
    return this.#isFramed;
  }

  set isScreenReaderMode(isOn: boolean) {
    this.terminal.options.screenReaderMode = isOn;
  }

  /** Other type is of another size, and so do as many cells fit. */
  set look(look: Look) {
    this.#look.scale = 1;
    this.#look.look = look;
    this.#measureSoon();
  }

  /** Shown by the cursor, and said to a person who can't see it: keys go nowhere now. */
  set isReadOnly(isReadOnly: boolean) {
    const { textarea } = this.terminal;
    textarea?.setAttribute("aria-readonly", String(isReadOnly));
    // No touch keyboard comes up if a person may not type.
    if (textarea !== undefined) textarea.inputMode = isReadOnly ? "none" : "";
    this.#look.isReadOnly = isReadOnly;
  }

  /** Whether Tab leads here. Ctrl+F6 leads out, and Tab then goes on through the buttons around it. */
  joinTabOrder(isIn: boolean): void {
    this.standIn?.joinTabOrder(isIn);
    if (this.terminal.textarea !== undefined) this.terminal.textarea.tabIndex = isIn ? 0 : -1;
  }

  focus(): void {
    if (this.standIn === undefined) this.terminal.focus();
    else this.standIn.focus();
  }

  /** How many times as large as it was asked for the type is drawn. */
  get scale(): number {
    return this.#look.scale;
  }

  /** From now on characters that are one picture are drawn as one. Not before any came: each row that is drawn is read for it. */
  joinClusters(): void {
    if (this.#hasClusters) return;
    this.#hasClusters = true;
    this.terminal.registerCharacterJoiner(clustersIn);
  }

  /** Puts the selection on the clipboard, and selects nothing any more. */
  copy(): void {
    this.terminal.focus();
    // Not navigator.clipboard, which a page without TLS has not, and which may be forbidden. xterm.js says what is copied.
    document.execCommand("copy");
    this.terminal.clearSelection();
  }

  /** A key that is not on the keyboard, as a terminal in its usual mode sends it. */
  press(text: string): void {
    const isCursorKey = this.terminal.modes.applicationCursorKeysMode && text.startsWith("\x1b[");
    this.terminal.input(isCursorKey ? text.replace("[", "O") : text);
  }

  dispose(): void {
    this.#isDisposed = true;
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#frameTimer);
    for (const disposable of this.#disposables) disposable.dispose();
    this.terminal.dispose();
  }

  // ---- Size ----------------------------------------------------------------------------------------------------

  #measureSoon(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#measure());
  }

  #measure(): void {
    if (this.#isSized) return;
    const cells = this.#look.scale === 1 ? this.#fit.proposeDimensions() : this.#unscaledFit();
    if (cells === undefined || !Number.isFinite(cells.cols) || !Number.isFinite(cells.rows)) return;
    if (cells.cols === this.#fits?.cols && cells.rows === this.#fits.rows) return;
    this.#fits = { cols: cells.cols, rows: cells.rows };
    this.#events.fits(this.#fits);
    this.#resized();
  }

  /** How many cells of the size that was asked for would fit, where those on the screen are smaller. */
  #unscaledFit(): Cells | undefined {
    const { clientWidth, clientHeight } = this.#stage;
    const { width, height } = this.#cell;
    if (width === 0 || height === 0) return undefined;
    return { cols: Math.floor((clientWidth - SCROLLBAR_PX) / width), rows: Math.floor(clientHeight / height) };
  }

  #resized(): void {
    const { cols, rows } = this.terminal;
    clearTimeout(this.#frameTimer);
    if (this.#isSized || (cols === this.#fits?.cols && rows === this.#fits.rows)) this.#setFrame(false);
    else this.#frameTimer = window.setTimeout(() => this.#setFrame(true), this.#isFramed ? 0 : FRAME_DELAY_MS);
    this.#events.changed();
  }

  /** Gives the terminal its own size in the middle of the stage, or the whole stage. */
  #setFrame(isFramed: boolean): void {
    const element = this.terminal.element;
    const cells = element?.querySelector<HTMLElement>(".xterm-screen");
    if (element === undefined || cells === null || cells === undefined) return;
    this.#fitScale(isFramed, cells);
    element.style.width = isFramed ? `${cells.offsetWidth + SCROLLBAR_PX}px` : "";
    element.style.height = isFramed ? `${cells.offsetHeight}px` : "";
    this.#stage.classList.toggle("sbx-framed", isFramed);
    if (isFramed === this.#isFramed) return;
    this.#isFramed = isFramed;
    this.#events.changed();
  }

  /** A screen that is larger than the stage is drawn smaller, not clipped. */
  #fitScale(isFramed: boolean, cells: HTMLElement): void {
    const { cols, rows } = this.terminal;
    const fits = this.#fits;
    if (this.#look.scale === 1) this.#cell = { width: cells.offsetWidth / cols, height: cells.offsetHeight / rows };
    const needed = isFramed && fits !== undefined ? Math.min(1, fits.cols / cols, fits.rows / rows) : 1;
    // In steps: a size that changes by a hair must not be drawn anew.
    this.#look.scale = Math.max(MIN_SCALE, Math.floor(needed * 40) / 40);
  }

  // ---- Renderer and keys ---------------------------------------------------------------------------------------

  async #useWebgl(): Promise<void> {
    let webgl: WebglAddon;
    try {
      const { WebglAddon } = await import("@xterm/addon-webgl");
      if (this.#isDisposed) return;
      webgl = new WebglAddon();
    } catch {
      // The file did not come, or there is no WebGL 2 here, which the addon says by throwing: the DOM renderer stays.
      return;
    }
    // The context goes when the driver restarts, or when too many pages have one. The DOM renderer takes over.
    webgl.onContextLoss(() => {
      webgl.dispose();
      this.#setRenderer("dom");
    });
    try {
      this.terminal.loadAddon(webgl);
    } catch {
      // As above: it says so only now.
      webgl.dispose();
      return;
    }
    this.#setRenderer("webgl");
    this.#measure();
  }

  #setRenderer(renderer: Renderer): void {
    this.#renderer = renderer;
    this.terminal.options.minimumContrastRatio = MINIMUM_CONTRAST[renderer];
    this.#measureSoon();
    this.#events.changed();
  }

  /** Ctrl+Shift+C copies, and Ctrl+F6 leads out of the terminal, which takes every other key, Tab included. */
  #isForTerminal(event: KeyboardEvent): boolean {
    if (event.ctrlKey && event.shiftKey && event.code === "KeyC" && this.terminal.hasSelection()) {
      if (event.type === "keydown") {
        event.preventDefault();
        // Not navigator.clipboard, which a page without TLS has not, and which may be forbidden. xterm.js says what is copied.
        document.execCommand("copy");
      }
      return false;
    }
    return !(event.ctrlKey && event.key === "F6");
  }
}
