// Replaces what patterns match in output by asterisks, as many as there were bytes (G1). A pattern sees each line by itself, as it stands on
// the screen, however it was drawn; and as it came: text that no movement interrupts, and the texts of control sequences.

import type { PatternProgram } from "../programs/pattern.ts";
import { asidesOf, textOf } from "../terminal/sequence-text.ts";
import { cloneBytes, decodeUtf8, encodeUtf8, isLossy, joined, unfinishedBytes } from "../text/utf8-text.ts";
import { characters, lineOf, unescaped } from "./command-marks.ts";
import { LineMatcher } from "./line-matcher.ts";
import { type PlacedText, placeOf, TracedScreen } from "./traced-screen.ts";

const ASTERISK = 0x2a;
/** A longer line is matched in parts, and output that is older than so many bytes is not held back. */
const MAX_HELD = 16_384;
/** The next piece of output, a character for each byte. Without a match its end has not come yet. */
const PIECE = new RegExp(
  [
    "((?:[ -~\\x80-\\xc1\\xc3-\\xff]|\\xc2(?![\\x80-\\x9f]))+)",
    "((?:\\x1b\\[|\\xc2\\x9b)[^@-~\\x18\\x1a\\x1b]*[@-~])",
    "(?:\\x1b[P\\]X^_]|\\xc2[\\x90\\x98\\x9d-\\x9f])((?:[^\\x07\\x18\\x1a\\x1b\\xc2]|\\xc2(?!\\x9c))*)(?:[\\x07\\x18\\x1a]|\\xc2\\x9c|\\x1b\\\\|(?=\\x1b[^\\\\]))",
    "\\x1b([ -/]*[0-OQ-WYZ\\\\`-~])",
    "\\xc2([\\x80-\\x8f\\x91-\\x97\\x99\\x9a\\x9c])|([\\0-\\x1a\\x1c-\\x1f\\x7f]+)",
    // Another character than expected ends these.
    "(?:\\x1b\\[|\\xc2\\x9b)[^@-~\\x18\\x1a\\x1b]*(?=[\\x18\\x1a\\x1b])|\\x1b[ -/]*(?=[^ -~])",
  ].join("|"),
  "y",
);
/** The line of a command in OSC 633 and in fish's OSC 133, and what OSC 52 copies. */
const ENCODED = /^(?:633;E;([^;]*)|133;C.*?;cmdline_url=([^;]*)|52;[^;]*;(.*))/ds;

type Size = { readonly cols: number; readonly rows: number };

export class Redactor {
  readonly #matchers: readonly LineMatcher[];
  readonly #screen: TracedScreen;
  /** The characters since the cursor was moved in any other way. */
  #run: PlacedText[] = [];
  #runLength = 0;
  /** The output from `#base` on, redacted; from `#next` on it has not been looked at. */
  #bytes = new Uint8Array(0);
  #base = 0;
  #next = 0;
  /** How the piece began that goes on at `#next`. */
  #begun = "";
  #hasHidden = false;

  /** @param isTty On pipes a line feed begins the next line at its left edge. */
  constructor(programs: readonly PatternProgram[], isTty = true) {
    this.#matchers = programs.map((program) => new LineMatcher({ kind: "pattern", program }));
    this.#screen = new TracedScreen((line) => this.#match(line), !isTty);
  }

  /** Whether anything was hidden. */
  get hasHidden(): boolean {
    return this.#hasHidden;
  }

  /** Output before this was taken in. */
  get end(): number {
    return this.#base + this.#bytes.length;
  }

  /** Redacts a whole text in place. */
  redact(bytes: Uint8Array, size?: Size): void {
    this.push(bytes, 0, size);
    this.settle();
    this.read(0, bytes);
  }

