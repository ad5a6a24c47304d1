// One session's screen in a headless terminal, at a known offset of its output. Knows nothing of logs, threads or clocks.
//
// @xterm/headless 6.1.0-beta.303, as on the page: both then count widths and wrap rows alike. Of MB/s, warm, on two cores of 2026:
// text 104, a coloured build log 69, top 48, vim 25, tmux 24, wide characters 31; cold, a quarter of that or less. Ghostty
// as WebAssembly (ghostty-web 0.4.0) 59, 39, 32, 33, 30, 27. It offers neither the saved cursor nor the scroll region,
// the tab stops, the character sets or where a hyperlink leads.

import { Unicode11Addon } from "@xterm/addon-unicode11/lib/addon-unicode11.mjs";
import { Terminal } from "@xterm/headless";
import {
  defined,
  limitWork,
  mendFaults,
  QueryFilter,
  type Snapshot,
  scrolledOff,
  scrollsWhole,
  worstNsPerByte,
  XTERM_OPTIONS,
} from "sandbox-stdio/core";
import { Appearance } from "./appearance.ts";
import { Boundary } from "./boundary.ts";
import { draw } from "./draw.ts";
import type { FloodContent } from "./flood-scanner.ts";
import { type Core, coreOf } from "./internals.ts";
import { SCROLLBACK_LINES } from "./lines.ts";
import { CLEARED, isPlain } from "./plain-output.ts";
import { readScreen, type ScreenRequest, type ScreenState } from "./read-screen.ts";
import { RememberedModes } from "./remembered.ts";

/** A sequence longer than this is parsed before its end, as a client would have to get all of it behind a snapshot. */
const MAX_OPEN_BYTES = 65_536;

/** The most answers to one batch of output. */
const MAX_ANSWERS = 4096;
/** The search of skipped output begins this much before it, for sequences that are cut. */
const MAX_SEEN_BYTES = 64;

export type Size = { readonly cols: number; readonly rows: number };
/** The emulator's answer to a query of the output that ends at `offset`. */
export type Answer = { readonly offset: number; readonly text: string };

/** How the emulator skips output. */
export type Skip = Size & {
  /** Where it continues. */
  readonly offset: number;
  /** Sequences that set the state that has changed in the skipped output. */
  readonly state: string;
  /** Text can only have changed lines; styled text lines and the style. */
  readonly content: FloodContent;
};

type Item = { readonly bytes: Uint8Array } | Size;

const CLEAR = "\x1b[H\x1b[2J\x1b[3J";
/** Default attributes, scroll region, origin, insert mode and character set. */
const USUAL = "\x1b[m\x1b[r\x1b[?6l\x1b[4l\x1b(B\x0f";
/** Ends any sequence that was cut off. */
const CANCEL = "\x18";

