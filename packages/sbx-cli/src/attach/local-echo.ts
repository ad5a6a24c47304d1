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
  /** The predicted characters on the terminal by their columns, with those that they cover. */
  #drawn = new Map<number, { readonly character: string; readonly covered: string }>();
  /** Where the program has the cursor, and where it is drawn. */
  #cursor = { real: 0, drawn: 0 };
  /** Typed while the emulator was reading. */
  #unplaced: string[] = [];
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
    if (this.#parts.isEncoded()) this.#prediction.reset();
    else this.#unplaced.push(Buffer.from(bytes).toString());
    this.#check();
  }

  /** Input was acknowledged, all but so many bytes. */
  answered(unacked: number): void {
    const acked = this.#prediction.typedBytes - unacked;
    this.#emulator?.write("", () => {
      const rows = this.#rows;
      if (rows !== undefined) this.#prediction.answered(acked, rows.screen);
      this.#check();
    });
  }

  /** Removes predictions from the terminal: something else is about to be written. They are drawn again after it. */
  withdraw(): void {
    this.#show(new Map(), this.#cursor.real);
  }

  disconnected(): void {
    this.#isMeasuring = false;
    this.reset();
  }

  /** The window has another size, or typed text must not be shown. */
  reset(): void {
    this.#unplaced = [];
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
    this.#unplaced = [];
    this.#prediction.reset();
  }

  #check(): void {
    const rows = this.#rows;
    if (rows === undefined || this.#unparsedBytes > 0) return;
    this.#prediction.drawn(rows.screen, processClock.now());
    for (const text of this.#unplaced.splice(0)) this.#prediction.typed(text, rows.screen, processClock.now());
    this.#draw();
    this.#checkLater();
  }

  #checkLater(): void {
    clearTimeout(this.#timer);
    if (this.#prediction.hasPending) this.#timer = setTimeout(() => this.#check(), CHECK_MS);
  }

  /** Only where the emulator has read everything is the terminal's cursor known. */
  #draw(): void {
    const { mode, mayDraw } = this.#parts;
    const buffer = this.#emulator?.buffer.active;
    const line = buffer?.getLine(buffer.baseY + buffer.cursorY);
    const row = this.#rows?.screen.cursor.row;
    if (buffer === undefined || line === undefined || this.#unparsedBytes > 0 || !mayDraw()) return;
    if (this.#drawn.size === 0 && this.#cursor.real === this.#cursor.drawn) {
      this.#cursor = { real: buffer.cursorX, drawn: buffer.cursorX };
    }
    const cells = this.#prediction.shown(mode).filter((cell) => cell.row === row);
    const covered = (column: number) => line.getCell(column)?.getChars().trim() ?? "";
    const isCovering = cells.some(({ column }) => covered(column) !== "");
    // Ours get the program's attributes of now, probably those of the character before the cursor.
    const isPlain = (column: number) => line.getCell(column)?.isAttributeDefault() !== false;
    const before = buffer.cursorX - 1;
    const mayCover = isPlain(before) && cells.every(({ column }) => isPlain(column));
    const isKnown = isCovering ? mayCover : !line.getCell(before)?.isUnderline();
    const shown = new Map(isKnown ? cells.map(({ column, character }) => [column, character]) : []);
    const cursor = isKnown ? this.#prediction.cursor(mode) : undefined;
    this.#show(shown, cursor !== undefined && cursor.row === row ? cursor.column : buffer.cursorX, covered);
  }

  /** Writes the cells that differ from those drawn. */
  #show(shown: ReadonlyMap<number, string>, cursor: number, covered = (_column: number): string => ""): void {
    let text = "";
    let at = this.#cursor.drawn;
    const put = (column: number, sequence: string, width: number) => {
      text += moved(at, column) + sequence;
      at = column + width;
    };
    const write = (column: number, character: string) =>
      character.trim() === "" ? put(column, "\x1b[X", 0) : put(column, character, 1);
    for (const [column, { covered: old }] of this.#drawn) {
      if (shown.has(column)) continue;
      write(column, old);
      this.#drawn.delete(column);
    }
    for (const [column, character] of shown) {
      const drawn = this.#drawn.get(column);
      if (drawn?.character === character) continue;
      // A blank that covers nothing was typed.
      if (character === " " && (drawn !== undefined || covered(column) !== "")) write(column, character);
      else put(column, `\x1b[4m${character}\x1b[24m`, 1);
      this.#drawn.set(column, { character, covered: drawn?.covered ?? covered(column) });
    }
    text += moved(at, cursor);
    this.#cursor = { ...this.#cursor, drawn: cursor };
    if (text !== "") this.#parts.write(text);
  }
}

function moved(from: number, to: number): string {
  if (from === to) return "";
  return to < from ? `\x1b[${from - to}D` : `\x1b[${to - from}C`;
}