  /** Takes in output. Earlier output is given up unless this follows it. @param size Of the terminal from there on. */
  push(bytes: Uint8Array, offset: number, size?: Size): void {
    if (size !== undefined) this.#screen.resize(size);
    if (offset !== this.end)
      [this.#base, this.#next, this.#bytes, this.#begun] = [offset, offset, new Uint8Array(0), ""];
    this.#bytes = joined([this.#bytes, bytes]);
    const held = this.#bytes.subarray(this.#next - this.#base, this.#bytes.length - unfinishedBytes(this.#bytes));
    const text = this.#begun + characters(held);
    const from = this.#next - this.#begun.length;
    PIECE.lastIndex = 0;
    for (let piece = PIECE.exec(text); piece !== null; piece = PIECE.exec(text)) {
      this.#piece(piece, from + piece.index);
      this.#next = from + PIECE.lastIndex;
      this.#begun = "";
    }
  }

  /** Copies redacted output from an offset on. */
  read(from: number, into: Uint8Array): void {
    into.set(this.#bytes.subarray(from - this.#base, from - this.#base + into.length));
  }

  /** Output before this is not read any more. */
  dropBefore(offset: number): void {
    if (offset > this.#next) {
      this.#begun ||= characters(this.#bytes.subarray(this.#next - this.#base).subarray(0, 2));
      this.#next = offset;
    }
    this.#bytes = cloneBytes(this.#bytes.subarray(offset - this.#base));
    this.#base = offset;
  }

  /** Matches the lines as they are now. @returns Where the output begins that may still become a part of a match. */
  settle(): number {
    let held = this.#next;
    if (held < this.end) this.#string(held, this.end);
    this.#screen.settle();
    const run = joinedTexts(this.#run);
    this.#match(run);
    for (const line of [...this.#screen.cursorTexts, run]) {
      const starts = this.#matchers.flatMap((matcher) => matcher.openAt(line.text) ?? []);
      if (starts.length === 0) continue;
      for (const place of line.places.slice(Math.min(...starts)))
        if (place > 0) held = Math.min(held, Math.floor(place / 8));
    }
    return held < this.end - MAX_HELD ? this.end : Math.max(held, this.#base);
  }

  #piece([, text, csi, string, esc, c1, controls]: RegExpExecArray, at: number): void {
    if (text !== undefined) this.#text(at, at + text.length);
    else if (string !== undefined) this.#string(at + 2, at + 2 + string.length);
    else if (csi?.endsWith("m") !== true) this.#endRun();
    for (const control of controls ?? asidesOf(csi ?? "")) this.#screen.control(control.charCodeAt(0));
    if (csi !== undefined) this.#screen.csi(textOf("csi", csi));
    if (esc !== undefined) this.#screen.escape(esc);
    if (c1 !== undefined) this.#screen.escape(String.fromCharCode(c1.charCodeAt(0) - 0x40));
  }

  #text(from: number, to: number): void {
    const line = this.#placed(from, to);
    if (line.text.length === to - from) this.#screen.print(line.text, from);
    else {
      const { text, places } = line;
      let unit = 0;
      for (const character of text) {
        this.#screen.put(character.codePointAt(0) ?? 0, places[unit] ?? 0);
        unit += character.length;
      }
    }
    this.#run.push(line);
    this.#runLength += line.text.length;
    if (this.#runLength > MAX_HELD) this.#endRun();
  }

  #endRun(): void {
    if (this.#run.length > 0) this.#match(joinedTexts(this.#run));
    [this.#run, this.#runLength] = [[], 0];
  }

  /** Matches a title, the line of a command, or what else is not drawn. */
  #string(from: number, to: number): void {
    const line = this.#placed(from, to);
    this.#match(line);
    const found = ENCODED.exec(line.text);
    if (found === null) return;
    const { 1: told, 2: url, indices } = found;
    const text = told === undefined ? url && lineOf(`;cmdline_url=${url}`) : unescaped(characters(encodeUtf8(told)));
    // What is not escaped has been matched as it is.
    if (text === (told ?? url ?? "")) return;
    if (text !== undefined && !this.#matchers.some((matcher) => matcher.find(text, 0, text.length))) return;
    this.#hide(line.places.slice(...(indices?.[1] ?? indices?.[2] ?? indices?.[3] ?? [])));
  }

  /** The characters of a part of the output. */
  #placed(from: number, to: number): PlacedText {
    const bytes = this.#bytes.subarray(Math.max(0, from - this.#base), Math.max(0, to - this.#base));
    const decoded = decodeUtf8(bytes);
    const isText = !isLossy(decoded, bytes);
    const text = isText ? decoded : characters(bytes);
    return {
      text,
      get places() {
        const places: number[] = [];
        let at = to - bytes.length;
        for (const character of text) {
          const width = !isText || character < "\x80" ? 1 : encodeUtf8(character).length;
          for (let i = 0; i < character.length; i += 1) places.push(placeOf(at, width));
          at += width;
        }
        return places;
      },
    };
  }

  #match(line: PlacedText): void {
    for (const matcher of this.#matchers)
      for (const { start, end } of matcher.findAll(line.text)) this.#hide(line.places.slice(start, end));
  }

  #hide(places: readonly number[]): void {
    for (const place of places) {
      const at = Math.floor(place / 8) - this.#base;
      // What is stored is not hidden any more.
      if (place > 0 && at >= 0) this.#bytes.fill(ASTERISK, at, at + (place % 8));
    }
    this.#hasHidden ||= places.length > 0;
  }
}

function joinedTexts(parts: readonly PlacedText[]): PlacedText {
  return {
    text: parts.map(({ text }) => text).join(""),
    get places() {
      return parts.flatMap(({ places }) => places);
    },
  };
}