export class Emulator {
  readonly #terminal: Terminal;
  readonly #core: Core;
  readonly #remembered: RememberedModes;
  readonly #appearance: Appearance;
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder();
  #boundary = new Boundary();
  /** Follows the parsed output: few batches contain queries, and these are parsed more slowly. */
  readonly #queries = new QueryFilter(() => {
    this.#isAsked = true;
    return true;
  });
  /** Whether the output that is being parsed contains queries. */
  #isAsked = false;
  /** The output after the last safe position, which is not parsed yet. */
  #open: Item[] = [];
  #openBytes = 0;
  /** Begins again the sequence in which parsing has stopped, because it was too long. */
  #opener = "";
  /** Output before this is parsed. */
  #offset: number;
  /** The size of the next output. */
  #size: Size;
  #isExact: boolean;
  /** After a skip: the screen is exact again once a screenful of lines has scrolled off. */
  #isProvable = false;
  /** The lines above the screen when the style became known again; undefined: it is unknown. */
  #linesWithoutStyle: number | undefined = 0;
  #answers: Answer[] = [];
  /** Whether a cleared screen would be as good as a new one. */
  #isPlain = true;

  /** @param isExact Whether the output is seen from its start. */
  constructor(size: Size, offset: number, isExact: boolean) {
    this.#size = size;
    this.#offset = offset;
    this.#isExact = isExact;
    this.#terminal = new Terminal({
      cols: size.cols,
      rows: size.rows,
      scrollback: SCROLLBACK_LINES,
      ...XTERM_OPTIONS,
      allowProposedApi: true,
      logLevel: "off",
    });
    // As the page counts widths.
    this.#terminal.loadAddon(new Unicode11Addon());
    this.#terminal.unicode.activeVersion = "11";
    this.#core = coreOf(this.#terminal);
    this.#remembered = new RememberedModes(this.#terminal);
    this.#terminal.onData((text) => this.#answer(text));
    this.#terminal.parser.registerEscHandler({ final: "c" }, () => {
      // A full reset: nothing of the earlier screen is left.
      this.#isExact = true;
      return false;
    });
    mendFaults(this.#terminal);
    limitWork(this.#terminal);
    this.#appearance = new Appearance(this.#terminal, (text) => this.#answer(text));
  }

  /** Starts over like a new emulator. @returns Whether it could: earlier output may have changed more than clearing undoes. */
  begin({ cols, rows }: Size, offset: number, isExact: boolean): boolean {
    const { normal } = this.#core.buffers;
    const hasScrolled = normal.ybase > 0 || normal.lines.length !== this.#terminal.rows;
    const isSameSize = cols === this.#size.cols && rows === this.#size.rows && this.#open.length === 0;
    if (!this.#isPlain || hasScrolled || !isSameSize || !this.#boundary.isSafe) return false;
    this.#core._inputHandler.parse(this.#encoder.encode(CLEARED));
    this.#queries.flush();
    this.#answers = [];
    this.#offset = offset;
    this.#isExact = isExact;
    return true;
  }

  /** Takes the next output; the terminal has had `size` since before it. @returns The emulator's answers. */
  write(bytes: Uint8Array, size: Size): readonly Answer[] {
    this.#isPlain &&= isPlain(bytes);
    if (size.cols !== this.#size.cols || size.rows !== this.#size.rows) {
      this.#size = size;
      // Within a sequence both wait: a snapshot is of the place before it, in the size of that place.
      if (this.#open.length === 0) this.#terminal.resize(size.cols, size.rows);
      else this.#open.push(size);
    }
    const safe = this.#boundary.lastSafe(bytes);
    if (safe >= 0) {
      this.#keep(bytes.subarray(0, safe));
      this.#parseOpen();
      this.#opener = "";
    }
    this.#keep(bytes.subarray(Math.max(0, safe)));
    if (this.#openBytes > MAX_OPEN_BYTES) {
      this.#parseOpen();
      this.#opener = this.#boundary.opener;
    }
    if (!this.#isExact && this.#isProvable) this.#isExact = this.#hasScrolledOff();
    const answers = this.#answers;
    this.#answers = [];
    return answers;
  }

  /** The most that the next byte can cost, in nanoseconds. */
  get worstNs(): number {
    return worstNsPerByte(this.#terminal);
  }

  /** Continues behind output that it does not get. Its screen is approximate until nothing of the earlier one can be left. */
  skip({ offset, cols, rows, state, content }: Skip): void {
    this.#isPlain = false;
    // A short sequence or a character that is open here was searched with the skipped output, and is lost like it.
    const isSeen = this.#opener === "" && this.#openBytes <= MAX_SEEN_BYTES && content !== "sequences";
    this.#isProvable = isSeen && (this.#isExact || this.#isProvable) && this.#isUsual();
    if (content !== "text") this.#awaitStyle();
    else if (this.#linesWithoutStyle !== undefined) this.#linesWithoutStyle = 0;
    this.#boundary = new Boundary();
    this.#queries.flush();
    this.#open = [];
    this.#openBytes = 0;
    this.#opener = "";
    this.#size = { cols, rows };
    this.#terminal.resize(cols, rows);
    this.#core._inputHandler.parse(this.#encoder.encode(this.#isProvable ? CLEAR : CANCEL + state + USUAL + CLEAR));
    this.#answers = [];
    this.#offset = offset;
    this.#isExact = false;
  }

  /** The screen at the last safe position. */
  draw(maxBytes?: number): Snapshot {
    const { text, isComplete } = draw(this.#terminal, this.#remembered, this.#appearance.text, maxBytes);
    return {
      offset: this.#offset,
      // A client that begins within a sequence must not draw the rest of it as text.
      bytes: this.#encoder.encode(text + this.#opener),
      cols: this.#terminal.cols,
      rows: this.#terminal.rows,
      isExact: this.#isExact && isComplete && this.#opener === "",
    };
  }

  /** The screen at the last safe position, as programs are told it. */
  show(request: ScreenRequest): ScreenState {
    const drawing = request.ansi ? this.draw(request.ansiBytes) : undefined;
    const isExact = this.#isExact && this.#opener === "";
    return {
      ...readScreen(this.#terminal, request),
      offset: this.#offset,
      ...defined({
        approximate: isExact ? undefined : (true as const),
        partial: isExact && drawing?.isExact === false ? (true as const) : undefined,
        ansi: drawing && this.#decoder.decode(drawing.bytes),
      }),
    };
  }

  dispose(): void {
    this.#terminal.dispose();
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#open.push({ bytes });
    this.#openBytes += bytes.length;
  }

  #parseOpen(): void {
    const open = this.#open;
    this.#open = [];
    this.#openBytes = 0;
    let run: Uint8Array[] = [];
    for (const item of open) {
      if ("bytes" in item) {
        run.push(item.bytes);
        continue;
      }
      this.#parseRun(run);
      run = [];
      this.#terminal.resize(item.cols, item.rows);
    }
    this.#parseRun(run);
  }

  /** In one piece: the emulator loses characters like U+2026 when they are cut. */
  #parseRun([first, ...others]: Uint8Array[]): void {
    if (first !== undefined) this.#parse(others.length === 0 ? first : Buffer.concat([first, ...others]));
  }

  #parse(bytes: Uint8Array): void {
    this.#isAsked = false;
    this.#queries.filter(bytes, this.#offset);
    if (!this.#isAsked) {
      this.#feed(bytes);
      this.#offset += bytes.length;
      return;
    }
    // Sequence by sequence, so that each answer has the offset of its query's end.
    const boundary = new Boundary();
    for (let at = 0; at < bytes.length; ) {
      const end = boundary.sequenceEnd(bytes, at);
      this.#offset += end - at;
      this.#feed(bytes.subarray(at, end));
      at = end;
    }
  }

  #feed(bytes: Uint8Array): void {
    try {
      const from = scrolledOff(this.#core, this.#terminal.rows, bytes, SCROLLBACK_LINES);
      this.#core._inputHandler.parse(bytes.subarray(from));
      const undo = this.#remembered.takeUndo();
      if (undo !== "") this.#core._inputHandler.parse(this.#encoder.encode(undo));
    } catch {
      // A fault of the emulator: its cursor may be out of bounds after changes of size. It continues.
      this.#isExact = false;
      this.#isProvable = false;
    }
  }

  #answer(text: string): void {
    if (this.#isAsked && this.#answers.length < MAX_ANSWERS) this.#answers.push({ offset: this.#offset, text });
  }

  #isUsual(): boolean {
    return scrollsWhole(this.#core, this.#terminal.rows);
  }

  #hasScrolledOff(): boolean {
    if (this.#linesWithoutStyle === undefined) return false;
    return this.#isUsual() && this.#core.buffers.normal.ybase >= this.#terminal.rows + this.#linesWithoutStyle;
  }

  /** The style is known again from its first reset on. */
  #awaitStyle(): void {
    if (this.#linesWithoutStyle === undefined) return;
    this.#linesWithoutStyle = undefined;
    const watch = this.#terminal.parser.registerCsiHandler({ final: "m" }, ([first]) => {
      if (first !== undefined && first !== 0) return false;
      this.#linesWithoutStyle = this.#core.buffers.normal.ybase;
      watch.dispose();
      return false;
    });
  }
}
