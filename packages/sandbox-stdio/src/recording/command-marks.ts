// Finds where a shell's commands start in recorded output: OSC 133 and 633 (C1), wherever the output is cut.

import { BEL, CAN, ESC, SUB } from "../terminal/vt-parser.ts";
import { clipUtf8 } from "../text/utf8.ts";
import { decodeUtf8 } from "../text/utf8-text.ts";

/** `offset` is behind the mark; `line` is as the shell told it, or empty. */
export type CommandMark = { readonly offset: number; readonly line: string };

/** A longer OSC is ignored. */
const MAX_TEXT = 16_384;
const MAX_LINE = 4_096;
const BRACKET = 0x5d;
const MARKS = /^[16]33;/;
const LONGEST_PREFIX = 4;

export class CommandMarks {
  /** The open OSC, from its number on; undefined outside. */
  #open: number[] | undefined;
  #endsWithEsc = false;
  #line = "";

  /** @param offset Of the first byte, which follows the last of the call before. */
  take(bytes: Uint8Array, offset: number): CommandMark[] {
    const marks: CommandMark[] = [];
    let at = 0;
    if (this.#open === undefined && this.#endsWithEsc && bytes[0] === BRACKET) {
      this.#open = [];
      at = 1;
    }
    while (at < bytes.length) {
      if (this.#open === undefined) {
        const esc = bytes.indexOf(ESC, at);
        if (esc < 0) break;
        at = esc + 1;
        if (bytes[at] === BRACKET) {
          this.#open = [];
          at += 1;
        }
        continue;
      }
      at = this.#goOn(this.#open, bytes, at, offset, marks);
    }
    this.#endsWithEsc = bytes.length === 0 ? this.#endsWithEsc : bytes.at(-1) === ESC;
    return marks;
  }

  /** Output is missing: what was open is no more. */
  skip(): void {
    this.#open = undefined;
    this.#endsWithEsc = false;
    this.#line = "";
  }

  /** @returns Where the search goes on. */
  #goOn(open: number[], bytes: Uint8Array, from: number, offset: number, marks: CommandMark[]): number {
    let at = from;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === BEL || byte === ESC || byte === CAN || byte === SUB) {
        this.#open = undefined;
        if (byte === CAN || byte === SUB) return at + 1;
        const end = offset + at + (byte === BEL ? 1 : 2);
        if (open.length <= MAX_TEXT) this.#told(decodeUtf8(Uint8Array.from(open)), end, marks);
        // Any ESC may begin what comes next.
        return byte === BEL ? at + 1 : at;
      }
      if (open.length <= MAX_TEXT) open.push(byte);
      const isOther = open.length === LONGEST_PREFIX && !MARKS.test(String.fromCharCode(...open));
      // The text of a link or of a clipboard is passed over.
      if (isOther) open.length = MAX_TEXT + 1;
    }
    return at;
  }

  #told(text: string, end: number, marks: CommandMark[]): void {
    const isOurs = text.startsWith("133;");
    if (!isOurs && !text.startsWith("633;")) return;
    const [kind, ...rest] = text.slice(LONGEST_PREFIX).split(";");
    if (kind === "E" && !isOurs) this.#line = clipUtf8(unescaped(rest[0] ?? ""), MAX_LINE);
    if (kind !== "C") return;
    marks.push({ offset: end, line: (isOurs ? lineOf(rest) : undefined) ?? this.#line });
    this.#line = "";
  }
}

/** The line in the mark C of fish. */
function lineOf(fields: readonly string[]): string | undefined {
  const url = fields.find((field) => field.startsWith("cmdline_url="));
  try {
    return url && clipUtf8(decodeURIComponent(url.slice("cmdline_url=".length)), MAX_LINE);
  } catch {
    return undefined; // Not UTF-8, or cut in the middle of a character.
  }
}

/** Resolves the escapes of OSC 633: `\\` and `\xHH`, a byte of UTF-8. */
function unescaped(text: string): string {
  return text.replace(/\\\\|(?:\\x[0-9a-fA-F]{2})+/g, (found) => {
    if (found === "\\\\") return "\\";
    const bytes = found.split("\\x").slice(1);
    return decodeUtf8(Uint8Array.from(bytes, (hex) => Number.parseInt(hex, 16)));
  });
}
