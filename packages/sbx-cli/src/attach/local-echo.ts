// Shows typed characters before the process echoes them, as mosh does: on slow connections, underlined until the echo arrives. Decides
// nothing about which characters: EchoPrediction does.

import { EchoPrediction, NumberedRows, type PredictionMode, type ScreenSize } from "sandbox-stdio/core";
import { processClock } from "../base/clock.ts";
import type { Emulator } from "./emulator.ts";

/** Output that a new emulator reads to know the cursor's row. */
const TAIL_BYTES = 64 * 1024;
/** An emulator further behind than this is dropped: the program floods, and its screen is unknown. */
const MAX_UNPARSED_BYTES = 1024 * 1024;
/** Interval of checks while predictions are pending. */
const CHECK_MS = 100;
/** Age of a measured round trip at which a key measures it again. */
const MEASURE_AGAIN_MS = 5_000;

export type LocalEchoParts = {
  readonly mode: PredictionMode;
  /** Writes to the terminal, past {@link LocalEcho.printed}. */
  readonly write: (text: string) => void;
  /** Whether text of ours can be drawn now without splitting a sequence. */
  readonly mayDraw: () => boolean;
  readonly isAlternate: () => boolean;
  /** Whether keys are sent in another form than text. */
  readonly isEncoded: () => boolean;
  readonly size: () => ScreenSize;
  /** Tells the round trip in milliseconds, unless the connection ends first. @returns Whether there is a connection. */
  readonly measure: (told: (ms: number) => void) => boolean;
};

export class LocalEcho {
  readonly #parts: LocalEchoParts;
  readonly #prediction = new EchoPrediction();
  /** The newest output, at least the last TAIL_BYTES. */
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #emulator: Emulator | undefined;
  #rows: NumberedRows | undefined;
  #isLoading = false;
  #unparsedBytes = 0;
  /** The predicted characters on the terminal; its cursor is behind them. */
  #drawn = "";
  #measuredAtMs = Number.NEGATIVE_INFINITY;
  #isMeasuring = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(parts: LocalEchoParts) {
    this.#parts = parts;
  }

  /** Measures the round trip, at the start and later at keys. */
  measure(): void {
    const isRecent = processClock.now() - this.#measuredAtMs < MEASURE_AGAIN_MS;
    if (this.#parts.mode === "never" || this.#isMeasuring || isRecent) return;
    this.#isMeasuring = this.#parts.measure((ms) => {
      this.#isMeasuring = false;
      this.#measuredAtMs = processClock.now();
      this.#prediction.measured(ms);
      if (this.#parts.mode === "always" || this.#prediction.isSlow) void this.#load();
    });
  }

  /** Bytes were written to the terminal, by the process or by us. */
  printed(bytes: Uint8Array): void {
    if (this.#parts.mode === "never" || bytes.length === 0) return;
    this.#tail.push(bytes);
    this.#tailBytes += bytes.length;
    while (this.#tailBytes - (this.#tail[0]?.length ?? 0) >= TAIL_BYTES) {
      this.#tailBytes -= this.#tail.shift()?.length ?? 0;
    }
    if (this.#emulator !== undefined) this.#follow(this.#emulator, bytes);
  }

  /** Text was typed and is about to be sent. */
  typed(bytes: Uint8Array): void {
    this.measure();
    const rows = this.#rows;
    if (rows === undefined) return;
    if (this.#unparsedBytes > 0 || this.#parts.isEncoded()) this.#prediction.reset();
    else this.#prediction.typed(Buffer.from(bytes).toString(), rows.screen, processClock.now());
    this.#draw();
    this.#checkLater();
  }

  /** All input was acknowledged. @param isStill Called again once earlier output is drawn. */
  answered(isStill: () => boolean): void {
    this.#emulator?.write("", () => {
      if (isStill()) this.#prediction.answered();
    });
  }

  /** Removes predictions from the terminal: something else is about to be written. They are drawn again after it. */
  withdraw(): void {
    const { length } = this.#drawn;
    if (length > 0) this.#parts.write(`\x1b[${length}D\x1b[${length}X`);
    this.#drawn = "";
  }

  disconnected(): void {
    this.#isMeasuring = false;
    this.reset();
  }

  /** The window has another size, or typed text must not be shown. */
  reset(): void {
    this.#prediction.reset();
    this.withdraw();
  }

  resized({ cols, rows }: ScreenSize): void {
    this.reset();
    this.#emulator?.resize(cols, rows);
  }

  /** The terminal began or stopped echoing. */
  echoes(isOn: boolean): void {
    this.#prediction.echoes(isOn);
    this.withdraw();
  }

  close(): void {
    this.#isClosed = true;
    this.withdraw();
    this.#drop();
  }

  async #load(): Promise<void> {
    if (this.#isLoading || this.#emulator !== undefined) return;
    this.#isLoading = true;
    const { makeEmulator } = await import("./emulator.ts");
    this.#isLoading = false;
    if (this.#isClosed) return;
    const { cols, rows } = this.#parts.size();
    const emulator = makeEmulator(cols, rows);
    this.#emulator = emulator;
    this.#rows = new NumberedRows(emulator, () => this.#prediction.reset());
    emulator.buffer.onBufferChange(() => this.#prediction.reset());
    // The tail may begin behind the switch.
    if (this.#parts.isAlternate()) emulator.write("\x1b[?1049h");
    for (const bytes of this.#tail) this.#follow(emulator, bytes);
  }

  #follow(emulator: Emulator, bytes: Uint8Array): void {
    this.#unparsedBytes += bytes.length;
    if (this.#unparsedBytes > MAX_UNPARSED_BYTES) {
      this.#drop();
      // A key after the flood measures again, and loads another.
      this.#measuredAtMs = Number.NEGATIVE_INFINITY;
      return;
    }
    emulator.write(bytes, () => {
      if (emulator !== this.#emulator) return;
      this.#unparsedBytes -= bytes.length;
      if (this.#unparsedBytes === 0) this.#check();
    });
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#emulator?.dispose();
    this.#emulator = undefined;
    this.#rows = undefined;
    this.#unparsedBytes = 0;
    this.#prediction.reset();
  }

  #check(): void {
    const rows = this.#rows;
    if (rows === undefined || this.#unparsedBytes > 0) return;
    this.#prediction.drawn(rows.screen, processClock.now());
    this.#draw();
    this.#checkLater();
  }

  #checkLater(): void {
    clearTimeout(this.#timer);
    if (this.#prediction.hasPending) this.#timer = setTimeout(() => this.#check(), CHECK_MS);
  }

  /** Only where the emulator has read everything is the terminal's cursor known. */
  #draw(): void {
    const isKnown = this.#unparsedBytes === 0 && this.#parts.mayDraw() && !this.#isUnderlined;
    const shown = isKnown ? this.#prediction.shown(this.#parts.mode) : [];
    const text = shown.map(({ character }) => character).join("");
    if (!text.startsWith(this.#drawn) || text === "") this.withdraw();
    if (text === this.#drawn) return;
    this.#parts.write(`\x1b[4m${text.slice(this.#drawn.length)}\x1b[24m`);
    this.#drawn = text;
  }

  /** Whether the program writes underlined, which our underline would end. */
  get #isUnderlined(): boolean {
    const buffer = this.#emulator?.buffer.active;
    const last = buffer?.getLine(buffer.baseY + buffer.cursorY)?.getCell(buffer.cursorX - 1);
    return last !== undefined && last.isUnderline() !== 0;
  }
}
