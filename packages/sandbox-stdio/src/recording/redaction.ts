// Replaces what patterns match in output by asterisks, as many as there were bytes (G1). A pattern sees each line by itself, three
// times: as `plain` has it, as its characters came before anything was overwritten, and each text in its control sequences, such as
// a title or the line of a command. A line that was cut before is matched in its two parts.

import type { PatternProgram } from "../programs/pattern.ts";
import { PlainMap } from "../programs/plain-runs.ts";
import { PlainText } from "../programs/plain-text.ts";
import { Utf8Reader } from "../programs/utf8-reader.ts";
import { C1_LEAD, ESC, VtParser } from "../terminal/vt-parser.ts";
import { cloneBytes } from "../text/utf8-text.ts";
import { characters, lineOf, unescaped } from "./command-marks.ts";
import { LineMatcher } from "./line-matcher.ts";

const ASTERISK = 0x2a;
const SPACE = 0x20;
const DEL = 0x7f;
const LF = 0x0a;
const FF = 0x0c;
const CR = 0x0d;
/** The line of a command in OSC 633 and in fish's OSC 133, and what OSC 52 copies. */
const TEXT = "([^\\x07\\x1b;]*)";
const ENCODED = new RegExp(
  `\\x1b\\](?:633;E;${TEXT}|133;C[^\\x07\\x1b]*?;cmdline_url=${TEXT}|52;[^\\x07\\x1b;]*;${TEXT})`,
  "dg",
);
/** fish ends each redraw of a line that is wrapped so: up to its first row, and down again. */
const CSI = "\\x1b\\[";
const AND_BACK = new RegExp(`${CSI}(\\d*)A\\r*(\\n+)`, "g");

/** Where the characters of a text lie: of each UTF-16 unit the first byte and how many. */
type Placed = { text: string; start(unit: number): number; end(unit: number): number };

export class Redactor {
  readonly #matchers: readonly LineMatcher[];

  constructor(programs: readonly PatternProgram[]) {
    this.#matchers = programs.map((program) => new LineMatcher({ kind: "pattern", program }));
  }

  /** Redacts in place. @returns Whether anything was hidden. */
  redact(bytes: Uint8Array): boolean {
    const original = cloneBytes(bytes);
    let hasHidden = false;
    for (const lines of [plainLines(original), linesAsTheyCame(original)]) {
      for (let from = 0; from < lines.text.length; ) {
        const found = lines.text.indexOf("\n", from);
        const to = found < 0 ? lines.text.length : found;
        for (const matcher of this.#matchers) if (redactLine(matcher, lines, from, to, bytes)) hasHidden = true;
        from = to + 1;
      }
    }
    return this.#redactEncoded(original, bytes) || hasHidden;
  }

  /** The lines of commands are as escaped as the shell tells them, and what is copied is base64, which no pattern can match. */
  #redactEncoded(original: Uint8Array, bytes: Uint8Array): boolean {
    let hasHidden = false;
    for (const { 1: line, 2: url, indices } of characters(original).matchAll(ENCODED)) {
      const text = line === undefined ? url && lineOf(`;cmdline_url=${url}`) : unescaped(line);
      // What is not escaped has been matched as it is.
      const isKept =
        text === (line ?? url ?? "") ||
        (text !== undefined && !this.#matchers.some((matcher) => matcher.find(text, 0, text.length)));
      const [start, end] = indices?.[1] ?? indices?.[2] ?? indices?.[3] ?? [0, 0];
      if (isKept || start === end) continue;
      bytes.fill(ASTERISK, start, end);
      hasHidden = true;
    }
    return hasHidden;
  }
}

function redactLine(matcher: LineMatcher, { text, start, end }: Placed, from: number, to: number, bytes: Uint8Array) {
  let hasHidden = false;
  for (let at = from; at < to; ) {
    const match = matcher.find(text, from, to, at);
    if (match === undefined) break;
    hasHidden ||= match.end > match.start;
    for (let unit = match.start; unit < match.end; unit += 1) bytes.fill(ASTERISK, start(unit), end(unit));
    at = Math.max(match.end, match.start + 1);
  }
  return hasHidden;
}

function plainLines(bytes: Uint8Array): Placed {
  const plain = new PlainText();
  plain.push(bytes, 0);
  plain.finish();
  const { text, runs } = plain.drain();
  const map = new PlainMap();
  map.replace(0, runs);
  return { text, start: (unit) => map.startOf(unit), end: (unit) => map.endOf(unit + 1) };
}

/** The characters between the control sequences, and those within strings such as OSC as lines of their own. */
function linesAsTheyCame(bytes: Uint8Array): Placed {
  const outside = new Characters();
  const inside = new Characters();
  const parser = new VtParser();
  const endings = new Map<number, number>();
  for (const { 0: whole, 1: rows, 2: feeds = "", index } of characters(bytes).matchAll(AND_BACK))
    if (feeds.length === Number(rows || 1)) endings.set(index, index + whole.length);
  for (let i = 0; i < bytes.length; i += 1) {
    if (parser.isGround) i = endings.get(i) ?? i;
    const byte = bytes[i] ?? 0;
    if (parser.isGround) {
      if (byte === ESC) parser.begin(ESC);
      else if (byte === C1_LEAD && ((bytes[i + 1] ?? 0) & 0xe0) === 0x80) parser.begin(C1_LEAD);
      else if (byte === CR || (byte >= LF && byte <= FF)) outside.endLine();
      else if (byte >= SPACE && byte !== DEL) outside.push(byte, i);
      continue;
    }
    const { kind } = parser;
    parser.push(byte);
    const isString = kind !== "escape" && kind !== "csi" && byte >= SPACE;
    if (isString && !parser.isGround && parser.kind === kind) inside.push(byte, i);
    else inside.endLine();
  }
  outside.endLine();
  return outside.with(inside);
}

class Characters {
  #text = "";
  readonly #starts: number[] = [];
  readonly #widths: number[] = [];
  readonly #utf8 = new Utf8Reader();

  push(byte: number, at: number): void {
    const isPlain = byte < 0x80 && !this.#utf8.isInCharacter;
    const code = isPlain ? byte : this.#utf8.push(byte, at);
    if (code === Utf8Reader.CUT) {
      this.#add(0xfffd, this.#utf8.startOffset, this.#utf8.width);
      this.push(byte, at);
    } else if (code >= 0) this.#add(code, isPlain ? at : this.#utf8.startOffset, isPlain ? 1 : this.#utf8.width);
  }

  endLine(): void {
    if (this.#utf8.isInCharacter) this.#add(0xfffd, this.#utf8.startOffset, this.#utf8.cut());
    if (this.#text !== "" && !this.#text.endsWith("\n")) this.#add(LF, 0, 0);
  }

  with(other: Characters): Placed {
    const text = this.#text + other.#text;
    const starts = [...this.#starts, ...other.#starts];
    const widths = [...this.#widths, ...other.#widths];
    const start = (unit: number) => starts[unit] ?? 0;
    return { text, start, end: (unit) => start(unit) + (widths[unit] ?? 0) };
  }

  #add(code: number, start: number, width: number): void {
    const text = String.fromCodePoint(code);
    this.#text += text;
    for (const _ of text.length === 2 ? [0, 1] : [0]) {
      this.#starts.push(start);
      this.#widths.push(width);
    }
  }
}
