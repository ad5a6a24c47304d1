// Draws predicted echo over a terminal in its own layer; the screen holds only what the process printed. No React.

import type { IDisposable, Terminal } from "@xterm/xterm";
import { EchoPrediction, NumberedRows, type PredictionMode } from "sandbox-stdio/core";

/** Interval of checks while predictions are pending. */
const CHECK_MS = 100;

export class EchoOverlay {
  mode: PredictionMode = "auto";
  readonly #terminal: Terminal;
  readonly #isEncoded: () => boolean;
  readonly #prediction = new EchoPrediction();
  readonly #layer: HTMLElement;
  readonly #disposables: IDisposable[];
  readonly #now: () => number;
  readonly #rows: NumberedRows;
  #timer = 0;

  /** @param terminal Already opened. @param isEncoded Whether keys are sent in another form than text. */
  constructor(terminal: Terminal, now: () => number, isEncoded: () => boolean) {
    this.#terminal = terminal;
    this.#isEncoded = isEncoded;
    this.#now = now;
    this.#rows = new NumberedRows(terminal, () => this.#prediction.reset());
    this.#layer = document.createElement("div");
    this.#layer.className = "sbx-echo";
    this.#layer.ariaHidden = "true";
    terminal.element?.querySelector(".xterm-screen")?.append(this.#layer);
    this.#disposables = [
      terminal.onWriteParsed(() => this.#check()),
      terminal.onResize(() => this.reset()),
      terminal.onScroll(() => this.#draw()),
      terminal.buffer.onBufferChange(() => this.reset()),
    ];
  }

  measured(roundTripMs: number): void {
    this.#prediction.measured(roundTripMs);
  }

  /** Input was acknowledged, all but so many bytes. */
  answered(unacked: number): void {
    if (!this.#isOn) return;
    const acked = this.#prediction.typedBytes - unacked;
    this.#terminal.write("", () => {
      this.#prediction.answered(acked, this.#rows.screen);
      this.#check();
    });
  }

  /** Text was typed and is about to be sent. */
  typed(text: string): void {
    if (!this.#isOn) return;
    if (this.#isEncoded()) this.reset();
    else this.#prediction.typed(text, this.#rows.screen, this.#now());
    this.#check();
  }

  /** The terminal began or stopped echoing. */
  echoes(isOn: boolean): void {
    this.#prediction.echoes(isOn);
    this.#draw();
  }

  /** Drops predictions: the connection broke, or typed text must not be shown. */
  reset(): void {
    this.#prediction.reset();
    this.#draw();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    for (const disposable of this.#disposables) disposable.dispose();
    this.#layer.remove();
  }

  /** A fast connection costs no work. */
  get #isOn(): boolean {
    return this.mode === "always" || (this.mode === "auto" && this.#prediction.isSlow);
  }

  #check(): void {
    if (!this.#prediction.hasPending) return;
    this.#prediction.drawn(this.#rows.screen, this.#now());
    this.#draw();
    clearTimeout(this.#timer);
    if (this.#prediction.hasPending) this.#timer = window.setTimeout(() => this.#check(), CHECK_MS);
  }

  #draw(): void {
    const shown = this.#prediction.shown(this.mode);
    if (shown.length === 0) {
      if (this.#layer.childElementCount > 0) this.#layer.replaceChildren();
      return;
    }
    const { cols, rows, buffer, options } = this.#terminal;
    const screen = this.#layer.parentElement;
    const [width, height] = [(screen?.offsetWidth ?? 0) / cols, (screen?.offsetHeight ?? 0) / rows];
    const top = this.#rows.first + buffer.active.viewportY;
    this.#layer.style.font = `${options.fontWeight} ${options.fontSize}px/${height}px ${options.fontFamily}`;
    const cells = shown.map(({ row, column, character }) => {
      const cell = document.createElement("span");
      cell.textContent = character;
      // One that replaces another hides it; else the cursor is seen through it.
      if (this.#rows.screen.at(row, column).trim() !== "") cell.style.background = options.theme?.background ?? "";
      Object.assign(cell.style, { left: `${column * width}px`, top: `${(row - top) * height}px`, width: `${width}px` });
      return cell;
    });
    this.#layer.replaceChildren(...cells);
  }
}
