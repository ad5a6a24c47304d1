// The terminal on the page: renderer, links, how many cells fit, and the frame around a PTY of another size. Its owner
// sends the size to the session. No React.

import { FitAddon } from "@xterm/addon-fit";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import { WebLinksAddon } from "@xterm/addon-web-links";
import type { WebglAddon } from "@xterm/addon-webgl";
import type { IDisposable } from "@xterm/xterm";
import { Terminal } from "@xterm/xterm";
import { limitWork, mendFaults, parseInSlices, parseOnAfterFaults } from "sandbox-stdio/core";
import { KeyboardProtocol } from "../keys/keyboard-protocol.ts";
import { ALL_KEYS, DISAMBIGUATE } from "../keys/kitty-keys.ts";
import { clustersIn } from "../ui/clusters.ts";
import { drawImages, MAX_IMAGE_LENGTH } from "./images.ts";
import { InputMethod } from "./input-method.ts";
import { hasSoftwareGl } from "./software-gl.ts";
import { type Look, TerminalLook } from "./terminal-look.ts";
import { findLinksAgain, isWithCtrl, textLinkProvider } from "./text-link-provider.ts";
import type { TextLink } from "./text-links.ts";
import { MINIMUM_CONTRAST, TERMINAL_OPTIONS } from "./theme.ts";
import { parseUnseen } from "./unseen-writes.ts";

export type Renderer = "webgl" | "dom";
/** `webgl`: even if software renders it. */
export type RendererChoice = "auto" | Renderer;
export type Cells = { readonly cols: number; readonly rows: number };

export type TerminalViewOptions = {
  /** `auto`: WebGL, or the DOM without a graphics card or after the context is lost. */
  readonly renderer: RendererChoice;
  /** The accessible name. */
  readonly label: string;
  readonly look: Look;
  /** Whether the owner sets the size, whatever fits. */
  readonly isSized?: boolean | undefined;
};

export type TerminalViewEvents = {
  /** The number of cells that fit has changed. */
  fits(cells: Cells): void;
  /** Size, frame or renderer has changed. */
  changed(): void;
  /** The link under the pointer; undefined: none. */
  link(uri: string | undefined): void;
  /** A link was clicked. `isDirect`: with Ctrl, on a text that is the address itself. */
  follow(uri: string, isDirect: boolean): void;
  /** A path or sandbox address was clicked with Ctrl. */
  followText(link: TextLink): void;
};

/** Width that xterm.js reserves for its scrollbar. */
const SCROLLBAR_PX = 14;
/** A PTY follows the window within a round trip: only a lasting difference is framed. */
const FRAME_DELAY_MS = 300;

/** Below this the text would be unreadable: the rest is scrolled. */
const MIN_SCALE = 0.35;
/** Pixels of a font that can be read on a phone, where fingers pan and zoom. */
const READABLE_PX = 11;
/** Scales are multiples of this, so that tiny changes don't redraw. */
const SCALE_STEP = 1 / 40;

/** All terminals of the page: who leaves one of them by its key steps over all, until a terminal is asked for. */
const VIEWS = new Set<TerminalView>();

/** Whether Tab reaches the terminals of the page. */
export function joinTabOrder(isIn: boolean): void {
  for (const view of VIEWS) view.joinTabOrder(isIn);
}

export class TerminalView {
  readonly terminal: Terminal;
  readonly keyboard: KeyboardProtocol;
  readonly #stage: HTMLElement;
  readonly #events: TerminalViewEvents;
  readonly #isSized: boolean;
  readonly #fit = new FitAddon();
  readonly #look: TerminalLook;
  readonly #disposables: IDisposable[] = [];
  #fits: Cells | undefined;
  /** Pixels of a cell at scale 1. */
  #cell = { width: 0, height: 0 };
  #renderer: Renderer = "dom";
  /** Resolves once the renderer is chosen, which determines the size of a cell. */
  readonly ready: Promise<void>;
  #isFramed = false;
  #isConnected = false;
  /** Whether the window changed while no process could follow it: text keeps a readable size. */
  #isCut = false;
  /** The scale that fingers chose; undefined: none. */
  #zoom: number | undefined;
  #hasClusters = false;
  #isDisposed = false;
  /** Takes the focus instead, if something is drawn over the terminal. */
  standIn: Pick<TerminalView, "focus" | "joinTabOrder"> | undefined;
  #frame = 0;
  #frameTimer = 0;

  /** @param stage An empty element with its own size. */
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
        // The guard decides which schemes may be opened.
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
    this.#disposables.push({ dispose: findLinksAgain(terminal, stage) });
    terminal.registerLinkProvider(textLinkProvider(terminal, { follow, hover: (words) => events.link(words) }));
    mendFaults(terminal);
    limitWork(terminal, MAX_IMAGE_LENGTH);
    this.#disposables.push(drawImages(terminal));
    parseOnAfterFaults(terminal, reportError);
    parseInSlices(terminal, () => performance.now());
    parseUnseen(terminal);
    this.keyboard = new KeyboardProtocol(terminal);
    this.#disposables.push(this.keyboard);
    terminal.open(stage);
    const method = new InputMethod(terminal);
    this.#disposables.push(method);
    terminal.attachCustomKeyEventHandler((event) => method.key(event) && this.#isForTerminal(event));
    terminal.textarea?.setAttribute("aria-label", label);
    // Otherwise an extra tab stop before the text field.
    terminal.element?.setAttribute("tabindex", "-1");
    // Before the first resize, which would otherwise look like another client's.
    this.#disposables.push(terminal.onResize(() => this.#resized()));
    this.#measure();
    if (this.#fits !== undefined) terminal.resize(this.#fits.cols, this.#fits.rows);
    this.ready =
      renderer === "webgl" || (renderer === "auto" && !hasSoftwareGl()) ? this.#useWebgl() : Promise.resolve();
    const observer = new ResizeObserver(() => this.#measureSoon());
    observer.observe(stage);
    this.#disposables.push({ dispose: () => observer.disconnect() });
    VIEWS.add(this);
  }

  /** The cells that fit; undefined before layout. */
  get fits(): Cells | undefined {
    return this.#fits;
  }

  get renderer(): Renderer {
    return this.#renderer;
  }

  /** Whether the terminal has another size than the one that fits, and is framed. */
  get isFramed(): boolean {
    return this.#isFramed;
  }

  set isScreenReaderMode(isOn: boolean) {
    this.terminal.options.screenReaderMode = isOn;
  }

  /** A new look may change the cells that fit. */
  set look(look: Look) {
    this.#look.scale = 1;
    this.#look.look = look;
    this.#measureSoon();
  }

  /** Whether the process follows the window's size. */
  set isConnected(isConnected: boolean) {
    this.#isConnected = isConnected;
    if (!isConnected || !this.#isCut) return;
    this.#isCut = false;
    this.#resized(FRAME_DELAY_MS);
  }

  /** Shows by the cursor, and tells screen readers, that keys go nowhere. */
  set isReadOnly(isReadOnly: boolean) {
    const { textarea } = this.terminal;
    textarea?.setAttribute("aria-readonly", String(isReadOnly));
    // No touch keyboard if nothing can be typed.
    if (textarea !== undefined) textarea.inputMode = isReadOnly ? "none" : "";
    this.#look.isReadOnly = isReadOnly;
  }

  /** Whether Tab reaches the terminal. After Ctrl+F6, Tab moves through the buttons around it. */
  joinTabOrder(isIn: boolean): void {
    this.standIn?.joinTabOrder(isIn);
    if (this.terminal.textarea !== undefined) this.terminal.textarea.tabIndex = isIn ? 0 : -1;
  }

  focus(): void {
    if (this.standIn === undefined) this.terminal.focus();
    else this.standIn.focus();
  }

  /** Factor of the requested font size. */
  get scale(): number {
    return this.#look.scale;
  }

  /** Draws emoji clusters as one from now on. Not before the first one, since each drawn row is searched for it. */
  joinClusters(): void {
    if (this.#hasClusters) return;
    this.#hasClusters = true;
    this.terminal.registerCharacterJoiner(clustersIn);
  }

  /** Copies and clears the selection. */
  copy(): void {
    this.terminal.focus();
    // navigator.clipboard needs a secure context and may be blocked. xterm.js supplies the text.
    document.execCommand("copy");
    this.terminal.clearSelection();
  }

  /** Types a key's sequence of normal mode. */
  press(text: string): void {
    const isKitty = (this.keyboard.flags & (DISAMBIGUATE | ALL_KEYS)) !== 0;
    const isCursorKey = !isKitty && this.terminal.modes.applicationCursorKeysMode && text.startsWith("\x1b[");
    this.terminal.input(isCursorKey ? text.replace("[", "O") : isKitty && text === "\x1b" ? "\x1b[27u" : text);
  }

  dispose(): void {
    this.#isDisposed = true;
    VIEWS.delete(this);
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
    this.#isCut = !this.#isConnected;
    this.#events.fits(this.#fits);
    this.#resized();
  }

  /** The cells that would fit at scale 1. */
  #unscaledFit(): Cells | undefined {
    const { clientWidth, clientHeight } = this.#stage;
    const { width, height } = this.#cell;
    if (width === 0 || height === 0) return undefined;
    return { cols: Math.floor((clientWidth - SCROLLBAR_PX) / width), rows: Math.floor(clientHeight / height) };
  }

  #resized(delayMs = this.#isFramed ? 0 : FRAME_DELAY_MS): void {
    const { cols, rows } = this.terminal;
    clearTimeout(this.#frameTimer);
    if (this.#isSized || (cols === this.#fits?.cols && rows === this.#fits.rows)) this.#setFrame(false);
    else this.#frameTimer = window.setTimeout(() => this.#setFrame(true), delayMs);
    this.#events.changed();
  }

  /** Gives the terminal its own size within the stage, or the whole stage. */
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

  /** Two fingers change the size of a framed terminal. @returns Whether it has changed. */
  zoomBy(factor: number): boolean {
    const { scale } = this.#look;
    if (!this.#isFramed || Math.abs(scale * factor - scale) < SCALE_STEP) return false;
    this.#zoom = Math.min(1, scale * factor);
    this.#setFrame(true);
    return true;
  }

  /** Scales a larger screen down, instead of clipping it. */
  #fitScale(isFramed: boolean, cells: HTMLElement): void {
    const { cols, rows } = this.terminal;
    const fits = this.#fits;
    if (this.#look.scale === 1) this.#cell = { width: cells.offsetWidth / cols, height: cells.offsetHeight / rows };
    const needed = isFramed && fits !== undefined ? Math.min(1, fits.cols / cols, fits.rows / rows) : 1;
    const steps = (scale: number) => Math.floor(scale / SCALE_STEP) * SCALE_STEP;
    if (!isFramed) this.#zoom = undefined;
    this.#look.scale = steps(Math.max(MIN_SCALE, needed, Math.min(1, this.#zoom ?? this.#readableScale())));
  }

  /** The least scale that a person begins with: under fingers, or while the connection is lost. */
  #readableScale(): number {
    const { fontSize = READABLE_PX } = this.terminal.options;
    return this.#isCut || matchMedia("(pointer: coarse)").matches ? (READABLE_PX * this.#look.scale) / fontSize : 0;
  }

  // ---- Renderer and keys ---------------------------------------------------------------------------------------

  async #useWebgl(): Promise<void> {
    let webgl: WebglAddon;
    try {
      const { WebglAddon } = await import("@xterm/addon-webgl");
      if (this.#isDisposed) return;
      webgl = new WebglAddon();
    } catch {
      // The addon did not load, or there is no WebGL 2: the DOM renderer stays.
      return;
    }
    // The context is lost when the driver restarts or too many pages use one. The DOM renderer takes over.
    webgl.onContextLoss(() => {
      webgl.dispose();
      this.#setRenderer("dom");
    });
    try {
      this.terminal.loadAddon(webgl);
    } catch {
      // Also without WebGL 2.
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

  /** Ctrl+Shift+C copies, and Ctrl+F6 leaves the terminal, which takes every other key. */
  #isForTerminal(event: KeyboardEvent): boolean {
    // In screen reader mode xterm.js leaves Shift+Tab to the browser too, which would move the focus.
    if (event.type === "keydown" && event.key === "Tab") event.preventDefault();
    if (event.ctrlKey && event.shiftKey && event.code === "KeyC" && this.terminal.hasSelection()) {
      if (event.type === "keydown") {
        event.preventDefault();
        // As in copy().
        document.execCommand("copy");
      }
      return false;
    }
    return !(event.ctrlKey && event.key === "F6");
  }
}
